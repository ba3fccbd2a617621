/* SPDX-License-Identifier: BSD-2-Clause */
/* test_calls.c: what the probes of one thread put into its ring, and what they have pending. */
#include "calls.h"
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 4096

static struct hpx_aggregator a;
static struct hpx_gate gate;
static HPX_ALIGNED(HPX_CACHE_LINE) struct hpx_thread thread;
static struct hpx_calls c;
static struct hpx_ev_head got[MOST]; /* records since the last look, their bodies behind them as units of their own */
static size_t ngot;

static void take_all(void)
{
    uint64_t at = hpx_ring_position(&thread.ring), to = hpx_ring_peek(&thread.ring);
    ngot = 0;
    while (at != to) {
        size_t n;
        const struct hpx_ev_head *ev = hpx_ring_span(&thread.ring, at, to, &n), *end = ev + n / HPX_EV_UNIT;
        for (; ev < end; ev += ev->units) {
            if (ev->kind != HPX_EV_PAD) {
                assert_true(ngot + ev->units <= MOST);
                memcpy(&got[ngot], ev, ev->units * sizeof(*ev));
                ngot += ev->units;
            }
        }
        at += n;
        hpx_ring_release(&thread.ring, at);
    }
}

static void assert_record(size_t i, enum hpx_ev_kind kind, uint32_t method, uint64_t stamp)
{
    assert_true(i < ngot);
    assert_int_equal(got[i].kind, kind);
    assert_int_equal(got[i].id, method);
    assert_int_equal(got[i].stamp, stamp);
}

static struct hpx_calls_pending peeked(void)
{
    struct hpx_calls_pending p;
    assert_true(hpx_calls_peek(&c, 1, &p));
    assert_int_equal(p.at, atomic_load(&thread.ring.tail));
    return p;
}

static bool in_gap(void)
{
    struct hpx_calls_pending p;
    assert_true(hpx_calls_peek(&c, 1, &p));
    return p.gap;
}

static void no_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    free(m);
}

static int setup(void **state)
{
    const struct hpx_sink sink = {.message = no_message};
    (void)state;
    memset((void *)&thread, 0, sizeof(thread));
    hpx_gate_open(&gate);
    hpx_aggregator_init(&a, &sink);
    if (hpx_ring_init(&thread.ring, HPX_RING_MIN) != 0) {
        return -1;
    }
    a.wait_ns = 1000;
    hpx_calls_init(&c, &a, &gate, &thread);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    hpx_aggregator_fini(&a);
    hpx_ring_fini(&thread.ring);
    return 0;
}

TEST(calls_clock_that_runs_backwards_gives_no_time, setup, teardown)
{
    hpx_calls_enter(&c, 5, 100);
    hpx_calls_exit(&c, 5, 90);
    assert_int_equal(peeked().ns, 0);
    assert_int_equal(peeked().calls, 1);
}

TEST(calls_on_the_stack_that_the_thread_is_on_are_no_switch, setup, teardown)
{
    hpx_calls_switch(&c, 7, 0, 1);
    uint64_t at = hpx_ring_peek(&thread.ring);
    hpx_calls_switch(&c, 7, 1, 2);
    assert_int_equal(hpx_ring_peek(&thread.ring), at);
}

TEST(calls_handler_sees_what_is_pending_but_not_inside_a_push, setup, teardown)
{
    struct hpx_calls_pending p;
    hpx_calls_enter(&c, 5, 1);
    assert_false(hpx_calls_in_push(&c));
    assert_int_equal(peeked().method, 5);
    hpx_calls_begin_push(&c);
    assert_true(hpx_calls_in_push(&c));
    assert_false(hpx_calls_peek(&c, 3, &p));
}

TEST(calls_child_of_a_fork_sees_what_is_pending, setup, teardown)
{
    hpx_calls_enter(&c, 5, 1);
    hpx_calls_enter(&c, 6, 2);
    pid_t pid = fork();
    if (pid == 0) {
        struct hpx_calls_pending p;
        bool ok = hpx_calls_peek(&c, 1, &p) && p.open && p.method == 6 && p.entered == 2 && p.at == HPX_EV_UNIT;
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Leaves room for less than `units`. */
static void fill_ring(unsigned units)
{
    for (uint32_t i = 0; i < HPX_RING_MIN / HPX_EV_UNIT - units + 1; i++) {
        struct hpx_ev_head *ev = hpx_ring_reserve(&thread.ring, HPX_EV_UNIT);
        assert_non_null(ev);
        *ev = (struct hpx_ev_head){.kind = HPX_EV_TEST, .id = i};
        hpx_ring_commit(&thread.ring, ev, HPX_EV_UNIT);
    }
}

static const struct hpx_ev_gap *gap_at(size_t i)
{
    assert_int_equal(got[i].kind, HPX_EV_GAP);
    assert_int_equal(got[i].units, 2);
    return (const struct hpx_ev_gap *)(const void *)&got[i];
}

TEST(calls_lost_in_a_full_ring_are_said_by_a_gap, setup, teardown)
{
    hpx_calls_enter(&c, 1, 1);
    hpx_calls_enter(&c, 2, 2);
    hpx_calls_exit(&c, 2, 3);
    fill_ring(2);
    hpx_calls_exit(&c, 1, 4); /* LEAF and EXIT find no place: lost are a call of 2 and the exit */
    assert_true(in_gap());
    hpx_calls_exit(&c, 9, 5); /* still no place, and no wait */
    hpx_calls_enter(&c, 3, 6);
    hpx_calls_enter(&c, 4, 7);
    hpx_calls_exit(&c, 4, 8);
    assert_int_equal(hpx_counter_get(&thread.counters, HPX_C_LOST_WAIT), 7);
    take_all();
    hpx_calls_exit(&c, 3, 9);
    take_all();
    const struct hpx_ev_gap *g = gap_at(0);
    assert_int_equal(g->head.id, 7);
    assert_int_equal(g->head.stamp, 9);
    assert_int_equal(g->returned, 2);
    assert_int_equal(g->entered, 1);
    assert_int_equal(g->calls, 3);
    assert_record(2, HPX_EV_EXIT, 3, 9);
    assert_int_equal(ngot, 3);
    assert_int_equal(hpx_counter_get(&thread.counters, HPX_C_LOST_WAIT), 7);
    assert_int_equal(atomic_load(&thread.busy), 0);
}

TEST(calls_gap_ends_when_a_quarter_is_free, setup, teardown)
{
    hpx_calls_enter(&c, 1, 1);
    fill_ring(1);
    hpx_calls_enter(&c, 2, 2);
    assert_true(in_gap());
    hpx_ring_release(&thread.ring, HPX_RING_MIN / 4 - HPX_EV_UNIT);
    hpx_calls_enter(&c, 3, 3);
    assert_true(in_gap());
    hpx_ring_release(&thread.ring, HPX_RING_MIN / 4);
    hpx_calls_enter(&c, 3, 4);
    assert_false(in_gap());
    assert_int_equal(peeked().method, 3);
}

TEST(calls_switch_in_a_gap_says_both_stacks, setup, teardown)
{
    hpx_calls_enter(&c, 1, 1);
    fill_ring(1);
    hpx_calls_enter(&c, 2, 2);
    hpx_calls_switch(&c, 77, 4, 3);
    hpx_calls_exit(&c, 8, 4);
    take_all();
    hpx_calls_exit(&c, 9, 5);
    take_all();
    assert_int_equal(ngot, 7);
    assert_int_equal(gap_at(0)->entered, 2);
    assert_int_equal(gap_at(0)->head.id, 4);
    assert_record(2, HPX_EV_SWITCH, 0, 5);
    assert_int_equal(((const struct hpx_ev_switch *)(const void *)&got[2])->key, 77);
    assert_int_equal(gap_at(4)->returned, 1);
    assert_int_equal(gap_at(4)->entered, 0);
    assert_record(6, HPX_EV_EXIT, 9, 5);
}

TEST(calls_lost_on_one_stack_are_not_said_of_the_next, setup, teardown)
{
    fill_ring(1);
    hpx_calls_switch(&c, 77, 4, 2);
    hpx_calls_enter(&c, 2, 3);
    hpx_calls_switch(&c, 78, 4, 4);
    take_all();
    hpx_calls_exit(&c, 9, 5);
    take_all();
    assert_int_equal(((const struct hpx_ev_switch *)(const void *)&got[2])->key, 78);
    assert_int_equal(gap_at(4)->entered, 0);
    assert_int_equal(gap_at(4)->calls, 0);
}

TESTS(NULL, NULL)
