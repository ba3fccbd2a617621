/* SPDX-License-Identifier: BSD-2-Clause */
/* test_machine.c: what machine.h has of this processor: the counter's rate is the one that is told, the stack pointer points to the stack,
 * and the kernel would take the section of rseq. */
#include "clock.h"
#include "cmocka_all.h"
#include "cpuclock.h"
#include "machine.h"
#include <string.h>

TEST(machine_counter_goes_at_the_rate_that_is_told, NULL)
{
    uint64_t hz = HPX_COUNTER && hpx_counter_is_steady() ? hpx_counter_hz() : 0;
    if (hz == 0) {
        skip();
    }
    double least = 1; /* of some: others run beside */
    for (int i = 0; i < 20 && least > 0.01; i++) {
        uint64_t ns = hpx_clock_mono(), count = hpx_counter();
        while (hpx_clock_mono() - ns < 5000000) {
        }
        count = hpx_counter() - count;
        ns = hpx_clock_mono() - ns;
        double off = (double)count / (double)hz / ((double)ns / 1e9) - 1;
        off = off < 0 ? -off : off;
        least = off < least ? off : least;
    }
    assert_true(least <= 0.01);
}

TEST(machine_counter_does_not_go_back, NULL)
{
    uint64_t last = hpx_counter();
    for (int i = 0; i < 100000; i++) {
        hpx_counter_fence();
        uint64_t now = hpx_counter();
        assert_true(now >= last);
        last = now;
    }
}

TEST(machine_stack_pointer_is_near_what_is_on_the_stack, NULL)
{
    volatile char here = 0;
    intptr_t away = (intptr_t)((uintptr_t)&here - hpx_stack_pointer());
    assert_true(away > -4096 && away < 4096);
}

/* As the kernel's rseq_get_rseq_cs() looks. */
TEST(machine_kernel_would_take_the_section_of_rseq, NULL)
{
    const struct hpx_cpuclock_section *s = &hpx_cpuclock_section;
    uint32_t is, signature;
    memcpy(&is, (const char *)(uintptr_t)s->abort_ip - sizeof is, sizeof is); /* NOLINT(performance-no-int-to-ptr) */
#if defined(__x86_64__)
    signature = 0x53053053;
#elif defined(__aarch64__)
    signature = 0xd428bc00;
#else
    skip();
#endif
    assert_int_equal(is, signature);
    assert_int_equal(s->version, 0);
    assert_int_equal(s->flags, 0);
    assert_true(s->abort_ip - s->start_ip >= s->post_commit_offset);
}

TESTS(NULL, NULL)
