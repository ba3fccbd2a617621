/* SPDX-License-Identifier: BSD-2-Clause */
/* test_call_switch.c: call stacks that go from thread to thread, read in order and out of it. */
#include "call_fixture.h"
#include "call_internal.h"
#include "failing_memory.h"

/* A virtual thread that th has not let go yet; b, which is returned, mounts it and waits. */
static struct hpx_call_thread *begin_with_a_mount_too_early(void)
{
    begin(3);
    struct hpx_call_thread *b = hpx_calltab_attach(&tab, 0);
    switch_to(th, 77, 0, 10);
    event(HPX_EV_ENTER, 1, 10);
    switch_to(b, 77, 1, 50);
    return b;
}

TEST(carrier_that_ends_while_its_records_wait_applies_them)
{
    begin(3);
    struct hpx_call_thread *b = hpx_calltab_attach(&tab, 0);
    event(HPX_EV_ENTER, 9, 5);
    switch_to(th, 77, 0, 10);
    event(HPX_EV_ENTER, 1, 10);
    switch_to(b, 77, 1, 50);
    event_of(b, HPX_EV_LEAF, 2, HPX_EV_LEAF_STAMP(3, 3));
    hpx_calltab_retire(&tab, b);
    assert_cost(TRACE(2, 1), 3, 3, 3);
    event(HPX_EV_LEAF, 4, HPX_EV_LEAF_STAMP(1, 1)); /* the stack was taken from it */
    assert_cost(TRACE(4, 9), 1, 1, 1);
    event(HPX_EV_EXIT, 9, 30);
    assert_cost(TRACE(9), 1, 24, 25);
    end();
}

TEST(mount_waits_no_longer_than_its_patience)
{
    begin(3);
    struct hpx_call_thread *b = hpx_calltab_attach(&tab, 0);
    switch_to(th, 77, 0, 10);
    event(HPX_EV_ENTER, 1, 10);
    switch_to(th, 0, 0, 20);
    switch_to(b, 77, 5, 50); /* the SWITCHes of the turns between were lost */
    event_of(b, HPX_EV_LEAF, 2, HPX_EV_LEAF_STAMP(3, 3));
    for (uint32_t i = 0; i < HPX_CALL_PATIENCE; i++) {
        hpx_calltab_pass_end(&tab);
        assert_cost(TRACE(2, 1), 0, 0, 0);
    }
    hpx_calltab_pass_end(&tab);
    assert_cost(TRACE(2, 1), 3, 3, 3);
    assert_int_equal(tab.forced, 1);
    switch_to(b, 0, 0, 60);
    switch_to(th, 77, 6, 30); /* and from now on in turn */
    event(HPX_EV_EXIT, 1, 31);
    assert_cost(TRACE(1), 1, 21 - 3, 21);
    end();
}

/* Calls counted, lost and open are the calls begun: an ENTER and its EXIT are one, a LEAF is as many as it stands for. */
TEST(records_that_wait_without_memory_are_counted_as_the_calls_they_are)
{
    static const struct {
        enum hpx_ev_kind kind;
        uint64_t stamp, lost;
    } records[] = {{HPX_EV_ENTER, 51, 1}, {HPX_EV_LEAF, HPX_EV_LEAF_STAMP(7, 7), 7},
                   {HPX_EV_EXIT, 60, 0},  {HPX_EV_THROWN, 61, 0},
                   {HPX_EV_PLACE, 24, 1}, {HPX_EV_PLACE_MULTI, HPX_EV_MULTI_STAMP(0, 5, 16), 5}};
    struct hpx_call_thread *b = begin_with_a_mount_too_early();
    uint64_t waiting = 2;
    while (waiting < 1024) { /* what the first piece of memory holds */
        event_of(b, HPX_EV_LEAF, 3, HPX_EV_LEAF_STAMP(1, 1));
        waiting++;
    }
    memory_refuse();
    for (size_t i = 0; i < HPX_ARRAY_LEN(records); i++) {
        uint64_t before = tab.no_memory;
        event_of(b, records[i].kind, 2, records[i].stamp);
        assert_int_equal(tab.no_memory - before, records[i].lost);
        assert_int_equal(tab.lost_events, i + 1);
    }
    const struct hpx_ev_gap gap = {.head = {HPX_EV_GAP, 2, 9, 70}, .calls = 4}; /* its 9 events have a loss counter */
    (void)hpx_calltab_apply(&tab, b, &gap.head, &gap.head + 2);
    assert_int_equal(tab.lost_events, HPX_ARRAY_LEN(records) + 9);
    assert_int_equal(tab.lost_calls, 4);
    memory_allow();
    switch_to(th, 0, 0, 20);
    hpx_calltab_pass_end(&tab);
    assert_cost(TRACE(3, 1), 1022, 1022, 1022);
    assert_int_equal(tab.no_memory, 14);
    end();
}

/* It is full, as one without memory, which counts what comes above it. */
TEST(stack_of_2_31_calls_does_not_grow)
{
    struct hpx_call_stack s = {.cap = UINT32_C(1) << 31};
    begin(3);
    memory_refuse();
    assert_false(hpx_calltab_grow(&tab, &s));
    assert_int_equal(memory_calls(), 0); /* one for 0 bytes would free the frames */
    assert_int_equal(s.cap, UINT32_C(1) << 31);
    memory_allow();
    end();
}

/* Virtual threads without open calls that yield all the time: `mounts` mounts of 8 keys, dealt at random to 4 carriers, of which each is
 * read as a whole before the next one. Returns the comparisons per mount that waited. */
static uint64_t steps_of_yields(uint64_t mounts, uint32_t idle)
{
    enum { KEYS = 8, CARRIERS = 4 };
    struct hpx_call_thread *carriers[CARRIERS];
    struct {
        uint64_t key, turn;
        uint32_t carrier;
    } *all = calloc(mounts, sizeof(*all));
    uint64_t turns[KEYS + 1] = {0}, seed = 1;
    assert_non_null(all);
    begin(3);
    for (uint64_t i = 0; i < mounts; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        all[i].key = 1 + (seed >> 33) % KEYS;
        all[i].turn = turns[all[i].key]++;
        all[i].carrier = (uint32_t)(seed >> 48) % CARRIERS;
    }
    for (uint32_t i = 0; i < idle; i++) {
        assert_non_null(hpx_calltab_attach(&tab, 0));
    }
    for (uint32_t c = 0; c < CARRIERS; c++) {
        carriers[c] = hpx_calltab_attach(&tab, 0);
        for (uint64_t i = 0; i < mounts; i++) {
            if (all[i].carrier == c) {
                switch_to(carriers[c], all[i].key, all[i].turn, i);
                event_of(carriers[c], HPX_EV_LEAF, 1, HPX_EV_LEAF_STAMP(1, 1));
                switch_to(carriers[c], 0, 0, i);
            }
        }
    }
    hpx_calltab_pass_end(&tab);
    hpx_calltab_pass_end(&tab);
    uint64_t steps = tab.waits.steps;
    for (uint32_t c = 0; c < CARRIERS; c++) {
        assert_int_equal(carriers[c]->backlog.n, 0);
    }
    assert_cost(TRACE(1), mounts, (int64_t)mounts, (int64_t)mounts);
    assert_int_equal(tab.forced + tab.stray + tab.no_memory, 0);
    assert_int_equal(tab.waits.heap_bytes, 0); /* nothing waits any more */
    end();
    free(all);
    return steps / mounts;
}

TEST(look_up_of_an_earlier_mount_costs_the_same_however_many_wait)
{
    uint64_t few = steps_of_yields(1000, 0), many = steps_of_yields(16000, 0), idle = steps_of_yields(1000, 1000);
    assert_true(few > 0);
    assert_true(many <= few + 4 * 4); /* a heap has four levels more when sixteen times as many wait; a scan costs sixteen times as much */
    assert_int_equal(idle, few);      /* threads that do not wait are not looked at */
}

/* A mount whose turn was lost is forced, although a lower one of the same key waits elsewhere: the index forgets both. */
TEST(index_of_waiting_mounts_is_empty_when_nothing_waits)
{
    begin(3);
    struct hpx_call_thread *b = hpx_calltab_attach(&tab, 0);
    switch_to(th, 77, 7, 10);
    switch_to(th, 0, 0, 20);
    switch_to(b, 77, 3, 50);
    switch_to(b, 77 + 64, 9, 60);
    switch_to(b, 0, 0, 70);
    hpx_calltab_retire(&tab, th); /* applies turn 7 before turn 3 */
    assert_true(tab.waits.heap_bytes > 0);
    for (uint32_t i = 0; i < 4 * HPX_CALL_PATIENCE; i++) {
        hpx_calltab_pass_end(&tab);
    }
    assert_int_equal(b->backlog.n, 0);
    assert_int_equal(tab.waits.heap_bytes, 0);
    end();
}

TESTS(NULL, NULL)
