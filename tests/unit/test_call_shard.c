/* SPDX-License-Identifier: BSD-2-Clause */
/* test_call_shard.c: threads that go to drainers and back: what is open and counted on the way, ends, switches, gathering, the balance,
 * want of memory and of threads. The main aggregator's passes are made by the test; drainers run. */
#include "call_shard.h"
#include "clock.h"
#include "cmocka_all.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4u

static bool refuse_thread;
static _Atomic int refuse_memory; /* relaxed: a drainer may look */
static uint64_t fake_cpu;         /* not 0: what the main thread's CPU clock says */

int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, long offset);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, long offset);
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, long offset);
uint64_t __real_hpx_clock_thread_cpu(void);
uint64_t __wrap_hpx_clock_thread_cpu(void);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    return refuse_thread ? EAGAIN : __real_pthread_create(t, attr, fn, arg);
}

void *__wrap_malloc(size_t n)
{
    return atomic_load_explicit(&refuse_memory, memory_order_relaxed) ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return atomic_load_explicit(&refuse_memory, memory_order_relaxed) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return atomic_load_explicit(&refuse_memory, memory_order_relaxed) ? NULL : __real_realloc(p, n);
}

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, long offset)
{
    return atomic_load_explicit(&refuse_memory, memory_order_relaxed) ? (void *)-1 : __real_mmap(at, n, prot, flags, fd, offset);
}

void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, long offset)
{
    return __wrap_mmap(at, n, prot, flags, fd, offset);
}

static pthread_t main_thread;

uint64_t __wrap_hpx_clock_thread_cpu(void)
{
    return fake_cpu != 0 && pthread_equal(pthread_self(), main_thread) ? fake_cpu : __real_hpx_clock_thread_cpu();
}

/* ---- the main one, and threads whose events the test makes ---- */

static struct {
    struct hpx_aggregator a;
    struct hpx_gate gate;
    struct hpx_calltab tab;
    struct hpx_shard s;
    unsigned gone;
    bool balance;
    HPX_ALIGNED(HPX_CACHE_LINE) struct one {
        struct hpx_thread t;
        struct hpx_calls calls;
        uint64_t now;
    } threads[THREADS];
} w;

static void on_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    free(m);
}

static void on_events(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    (void)ctx;
    if (!t->calls) {
        t->calls = hpx_calltab_attach(&w.tab, (uint32_t)(HPX_CONTAINER_OF(t, struct one, t) - w.threads) + 1);
    }
    (void)hpx_calltab_apply(&w.tab, t->calls, ev, ev + n / HPX_EV_UNIT);
}

static void on_came(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_shard_came(&w.s, t);
}

static void on_gone(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    if (t->calls) {
        hpx_calltab_retire(&w.tab, t->calls);
        t->calls = NULL;
    }
    w.gone++;
}

static bool on_pass_end(void *ctx)
{
    (void)ctx;
    hpx_calltab_pass_end(&w.tab);
    if (w.balance) {
        hpx_shard_balance(&w.s);
    }
    return false;
}

static void begin(unsigned limit)
{
    const struct hpx_sink sink = {
        .message = on_message, .events = on_events, .thread_came = on_came, .thread_gone = on_gone, .pass_end = on_pass_end};
    const struct hpx_calltab_config cfg = {.depth = 3};
    memset((void *)&w, 0, sizeof(w));
    main_thread = pthread_self();
    fake_cpu = 0;
    hpx_gate_open(&w.gate);
    assert_int_equal(hpx_calltab_init(&w.tab, &cfg), 0);
    assert_int_equal(hpx_aggregator_init(&w.a, &sink), 0);
    hpx_shard_init(&w.s, &w.a, &w.tab, limit);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(hpx_ring_init(&w.threads[i].t.ring, 16 * HPX_RING_MIN), 0);
        hpx_calls_init(&w.threads[i].calls, &w.a, &w.gate, &w.threads[i].t);
        hpx_registry_attach(&w.a.registry, &w.threads[i].t);
    }
}

static void end(void)
{
    hpx_shard_fini(&w.s);
    hpx_aggregator_fini(&w.a);
    hpx_calltab_fini(&w.tab);
    for (unsigned i = 0; i < THREADS; i++) {
        hpx_ring_fini(&w.threads[i].t.ring);
    }
}

static void enter(unsigned i, uint32_t method)
{
    hpx_calls_enter(&w.threads[i].calls, method, ++w.threads[i].now);
}

static void leave(unsigned i, uint32_t method)
{
    hpx_calls_exit(&w.threads[i].calls, method, ++w.threads[i].now);
}

static void flush(unsigned i)
{
    hpx_calls_flush(&w.threads[i].calls, w.threads[i].now);
}

static uint32_t to_first(void *ctx, struct hpx_thread *t)
{
    const unsigned *which = ctx;
    return !which || t == &w.threads[*which].t ? 0 : HPX_SHARD_STAYS;
}

static bool in_drainer(unsigned i)
{
    return hpx_aggregator_of(&w.threads[i].t, &w.a) != &w.a;
}

/* The drainer has read all that the thread has sent. */
static void await_read(unsigned i)
{
    const struct hpx_ring *r = &w.threads[i].t.ring;
    uint64_t to = atomic_load(&((struct hpx_ring *)(uintptr_t)r)->tail), until = hpx_clock_mono() + UINT64_C(20000000000);
    hpx_aggregator_wake(hpx_aggregator_of(&w.threads[i].t, &w.a));
    while (atomic_load(&((struct hpx_ring *)(uintptr_t)r)->head) != to && hpx_clock_mono() < until) {
        sched_yield();
    }
    assert_int_equal(atomic_load(&((struct hpx_ring *)(uintptr_t)r)->head), to);
}

static void await_home(unsigned i)
{
    uint64_t until = hpx_clock_mono() + UINT64_C(20000000000);
    while (in_drainer(i) && hpx_clock_mono() < until) {
        hpx_aggregator_wake(hpx_aggregator_of(&w.threads[i].t, &w.a));
        sched_yield();
    }
    assert_false(in_drainer(i));
}

/* Calls and ns of the trace of these methods, leaf first, of thread i; 0 ends them. */
static struct hpx_call_cost cost_of(unsigned i, const uint32_t *methods)
{
    for (uint32_t n = 0; n < w.tab.traces.len; n++) {
        const struct hpx_raw *raw = hpx_traces_at(&w.tab.traces, n);
        uint32_t k = 0;
        while (k < raw->nframes && methods[k] == raw->frames[k].sampled) {
            k++;
        }
        if (raw->thread == i + 1 && k == raw->nframes && methods[k] == 0) {
            return *hpx_calltab_cost(&w.tab, n);
        }
    }
    return (struct hpx_call_cost){0};
}
#define TRACE(...) ((const uint32_t[]){__VA_ARGS__, 0})

static void assert_cost(unsigned i, const uint32_t *methods, uint64_t calls, int64_t self)
{
    struct hpx_call_cost c = cost_of(i, methods);
    assert_int_equal(c.calls, calls);
    assert_int_equal(c.self, self);
}

static void assert_open(uint64_t calls)
{
    uint64_t n;
    int64_t ns;
    hpx_calltab_open(&w.tab, &n, &ns);
    assert_int_equal(n, calls);
}

/* ---- tests ---- */

static void threads_go_with_their_open_calls_and_come_back(void **state)
{
    unsigned which = 1;
    (void)state;
    begin(2);
    for (unsigned i = 0; i < 2; i++) {
        enter(i, 1);
        enter(i, 2);
        flush(i);
    }
    hpx_aggregator_pass(&w.a);
    assert_open(4);
    assert_true(hpx_shard_start(&w.s));
    hpx_shard_give(&w.s, to_first, &which);
    assert_false(in_drainer(0));
    assert_true(in_drainer(1));
    assert_open(2);
    for (unsigned i = 0; i < 2; i++) {
        enter(i, 3);
        enter(i, 4); /* deeper than a trace: 4 3 2 */
        leave(i, 4);
        leave(i, 3);
        leave(i, 2);
        flush(i);
    }
    await_read(1);
    hpx_aggregator_pass(&w.a);
    assert_int_equal(w.tab.calls, 3);
    assert_cost(1, TRACE(2, 1), 0, 0);
    enter(1, 5); /* still in the ring, or kept back, when it comes back */
    flush(1);
    hpx_shard_gather(&w.s);
    assert_false(in_drainer(1));
    assert_int_equal(w.tab.calls, 6);
    hpx_aggregator_pass(&w.a);
    assert_open(3); /* 1; 1, 5 */
    leave(1, 5);
    leave(1, 1);
    flush(1);
    hpx_aggregator_pass(&w.a);
    assert_cost(1, TRACE(4, 3, 2), 1, 1);
    assert_cost(1, TRACE(3, 2, 1), 1, 2);
    assert_cost(1, TRACE(2, 1), 1, 2);
    assert_cost(1, TRACE(5, 1), 1, 1);
    assert_cost(1, TRACE(1), 1, 3);
    assert_int_equal(w.tab.stray + w.tab.resynced + w.tab.no_memory, 0);
    assert_int_equal(w.s.given, 1);
    end();
}

static void drainers_gathered_for_a_dump_come_again(void **state)
{
    (void)state;
    begin(2);
    enter(0, 1);
    flush(0);
    hpx_aggregator_pass(&w.a);
    for (unsigned dump = 1; dump <= 5; dump++) {
        assert_true(hpx_shard_start(&w.s));
        assert_true(hpx_shard_start(&w.s));
        assert_false(hpx_shard_start(&w.s));
        hpx_shard_give(&w.s, to_first, NULL);
        assert_true(in_drainer(0));
        enter(0, 2);
        leave(0, 2);
        flush(0);
        if (dump % 2) {
            await_read(0); /* else what is left comes home in the ring */
        }
        hpx_shard_gather(&w.s);
        assert_int_equal(w.s.running, 0);
        hpx_aggregator_pass(&w.a);
        assert_open(1);
        assert_cost(0, TRACE(2, 1), 1, 1);
        hpx_calltab_reset(&w.tab);
    }
    assert_int_equal(w.tab.calls, 5);
    assert_int_equal(w.s.most, 2);
    assert_true(w.s.cpu_ns > 0);
    end();
}

static void threads_that_end_are_the_main_ones_at_last(void **state)
{
    (void)state;
    begin(1);
    for (unsigned i = 0; i < 2; i++) {
        enter(i, 1);
        flush(i);
    }
    hpx_aggregator_pass(&w.a);
    assert_true(hpx_shard_start(&w.s));
    hpx_shard_give(&w.s, to_first, NULL);
    for (unsigned i = 0; i < 2; i++) {
        enter(i, 2);
        leave(i, 2);
        flush(i);
        hpx_registry_retire(&w.threads[i].t);
        await_home(i);
    }
    hpx_aggregator_pass(&w.a);
    assert_int_equal(w.gone, 2);
    assert_int_equal(w.tab.resynced, 2); /* 1 is still open at the end of each */
    hpx_shard_gather(&w.s);
    assert_int_equal(w.tab.calls, 4);
    assert_cost(0, TRACE(2, 1), 1, 1);
    assert_cost(1, TRACE(2, 1), 1, 1);
    assert_open(0);
    end();
}

static void carriers_come_back_at_their_first_switch_and_stay(void **state)
{
    (void)state;
    begin(1);
    enter(0, 1);
    flush(0);
    hpx_aggregator_pass(&w.a);
    assert_true(hpx_shard_start(&w.s));
    hpx_shard_give(&w.s, to_first, NULL);
    enter(0, 2);
    hpx_calls_switch(&w.threads[0].calls, 77, 0, ++w.threads[0].now);
    enter(0, 3);
    leave(0, 3);
    hpx_calls_switch(&w.threads[0].calls, 0, 0, ++w.threads[0].now);
    leave(0, 2);
    leave(0, 1);
    flush(0);
    await_home(0);
    hpx_aggregator_pass(&w.a);
    assert_cost(0, TRACE(3), 1, 1);
    assert_cost(0, TRACE(2, 1), 1, 2); /* without the time on the other stack */
    hpx_shard_give(&w.s, to_first, NULL);
    assert_false(in_drainer(0));
    assert_int_equal(w.tab.forced + w.tab.stray + w.tab.resynced, 0);
    end();
}

/* The mount that came first is in a drainer's ring; the main one does not run out of patience over it. */
static void mounts_wait_for_what_a_drainer_has_yet_to_read(void **state)
{
    (void)state;
    begin(1);
    w.balance = true;
    w.s.busy = UINT32_MAX; /* no balance, but what it does for switches */
    for (unsigned i = 0; i < 2; i++) {
        enter(i, 1);
        flush(i);
    }
    hpx_aggregator_pass(&w.a);
    assert_true(hpx_shard_start(&w.s));
    unsigned which = 0;
    hpx_shard_give(&w.s, to_first, &which);
    await_read(0);
    uint64_t passes = atomic_load(&w.s.drainers[0]->passes);
    while (atomic_load(&w.s.drainers[0]->passes) == passes) { /* the last one that finds nothing has begun: it sleeps now, or soon */
        hpx_aggregator_wake(&w.s.drainers[0]->a);
        sched_yield();
    }
    hpx_calls_switch(&w.threads[0].calls, 9, 0, ++w.threads[0].now);
    enter(0, 2);
    hpx_calls_switch(&w.threads[0].calls, 0, 0, ++w.threads[0].now);
    w.threads[1].now = w.threads[0].now;
    hpx_calls_switch(&w.threads[1].calls, 9, 1, ++w.threads[1].now);
    leave(1, 2);
    hpx_calls_switch(&w.threads[1].calls, 0, 0, ++w.threads[1].now);
    for (unsigned i = 0; i < 10 * HPX_CALL_PATIENCE || in_drainer(0); i++) {
        hpx_aggregator_pass(&w.a);
    }
    for (unsigned i = 0; i < 4; i++) {
        hpx_aggregator_pass(&w.a);
    }
    assert_int_equal(w.tab.forced + w.tab.stray + w.tab.resynced, 0);
    assert_cost(0, TRACE(2), 1, 1 + 1);
    end();
}

static void want_of_a_thread_leaves_all_with_the_main_one(void **state)
{
    (void)state;
    begin(2);
    refuse_thread = true;
    assert_false(hpx_shard_start(&w.s));
    refuse_thread = false;
    assert_int_equal(w.s.limit, 0);
    assert_false(hpx_shard_start(&w.s)); /* not asked for again and again */
    enter(0, 1);
    flush(0);
    hpx_aggregator_pass(&w.a);
    hpx_shard_give(&w.s, to_first, NULL);
    assert_false(in_drainer(0));
    end();
    begin(2);
    atomic_store(&refuse_memory, 1);
    assert_false(hpx_shard_start(&w.s));
    atomic_store(&refuse_memory, 0);
    assert_int_equal(w.s.running, 0);
    end();
}

static void await_passes(unsigned n)
{
    struct hpx_drainer *d = w.s.drainers[0];
    uint64_t passes = atomic_load(&d->passes);
    while (atomic_load(&d->passes) < passes + n) {
        hpx_aggregator_wake(&d->a);
        sched_yield();
    }
}

static void thread_for_which_a_drainer_has_no_memory_is_gathered_with_all(void **state)
{
    (void)state;
    begin(1);
    enter(0, 1);
    flush(0);
    hpx_aggregator_pass(&w.a);
    assert_true(hpx_shard_start(&w.s));
    atomic_store(&refuse_memory, 1);
    hpx_shard_give(&w.s, to_first, NULL);
    await_passes(2);
    hpx_shard_gather(&w.s);
    atomic_store(&refuse_memory, 0);
    assert_false(in_drainer(0));
    leave(0, 1);
    flush(0);
    hpx_aggregator_pass(&w.a);
    assert_cost(0, TRACE(1), 1, 1);
    assert_int_equal(w.tab.no_memory, 0);
    end();
}

static void calls_that_cannot_be_merged_are_counted_as_lost(void **state)
{
    (void)state;
    begin(1);
    enter(0, 1);
    flush(0);
    hpx_aggregator_pass(&w.a);
    assert_true(hpx_shard_start(&w.s));
    hpx_shard_give(&w.s, to_first, NULL);
    for (uint32_t m = 2; m < 20000; m++) { /* more traces than there is room for */
        enter(0, m);
        leave(0, m);
        if (m % 500 == 0) {
            flush(0);
            await_read(0);
        }
    }
    flush(0);
    await_read(0);
    await_passes(2); /* it has applied what it has read */
    atomic_store(&refuse_memory, 1);
    hpx_shard_gather(&w.s);
    atomic_store(&refuse_memory, 0);
    uint64_t shown = 0;
    for (uint32_t n = 0; n < w.tab.traces.len; n++) {
        shown += hpx_calltab_cost(&w.tab, n)->calls;
    }
    assert_int_equal(w.tab.calls, 19998);
    assert_true(w.tab.no_memory > 0);
    assert_int_equal(shown + w.tab.no_memory, 19998);
    end();
}

/* ---- the balance ---- */

/* A window in which the main one used this share of a core, and these threads sent as much as that. */
static void window(uint32_t load, const unsigned *calls)
{
    for (unsigned i = 0; i < THREADS; i++) {
        for (unsigned k = 0; k < calls[i]; k++) {
            enter(i, 1);
            enter(i, 2);
            leave(i, 2);
            leave(i, 1);
        }
        flush(i);
    }
    uint64_t until = w.s.meter.wall + w.s.window_ns;
    while (hpx_clock_mono() < until) {
        sched_yield();
    }
    /* As CPU time is compared with what passed until the look: for all of it, or for none. */
    fake_cpu = w.s.meter.cpu + (load ? UINT64_C(1000000000000) : 1);
    hpx_aggregator_pass(&w.a);
}

static unsigned given(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        n += in_drainer(i);
    }
    return n;
}

static void begin_balance(unsigned limit)
{
    begin(limit);
    w.balance = true;
    w.s.window_ns = 1000000;
    fake_cpu = 1;
    hpx_aggregator_pass(&w.a); /* the first window begins */
}

static void half_of_a_busy_ones_load_goes_to_a_drainer(void **state)
{
    static const unsigned even[] = {400, 400, 400, 400};
    (void)state;
    begin_balance(1);
    window(1, even);
    assert_int_equal(given(), 0);
    window(1, even);
    assert_int_equal(given(), 2);
    assert_int_equal(w.s.running, 1);
    end();
}

static void one_thread_alone_never_has_a_drainer(void **state)
{
    static const unsigned alone[] = {900, 0, 0, 0}, nearly[] = {900, 100, 0, 0};
    (void)state;
    begin_balance(4);
    for (unsigned i = 0; i < 20; i++) {
        window(1, i % 2 ? alone : nearly);
    }
    assert_int_equal(w.s.most, 0);
    end();
}

static void idle_one_gives_nothing_away(void **state)
{
    static const unsigned even[] = {400, 400, 400, 400};
    (void)state;
    begin_balance(4);
    for (unsigned i = 0; i < 10; i++) {
        window(0, even);
        window(i % 2, even); /* one busy window is not enough */
        window(0, even);
    }
    assert_int_equal(w.s.most, 0);
    end();
}

static void limit_follows_the_processors(void **state)
{
    cpu_set_t was, one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(was), &was), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &was)) {
            CPU_SET(i, &one);
        }
    }
    assert_int_equal(hpx_shard_limit(), CPU_COUNT(&was) / 2 < 8 ? CPU_COUNT(&was) / 2 : 8);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(hpx_shard_limit(), 0);
    assert_int_equal(sched_setaffinity(0, sizeof(was), &was), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_go_with_their_open_calls_and_come_back),
        cmocka_unit_test(drainers_gathered_for_a_dump_come_again),
        cmocka_unit_test(threads_that_end_are_the_main_ones_at_last),
        cmocka_unit_test(carriers_come_back_at_their_first_switch_and_stay),
        cmocka_unit_test(mounts_wait_for_what_a_drainer_has_yet_to_read),
        cmocka_unit_test(want_of_a_thread_leaves_all_with_the_main_one),
        cmocka_unit_test(thread_for_which_a_drainer_has_no_memory_is_gathered_with_all),
        cmocka_unit_test(calls_that_cannot_be_merged_are_counted_as_lost),
        cmocka_unit_test(half_of_a_busy_ones_load_goes_to_a_drainer),
        cmocka_unit_test(one_thread_alone_never_has_a_drainer),
        cmocka_unit_test(idle_one_gives_nothing_away),
        cmocka_unit_test(limit_follows_the_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
