/* SPDX-License-Identifier: BSD-2-Clause */
/* test_clock.c: clocks agree with each other; no test measures a duration. */
#include "clock.h"
#include "cmocka_all.h"

#include <time.h>
#include <unistd.h>

TEST(clock_mono_never_goes_back)
{
    uint64_t last = hpx_clock_mono();
    assert_true(last > 0);
    for (int i = 0; i < 10000; i++) {
        uint64_t now = hpx_clock_mono();
        assert_true(now >= last);
        last = now;
    }
}

TEST(clock_of_own_tid_is_the_thread_clock)
{
    uint64_t before = hpx_clock_thread_cpu(), by_tid = hpx_clock_tid_cpu(gettid()), after = hpx_clock_thread_cpu();
    assert_true(before > 0);
    assert_true(before <= by_tid && by_tid <= after);
    struct timespec ts;
    assert_int_equal(clock_gettime(hpx_clock_of_tid(gettid()), &ts), 0);
}

TEST(clock_of_the_process_holds_that_of_its_thread)
{
    uint64_t thread = hpx_clock_thread_cpu();
    assert_true(hpx_clock_process_cpu() >= thread);
}

TEST(clock_of_a_thread_that_cannot_exist_is_zero)
{
    assert_int_equal(hpx_clock_tid_cpu(0x0fffffff), 0);
}

TEST(clock_tick_is_between_a_microsecond_and_a_second)
{
    uint64_t tick = hpx_clock_tick();
    assert_true(tick >= 1000 && tick <= 1000000000u);
}

TESTS(NULL, NULL)
