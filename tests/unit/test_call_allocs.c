/* SPDX-License-Identifier: BSD-2-Clause */
/* test_call_allocs.c: what calls allocate, as exact calls keep it: under the trace of the call that is open. */
#include "call_fixture.h"

/* What the trace of these methods (leaf first, 0 ends them) allocated at the place; two of one trace, place and level are a fault. */
static struct hpx_call_alloc alloc_in(const struct hpx_calltab *t, const uint32_t *methods, uint32_t place, uint32_t level)
{
    struct hpx_call_alloc sum = {.objects = 0};
    unsigned found = 0;
    for (uint32_t i = 0; i < t->allocs.len; i++) {
        const struct hpx_call_alloc *a = hpx_vec_at(&t->allocs, i);
        if (is_trace_of(t, a->node, methods) && a->place == place && a->level == level) {
            sum = *a;
            found++;
        }
    }
    assert_true(found <= 1);
    return sum;
}

static void assert_alloc(const uint32_t *methods, uint32_t place, uint64_t objects, uint64_t bytes)
{
    struct hpx_call_alloc a = alloc_in(&tab, methods, place, 0);
    assert_int_equal(a.objects, objects);
    assert_int_equal(a.bytes, bytes);
}

#define EMPTY ((const uint32_t[]){0})

TEST(allocations_are_of_the_call_that_is_open)
{
    begin(4);
    event(HPX_EV_PLACE, 70, 8);
    event(HPX_EV_ENTER, 1, 0);
    event(HPX_EV_PLACE, 71, 16);
    event(HPX_EV_ENTER, 2, 0);
    event(HPX_EV_PLACE, 71, 32);
    event(HPX_EV_PLACE, 72, 32);
    event(HPX_EV_PLACE, 71, 40);
    event(HPX_EV_LEAF, 3, HPX_EV_LEAF_STAMP(5, 5));
    event(HPX_EV_EXIT, 2, 0);
    event(HPX_EV_PLACE, 71, 64);
    event(HPX_EV_ENTER, 2, 0);
    event(HPX_EV_PLACE, 72, 0);
    event(HPX_EV_THROWN, 2, 0);
    event(HPX_EV_EXIT, 1, 0);
    event(HPX_EV_PLACE, 70, 8);
    assert_alloc(EMPTY, 70, 2, 16);
    assert_alloc(TRACE(1), 71, 2, 80);
    assert_alloc(TRACE(2, 1), 71, 2, 72);
    assert_alloc(TRACE(2, 1), 72, 2, 32);
    assert_int_equal(tab.allocs.len, 4);
    assert_int_equal(tab.calls, 8);
    assert_int_equal(tab.stray + tab.resynced + tab.no_memory, 0);
    end();
}

TEST(dimensions_are_kept_apart)
{
    begin(2);
    event(HPX_EV_ENTER, 1, 0);
    event(HPX_EV_PLACE_MULTI, 9, HPX_EV_MULTI_STAMP(0, 1, 32));
    event(HPX_EV_PLACE_MULTI, 9, HPX_EV_MULTI_STAMP(1, 3, 24));
    event(HPX_EV_PLACE_MULTI, 9, HPX_EV_MULTI_STAMP(1, 4, 48));
    assert_alloc(TRACE(1), 9, 1, 32);
    assert_int_equal(alloc_in(&tab, TRACE(1), 9, 1).objects, 7);
    assert_int_equal(alloc_in(&tab, TRACE(1), 9, 1).bytes, 3 * 24 + 4 * 48);
    assert_int_equal(alloc_in(&tab, TRACE(1), 9, 2).objects, 0);
    end();
}

TEST(recursion_allocates_under_as_many_traces_as_it_has)
{
    begin(3);
    for (uint32_t i = 0; i < 1000; i++) {
        event(HPX_EV_ENTER, 7, 0);
        event(HPX_EV_PLACE, 1, 16);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        event(HPX_EV_EXIT, 7, 0);
        event(HPX_EV_PLACE, 1, 8); /* by the caller */
    }
    assert_alloc(TRACE(7), 1, 2, 16 + 8);
    assert_alloc(TRACE(7, 7), 1, 2, 16 + 8);
    assert_alloc(TRACE(7, 7, 7), 1, 998 + 997, 998 * 16 + 997 * 8);
    assert_alloc(EMPTY, 1, 1, 8);
    end();
}

TEST(at_depth_0_all_are_of_the_empty_trace)
{
    begin(0);
    event(HPX_EV_PLACE, 1, 16);
    event(HPX_EV_ENTER, 1, 0);
    event(HPX_EV_PLACE, 1, 16);
    event(HPX_EV_ENTER, 2, 0);
    event(HPX_EV_PLACE, 1, 16);
    assert_alloc(EMPTY, 1, 3, 48);
    assert_int_equal(tab.allocs.len, 1);
    end();
}

TEST(threads_with_a_serial_have_their_own)
{
    begin(1);
    struct hpx_call_thread *x = hpx_calltab_attach(&tab, 200001), *y = hpx_calltab_attach(&tab, 200002);
    event_of(x, HPX_EV_ENTER, 5, 0);
    event_of(y, HPX_EV_ENTER, 5, 0);
    event_of(x, HPX_EV_PLACE, 1, 8);
    event_of(y, HPX_EV_PLACE, 1, 16);
    event_of(y, HPX_EV_PLACE, 1, 16);
    uint64_t seen[2] = {0};
    for (uint32_t i = 0; i < tab.allocs.len; i++) {
        const struct hpx_call_alloc *a = hpx_vec_at(&tab.allocs, i);
        const struct hpx_raw *raw = hpx_traces_at(&tab.traces, a->node);
        seen[raw->thread - 200001] += a->objects;
    }
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 2);
    end();
}

TEST(allocations_behind_a_gap_are_of_what_is_still_open)
{
    begin(3);
    event(HPX_EV_ENTER, 1, 0);
    event(HPX_EV_ENTER, 2, 0);
    gap(10, 1, 1, 3, 0); /* 2 has returned, and a call that nobody knows is open */
    event(HPX_EV_PLACE, 5, 16);
    event(HPX_EV_ENTER, 3, 0);
    event(HPX_EV_PLACE, 5, 24);
    event(HPX_EV_EXIT, 3, 0);
    event(HPX_EV_EXIT, 4, 0);   /* says whose the unknown one was */
    event(HPX_EV_PLACE, 5, 32); /* and 1 is the open one again */
    uint64_t unknown = 0;
    for (uint32_t i = 0; i < tab.allocs.len; i++) { /* method 0: none of a fixture's traces */
        const struct hpx_call_alloc *a = hpx_vec_at(&tab.allocs, i);
        const struct hpx_raw *raw = hpx_traces_at(&tab.traces, a->node);
        bool lost = raw->nframes == 2 && raw->frames[0].method == HPX_CALL_LOST && raw->frames[1].method == 1;
        bool inside = raw->nframes == 3 && raw->frames[0].method == 3 && raw->frames[1].method == HPX_CALL_LOST;
        unknown += lost || inside ? a->bytes : 0;
    }
    assert_int_equal(unknown, 16 + 24);
    assert_alloc(TRACE(1), 5, 1, 32);
    assert_alloc(TRACE(2, 1), 5, 0, 0);
    assert_int_equal(tab.allocs.len, 3);
    end();
}

TEST(several_tables_are_added_up_once)
{
    enum { OTHERS = 3 };
    const struct hpx_calltab_config cfg = {.depth = 2};
    struct hpx_calltab others[OTHERS];
    begin(2);
    event(HPX_EV_ENTER, 1, 0);
    event(HPX_EV_PLACE, 5, 16);
    for (uint32_t i = 0; i < OTHERS; i++) {
        assert_int_equal(hpx_calltab_init(&others[i], &cfg), 0);
        struct hpx_call_thread *x = hpx_calltab_attach(&others[i], 0);
        const struct hpx_ev_head ev[] = {
            {HPX_EV_PLACE, 1, 5, 8},  {HPX_EV_ENTER, 1, 9 + i, 0},
            {HPX_EV_PLACE, 1, 5, 8},  {HPX_EV_EXIT, 1, 9 + i, 0},
            {HPX_EV_ENTER, 1, 1, 0},  {HPX_EV_PLACE, 1, 5, 24},
            {HPX_EV_PLACE, 1, 6, 40}, {HPX_EV_PLACE_MULTI, 1, 7, HPX_EV_MULTI_STAMP(1, 5, 16)},
        };
        assert_ptr_equal(hpx_calltab_apply(&others[i], x, ev, ev + HPX_ARRAY_LEN(ev)), ev + HPX_ARRAY_LEN(ev));
        assert_true(hpx_calltab_merge(&tab, &others[i], UINT32_MAX));
    }
    for (uint32_t again = 0; again < 2; again++) {
        assert_alloc(EMPTY, 5, OTHERS, 8 * OTHERS);
        assert_alloc(TRACE(1), 5, 1 + OTHERS, 16 + 24 * OTHERS);
        assert_alloc(TRACE(1), 6, OTHERS, 40 * OTHERS);
        assert_alloc(TRACE(10), 5, 1, 8);
        assert_int_equal(alloc_in(&tab, TRACE(1), 7, 1).objects, 5 * OTHERS);
        assert_int_equal(alloc_in(&tab, TRACE(1), 7, 1).bytes, 80 * OTHERS);
        for (uint32_t i = 0; i < OTHERS; i++) {
            assert_true(hpx_calltab_merge(&tab, &others[i], UINT32_MAX)); /* nothing is left of what was moved */
        }
    }
    for (uint32_t i = 0; i < OTHERS; i++) {
        hpx_calltab_fini(&others[i]);
    }
    end();
}

/* A drainer merges some nodes at a time: what was allocated comes with the last of them. */
TEST(a_merge_in_parts_moves_allocations_once)
{
    const struct hpx_calltab_config cfg = {.depth = 2};
    struct hpx_calltab other;
    begin(2);
    assert_int_equal(hpx_calltab_init(&other, &cfg), 0);
    struct hpx_call_thread *x = hpx_calltab_attach(&other, 0);
    for (uint32_t m = 1; m <= 10; m++) {
        const struct hpx_ev_head ev[] = {{HPX_EV_ENTER, 1, m, 0}, {HPX_EV_PLACE, 1, 5, 8}, {HPX_EV_EXIT, 1, m, 0}};
        (void)hpx_calltab_apply(&other, x, ev, ev + HPX_ARRAY_LEN(ev));
    }
    for (uint32_t part = 0; part < 20; part++) {
        assert_true(hpx_calltab_merge(&tab, &other, 3));
    }
    for (uint32_t m = 1; m <= 10; m++) {
        assert_alloc(TRACE(m), 5, 1, 8);
    }
    assert_int_equal(tab.calls, 10);
    hpx_calltab_fini(&other);
    end();
}

TEST(a_virtual_threads_stack_takes_its_own)
{
    begin(3);
    struct hpx_call_thread *b = hpx_calltab_attach(&tab, 0);
    event(HPX_EV_ENTER, 1, 0);
    switch_to(th, 77, 0, 0);
    event(HPX_EV_PLACE, 5, 8); /* on the empty stack of the virtual thread */
    event(HPX_EV_ENTER, 2, 0);
    event(HPX_EV_PLACE, 5, 16);
    switch_to(th, 0, 0, 0);
    event(HPX_EV_PLACE, 5, 32); /* the carrier's own */
    switch_to(b, 77, 1, 0);
    event_of(b, HPX_EV_PLACE, 5, 64);
    event_of(b, HPX_EV_EXIT, 2, 0);
    switch_to(b, 0, 0, 0);
    assert_alloc(EMPTY, 5, 1, 8);
    assert_alloc(TRACE(2), 5, 2, 80);
    assert_alloc(TRACE(1), 5, 1, 32);
    end();
}

TEST(what_waits_for_another_carrier_is_counted_once)
{
    begin(3);
    struct hpx_call_thread *b = hpx_calltab_attach(&tab, 0);
    switch_to(b, 77, 1, 0); /* read before the mount before it */
    event_of(b, HPX_EV_PLACE, 5, 64);
    hpx_calltab_pass_end(&tab);
    assert_int_equal(tab.allocs.len, 0);
    switch_to(th, 77, 0, 0);
    event(HPX_EV_ENTER, 2, 0);
    switch_to(th, 0, 0, 0);
    hpx_calltab_pass_end(&tab);
    assert_alloc(TRACE(2), 5, 1, 64);
    end();
}

TEST(cleared_allocations_begin_anew_and_costs_stay)
{
    begin(2);
    event(HPX_EV_ENTER, 1, 0);
    event(HPX_EV_PLACE, 5, 16);
    event(HPX_EV_EXIT, 1, 7);
    hpx_calltab_reset(&tab);
    assert_alloc(TRACE(1), 5, 1, 16); /* a dump resets the costs alone */
    event(HPX_EV_LEAF, 1, HPX_EV_LEAF_STAMP(2, 2));
    hpx_calltab_clear_allocs(&tab);
    assert_alloc(TRACE(1), 5, 0, 0);
    assert_cost(TRACE(1), 2, 2, 2);
    event(HPX_EV_ENTER, 1, 0);
    event(HPX_EV_PLACE, 5, 24);
    assert_alloc(TRACE(1), 5, 1, 24);
    end();
}

TEST(allocations_change_no_times)
{
    begin(2);
    event(HPX_EV_ENTER, 1, 100);
    event(HPX_EV_PLACE, 5, UINT64_MAX >> 1);
    assert_open(1, 0);
    event(HPX_EV_LEAF, 2, HPX_EV_LEAF_STAMP(1, 10));
    event(HPX_EV_PLACE_MULTI, 5, UINT64_MAX);
    event(HPX_EV_EXIT, 1, 150);
    assert_cost(TRACE(1), 1, 40, 50);
    assert_cost(TRACE(2, 1), 1, 10, 10);
    assert_open(0, 0);
    end();
}

TESTS(NULL, NULL)
