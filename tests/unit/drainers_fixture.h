/* SPDX-License-Identifier: BSD-2-Clause */
/* drainers_fixture.h: a main aggregator whose passes the test makes, drainers that run, threads whose events the test makes; and functions
 * of libc, and a clock, that it bends. */
#ifndef HPX_DRAINERS_FIXTURE_H
#define HPX_DRAINERS_FIXTURE_H

#include "call_drainers.h"
#include "clock.h"
#include "cmocka_all.h"
#include "failing_memory.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4u

static bool refuse_thread;
static unsigned threads_asked; /* for, of pthread_create() */
static uint64_t fake_cpu;      /* not 0: what the main thread's CPU clock says */

int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
uint64_t __real_hpx_clock_thread_cpu(void);
uint64_t __wrap_hpx_clock_thread_cpu(void);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    threads_asked++;
    return refuse_thread ? EAGAIN : __real_pthread_create(t, attr, fn, arg);
}

static pthread_t main_thread;

uint64_t __wrap_hpx_clock_thread_cpu(void)
{
    return pthread_equal(pthread_self(), main_thread) && fake_cpu != 0 ? fake_cpu : __real_hpx_clock_thread_cpu();
}

/* ---- the main one, and threads whose events the test makes ---- */

static struct {
    struct hpx_aggregator a;
    struct hpx_gate gate;
    struct hpx_calltab tab;
    struct hpx_call_drainers s;
    unsigned gone;
    bool balance;
    HPX_ALIGNED(HPX_CACHE_LINE) struct one {
        struct hpx_thread t;
        struct hpx_calls calls;
        uint64_t now;
    } threads[THREADS];
} w;

static inline void on_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    free(m);
}

static inline void on_events(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    (void)ctx;
    if (!t->call_stacks) {
        t->call_stacks = hpx_calltab_attach(&w.tab, (uint32_t)(HPX_CONTAINER_OF(t, struct one, t) - w.threads) + 1);
    }
    (void)hpx_calltab_apply(&w.tab, t->call_stacks, ev, ev + n / HPX_EV_UNIT);
}

static inline void on_came(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_call_drainers_came(&w.s, t);
}

static inline void on_gone(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    if (t->call_stacks) {
        hpx_calltab_retire(&w.tab, t->call_stacks);
        t->call_stacks = NULL;
    }
    w.gone++;
}

static inline bool on_pass_end(void *ctx)
{
    (void)ctx;
    hpx_calltab_pass_end(&w.tab);
    if (w.balance) {
        hpx_call_drainers_balance(&w.s);
    }
    return false;
}

static inline void begin(unsigned limit)
{
    const struct hpx_sink sink = {
        .message = on_message, .events = on_events, .thread_came = on_came, .thread_gone = on_gone, .pass_end = on_pass_end};
    const struct hpx_calltab_config cfg = {.depth = 3};
    memset((void *)&w, 0, sizeof(w));
    main_thread = pthread_self();
    fake_cpu = 0;
    hpx_gate_open(&w.gate);
    assert_int_equal(hpx_calltab_init(&w.tab, &cfg), 0);
    hpx_aggregator_init(&w.a, &sink);
    hpx_call_drainers_init(&w.s, &w.a, &w.tab, limit);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(hpx_ring_init(&w.threads[i].t.ring, 16 * HPX_RING_MIN), 0);
        hpx_calls_init(&w.threads[i].calls, &w.a, &w.gate, &w.threads[i].t);
        hpx_registry_push(&w.a.registry, &w.threads[i].t);
    }
}

static inline void end(void)
{
    hpx_call_drainers_fini(&w.s);
    hpx_aggregator_fini(&w.a);
    hpx_calltab_fini(&w.tab);
    for (unsigned i = 0; i < THREADS; i++) {
        hpx_ring_fini(&w.threads[i].t.ring);
    }
}

static inline void enter(unsigned i, uint32_t method)
{
    hpx_calls_enter(&w.threads[i].calls, method, ++w.threads[i].now);
}

static inline void leave(unsigned i, uint32_t method)
{
    hpx_calls_exit(&w.threads[i].calls, method, ++w.threads[i].now);
}

static inline void flush(unsigned i)
{
    hpx_calls_flush(&w.threads[i].calls, w.threads[i].now);
}

static inline uint32_t to_first(void *ctx, struct hpx_thread *t)
{
    const unsigned *which = ctx;
    return !which || t == &w.threads[*which].t ? 0 : HPX_CALL_DRAINER_NONE;
}

static inline bool in_drainer(unsigned i)
{
    return hpx_aggregator_of(&w.threads[i].t, &w.a) != &w.a;
}

/* The drainer has read all that the thread has sent. */
static inline void await_read(unsigned i)
{
    const struct hpx_ring *r = &w.threads[i].t.ring;
    uint64_t to = atomic_load(&((struct hpx_ring *)(uintptr_t)r)->tail), until = hpx_clock_mono() + UINT64_C(20000000000);
    hpx_aggregator_wake(hpx_aggregator_of(&w.threads[i].t, &w.a));
    while (atomic_load(&((struct hpx_ring *)(uintptr_t)r)->head) != to && hpx_clock_mono() < until) {
        sched_yield();
    }
    assert_int_equal(atomic_load(&((struct hpx_ring *)(uintptr_t)r)->head), to);
}

static inline void await_home(unsigned i)
{
    uint64_t until = hpx_clock_mono() + UINT64_C(20000000000);
    while (in_drainer(i) && hpx_clock_mono() < until) {
        hpx_aggregator_wake(hpx_aggregator_of(&w.threads[i].t, &w.a));
        sched_yield();
    }
    assert_false(in_drainer(i));
}

/* Calls and ns of the trace of these methods, leaf first, of thread i; 0 ends them. */
static inline struct hpx_call_cost cost_of(unsigned i, const uint32_t *methods)
{
    uint32_t len = 0;
    while (methods[len] != 0) {
        len++;
    }
    for (uint32_t n = 0; n < w.tab.traces.raws.len; n++) {
        const struct hpx_raw *raw = hpx_traces_at(&w.tab.traces, n);
        bool same = raw->thread == i + 1 && raw->nframes == len;
        for (uint32_t k = 0; same && k < len; k++) {
            same = methods[k] == raw->frames[k].method;
        }
        if (same) {
            return *hpx_calltab_cost(&w.tab, n);
        }
    }
    return (struct hpx_call_cost){0};
}
#define TRACE(...) ((const uint32_t[]){__VA_ARGS__, 0})

/* Passes of the main one until it has counted a call of the trace: a thread on its way home is in no one's list for a moment. */
static inline void pass_until_counted(unsigned i, const uint32_t *methods)
{
    uint64_t until = hpx_clock_mono() + UINT64_C(20000000000);
    do {
        hpx_aggregator_pass(&w.a);
    } while (cost_of(i, methods).calls == 0 && hpx_clock_mono() < until);
}

static inline void assert_cost(unsigned i, const uint32_t *methods, uint64_t calls, int64_t self)
{
    struct hpx_call_cost c = cost_of(i, methods);
    assert_int_equal(c.calls, calls);
    assert_int_equal(c.self, self);
}

static inline void assert_open(uint64_t calls)
{
    uint64_t n;
    int64_t ns;
    hpx_calltab_open(&w.tab, &n, &ns);
    assert_int_equal(n, calls);
}

#endif
