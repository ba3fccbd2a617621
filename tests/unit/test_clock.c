/* SPDX-License-Identifier: BSD-2-Clause */
/* test_clock.c: clocks agree with each other; no test measures a duration. */
#include "clock.h"
#include "cmocka_all.h"

#include <time.h>
#include <unistd.h>

static void clock_mono_never_goes_back(void **state)
{
    (void)state;
    uint64_t last = hpx_clock_mono();
    assert_true(last > 0);
    for (int i = 0; i < 10000; i++) {
        uint64_t now = hpx_clock_mono();
        assert_true(now >= last);
        last = now;
    }
}

static void clock_of_own_tid_is_the_thread_clock(void **state)
{
    (void)state;
    uint64_t before = hpx_clock_thread_cpu(), by_tid = hpx_clock_tid_cpu(gettid()), after = hpx_clock_thread_cpu();
    assert_true(before > 0);
    assert_true(before <= by_tid && by_tid <= after);
    struct timespec ts;
    assert_int_equal(clock_gettime(hpx_clock_of_tid(gettid()), &ts), 0);
}

static void clock_of_the_process_holds_that_of_its_thread(void **state)
{
    (void)state;
    uint64_t thread = hpx_clock_thread_cpu();
    assert_true(hpx_clock_process_cpu() >= thread);
}

static void clock_of_a_thread_that_cannot_exist_is_zero(void **state)
{
    (void)state;
    assert_int_equal(hpx_clock_tid_cpu(0x0fffffff), 0);
}

static void clock_tick_is_between_a_microsecond_and_a_second(void **state)
{
    (void)state;
    uint64_t tick = hpx_clock_tick();
    assert_true(tick >= 1000 && tick <= 1000000000u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_mono_never_goes_back),
        cmocka_unit_test(clock_of_own_tid_is_the_thread_clock),
        cmocka_unit_test(clock_of_the_process_holds_that_of_its_thread),
        cmocka_unit_test(clock_of_a_thread_that_cannot_exist_is_zero),
        cmocka_unit_test(clock_tick_is_between_a_microsecond_and_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
