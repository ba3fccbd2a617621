/* SPDX-License-Identifier: BSD-2-Clause */
/* test_call_drainers.c: threads that go to drainers and back: what is open and counted on the way, ends, switches, gathering, want of
 * memory and of threads. */
#include "drainers_fixture.h"

/* The first threads have a call of method 1 open, which the main one has read. */
static void begin_with_open_calls(unsigned limit, unsigned threads)
{
    begin(limit);
    for (unsigned i = 0; i < threads; i++) {
        enter(i, 1);
        flush(i);
    }
    hpx_aggregator_pass(&w.a);
}

/* As begin_with_open_calls; then all threads go to a drainer. */
static void begin_in_drainers(unsigned limit, unsigned threads)
{
    begin_with_open_calls(limit, threads);
    assert_true(hpx_call_drainers_start(&w.s));
    hpx_call_drainers_give(&w.s, to_first, NULL);
}

static void call(unsigned i, uint32_t method)
{
    enter(i, method);
    leave(i, method);
}

static struct hpx_calls_pending pending[THREADS];

static uint64_t peek_tail(void *ctx, struct hpx_thread *t)
{
    struct one *o = HPX_CONTAINER_OF(t, struct one, t);
    (void)ctx;
    assert_true(hpx_calls_peek(&o->calls, 1, &pending[o - w.threads]));
    return pending[o - w.threads].at;
}

static void take_peeked(struct hpx_calltab *t, struct hpx_thread *th)
{
    hpx_calltab_pending(t, th->call_stacks, &pending[HPX_CONTAINER_OF(th, struct one, t) - w.threads]);
}

TEST(collecting_makes_no_thread_and_loses_no_drainer)
{
    begin_with_open_calls(2, 2);
    assert_false(hpx_call_drainers_collect(&w.s, UINT32_MAX, peek_tail, take_peeked)); /* nobody has anything */
    assert_true(hpx_call_drainers_start(&w.s));
    hpx_call_drainers_give(&w.s, to_first, NULL);
    assert_true(hpx_call_drainers_start(&w.s));
    unsigned asked = threads_asked;
    refuse_thread = true;
    for (unsigned round = 0; round < 5; round++) {
        (void)hpx_call_drainers_collect(&w.s, UINT32_MAX, peek_tail, take_peeked);
    }
    refuse_thread = false;
    assert_int_equal(w.s.running, 2);
    assert_int_equal(threads_asked, asked);
    assert_true(in_drainer(0) && in_drainer(1));
    call(0, 2);
    flush(0);
    await_read(0); /* by the drainer: it goes on */
    end();
}

TEST(drainers_that_are_held_or_asked_to_be_are_gathered)
{
    for (unsigned held = 0; held <= 2; held++) {
        begin_in_drainers(2, 2);
        assert_true(hpx_call_drainers_start(&w.s));
        for (unsigned i = 0; i < 2; i++) {
            hpx_aggregator_hold(&w.s.drainers[i]->a);
        }
        for (unsigned i = 0; i < held; i++) {
            hpx_aggregator_await_held(&w.s.drainers[i]->a);
        }
        call(0, 2);
        flush(0);
        hpx_call_drainers_gather(&w.s);
        assert_false(in_drainer(0) || in_drainer(1));
        hpx_aggregator_pass(&w.a);
        assert_open(2);
        assert_cost(0, TRACE(2, 1), 1, 1);
        assert_true(w.s.cpu_ns > 0);
        end();
    }
}

TEST(threads_that_end_are_the_main_ones_at_last)
{
    begin_in_drainers(1, 2);
    for (unsigned i = 0; i < 2; i++) {
        call(i, 2);
        flush(i);
        hpx_registry_retire(&w.threads[i].t);
        await_home(i);
    }
    for (uint64_t until = hpx_clock_mono() + UINT64_C(20000000000); w.gone < 2 && hpx_clock_mono() < until;) {
        hpx_aggregator_pass(&w.a);
    }
    assert_int_equal(w.gone, 2);
    assert_int_equal(w.tab.resynced, 2); /* 1 is still open at the end of each */
    hpx_call_drainers_gather(&w.s);
    assert_int_equal(w.tab.calls, 4);
    assert_cost(0, TRACE(2, 1), 1, 1);
    assert_cost(1, TRACE(2, 1), 1, 1);
    assert_open(0);
    end();
}

TEST(carriers_come_back_at_their_first_switch_and_stay)
{
    begin_in_drainers(1, 1);
    enter(0, 2);
    hpx_calls_switch(&w.threads[0].calls, 77, 0, ++w.threads[0].now);
    call(0, 3);
    hpx_calls_switch(&w.threads[0].calls, 0, 0, ++w.threads[0].now);
    leave(0, 2);
    leave(0, 1);
    flush(0);
    await_home(0);
    pass_until_counted(0, TRACE(3));
    assert_cost(0, TRACE(3), 1, 1);
    assert_cost(0, TRACE(2, 1), 1, 2); /* without the time on the other stack */
    hpx_call_drainers_give(&w.s, to_first, NULL);
    assert_false(in_drainer(0));
    assert_int_equal(w.tab.forced + w.tab.stray + w.tab.resynced, 0);
    end();
}

/* The mount that came first is in a drainer's ring; the main one does not run out of patience over it. */
TEST(mounts_wait_for_what_a_drainer_has_yet_to_read)
{
    begin(1);
    w.balance = true;
    w.s.busy = UINT32_MAX; /* no balance, but what it does for switches */
    for (unsigned i = 0; i < 2; i++) {
        enter(i, 1);
        flush(i);
    }
    hpx_aggregator_pass(&w.a);
    assert_true(hpx_call_drainers_start(&w.s));
    unsigned which = 0;
    hpx_call_drainers_give(&w.s, to_first, &which);
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

TEST(want_of_a_thread_or_of_memory_leaves_the_drainers_that_run)
{
    for (unsigned memory = 0; memory < 2; memory++) {
        begin_in_drainers(2, 1);
        await_read(0);
        w.s.retry_ns = UINT64_C(1) << 60;
        refuse_thread = !memory;
        if (memory) {
            memory_refuse();
        }
        assert_false(hpx_call_drainers_start(&w.s));
        memory_allow();
        refuse_thread = false;
        assert_false(hpx_call_drainers_start(&w.s));
        assert_int_equal(w.s.running, 1);
        assert_true(in_drainer(0));
        w.s.retry_at = 0;
        assert_true(hpx_call_drainers_start(&w.s));
        assert_int_equal(w.s.running, 2);
        end();
    }
}

/* The aggregator is held until the thread waits for it. */
static void *let_go(void *unused)
{
    (void)unused;
    for (uint64_t until = hpx_clock_mono() + w.a.wait_ns; atomic_load(&w.a.waiters) == 0 && hpx_clock_mono() < until;) {
        sched_yield();
    }
    hpx_aggregator_go_on(&w.a);
    return NULL;
}

TEST(calls_wait_until_a_full_ring_has_room)
{
    begin(0);
    w.a.wait_ns = UINT64_C(20000000000);
    assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
    hpx_aggregator_hold(&w.a);
    hpx_aggregator_await_held(&w.a);
    pthread_t other;
    uint64_t until = hpx_clock_mono() + w.a.wait_ns;
    assert_int_equal(__real_pthread_create(&other, NULL, let_go, NULL), 0);
    for (unsigned i = 0; i < 10000; i++) { /* five times as many as there is room for */
        call(0, 1 + i % 7);
    }
    flush(0);
    assert_int_equal(pthread_join(other, NULL), 0);
    hpx_aggregator_stop(&w.a);
    assert_true(hpx_clock_mono() < until);
    assert_int_equal(w.tab.calls, 10000);
    assert_int_equal(w.tab.lost_calls + w.tab.lost_events, 0);
    end();
}

static void await_passes(unsigned n)
{
    struct hpx_call_drainer *d = w.s.drainers[0];
    uint64_t passes = atomic_load(&d->passes);
    while (atomic_load(&d->passes) < passes + n) {
        hpx_aggregator_wake(&d->a);
        sched_yield();
    }
}

TEST(thread_for_which_a_drainer_has_no_memory_is_gathered_with_all)
{
    begin_with_open_calls(1, 1);
    assert_true(hpx_call_drainers_start(&w.s));
    memory_refuse();
    hpx_call_drainers_give(&w.s, to_first, NULL);
    await_passes(2);
    hpx_call_drainers_gather(&w.s);
    memory_allow();
    assert_false(in_drainer(0));
    leave(0, 1);
    flush(0);
    hpx_aggregator_pass(&w.a);
    assert_cost(0, TRACE(1), 1, 1);
    assert_int_equal(w.tab.no_memory, 0);
    end();
}

TEST(calls_that_cannot_be_merged_are_counted_as_lost)
{
    begin_in_drainers(1, 1);
    for (uint32_t m = 2; m < 20000; m++) { /* more traces than there is room for */
        call(0, m);
        if (m % 500 == 0) {
            flush(0);
            await_read(0);
        }
    }
    flush(0);
    await_read(0);
    await_passes(2); /* it has applied what it has read */
    memory_refuse();
    hpx_call_drainers_gather(&w.s);
    memory_allow();
    uint64_t shown = 0;
    for (uint32_t n = 0; n < w.tab.traces.raws.len; n++) {
        shown += hpx_calltab_cost(&w.tab, n)->calls;
    }
    assert_int_equal(w.tab.calls, 19998);
    assert_true(w.tab.no_memory > 0);
    assert_int_equal(shown + w.tab.no_memory, 19998);
    end();
}

TESTS(NULL, NULL)
