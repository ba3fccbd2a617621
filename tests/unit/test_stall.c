/* SPDX-License-Identifier: BSD-2-Clause */
/* test_stall.c: what of a signal's weight is a stall. */
#include "cmocka_all.h"
#include "stall.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

TEST(a_stack_gets_twenty_intervals_at_most)
{
    uint64_t limit = hpx_stall_limit(10 * MS, 4 * MS);
    assert_int_equal(limit, 20);
    assert_int_equal(hpx_stall_of(0, limit, 0), 0);
    assert_int_equal(hpx_stall_of(1, limit, 0), 0);
    assert_int_equal(hpx_stall_of(20, limit, 0), 0);
    assert_int_equal(hpx_stall_of(21, limit, 0), 1);
    assert_int_equal(hpx_stall_of(1800, limit, 0), 1780);
    assert_int_equal(hpx_stall_of(UINT64_MAX, limit, 0), UINT64_MAX - 20);
}

TEST(five_ticks_are_no_stall)
{
    static const uint64_t intervals[] = {50 * US, 100 * US, 300 * US, 1 * MS, 3 * MS, 10 * MS, 3600000 * MS};
    static const uint64_t ticks[] = {1 * MS, 4 * MS, 10 * MS};
    for (size_t i = 0; i < HPX_ARRAY_LEN(intervals); i++) {
        for (size_t k = 0; k < HPX_ARRAY_LEN(ticks); k++) {
            uint64_t limit = hpx_stall_limit(intervals[i], ticks[k]);
            assert_true(limit * intervals[i] >= 5 * ticks[k]);
            assert_true(limit == 20 || (limit - 1) * intervals[i] < 5 * ticks[k]);
            assert_int_equal(hpx_stall_of(ticks[k] / intervals[i] + 1, limit, 0), 0);
        }
    }
    assert_int_equal(hpx_stall_limit(100 * US, 4 * MS), 200);
}

TEST(nothing_of_a_weight_is_lost)
{
    for (uint64_t weight = 0; weight < 1000; weight++) {
        uint64_t stalled = hpx_stall_of(weight, 20, 0), kept = weight - stalled;
        assert_int_equal(kept, weight < 20 ? weight : 20);
    }
}

TEST(a_system_call_keeps_the_time_that_it_took)
{
    assert_int_equal(hpx_stall_of(100, 20, 80), 0);
    assert_int_equal(hpx_stall_of(100, 20, 1000), 0);
    assert_int_equal(hpx_stall_of(100, 20, 41), 0);
    assert_int_equal(hpx_stall_of(100, 20, 39), 80); /* the call took some of it, but not that time */
    assert_int_equal(hpx_stall_of(10, 20, 30), 0);
}

TESTS(NULL, NULL)
