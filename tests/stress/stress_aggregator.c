/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_aggregator.c: threads attach, define, push and retire while the aggregator drains: produced = consumed + dropped for each
 * thread, its order kept, its definitions first, its state given back once. */
#include "aggregator.h"
#include "stress.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 3 /* at once, beside the aggregator */
#define LONGEST 512u

enum how { DROP, WAIT, MIXED };

/* A profiled thread: made by the worker, freed by the sink. */
struct profiled {
    struct hpx_thread t;
    uint64_t produced;                     /* the owner's, until it retires */
    uint64_t consumed, next, order_errors; /* the aggregator's */
    uint32_t defined;                      /* the aggregator's: definitions seen */
    uint64_t undefined;                    /* events whose definition was not yet there */
};

struct totals {
    uint64_t gone, records, order_errors, undefined, unbalanced, dropped;
};

struct definition {
    struct hpx_msg msg;
    struct profiled *of;
};

struct work {
    struct hpx_aggregator a;
    struct hpx_gate gate;
    struct totals totals;
    enum how how;
    uint64_t events, lives;
    _Atomic uint64_t unmade; /* relaxed: lives that found no memory */
};

static struct work w;

static void sink_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    ((struct definition *)(void *)m)->of->defined++;
    free(m);
}

static void sink_events(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    struct profiled *p = HPX_CONTAINER_OF(t, struct profiled, t);
    const struct hpx_ev_head *end = ev + n / HPX_EV_UNIT;
    (void)ctx;
    for (; ev < end; ev = hpx_ring_next(ev, end)) {
        if (ev->kind == HPX_EV_PAD) {
            continue;
        }
        p->order_errors += ev->stamp < p->next;
        p->next = ev->stamp + 1;
        p->undefined += ev->id > p->defined;
        p->consumed++;
    }
}

static void sink_gone(void *ctx, struct hpx_thread *t)
{
    struct totals *to = ctx;
    struct profiled *p = HPX_CONTAINER_OF(t, struct profiled, t);
    uint64_t dropped = hpx_counter_get(&t->counters, HPX_C_LOST_RING_FULL) + hpx_counter_get(&t->counters, HPX_C_LOST_WAIT);
    to->gone++;
    to->records += p->consumed;
    to->dropped += dropped;
    to->order_errors += p->order_errors;
    to->undefined += p->undefined;
    to->unbalanced += p->produced != p->consumed + dropped;
    hpx_ring_fini(&t->ring);
    free(p);
}

static struct profiled *attach(void)
{
    struct profiled *p = aligned_alloc(HPX_CACHE_LINE, sizeof(*p));
    if (!p) {
        return NULL;
    }
    memset((void *)p, 0, sizeof(*p));
    if (hpx_ring_init(&p->t.ring, HPX_RING_MIN) != 0) {
        free(p);
        return NULL;
    }
    hpx_registry_push(&w.a.registry, &p->t);
    return p;
}

static void push(struct profiled *p, size_t n, bool wait, uint32_t definitions)
{
    uint64_t seq = p->produced++;
    struct hpx_ev_head *ev = wait ? hpx_reserve_or_wait(&w.a, &w.gate, &p->t, n) : hpx_reserve_or_drop(&w.a, &p->t, n, 1);
    if (ev) {
        ev->kind = HPX_EV_TEST;
        ev->id = definitions;
        ev->stamp = seq;
        hpx_ring_commit(&p->t.ring, ev, n);
    }
}

static void live(struct profiled *p, uint64_t *seed)
{
    uint32_t definitions = 0;
    for (uint64_t i = 0; i < w.events; i++) {
        uint64_t dice = stress_random(seed);
        if (dice % 32 == 0) {
            struct definition *d = hpx_msg_new(1, sizeof(*d));
            if (d) {
                d->of = p;
                hpx_lane_post(&w.a.control, &d->msg, dice % 64 == 0);
                definitions++;
            }
        }
        push(p, 16 + (dice >> 8) % (LONGEST - 16), w.how == WAIT || (w.how == MIXED && (dice >> 40 & 1)), definitions);
    }
    hpx_registry_retire(&p->t);
}

static void *worker(void *arg)
{
    uint64_t seed = (uint64_t)(uintptr_t)arg;
    for (uint64_t i = 0; i < w.lives; i++) {
        struct profiled *p = attach();
        if (p) {
            live(p, &seed);
        } else {
            atomic_fetch_add_explicit(&w.unmade, 1, memory_order_relaxed);
        }
    }
    return NULL;
}

static void begin(enum how how, uint64_t lives, uint64_t events)
{
    memset((void *)&w, 0, sizeof(w));
    const struct hpx_sink sink = {.ctx = &w.totals, .message = sink_message, .events = sink_events, .thread_gone = sink_gone};
    hpx_aggregator_init(&w.a, &sink);
    hpx_gate_open(&w.gate);
    w.how = how;
    w.lives = lives;
    w.events = events;
}

static void run_workers(void)
{
    pthread_t threads[WORKERS];
    for (uintptr_t i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, worker, (void *)(i + 1)), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void check(void)
{
    assert_int_equal(atomic_load(&w.unmade), 0);
    assert_int_equal(w.totals.gone, WORKERS * w.lives);
    assert_int_equal(w.totals.unbalanced, 0);
    assert_int_equal(w.totals.order_errors, 0);
    assert_int_equal(w.totals.undefined, 0);
    assert_int_equal(w.totals.records + w.totals.dropped, WORKERS * w.lives * w.events);
}

static void run(enum how how)
{
    begin(how, stress_times(30), 1000);
    w.a.wait_ns = UINT64_C(60000000000);
    assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
    run_workers();
    hpx_aggregator_stop(&w.a);
    assert_int_equal(w.a.nthreads, 0);
    check();
    hpx_aggregator_fini(&w.a);
}

TEST(aggregator_accounts_for_every_dropped_event)
{
    run(DROP);
}

TEST(aggregator_loses_nothing_of_producers_that_wait)
{
    run(WAIT);
    assert_int_equal(w.totals.dropped, 0);
}

TEST(aggregator_accounts_for_both_kinds_in_one_ring)
{
    run(MIXED);
}

TEST(stopped_aggregator_costs_waiters_their_bound_and_is_counted)
{
    begin(WAIT, 1, 40);
    w.a.wait_ns = 1000000;
    run_workers(); /* ends: nobody drains, each wait is bounded */
    hpx_aggregator_pass(&w.a);
    check();
    assert_true(w.totals.dropped > 0);
    assert_true(w.totals.records > 0);
    assert_int_equal(atomic_load(&w.a.waiters), 0);
    hpx_aggregator_fini(&w.a);
}

static void *close_when_somebody_waits(void *arg)
{
    (void)arg;
    while (!atomic_load_explicit(&w.a.waiters, memory_order_relaxed)) {
        sched_yield();
    }
    hpx_gate_close(&w.gate);
    return NULL;
}

TEST(closed_gate_ends_every_wait)
{
    pthread_t thread;
    begin(WAIT, 1, 100);
    w.a.wait_ns = UINT64_MAX / 4; /* the bound is not what ends it */
    assert_int_equal(pthread_create(&thread, NULL, close_when_somebody_waits, NULL), 0);
    run_workers();
    pthread_join(thread, NULL);
    hpx_aggregator_pass(&w.a);
    check();
    hpx_aggregator_fini(&w.a);
}

TESTS(NULL, NULL)
