/* SPDX-License-Identifier: BSD-2-Clause */
/* test_phase.c: which intervals of a thread's CPU time samples stand for, with a clock that is a number. */
#include "cmocka_all.h"
#include "phase.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static const uint64_t intervals[] = {100 * US, 200 * US, 500 * US, 1 * MS, 3 * MS};

TEST(a_perf_event_never_begins_with_a_tiny_period)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(intervals); i++) {
        uint64_t interval = intervals[i], half = interval / 2, least = half < 100 * US ? half : 100 * US;
        for (uint64_t used = 0; used < 4 * MS; used += 7 * US) {
            for (uint64_t drawn = 1; drawn <= interval; drawn += interval / 97) {
                struct hpx_phase p = hpx_phase_begin(used, drawn);
                uint64_t period = hpx_phase_period(&p, used, interval);
                assert_in_range(period, least, interval);
                /* no later than it must */
                assert_true(period == least || used + period == p.origin);
            }
        }
    }
}

/* A thread is sampled once at the end of its event's first period, if it lives so long, and then at the end of each interval; what is due
 * at its end is taken then. */
static uint64_t samples_of(uint64_t used_at_start, uint64_t life, uint64_t drawn, uint64_t interval)
{
    struct hpx_phase p = hpx_phase_begin(used_at_start, drawn);
    uint64_t samples = 0, at = used_at_start + hpx_phase_period(&p, used_at_start, interval);
    for (; at < life; at += interval) {
        samples += hpx_phase_take(&p, at, interval);
    }
    return samples + hpx_phase_take(&p, life, interval);
}

TEST(threads_of_any_length_are_counted_right_on_the_whole)
{
    static const uint64_t lives[] = {40 * US, 70 * US, 150 * US, 400 * US, 1 * MS, 1700 * US, 10 * MS};
    for (size_t i = 0; i < HPX_ARRAY_LEN(intervals); i++) {
        for (size_t k = 0; k < HPX_ARRAY_LEN(lives); k++) {
            uint64_t total = 0, threads = 1000;
            for (uint64_t n = 1; n <= threads; n++) { /* every phase once: no chance in it */
                total += samples_of(30 * US, lives[k], n * (intervals[i] / threads), intervals[i]);
            }
            assert_int_equal(total, threads * lives[k] / intervals[i]);
        }
    }
}

TEST(an_expiry_before_the_start_is_due_at_once_and_once)
{
    struct hpx_phase p = hpx_phase_begin(300 * US, 20 * US);
    assert_int_equal(hpx_phase_left(&p, 300 * US, MS), 0);
    assert_int_equal(hpx_phase_take(&p, 300 * US, MS), 1);
    assert_int_equal(hpx_phase_take(&p, 300 * US, MS), 0);
    assert_int_equal(hpx_phase_left(&p, 300 * US, MS), 720 * US);
    assert_int_equal(hpx_phase_take(&p, 1020 * US - 1, MS), 0);
    assert_int_equal(hpx_phase_take(&p, 1020 * US, MS), 1);
    assert_int_equal(hpx_phase_take(&p, 5 * MS, MS), 3);
}

TEST(a_thread_that_was_there_before_is_counted_from_now)
{
    struct hpx_phase p = hpx_phase_begin(7 * MS, 400 * US);
    assert_int_equal(hpx_phase_left(&p, 7 * MS, MS), 400 * US);
    assert_int_equal(hpx_phase_take(&p, 7 * MS, MS), 0);
    assert_int_equal(hpx_phase_take(&p, 9 * MS, MS), 2);
}

/* The clock of a thread starts when it has used 150 us; it ends at 2,300 us, without a signal. */
TEST(expiries_before_the_clock_are_told_from_later_ones)
{
    struct hpx_phase p = hpx_phase_begin(150 * US, 20 * US);
    assert_int_equal(hpx_phase_take(&p, 2300 * US, 100 * US), 23);
    assert_int_equal(hpx_phase_before(&p, 23, 150 * US, 100 * US), 2); /* 20, 120 */
    assert_int_equal(hpx_phase_before(&p, 22, 150 * US, 100 * US), 1); /* the first one had a sample */
    assert_int_equal(hpx_phase_before(&p, 21, 150 * US, 100 * US), 0);
    assert_int_equal(hpx_phase_before(&p, 0, 150 * US, 100 * US), 0);
    assert_int_equal(hpx_phase_before(&p, 23, 19 * US, 100 * US), 0);
    assert_int_equal(hpx_phase_before(&p, 23, 20 * US, 100 * US), 1);
    assert_int_equal(hpx_phase_before(&p, 23, 9 * MS, 100 * US), 23);
}

TESTS(NULL, NULL)
