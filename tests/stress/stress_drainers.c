/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_drainers.c: random call trees on several threads, some of them carriers of stacks that wander, while the main aggregator gives
 * threads to drainers, takes them back, collects what they counted, gathers all (some of them held), starts anew and dumps, at random:
 * calls and times of each method are those that the threads made, whoever drained them. */
#include "call_drainers.h"
#include "stress.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define WORKERS 6u
#define STACKS  5u
#define DEEP    60u
#define METHODS 9u

struct stack {
    uint64_t key, turn, clock;
    uint32_t depth;
    struct {
        uint32_t method;
        uint64_t entered;
    } frames[DEEP];
};

struct sums {
    uint64_t calls[METHODS + 1], ns[METHODS + 1];
};

struct worker {
    struct hpx_thread t;
    struct hpx_calls calls;
    struct stack own;
    struct sums made;
    uint64_t seed, now;
    bool carrier;
    struct hpx_calls_pending pending; /* the main aggregator's */
};

static struct {
    struct hpx_aggregator a;
    struct hpx_gate gate;
    struct hpx_calltab tab;
    struct hpx_call_drainers s;
    HPX_ALIGNED(HPX_CACHE_LINE) struct worker workers[WORKERS];
    struct stack stacks[STACKS];
    pthread_mutex_t lock; /* taken */
    bool taken[STACKS];
    uint64_t steps, seed, dumps, gathers, collects;
    struct sums seen; /* the main aggregator's */
    unsigned gone, carriers;
    bool by_load;
} w;

/* ---- the threads ---- */

static void step(struct worker *me, struct stack *s, bool end)
{
    uint64_t dice = stress_random(&me->seed), ns = dice >> 48 & 63;
    me->now += ns;
    s->clock += ns;
    if (!end && (s->depth == 0 || (s->depth < DEEP && dice % 100 < 52))) {
        uint32_t method = 1 + (uint32_t)(dice >> 20) % METHODS;
        s->frames[s->depth].method = method;
        s->frames[s->depth++].entered = s->clock;
        hpx_calls_enter(&me->calls, method, me->now);
    } else if (s->depth > 0) {
        uint32_t method = s->frames[--s->depth].method;
        me->made.calls[method]++;
        me->made.ns[method] += s->clock - s->frames[s->depth].entered;
        hpx_calls_exit(&me->calls, method, me->now);
    }
}

static struct stack *take_stack(struct worker *me)
{
    struct stack *s = NULL;
    pthread_mutex_lock(&w.lock);
    for (unsigned i = 0, at = (unsigned)(stress_random(&me->seed) % STACKS); i < STACKS && !s; i++, at = (at + 1) % STACKS) {
        if (!w.taken[at]) {
            w.taken[at] = true;
            s = &w.stacks[at];
        }
    }
    pthread_mutex_unlock(&w.lock);
    return s;
}

static void give_stack(const struct stack *s)
{
    pthread_mutex_lock(&w.lock);
    w.taken[s - w.stacks] = false;
    pthread_mutex_unlock(&w.lock);
}

static void carry(struct worker *me)
{
    struct stack *s = take_stack(me);
    if (s) {
        hpx_calls_switch(&me->calls, s->key, s->turn++, me->now);
        for (uint64_t n = stress_random(&me->seed) % 40; n > 0; n--) {
            step(me, s, false);
        }
        hpx_calls_switch(&me->calls, 0, 0, me->now);
        give_stack(s);
    }
}

static void *work(void *arg)
{
    struct worker *me = arg;
    for (uint64_t i = 0; i < w.steps; i++) {
        step(me, &me->own, false);
        if (me->carrier && i > w.steps / 4 && i % 37 == 0) {
            carry(me);
        }
    }
    while (me->own.depth > 0) {
        step(me, &me->own, true);
    }
    hpx_calls_flush(&me->calls, me->now);
    hpx_registry_retire(&me->t);
    return NULL;
}

/* What is open on the stacks that wander returns, on one thread that has no other part. */
static void finish_stacks(struct worker *me)
{
    for (unsigned i = 0; i < STACKS; i++) {
        struct stack *s = &w.stacks[i];
        hpx_calls_switch(&me->calls, s->key, s->turn++, me->now);
        while (s->depth > 0) {
            step(me, s, true);
        }
        hpx_calls_switch(&me->calls, 0, 0, me->now);
    }
    hpx_calls_flush(&me->calls, me->now);
    hpx_registry_retire(&me->t);
}

/* ---- the main aggregator ---- */

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
    (void)hpx_calltab_apply(&w.tab, t->call_stacks, ev, ev + n / HPX_EV_UNIT);
}

static void on_came(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_call_drainers_came(&w.s, t);
}

static void on_gone(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    if (t->call_stacks && !w.carriers) { /* else at the end: what waits is then complete */
        hpx_calltab_retire(&w.tab, t->call_stacks);
        t->call_stacks = NULL;
    }
    w.gone++;
}

static void collect(void)
{
    for (uint32_t i = 0; i < w.tab.traces.raws.len; i++) {
        const struct hpx_raw *raw = hpx_traces_at(&w.tab.traces, i);
        const struct hpx_call_cost *cost = hpx_calltab_cost(&w.tab, i);
        if (raw->nframes == 1) {
            w.seen.calls[raw->frames[0].method] += cost->calls;
            w.seen.ns[raw->frames[0].method] += (uint64_t)cost->total;
        }
    }
    hpx_calltab_reset(&w.tab);
    w.dumps++;
}

static uint32_t to_any(void *ctx, struct hpx_thread *t)
{
    (void)ctx, (void)t;
    return (uint32_t)(stress_random(&w.seed) % (2 * (uint64_t)w.s.running)); /* half of them stay */
}

static uint64_t tail(void *ctx, struct hpx_thread *t)
{
    struct worker *x = HPX_CONTAINER_OF(t, struct worker, t);
    uint64_t to = hpx_ring_peek(&t->ring);
    (void)ctx;
    if (hpx_calls_peek(&x->calls, 100, &x->pending)) {
        return x->pending.at;
    }
    x->pending = (struct hpx_calls_pending){0}; /* its owner is in a push */
    return to;
}

static void take_pending(struct hpx_calltab *t, struct hpx_thread *th)
{
    hpx_calltab_pending(t, th->call_stacks, &HPX_CONTAINER_OF(th, struct worker, t)->pending);
}

/* Asks the first n, and waits for every other of them. */
static void hold_some(unsigned n)
{
    n = n < w.s.running ? n : w.s.running;
    for (unsigned i = 0; i < n; i++) {
        hpx_aggregator_hold(&w.s.drainers[i]->a);
    }
    for (unsigned i = 0; i < n; i += 2) {
        hpx_aggregator_await_held(&w.s.drainers[i]->a);
    }
}

static bool on_pass_end(void *ctx)
{
    uint64_t dice = stress_random(&w.seed);
    (void)ctx;
    hpx_calltab_pass_end(&w.tab);
    if (dice % 16 == 0) {
        (void)hpx_call_drainers_start(&w.s);
    }
    if (!w.by_load && dice >> 8 & 1 && w.s.running > 0) {
        hpx_call_drainers_give(&w.s, to_any, NULL);
    }
    if (dice % 4 == 1 && w.s.running > 0) {
        atomic_store_explicit(&w.s.drainers[dice >> 12 & 1 ? w.s.running - 1 : 0]->wanted, true, memory_order_relaxed);
    }
    if (dice % 16 == 3) {
        w.collects += w.s.running > 0;
        (void)hpx_call_drainers_collect(&w.s, (uint32_t)(dice >> 16 & 7), tail, take_pending);
    }
    if (dice % 64 == 2) {
        w.gathers += w.s.running > 0;
        hold_some((unsigned)(dice >> 16 & 3));
        hpx_call_drainers_gather(&w.s);
        collect();
    }
    hpx_call_drainers_balance(&w.s);
    return w.gone < WORKERS; /* more passes than the rings ask for */
}

/* ---- tests ---- */

static void begin(uint64_t steps, unsigned carriers, unsigned limit)
{
    const struct hpx_sink sink = {
        .message = on_message, .events = on_events, .thread_came = on_came, .thread_gone = on_gone, .pass_end = on_pass_end};
    const struct hpx_calltab_config cfg = {.depth = 1};
    memset((void *)&w, 0, sizeof(w));
    pthread_mutex_init(&w.lock, NULL);
    assert_int_equal(hpx_calltab_init(&w.tab, &cfg), 0);
    hpx_aggregator_init(&w.a, &sink);
    w.a.wait_ns = UINT64_C(60000000000);
    hpx_gate_open(&w.gate);
    hpx_call_drainers_init(&w.s, &w.a, &w.tab, limit);
    w.s.window_ns = 0;
    w.steps = steps;
    w.carriers = carriers;
    w.seed = 6364136223846793005u + carriers;
    for (unsigned i = 0; i < STACKS; i++) {
        w.stacks[i].key = i + 1;
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        struct worker *x = &w.workers[i];
        x->seed = 97 * ((uint64_t)i + 1) + steps;
        x->carrier = i < carriers;
        assert_int_equal(hpx_ring_init(&x->t.ring, (i % 3 + 1 == 3 ? 8 : i % 3 + 1) * HPX_RING_MIN), 0);
        hpx_calls_init(&x->calls, &w.a, &w.gate, &x->t);
        hpx_registry_push(&w.a.registry, &x->t);
    }
}

static void finish(void)
{
    struct sums made = {{0}, {0}};
    hpx_aggregator_stop(&w.a);
    hpx_call_drainers_gather(&w.s);
    w.s.limit = 0; /* no more drainers; what they had comes with the next passes */
    hpx_call_drainers_gather(&w.s);
    for (unsigned i = 0; i < 5; i++) {
        hpx_aggregator_pass(&w.a);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        if (w.workers[i].t.call_stacks) {
            hpx_calltab_retire(&w.tab, w.workers[i].t.call_stacks);
        }
    }
    collect();
    assert_int_equal(w.gone, WORKERS);
    for (unsigned i = 0; i < WORKERS; i++) {
        for (unsigned m = 0; m <= METHODS; m++) {
            made.calls[m] += w.workers[i].made.calls[m];
            made.ns[m] += w.workers[i].made.ns[m];
        }
        assert_int_equal(hpx_counter_get(&w.workers[i].t.counters, HPX_C_LOST_WAIT), 0);
        hpx_ring_fini(&w.workers[i].t.ring);
    }
    assert_int_equal(w.tab.stray + w.tab.resynced + w.tab.no_memory + w.tab.forced + w.tab.lost_events, 0);
    for (unsigned m = 1; m <= METHODS; m++) {
        assert_int_equal(w.seen.calls[m], made.calls[m]);
        assert_int_equal(w.seen.ns[m], made.ns[m]);
    }
    print_message("%llu threads given, %llu times collected, %llu times all gathered, %llu dumps\n", (unsigned long long)w.s.given,
                  (unsigned long long)w.collects, (unsigned long long)w.gathers, (unsigned long long)w.dumps);
    assert_true(w.s.given > 0);
    hpx_call_drainers_fini(&w.s);
    hpx_aggregator_fini(&w.a);
    hpx_calltab_fini(&w.tab);
    pthread_mutex_destroy(&w.lock);
}

static void run(uint64_t steps, unsigned carriers, unsigned limit, bool by_load)
{
    pthread_t threads[WORKERS];
    begin(steps, carriers, limit);
    w.by_load = by_load;
    w.s.busy = by_load ? 0 : UINT32_MAX;
    assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
    unsigned last = carriers > 0 ? WORKERS - 1 : WORKERS; /* that one ends what the carriers leave open */
    for (unsigned i = 0; i < last; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, &w.workers[i]), 0);
    }
    for (unsigned i = 0; i < last; i++) {
        pthread_join(threads[i], NULL);
    }
    if (carriers > 0) {
        finish_stacks(&w.workers[last]);
    }
    finish();
}

TEST(threads_given_to_and_fro_lose_nothing)
{
    run(stress_times(2000000), 0, 4, false);
}

TEST(threads_moved_by_the_balance_lose_nothing)
{
    run(stress_times(2000000), 0, 3, true);
}

TEST(carriers_given_before_their_first_switch_lose_nothing)
{
    run(stress_times(600000), 4, 3, false);
}

TESTS(NULL, NULL)
