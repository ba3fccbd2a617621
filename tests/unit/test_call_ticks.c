/* SPDX-License-Identifier: BSD-2-Clause */
/* test_call_ticks.c: times=sampled: ticks of a handler among calls, from the ring to the sums. */
#include "call_fixture.h"
#include <stdlib.h>
#include <string.h>

#define METHODS 5u
#define DEEP    12u

static struct hpx_aggregator a;
static struct hpx_gate gate;
static HPX_ALIGNED(HPX_CACHE_LINE) struct hpx_thread thread;
static struct hpx_calls c;

static void no_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    free(m);
}

static void drain_all(void)
{
    drain_ring(&thread.ring, hpx_ring_peek(&thread.ring));
}

/* As a dump: what is pending belongs behind `at`. */
static struct hpx_calls_pending drain_and_peek(void)
{
    struct hpx_calls_pending p;
    assert_true(hpx_calls_peek(&c, 1, &p));
    drain_ring(&thread.ring, p.at);
    hpx_calltab_pending(&tab, th, &p);
    return p;
}

static int setup(void **state)
{
    const struct hpx_sink sink = {.message = no_message};
    const struct hpx_calltab_config cfg = {.depth = 1, .times_from_ticks = true};
    (void)state;
    memset((void *)&thread, 0, sizeof(thread));
    hpx_gate_open(&gate);
    hpx_aggregator_init(&a, &sink);
    if (hpx_ring_init(&thread.ring, HPX_RING_MIN) != 0 || hpx_calltab_init(&tab, &cfg) != 0) {
        return -1;
    }
    a.wait_ns = 1000;
    hpx_calls_init(&c, &a, &gate, &thread);
    th = hpx_calltab_attach(&tab, 0);
    return th ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    hpx_calltab_fini(&tab);
    hpx_aggregator_fini(&a);
    hpx_ring_fini(&thread.ring);
    return 0;
}

static void tick(uint64_t ns)
{
    assert_true(hpx_calls_tick_sig(&c, ns));
}

TEST(ticks_in_a_push_in_a_gap_and_without_room_are_the_callers, setup, teardown)
{
    hpx_calls_begin_push(&c);
    assert_false(hpx_calls_tick_sig(&c, 1));
    atomic_store(&c.fold, HPX_CALLS_NONE);
    atomic_store(&thread.busy, 1); /* it waits for space */
    assert_false(hpx_calls_tick_sig(&c, 1));
    atomic_store(&thread.busy, 0);
    hpx_calls_enter(&c, 1, 0);
    while (hpx_calls_tick_sig(&c, 1)) {
    }
    assert_int_equal(hpx_counter_get(&thread.counters, HPX_C_LOST_RING_FULL), 0);
    hpx_calls_enter(&c, 2, 0); /* no space, and a wait in vain: a gap */
    drain_all();
    assert_false(hpx_calls_tick_sig(&c, 1));
    hpx_calls_exit(&c, 2, 0); /* ends the gap */
    hpx_calls_exit(&c, 1, 0);
    tick(3);
    drain_all();
    assert_int_equal(tab.ticks_ns, HPX_RING_MIN / HPX_EV_UNIT + 3);
    assert_int_equal(tab.outside_ns, HPX_RING_MIN / HPX_EV_UNIT + 3); /* the enter of 1 was lost: its ticks are nobody's */
    assert_int_equal(tab.lost_events, 2);
    hpx_calls_enter(&c, 5, 0);
    hpx_calls_exit(&c, 5, 0);
    hpx_calls_flush(&c, 0);
    drain_all();
    assert_cost(TRACE(5), 1, 0, 0);
}

TEST(times_by_stamps_know_no_ticks, setup, teardown)
{
    tab.cfg.times_from_ticks = false;
    event(HPX_EV_ENTER, 1, 5);
    event(HPX_EV_TICK, 0, 1000);
    assert_int_equal(th->last, 5);
    event(HPX_EV_EXIT, 1, 9);
    assert_cost(TRACE(1), 1, 4, 4);
}

/* ---- random trees: each tick has its truth ---- */

/* xorshift */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static struct {
    uint32_t stack[DEEP], depth;
    uint64_t calls[METHODS + 1], ns[METHODS + 1], seen_calls[METHODS + 1], seen_ns[METHODS + 1], outside;
} truth;

static void collect(void)
{
    for (uint32_t m = 1; m <= METHODS; m++) {
        struct hpx_call_cost x = cost_of(&tab, TRACE(m));
        truth.seen_calls[m] += x.calls;
        truth.seen_ns[m] += (uint64_t)x.self;
    }
    hpx_calltab_reset(&tab);
}

static void random_step(uint64_t *seed, bool end)
{
    uint64_t dice = next_random(seed);
    if (dice % 5 == 0 && hpx_calls_tick_sig(&c, dice >> 40)) {
        *(truth.depth ? &truth.ns[truth.stack[truth.depth - 1]] : &truth.outside) += dice >> 40;
    } else if (!end && truth.depth < DEEP && (truth.depth == 0 || dice >> 8 & 1)) {
        uint32_t m = 1 + (uint32_t)(dice >> 16) % (dice >> 9 & 1 ? 2 : METHODS);
        truth.stack[truth.depth++] = m;
        hpx_calls_enter(&c, m, 0);
    } else if (truth.depth > 0) {
        uint32_t m = truth.stack[--truth.depth];
        truth.calls[m]++;
        hpx_calls_exit(&c, m, 0);
    }
    if (dice >> 32 & 1 && dice % 31 == 0) { /* a pass; with a dump or without */
        drain_all();
    } else if (dice % 37 == 0) {
        drain_and_peek();
        collect();
    }
    if (hpx_ring_peek(&thread.ring) - hpx_ring_position(&thread.ring) > HPX_RING_MIN / 2) {
        drain_all();
    }
}

TEST(ticks_in_random_trees_are_each_where_they_fell, setup, teardown)
{
    uint64_t seed = 4711, all = 0, n;
    int64_t open;
    memset(&truth, 0, sizeof(truth));
    for (unsigned i = 0; i < 200000; i++) {
        random_step(&seed, false);
    }
    drain_all();
    drain_and_peek();
    collect();
    for (uint32_t m = 1; m <= METHODS; m++) {
        all += truth.seen_ns[m];
    }
    hpx_calltab_open(&tab, &n, &open);
    assert_int_equal(n, truth.depth);
    assert_int_equal(all + (uint64_t)open + tab.outside_ns, tab.ticks_ns);
    while (truth.depth > 0) {
        random_step(&seed, true);
    }
    drain_all();
    drain_and_peek();
    collect();
    for (uint32_t m = 1; m <= METHODS; m++) {
        assert_int_equal(truth.seen_calls[m], truth.calls[m]);
        assert_int_equal(truth.seen_ns[m], truth.ns[m]);
    }
    assert_int_equal(tab.outside_ns, truth.outside);
    assert_int_equal(tab.stray + tab.resynced + tab.lost_events, 0);
}

TESTS(NULL, NULL)
