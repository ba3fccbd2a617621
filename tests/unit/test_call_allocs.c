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

/* A program can call a probe itself, with any number. */
TEST(an_exit_of_no_method_is_unmatched)
{
    begin(2);
    event(HPX_EV_EXIT, 0, 1);
    assert_int_equal(tab.stray, 1);
    event(HPX_EV_ENTER, 3, 2);
    event(HPX_EV_EXIT, 3, 4);
    assert_cost(TRACE(3), 1, 2, 2);
    end();
}

TESTS(NULL, NULL)
