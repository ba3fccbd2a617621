/* SPDX-License-Identifier: BSD-2-Clause */
/* aggregator.c: the pass, its rhythm, and the two ways to find space in a ring. */
#include "aggregator.h"
#include "sigmask.h"

#include "clock.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLEEP_MIN_NS   UINT64_C(1000000)
#define SLEEP_FIRST_NS UINT64_C(10000000)
#define SLEEP_MAX_NS   UINT64_C(100000000)
#define SLICE_NS       UINT64_C(1000000)
#define STACK_BYTES    ((size_t)256 << 10)

enum { RUNS, ASKED, HELD }; /* hpx_aggregator.hold. The holder writes ASKED and RUNS, the loop HELD over ASKED alone */

struct pass {
    size_t bytes, messages;
    bool crowded; /* a ring was more than a quarter full */
    bool again;   /* the sink's wish */
};

void hpx_aggregator_init(struct hpx_aggregator *a, const struct hpx_sink *sink)
{
    memset(a, 0, sizeof(*a));
    a->sink = *sink;
    a->wait_ns = HPX_EXACT_WAIT_NS;
    a->name = HPX_AGGREGATOR_NAME;
    a->last_passes = HPX_LAST_PASSES;
    a->sleep_ns = SLEEP_FIRST_NS;
    hpx_registry_init(&a->registry);
    hpx_wake_init(&a->space);
    hpx_wake_init(&a->turn);
    hpx_lane_init(&a->control);
}

static void add_thread(void *ctx, struct hpx_thread *t)
{
    struct hpx_aggregator *a = ctx;
    if (a->nthreads == a->cap_threads) {
        uint32_t cap = a->cap_threads * 2 + 64;
        struct hpx_thread **grown = realloc(a->threads, cap * sizeof(struct hpx_thread *));
        if (!grown) {
            hpx_registry_push(&a->registry, t); /* the next pass tries again; its ring keeps what it holds */
            a->untaken++;
            return;
        }
        a->threads = grown;
        a->cap_threads = cap;
    }
    a->threads[a->nthreads++] = t;
    if (a->sink.thread_came) {
        a->sink.thread_came(a->sink.ctx, t);
    }
}

static void read_tails(struct hpx_aggregator *a, struct pass *p)
{
    for (uint32_t i = 0; i < a->nthreads; i++) {
        struct hpx_thread *t = a->threads[i];
        /* Partner: hpx_registry_retire(). State before tail: a tail read after RETIRED is the last one. */
        t->retired = atomic_load_explicit(&t->state, memory_order_acquire) == HPX_THREAD_RETIRED;
        uint64_t at = hpx_ring_position(&t->ring);
        t->drain_to = a->sink.tail && !t->retired ? a->sink.tail(a->sink.ctx, t) : hpx_ring_peek(&t->ring);
        if ((int64_t)(t->drain_to - at) < 0) {
            t->drain_to = at; /* drained past it before */
        }
        p->crowded |= t->drain_to - at > (t->ring.mask + 1) / 4;
    }
    HPX_TESTPOINT(aggregator_tails_read);
}

static void apply_messages(struct hpx_aggregator *a, struct pass *p)
{
    struct hpx_msg *m = hpx_lane_splice(&a->control);
    while (m) {
        struct hpx_msg *next = m->next;
        a->sink.message(a->sink.ctx, m);
        p->messages++;
        m = next;
    }
}

static size_t drain(struct hpx_aggregator *a, struct hpx_thread *t)
{
    uint64_t start = hpx_ring_position(&t->ring), at = start;
    while (at != t->drain_to) {
        size_t n;
        const struct hpx_ev_head *ev = hpx_ring_span(&t->ring, at, t->drain_to, &n);
        a->sink.events(a->sink.ctx, t, ev, n);
        at += n;
        hpx_ring_release(&t->ring, at);
    }
    return (size_t)(at - start);
}

static void drain_all(struct hpx_aggregator *a, struct pass *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->nthreads; i++) {
        struct hpx_thread *t = a->threads[i];
        p->bytes += drain(a, t);
        if (!t->retired) {
            a->threads[kept++] = t;
        } else if (a->sink.thread_gone) {
            a->sink.thread_gone(a->sink.ctx, t);
        }
    }
    a->nthreads = kept;
}

static struct pass one_pass(struct hpx_aggregator *a)
{
    struct pass p = {0};
    a->untaken = 0;
    hpx_registry_collect(&a->registry, add_thread, a);
    read_tails(a, &p);
    apply_messages(a, &p);
    drain_all(a, &p);
    if (atomic_load_explicit(&a->waiters, memory_order_relaxed)) {
        hpx_wake_post(&a->space);
    }
    p.again = a->sink.pass_end && a->sink.pass_end(a->sink.ctx);
    a->passes++;
    a->bytes += p.bytes;
    return p;
}

size_t hpx_aggregator_pass(struct hpx_aggregator *a)
{
    return one_pass(a).bytes;
}

/* Doubles while nothing comes, halves when a ring was more than a quarter full: then it was nearly too late. */
static uint64_t next_sleep(uint64_t ns, const struct pass *p)
{
    if (p->crowded) {
        return ns / 2 > SLEEP_MIN_NS ? ns / 2 : SLEEP_MIN_NS;
    }
    if (p->bytes + p->messages == 0) {
        return ns * 2 < SLEEP_MAX_NS ? ns * 2 : SLEEP_MAX_NS;
    }
    return ns;
}

static void pause_if_asked(struct hpx_aggregator *a)
{
    uint32_t is = ASKED;
    /* release: partner: hpx_aggregator_await_held(). An exchange: leave() may take the wish back at the same time. */
    if (!atomic_compare_exchange_strong_explicit(&a->hold, &is, HELD, memory_order_release, memory_order_relaxed)) {
        return;
    }
    hpx_wake_post(&a->turn);
    for (;;) {
        uint32_t seen = hpx_wake_value(&a->turn);
        if (atomic_load_explicit(&a->hold, memory_order_acquire) != HELD) { /* partner: hpx_aggregator_go_on() */
            return;
        }
        hpx_wake_wait(&a->turn, seen, SLEEP_MAX_NS);
    }
}

static void *loop(void *arg)
{
    struct hpx_aggregator *a = arg;
    pthread_setname_np(pthread_self(), a->name);
    a->tid = gettid();
    hpx_wake_post(&a->space); /* start() waits for tid */
    for (uint32_t last = 0; last <= a->last_passes;) {
        uint32_t seen = hpx_wake_value(&a->control.wake); /* before the pass: a wake during it is not slept over */
        pause_if_asked(a);                                /* behind the value: a wish that came later ends the sleep */
        bool stop = atomic_load_explicit(&a->stop, memory_order_acquire);
        struct pass p = one_pass(a);
        if (p.again) {
            continue;
        }
        if (stop) {
            if (p.bytes + p.messages == 0) {
                break;
            }
            last++;
            continue;
        }
        a->sleep_ns = next_sleep(a->sleep_ns, &p);
        HPX_TESTPOINT(aggregator_before_sleep);
        hpx_wake_wait(&a->control.wake, seen, a->sleep_ns);
    }
    return NULL;
}

int hpx_aggregator_start(struct hpx_aggregator *a, struct hpx_err *err)
{
    pthread_attr_t attr;
    sigset_t all, old;
    atomic_store_explicit(&a->stop, false, memory_order_relaxed); /* handed over by pthread_create */
    if (pthread_attr_init(&attr) != 0) {
        return hpx_err_set(err, HPX_E_SYS, "cannot start the aggregator thread: no memory for its attributes");
    }
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES); /* a refusal leaves the default stack, which is larger */
    uint32_t seen = hpx_wake_value(&a->space);
    hpx_sigmask_ours(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    a->running = true; /* before: its own calls look at it */
    int rc = pthread_create(&a->thread, &attr, loop, a);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (rc != 0) {
        a->running = false;
        return hpx_err_set(err, HPX_E_SYS, "cannot start the aggregator thread: %s%s", strerror(rc),
                           rc == EAGAIN ? "; raise the limit of threads (ulimit -u, or pids of the container)" : "");
    }
    while (hpx_wake_value(&a->space) == seen) {
        hpx_wake_wait(&a->space, seen, SLEEP_MAX_NS);
    }
    return 0;
}

void hpx_aggregator_leave(struct hpx_aggregator *a)
{
    atomic_store_explicit(&a->stop, true, memory_order_release); /* partner: loop */
    hpx_aggregator_go_on(a);                                     /* behind `stop`: the next pass is the last one */
    hpx_wake_post(&a->control.wake);
}

void hpx_aggregator_hold(struct hpx_aggregator *a)
{
    /* Partner: pause_if_asked(), which may see this instead of the go_on before. */
    atomic_store_explicit(&a->hold, ASKED, memory_order_release);
    hpx_wake_post(&a->control.wake);
}

void hpx_aggregator_await_held(struct hpx_aggregator *a)
{
    for (;;) {
        uint32_t seen = hpx_wake_value(&a->turn);
        if (atomic_load_explicit(&a->hold, memory_order_acquire) == HELD) { /* partner: pause_if_asked() */
            return;
        }
        hpx_wake_wait(&a->turn, seen, SLEEP_MAX_NS);
    }
}

void hpx_aggregator_go_on(struct hpx_aggregator *a)
{
    atomic_store_explicit(&a->hold, RUNS, memory_order_release); /* partner: pause_if_asked() */
    hpx_wake_post(&a->turn);
}

void hpx_aggregator_stop(struct hpx_aggregator *a)
{
    hpx_aggregator_leave(a);
    if (a->running) {
        pthread_join(a->thread, NULL);
        a->running = false;
    }
}

static void give_back(void *ctx, struct hpx_thread *t)
{
    struct hpx_aggregator *a = ctx;
    if (a->sink.thread_gone) {
        a->sink.thread_gone(a->sink.ctx, t);
    }
}

void hpx_aggregator_fini(struct hpx_aggregator *a)
{
    for (uint32_t i = 0; i < a->nthreads; i++) {
        give_back(a, a->threads[i]);
    }
    hpx_registry_collect(&a->registry, give_back, a);
    free(a->threads);
    a->threads = NULL;
    a->nthreads = a->cap_threads = 0;
    hpx_lane_fini(&a->control);
}

void hpx_aggregator_give(struct hpx_thread *t, struct hpx_aggregator *to)
{
    atomic_store_explicit(&t->drainer, to, memory_order_release); /* partner: hpx_aggregator_of() */
    HPX_TESTPOINT(thread_given);
    hpx_registry_push(&to->registry, t);
    hpx_aggregator_wake(to);
}

struct parting {
    struct hpx_aggregator *a, *(*whose)(void *ctx, struct hpx_thread *t);
    void *ctx;
};

static bool part_one(const struct parting *p, struct hpx_thread *t)
{
    struct hpx_aggregator *to = p->whose(p->ctx, t);
    if (to == p->a) {
        return false;
    }
    hpx_aggregator_give(t, to);
    return true;
}

static void part_fresh(void *ctx, struct hpx_thread *t)
{
    const struct parting *p = ctx;
    if (!part_one(p, t)) {
        hpx_registry_push(&p->a->registry, t);
    }
}

void hpx_aggregator_part(struct hpx_aggregator *a, struct hpx_aggregator *(*whose)(void *ctx, struct hpx_thread *t), void *ctx)
{
    struct parting p = {a, whose, ctx};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->nthreads; i++) {
        struct hpx_thread *t = a->threads[i];
        if (!part_one(&p, t)) {
            a->threads[kept++] = t;
        }
    }
    a->nthreads = kept;
    if (!a->running) {
        hpx_registry_collect(&a->registry, part_fresh, &p);
    }
    if (atomic_load_explicit(&a->waiters, memory_order_relaxed)) {
        hpx_wake_post(&a->space); /* who waits finds out for whom */
    }
}

void hpx_aggregator_wake(struct hpx_aggregator *a)
{
    hpx_wake_post(&a->control.wake);
}

void hpx_aggregator_each(struct hpx_aggregator *a, void (*fn)(void *ctx, struct hpx_thread *t), void *ctx)
{
    for (uint32_t i = 0; i < a->nthreads; i++) {
        fn(ctx, a->threads[i]);
    }
}

/* The owner looks at the consumer's progress at most once in a quarter of the ring: the fill that it knows is an upper bound until then. */
static void look_at_fill(struct hpx_aggregator *a, struct hpx_ring *r, uint64_t tail)
{
    uint64_t size = r->mask + 1;
    r->head_cache = atomic_load_explicit(&r->head, memory_order_acquire); /* partner: hpx_ring_release() */
    if (tail - r->head_cache > size / 2) {
        uint64_t full = r->head_cache + size, next = tail + size / 4;
        r->look = next < full ? next : full;
        hpx_aggregator_wake(a);
    } else {
        r->look = r->head_cache + size / 2;
    }
}

/* reserve, and the high-water wake. */
static void *reserve(struct hpx_aggregator *a, struct hpx_ring *r, size_t n)
{
    void *p = hpx_ring_reserve(r, n);
    if (hpx_unlikely(!p)) {
        hpx_aggregator_wake(a);
        return NULL;
    }
    uint64_t end = atomic_load_explicit(&r->tail, memory_order_relaxed) + n; /* without a pad: a hint needs no more */
    if (hpx_unlikely((int64_t)(end - r->look) > 0)) {
        look_at_fill(a, r, end);
    }
    return p;
}

void *hpx_reserve_or_drop(struct hpx_aggregator *a, struct hpx_thread *t, size_t n, uint64_t weight)
{
    void *p = reserve(hpx_aggregator_of(t, a), &t->ring, n);
    if (hpx_unlikely(!p)) {
        hpx_count(&t->counters, HPX_C_LOST_RING_FULL, weight);
    }
    return p;
}

void hpx_time_put(struct hpx_aggregator *a, struct hpx_thread *t)
{
    uint64_t now = hpx_clock_mono();
    struct hpx_ev_head *ev = now >= t->told_ns + HPX_TIME_STEP_NS ? reserve(hpx_aggregator_of(t, a), &t->ring, sizeof *ev) : NULL;
    if (ev != NULL) {
        *ev = (struct hpx_ev_head){.kind = HPX_EV_TIME, .stamp = now};
        hpx_ring_commit(&t->ring, ev, sizeof *ev);
        t->told_ns = now;
    }
}

/* One slice, of whoever has t now; true: it is over. */
static bool wait_a_slice(struct hpx_aggregator *a, struct hpx_thread *t, size_t n, uint64_t end, void **p)
{
    atomic_fetch_add_explicit(&a->waiters, 1, memory_order_relaxed);
    uint32_t seen = hpx_wake_value(&a->space); /* before the look at the ring: space made after it ends the wait at once */
    *p = reserve(a, &t->ring, n);
    bool over = *p || hpx_clock_mono() >= end;
    if (!over) {
        HPX_TESTPOINT(reserve_before_wait);
        hpx_wake_wait(&a->space, seen, SLICE_NS);
    }
    atomic_fetch_sub_explicit(&a->waiters, 1, memory_order_relaxed);
    return over;
}

static void *wait_for_space(struct hpx_aggregator *a, struct hpx_gate *g, struct hpx_thread *t, size_t n)
{
    void *p = NULL;
    uint64_t end = hpx_clock_mono() + a->wait_ns;
    while (hpx_gate_is_open(g) && !wait_a_slice(hpx_aggregator_of(t, a), t, n, end, &p)) {
    }
    return p;
}

void *hpx_reserve_or_wait(struct hpx_aggregator *a, struct hpx_gate *g, struct hpx_thread *t, size_t n)
{
    void *p = reserve(hpx_aggregator_of(t, a), &t->ring, n);
    if (hpx_unlikely(!p)) {
        p = wait_for_space(a, g, t, n);
        if (!p) {
            hpx_count(&t->counters, HPX_C_LOST_WAIT, 1);
        }
    }
    return p;
}
