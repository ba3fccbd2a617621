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

TESTS(NULL, NULL)
