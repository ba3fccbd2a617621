/* SPDX-License-Identifier: BSD-2-Clause */
/* call_fixture.h: a table of exact calls under test, one thread of it, and events in short form. */
#ifndef HPX_CALL_FIXTURE_H
#define HPX_CALL_FIXTURE_H

#include "call_table.h"
#include "cmocka_all.h"

static struct hpx_calltab tab;
static struct hpx_call_thread *th;

static inline void begin(uint32_t depth)
{
    const struct hpx_calltab_config cfg = {.depth = depth};
    assert_int_equal(hpx_calltab_init(&tab, &cfg), 0);
    th = hpx_calltab_attach(&tab, 0);
    assert_non_null(th);
}

static inline void end(void)
{
    hpx_calltab_fini(&tab);
}

static inline void event_of(struct hpx_call_thread *to, enum hpx_ev_kind kind, uint32_t method, uint64_t stamp)
{
    const struct hpx_ev_head ev = {.kind = (uint16_t)kind, .units = 1, .id = method, .stamp = stamp};
    assert_ptr_equal(hpx_calltab_apply(&tab, to, &ev, &ev + 1), &ev + 1);
}

static inline void event(enum hpx_ev_kind kind, uint32_t method, uint64_t stamp)
{
    event_of(th, kind, method, stamp);
}

static inline void switch_to(struct hpx_call_thread *to, uint64_t key, uint64_t turn, uint64_t stamp)
{
    const struct hpx_ev_switch ev = {.head = {HPX_EV_SWITCH, 2, 0, stamp}, .key = key, .turn = turn};
    (void)hpx_calltab_apply(&tab, to, &ev.head, &ev.head + 2);
}

static inline void gap(uint32_t lost, uint32_t returned, uint32_t entered, uint64_t calls, uint64_t stamp)
{
    const struct hpx_ev_gap ev = {.head = {HPX_EV_GAP, 2, lost, stamp}, .returned = returned, .entered = entered, .calls = calls};
    (void)hpx_calltab_apply(&tab, th, &ev.head, &ev.head + 2);
}

/* Applies what the ring has before position `to`. */
static inline void drain_ring(struct hpx_ring *r, uint64_t to)
{
    uint64_t at = hpx_ring_position(r);
    while ((int64_t)(to - at) > 0) {
        size_t n;
        const struct hpx_ev_head *ev = hpx_ring_span(r, at, to, &n), *stop = ev + n / HPX_EV_UNIT;
        assert_ptr_equal(hpx_calltab_apply(&tab, th, ev, stop), stop);
        at += n;
        hpx_ring_release(r, at);
    }
}

/* Has the trace `node` these methods, leaf first? 0 ends them. */
static inline bool is_trace_of(const struct hpx_calltab *t, uint32_t node, const uint32_t *methods)
{
    const struct hpx_raw *raw = hpx_traces_at(&t->traces, node);
    uint32_t k = 0;
    while (k < raw->nframes && methods[k] == raw->frames[k].method) {
        k++;
    }
    return k == raw->nframes && methods[k] == 0;
}

/* The cost of the trace of these methods; 0: no such trace. */
static inline struct hpx_call_cost cost_of(const struct hpx_calltab *t, const uint32_t *methods)
{
    for (uint32_t i = 0; i < t->traces.raws.len; i++) {
        if (is_trace_of(t, i, methods)) {
            return *hpx_calltab_cost(t, i);
        }
    }
    return (struct hpx_call_cost){0};
}

#define TRACE(...) ((const uint32_t[]){__VA_ARGS__, 0})

static inline void assert_cost(const uint32_t *methods, uint64_t calls, int64_t self, int64_t total)
{
    struct hpx_call_cost c = cost_of(&tab, methods);
    assert_int_equal(c.calls, calls);
    assert_int_equal(c.self, self);
    assert_int_equal(c.total, total);
}

static inline void assert_open(uint64_t calls, int64_t ns)
{
    uint64_t n;
    int64_t open;
    hpx_calltab_open(&tab, &n, &open);
    assert_int_equal(n, calls);
    assert_int_equal(open, ns);
}

#endif
