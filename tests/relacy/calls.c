/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.c: the pending call: an owner with a handler that ticks, and a reader that peeks and drains up to `at`: what it has then are the
 * calls of one moment, each once.
 *
 * The owner's events have the stamps 1, 2, 3, ...; what is drained and pending is counted, so that the moment is known, and its sums are
 * compared. A tick says nothing of calls. */
#include "calls.h"
#include "relacy.h"

#define SIZE   256u
#define EVENTS 14u

static struct hpx_thread thread;
static struct hpx_aggregator aggregator;
static struct hpx_gate gate;
static struct hpx_calls calls;
static struct sums {
    uint64_t times, methods; /* exits less enters; twice for a call that has returned */
} at_event[EVENTS + 1];
static bool enters[EVENTS + 1];
static uint32_t method_at[EVENTS + 1];

/* ---- what calls.c calls ---- */

void *hpx_reserve_or_drop(struct hpx_aggregator *a, struct hpx_thread *t, size_t n, uint64_t weight)
{
    (void)a;
    (void)weight;
    return hpx_ring_reserve(&t->ring, n);
}

void *hpx_reserve_or_wait(struct hpx_aggregator *a, struct hpx_gate *g, struct hpx_thread *t, size_t n)
{
    (void)a;
    (void)g;
    void *p;
    while ((p = hpx_ring_reserve(&t->ring, n)) == NULL) {
        relacy_pause();
    }
    t->ring.look = t->ring.head_cache + SIZE; /* as look_at_fill() of aggregator.c */
    return p;
}

void hpx_aggregator_wake(struct hpx_aggregator *a)
{
    (void)a;
}

/* ---- the test ---- */

static void begin(void)
{
    relacy_check(hpx_ring_init(&thread.ring, SIZE) == 0);
    hpx_calls_init(&calls, &aggregator, &gate, &thread);
    atomic_init(&calls.fold, 0);
    atomic_init(&calls.entered, 0);
    atomic_init(&calls.method, 0);
    atomic_init(&thread.busy, 0);
    atomic_init(&thread.drainer, NULL);
    uint32_t open[EVENTS + 1], depth = 0;
    for (uint32_t i = 1; i <= EVENTS; i++) {
        bool enter = depth == 0 || (depth < 3 && relacy_rand(2) == 0);
        uint32_t method = enter ? 1 + relacy_rand(2) : open[--depth];
        if (enter) {
            open[depth++] = method;
        }
        enters[i] = enter;
        method_at[i] = method;
        at_event[i] = (struct sums){at_event[i - 1].times + (enter ? -(uint64_t)i : i), at_event[i - 1].methods + method};
    }
}

static void own(void)
{
    for (uint32_t i = 1; i <= EVENTS; i++) {
        if (enters[i]) {
            hpx_calls_enter(&calls, method_at[i], i);
        } else {
            hpx_calls_exit(&calls, method_at[i], i);
        }
    }
    hpx_calls_flush(&calls, EVENTS + 1);
}

static void tick(void)
{
    (void)hpx_calls_tick_sig(&calls, 7);
}

/* Adds a record; returns how many events it is. */
static uint32_t add(struct sums *s, const struct hpx_ev_head *ev)
{
    uint64_t calls_of = HPX_EV_LEAF_CALLS(ev->stamp);
    switch (ev->kind) {
    case HPX_EV_LEAF:
        s->times += HPX_EV_LEAF_NS(ev->stamp);
        s->methods += 2 * calls_of * ev->id;
        return (uint32_t)(2 * calls_of);
    case HPX_EV_ENTER:
    case HPX_EV_EXIT:
        s->times += ev->kind == HPX_EV_EXIT ? ev->stamp : -ev->stamp;
        s->methods += ev->id;
        return 1;
    default:
        relacy_check(ev->kind == HPX_EV_TICK || ev->kind == HPX_EV_PAD);
        return 0;
    }
}

static void read_on(void)
{
    struct sums sums = {0, 0};
    uint32_t drained = 0, seen = 0;
    while (drained < EVENTS) {
        struct hpx_calls_pending p;
        if (!hpx_calls_peek(&calls, 2, &p)) {
            relacy_pause();
            continue;
        }
        uint64_t from = hpx_ring_position(&thread.ring);
        relacy_check(p.at >= from && p.at - from <= SIZE);
        while (from != p.at) {
            size_t n;
            const struct hpx_ev_head *ev = hpx_ring_span(&thread.ring, from, p.at, &n), *end = ev + n / HPX_EV_UNIT;
            for (; ev != end; ev = hpx_ring_next(ev, end)) {
                relacy_check(ev->units > 0 && ev->units <= end - ev);
                drained += add(&sums, ev);
            }
            from += n;
        }
        hpx_ring_release(&thread.ring, p.at);
        uint32_t moment = drained + 2 * p.calls + p.open;
        relacy_check(moment <= EVENTS && moment >= seen);
        relacy_check(sums.times + p.ns - (p.open ? p.entered : 0) == at_event[moment].times);
        relacy_check(sums.methods + (uint64_t)p.method * (2 * p.calls + p.open) == at_event[moment].methods);
        seen = moment;
    }
}

const struct relacy_test relacy_tests[] = {
    {.name = "calls", .runs = 8000, .before = begin, .thread = {own, read_on}},
    {.name = "calls_ticks", .runs = 8000, .before = begin, .thread = {own, read_on}, .handler = tick, .handlers = 3},
    {.name = NULL},
};
