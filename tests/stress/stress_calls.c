/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_calls.c: random call trees while a reader dumps at random moments: at each dump the open calls are the true stack of one moment,
 * and the calls counted so far are those that had returned then; at the end nothing is missing. The reader knows the truth because the tree
 * of a thread follows from its seed: it takes as many steps as the events say.
 *
 * With ticks (times=sampled) the handler tells one at each signal, of an uneven length: each is in a row, in an open call, or outside, at
 * each dump and at the end. */
#include "call_table.h"
#include "stress.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 4
#define DEEP    200u
#define METHODS 12u

enum leaning { BUSHY, DEEPER, LEAFY };

/* ---- a tree, step by step ---- */

struct tree {
    uint64_t seed, steps, now;
    enum leaning leaning;
    uint32_t depth, last;
    struct {
        uint32_t method;
        uint64_t entered;
    } stack[DEEP];
    uint64_t returned[METHODS + 1], ns[METHODS + 1];
};

struct step {
    enum hpx_ev_kind kind;
    uint32_t method;
    uint64_t now;
};

/* end: the tree grows no further. */
static struct step take_step(struct tree *t, bool end)
{
    static const uint32_t enters[] = {[BUSHY] = 50, [DEEPER] = 56, [LEAFY] = 50};
    uint64_t dice = stress_random(&t->seed);
    bool deeper = t->depth == 0 || (t->depth < DEEP && dice % 100 < enters[t->leaning]);
    t->now += dice % 1000 == 7 ? HPX_CALLS_NS_MAX : dice >> 48 & 255;
    t->steps++;
    if (t->leaning == LEAFY && t->depth > 3) {
        deeper = false;
    }
    if (deeper && !end) {
        uint32_t method = dice >> 16 & 3 ? t->last : 1 + (uint32_t)(dice >> 20) % METHODS;
        t->last = method;
        t->stack[t->depth].method = method;
        t->stack[t->depth++].entered = t->now;
        return (struct step){HPX_EV_ENTER, method, t->now};
    }
    uint32_t method = t->stack[--t->depth].method;
    t->returned[method]++;
    t->ns[method] += t->now - t->stack[t->depth].entered;
    t->last = method;
    return (struct step){dice >> 40 & 1 ? HPX_EV_EXIT : HPX_EV_THROWN, method, t->now};
}

/* ---- what runs ---- */

struct worker {
    struct hpx_thread t;
    struct hpx_calls calls;
    struct tree tree;        /* the worker's */
    uint64_t nested;         /* records of its handler; read after the join */
    uint64_t owed, recorded; /* its ticks: not recorded yet, recorded; read after the join */
    uint64_t wrong_at;       /* in its handler */
    uint32_t number;         /* from 1 */
    /* the reader's */
    struct tree truth;
    struct hpx_calls_pending pending;
    bool peeked;
    uint64_t events, nested_seen, called[METHODS + 1], ns[METHODS + 1];
    uint64_t dumps, wrong_stack, wrong_calls, wrong_ns;
};

static struct {
    struct hpx_aggregator a;
    struct hpx_gate gate;
    struct hpx_calltab tab;
    HPX_ALIGNED(HPX_CACHE_LINE) struct worker workers[WORKERS];
    unsigned nworkers, gone;
    uint64_t steps, seed;
    bool lossy, dump, from_ticks;
    uint64_t shown, wrong_ticks; /* the reader's: self time of rows; dumps where ticks were missing */
} w;

static __thread struct worker *self;

static void handler(int signal)
{
    struct hpx_calls_pending p;
    (void)signal;
    if (self && w.from_ticks) {
        self->owed += 1 + (self->tree.steps & 1023);
        if (hpx_calls_tick_sig(&self->calls, self->owed)) {
            self->recorded += self->owed;
            self->owed = 0;
            self->nested++;
        }
        return;
    }
    if (!self || hpx_calls_in_push(&self->calls)) {
        return;
    }
    if (!hpx_calls_peek(&self->calls, 1, &p) || p.at > atomic_load_explicit(&self->t.ring.tail, memory_order_relaxed)) {
        self->wrong_at++;
    }
    struct hpx_ev_head *ev = hpx_ring_reserve(&self->t.ring, HPX_EV_UNIT);
    if (ev) {
        ev->kind = HPX_EV_TEST;
        hpx_ring_commit(&self->t.ring, ev, HPX_EV_UNIT);
        self->nested++;
    }
}

/* On the calling thread, each 50 us: a thread that sent them would have to get a CPU. */
static timer_t begin_signals(void)
{
    const struct itimerspec each = {{0, 50000}, {0, 50000}};
    struct sigevent ev;
    timer_t timer;
    memset(&ev, 0, sizeof(ev));
    ev.sigev_notify = SIGEV_THREAD_ID;
    ev.sigev_signo = SIGUSR1;
    ev._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &ev, &timer) != 0 || timer_settime(timer, 0, &each, NULL) != 0) {
        abort();
    }
    return timer;
}

static void *work(void *arg)
{
    struct worker *me = arg;
    self = me;
    timer_t signals = begin_signals();
    while (me->tree.steps < w.steps || me->tree.depth > 0) {
        struct step s = take_step(&me->tree, me->tree.steps >= w.steps);
        s.now = w.from_ticks ? 0 : s.now;
        if (s.kind == HPX_EV_ENTER) {
            hpx_calls_enter(&me->calls, s.method, s.now);
        } else if (s.kind == HPX_EV_EXIT) {
            hpx_calls_exit(&me->calls, s.method, s.now);
        } else {
            hpx_calls_thrown(&me->calls, s.method, s.now);
        }
    }
    timer_delete(signals);
    self = NULL;
    while (HPX_CALLS_STATE(atomic_load(&me->calls.fold)) != HPX_CALLS_NONE) { /* the last gap has to be said */
        hpx_calls_flush(&me->calls, me->tree.now);
        sched_yield();
    }
    hpx_registry_retire(&me->t);
    return NULL;
}

/* ---- the reader ---- */

static struct worker *worker_of(struct hpx_thread *t)
{
    return HPX_CONTAINER_OF(t, struct worker, t);
}

static void on_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    free(m);
}

static uint64_t on_tail(void *ctx, struct hpx_thread *t)
{
    struct worker *x = worker_of(t);
    (void)ctx;
    x->peeked = hpx_calls_peek(&x->calls, 1000, &x->pending);
    return x->peeked ? x->pending.at : hpx_ring_peek(&t->ring);
}

static void on_events(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    struct worker *x = worker_of(t);
    const struct hpx_ev_head *end = ev + n / HPX_EV_UNIT;
    (void)ctx;
    if (!t->call_stacks) {
        t->call_stacks = hpx_calltab_attach(&w.tab, x->number);
    }
    for (const struct hpx_ev_head *e = ev; e < end; e += e->units) {
        x->nested_seen += e->kind == HPX_EV_TEST || e->kind == HPX_EV_TICK;
        x->events += e->kind == HPX_EV_ENTER || e->kind == HPX_EV_EXIT || e->kind == HPX_EV_THROWN;
        x->events += e->kind == HPX_EV_LEAF ? 2 * HPX_EV_LEAF_CALLS(e->stamp) : 0;
        x->events += e->kind == HPX_EV_GAP ? e->id : 0;
    }
    while (ev < end) {
        ev = hpx_calltab_apply(&w.tab, t->call_stacks, ev, end);
        ev += ev < end;
    }
}

static bool same_stack(const struct worker *x, const struct hpx_call_stack *s, bool open)
{
    const struct tree *t = &x->truth;
    if (t->depth != s->depth + open) {
        return false;
    }
    for (uint32_t i = 0; i < s->depth; i++) {
        const struct hpx_call_frame *f = &s->frames[i + 1];
        bool same = f->method == t->stack[i].method && (w.from_ticks || f->entered == t->stack[i].entered);
        if (f->method != HPX_CALL_LOST && !same) {
            return false;
        }
    }
    return !open ||
           (x->pending.method == t->stack[t->depth - 1].method && (w.from_ticks || x->pending.entered == t->stack[t->depth - 1].entered));
}

/* What was counted since the last dump, added to what its threads have. */
static void collect(void)
{
    for (uint32_t i = 0; i < w.tab.traces.raws.len; i++) {
        const struct hpx_raw *raw = hpx_traces_at(&w.tab.traces, i);
        const struct hpx_call_cost *cost = hpx_calltab_cost(&w.tab, i);
        if (raw->nframes == 1 && cost->calls > 0) {
            w.workers[raw->thread - 1].called[raw->frames[0].method] += cost->calls;
            w.workers[raw->thread - 1].ns[raw->frames[0].method] += (uint64_t)cost->total;
        }
        w.shown += (uint64_t)cost->self;
    }
    hpx_calltab_reset(&w.tab);
}

/* All ticks that were read are somewhere. Where a thread was not peeked its ticks may wait for a call that it has pending. */
static void compare_ticks(void)
{
    uint64_t calls, early = 0;
    int64_t open;
    hpx_calltab_open(&w.tab, &calls, &open);
    for (unsigned i = 0; i < w.nworkers; i++) {
        struct hpx_call_thread *th = w.workers[i].t.call_stacks;
        early += th && !th->open && th->own.depth == 0 ? th->early : 0;
    }
    w.wrong_ticks += w.from_ticks && w.shown + (uint64_t)open + w.tab.outside_ns + early != w.tab.ticks_ns;
}

static void compare(struct worker *x)
{
    struct hpx_call_thread *th = x->t.call_stacks;
    bool open = x->peeked && x->pending.open;
    while (x->truth.steps < x->events + (x->peeked ? 2 * (uint64_t)x->pending.calls + open : 0)) {
        (void)take_step(&x->truth, x->truth.steps >= w.steps);
    }
    x->dumps++;
    x->wrong_stack += th ? !same_stack(x, &th->own, open) : x->truth.depth != open;
    for (uint32_t m = 1; m <= METHODS && !w.lossy; m++) {
        x->wrong_calls += x->called[m] != x->truth.returned[m];
        x->wrong_ns += !w.from_ticks && x->ns[m] != x->truth.ns[m];
    }
}

static void on_gone(void *ctx, struct hpx_thread *t)
{
    struct worker *x = worker_of(t);
    (void)ctx;
    x->peeked = false;
    collect();
    compare(x);
    hpx_calltab_retire(&w.tab, t->call_stacks);
    t->call_stacks = NULL;
    w.gone++;
}

static bool on_pass_end(void *ctx)
{
    (void)ctx;
    w.dump = stress_random(&w.seed) % 4 != 0;
    for (unsigned i = 0; w.dump && i < w.nworkers; i++) {
        struct worker *x = &w.workers[i];
        if (x->peeked && !x->pending.gap && x->t.call_stacks) {
            hpx_calltab_pending(&w.tab, x->t.call_stacks, &x->pending);
        }
    }
    if (w.dump) {
        collect();
        compare_ticks();
    }
    for (unsigned i = 0; i < w.nworkers; i++) {
        struct worker *x = &w.workers[i];
        if (w.dump && x->peeked && !x->pending.gap && x->t.call_stacks) {
            compare(x);
        }
        x->peeked = false;
    }
    return false;
}

/* ---- tests ---- */

static void begin(unsigned workers, uint64_t steps, bool lossy, bool from_ticks)
{
    const struct hpx_sink sink = {
        .message = on_message, .events = on_events, .thread_gone = on_gone, .pass_end = on_pass_end, .tail = on_tail};
    const struct hpx_calltab_config cfg = {.depth = 1, .times_from_ticks = from_ticks};
    memset((void *)&w, 0, sizeof(w));
    assert_int_equal(hpx_calltab_init(&w.tab, &cfg), 0);
    hpx_aggregator_init(&w.a, &sink);
    w.a.wait_ns = lossy ? 1 : UINT64_C(60000000000);
    hpx_gate_open(&w.gate);
    w.nworkers = workers;
    w.steps = steps;
    w.lossy = lossy;
    w.from_ticks = from_ticks;
    w.seed = 88172645463325252u + workers;
    for (unsigned i = 0; i < workers; i++) {
        struct worker *x = &w.workers[i];
        x->number = i + 1;
        x->tree = (struct tree){.seed = UINT64_C(1234567) * (i + 1) + steps, .leaning = (enum leaning)(i % 3), .last = 1};
        x->truth = x->tree;
        assert_int_equal(hpx_ring_init(&x->t.ring, i % 2 ? HPX_RING_MIN : 8 * HPX_RING_MIN), 0);
        hpx_calls_init(&x->calls, &w.a, &w.gate, &x->t);
        hpx_registry_push(&w.a.registry, &x->t);
    }
}

static void finish(void)
{
    uint64_t dumps = 0, nested = 0, recorded = 0;
    hpx_aggregator_stop(&w.a);
    assert_int_equal(w.gone, w.nworkers);
    for (unsigned i = 0; i < w.nworkers; i++) {
        struct worker *x = &w.workers[i];
        assert_int_equal(x->wrong_stack, 0);
        assert_int_equal(x->wrong_calls, 0);
        assert_int_equal(x->wrong_ns, 0);
        assert_int_equal(x->wrong_at, 0);
        assert_int_equal(x->nested, x->nested_seen);
        assert_int_equal(x->events, x->tree.steps);
        assert_int_equal(x->truth.steps, x->tree.steps);
        dumps += x->dumps;
        nested += x->nested;
        recorded += x->recorded;
        hpx_ring_fini(&x->t.ring);
    }
    assert_int_equal(w.tab.stray + w.tab.resynced + w.tab.no_memory, 0);
    assert_int_equal(w.tab.ticks_ns, recorded);
    assert_int_equal(w.shown + w.tab.outside_ns, w.from_ticks ? recorded : w.shown);
    assert_int_equal(w.wrong_ticks, 0);
    print_message("%u threads: %llu dumps compared, %llu records of handlers\n", w.nworkers, (unsigned long long)dumps,
                  (unsigned long long)nested);
    hpx_aggregator_fini(&w.a);
    hpx_calltab_fini(&w.tab);
}

static void run(unsigned workers, uint64_t steps, bool lossy, bool from_ticks)
{
    pthread_t threads[WORKERS];
    begin(workers, steps, lossy, from_ticks);
    assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
    for (unsigned i = 0; i < workers; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, &w.workers[i]), 0);
    }
    for (unsigned i = 0; i < workers; i++) {
        pthread_join(threads[i], NULL);
    }
    finish();
}

TEST(calls_of_one_thread_are_seen_as_they_are)
{
    run(1, stress_times(1500000), false, false);
}

TEST(calls_of_four_threads_are_seen_as_they_are)
{
    run(4, stress_times(400000), false, false);
    assert_int_equal(w.tab.lost_events, 0);
}

TEST(calls_lost_by_impatient_threads_are_known)
{
    uint64_t true_calls = 0, counted = 0, lost = 0;
    run(3, stress_times(500000), true, false);
    for (unsigned i = 0; i < w.nworkers; i++) {
        for (uint32_t m = HPX_CALL_LOST; m <= METHODS; m++) {
            true_calls += w.workers[i].tree.returned[m];
            counted += w.workers[i].called[m];
        }
        lost += hpx_counter_get(&w.workers[i].t.counters, HPX_C_LOST_WAIT);
    }
    assert_true(lost > 0);
    assert_int_equal(w.tab.lost_events, lost);
    assert_int_equal(counted + w.tab.lost_calls, true_calls);
}

TEST(ticks_of_three_threads_are_all_somewhere)
{
    run(3, stress_times(1000000), false, true);
    assert_true(w.tab.ticks > 0);
    assert_int_equal(w.tab.lost_events, 0);
}

TEST(ticks_among_lost_calls_are_all_somewhere)
{
    run(2, stress_times(1000000), true, true);
    assert_true(w.tab.ticks > 0);
}

int main(void)
{
    struct sigaction on = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &on, NULL);
    return run_the_tests(NULL, NULL);
}
