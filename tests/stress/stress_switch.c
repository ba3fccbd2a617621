/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_switch.c: call stacks that wander over threads, as virtual threads do over carriers: however the rings are read, each call is
 * counted once, with the time that its own stack ran. */
#include "call_table.h"
#include "stress.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define CARRIERS 3
#define KEYS     8
#define METHODS  6u
#define DEEP     20u

/* A virtual thread; the carrier that has it owns it. */
struct wanderer {
    uint64_t seed, steps, turn;
    bool busy;
    uint32_t depth;
    uint32_t stack[DEEP];
    uint64_t entered[DEEP], clock; /* its own time */
};

struct carrier {
    struct hpx_thread t;
    struct hpx_calls calls;
    uint64_t clock, seed;
    uint64_t returned[METHODS + 1], ns[METHODS + 1]; /* read after the join */
};

static struct {
    struct hpx_aggregator a;
    struct hpx_gate gate;
    struct hpx_calltab tab;
    HPX_ALIGNED(HPX_CACHE_LINE) struct carrier carriers[CARRIERS];
    pthread_mutex_t lock; /* busy, turn, left; hands a wanderer from carrier to carrier */
    struct wanderer wanderers[KEYS];
    unsigned left;
    uint64_t steps, waited; /* steps of a wanderer; passes with something waiting */
} w;

/* A wanderer that nobody has, or NULL. */
static struct wanderer *take(struct carrier *c)
{
    struct wanderer *x = &w.wanderers[stress_random(&c->seed) % KEYS];
    bool got;
    pthread_mutex_lock(&w.lock);
    got = !x->busy && x->steps > 0;
    x->busy |= got;
    pthread_mutex_unlock(&w.lock);
    return got ? x : NULL;
}

static void give_back(struct wanderer *x)
{
    pthread_mutex_lock(&w.lock);
    x->busy = false;
    w.left -= x->steps == 0;
    pthread_mutex_unlock(&w.lock);
}

static bool any_left(void)
{
    pthread_mutex_lock(&w.lock);
    bool any = w.left > 0;
    pthread_mutex_unlock(&w.lock);
    return any;
}

/* One enter or exit; `offset` leads from its clock to the carrier's. */
static void step(struct carrier *c, struct wanderer *x, uint64_t offset)
{
    uint64_t dice = stress_random(&x->seed);
    x->clock += dice >> 50 & 63;
    x->steps -= x->steps > 1 || x->depth == 0;
    if (x->steps > DEEP && (x->depth == 0 || (x->depth < DEEP && dice & 1))) {
        uint32_t method = 1 + (uint32_t)(dice >> 8) % METHODS;
        x->stack[x->depth] = method;
        x->entered[x->depth++] = x->clock;
        hpx_calls_enter(&c->calls, method, x->clock + offset);
    } else if (x->depth > 0) {
        uint32_t method = x->stack[--x->depth];
        c->returned[method]++;
        c->ns[method] += x->clock - x->entered[x->depth];
        hpx_calls_exit(&c->calls, method, x->clock + offset);
    }
}

static void *carry(void *arg)
{
    struct carrier *c = arg;
    while (any_left()) {
        struct wanderer *x = take(c);
        if (!x) {
            sched_yield();
            continue;
        }
        uint64_t offset = c->clock - x->clock, steps = 1 + stress_random(&c->seed) % 40;
        hpx_calls_switch(&c->calls, 1000 + (uint64_t)(x - w.wanderers), x->turn++, c->clock);
        while (steps-- > 0 && x->steps > 0) {
            step(c, x, offset);
        }
        c->clock = x->clock + offset;
        hpx_calls_switch(&c->calls, 0, 0, c->clock);
        give_back(x);
        c->clock += 1000; /* idle, on its own stack */
    }
    hpx_calls_flush(&c->calls, c->clock);
    hpx_registry_retire(&c->t);
    return NULL;
}

/* ---- the reader ---- */

static void on_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    free(m);
}

static void on_events(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    (void)ctx;
    if (!t->call_stacks) {
        t->call_stacks = hpx_calltab_attach(&w.tab, 0);
    }
    if (t->call_stacks) {
        (void)hpx_calltab_apply(&w.tab, t->call_stacks, ev, ev + n / HPX_EV_UNIT);
    }
}

static void on_gone(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    (void)t; /* retired at the end: what waits is then complete */
}

static bool on_pass_end(void *ctx)
{
    (void)ctx;
    for (const struct hpx_call_thread *th = w.tab.threads; th; th = th->next) {
        w.waited += th->backlog.n > 0;
    }
    hpx_calltab_pass_end(&w.tab);
    return false;
}

static void begin(uint64_t steps)
{
    const struct hpx_sink sink = {.message = on_message, .events = on_events, .thread_gone = on_gone, .pass_end = on_pass_end};
    const struct hpx_calltab_config cfg = {.depth = 1};
    memset((void *)&w, 0, sizeof(w));
    assert_int_equal(hpx_calltab_init(&w.tab, &cfg), 0);
    hpx_aggregator_init(&w.a, &sink);
    w.a.wait_ns = UINT64_C(60000000000);
    hpx_gate_open(&w.gate);
    pthread_mutex_init(&w.lock, NULL);
    w.left = KEYS;
    for (unsigned i = 0; i < KEYS; i++) {
        w.wanderers[i] = (struct wanderer){.seed = 7919 * (i + 1), .steps = steps};
    }
    for (unsigned i = 0; i < CARRIERS; i++) {
        struct carrier *c = &w.carriers[i];
        c->seed = 104729 * (i + 1);
        c->clock = 1000000 * i;
        assert_int_equal(hpx_ring_init(&c->t.ring, i ? 4 * HPX_RING_MIN : HPX_RING_MIN), 0);
        hpx_calls_init(&c->calls, &w.a, &w.gate, &c->t);
        hpx_registry_push(&w.a.registry, &c->t);
    }
}

static void finish(void)
{
    uint64_t returned[METHODS + 1] = {0}, ns[METHODS + 1] = {0};
    for (unsigned i = 0; i <= HPX_CALL_PATIENCE; i++) {
        hpx_calltab_pass_end(&w.tab);
    }
    for (unsigned i = 0; i < CARRIERS; i++) {
        for (uint32_t m = 1; m <= METHODS; m++) {
            returned[m] += w.carriers[i].returned[m];
            ns[m] += w.carriers[i].ns[m];
        }
        hpx_calltab_retire(&w.tab, w.carriers[i].t.call_stacks);
        hpx_ring_fini(&w.carriers[i].t.ring);
    }
    assert_int_equal(w.tab.stray + w.tab.resynced + w.tab.no_memory + w.tab.lost_events, 0);
    for (uint32_t i = 0; i < w.tab.traces.raws.len; i++) {
        const struct hpx_raw *raw = hpx_traces_at(&w.tab.traces, i);
        if (raw->nframes == 1) {
            const struct hpx_call_cost *cost = hpx_calltab_cost(&w.tab, i);
            assert_int_equal(cost->calls, returned[raw->frames[0].method]);
            assert_int_equal(cost->total, ns[raw->frames[0].method]);
            returned[raw->frames[0].method] = 0;
        }
    }
    for (uint32_t m = 1; m <= METHODS; m++) {
        assert_int_equal(returned[m], 0);
    }
    print_message("%llu calls; records waited at the end of a pass %llu times, %llu mounts forced\n", (unsigned long long)w.tab.calls,
                  (unsigned long long)w.waited, (unsigned long long)w.tab.forced);
    assert_int_equal(w.tab.forced, 0);
    pthread_mutex_destroy(&w.lock);
    hpx_aggregator_fini(&w.a);
    hpx_calltab_fini(&w.tab);
}

TEST(calls_of_wandering_stacks_are_counted_once_with_their_own_time)
{
    pthread_t threads[CARRIERS];
    begin(stress_times(40000));
    assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
    for (unsigned i = 0; i < CARRIERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, carry, &w.carriers[i]), 0);
    }
    for (unsigned i = 0; i < CARRIERS; i++) {
        pthread_join(threads[i], NULL);
    }
    hpx_aggregator_stop(&w.a);
    finish();
}

TESTS(NULL, NULL)
