/* SPDX-License-Identifier: BSD-2-Clause */
/* test_cpuclock_modes.c: each reason not to use the clock by counter and rseq, forced; wall time, also where the
 * kernel does its part in appearance only, as in an emulator; the second look. */
#include "clock.h"
#include "cmocka_all.h"
#include "cpuclock_check.h"
#include "cpuclock_fixture.h"

#include <sched.h>
#include <string.h>

/* The clock asks the kernel each time, for this reason, and is right. */
static void assert_by_calls(const char *reason)
{
    struct hpx_cpuclock c;
    assert_false(hpx_cpuclock_is_fast());
    assert_string_equal(hpx_cpuclock_name(), "thread clock by calls");
    assert_non_null(strstr(hpx_cpuclock_reason(), reason));
    hpx_cpuclock_enter(&c);
    for (int i = 0; i < 100; i++) {
        uint64_t before = hpx_clock_thread_cpu(), ns = hpx_cpuclock_now(&c);
        assert_true(before <= ns && ns <= hpx_clock_thread_cpu());
    }
    assert_true(hpx_cpuclock_recheck());
    hpx_cpuclock_leave(&c);
}

static bool never(void)
{
    return false;
}

static bool always(void)
{
    return true;
}

static void *no_symbol(const char *name)
{
    (void)name;
    return NULL;
}

static void *size_of_zero(const char *name)
{
    static unsigned zero;
    static ptrdiff_t offset;
    return strcmp(name, "__rseq_size") == 0 ? (void *)&zero : (void *)&offset;
}

TEST(cpuclock_asks_the_kernel_where_something_is_missing, choose)
{
    hpx_cpuclock_setup(HPX_CPUCLOCK_CALLS, NULL);
    assert_by_calls("asked for");
    if (HPX_COUNTER) {
        hpx_cpuclock_setup(HPX_CPUCLOCK_CPU, &(struct hpx_cpuclock_ops){.is_steady = never});
        assert_by_calls(HPX_COUNTER_NAME " is not steady");
        hpx_cpuclock_setup(HPX_CPUCLOCK_CPU, &(struct hpx_cpuclock_ops){.is_steady = always, .symbol = no_symbol});
        assert_by_calls("C library");
        hpx_cpuclock_setup(HPX_CPUCLOCK_CPU, &(struct hpx_cpuclock_ops){.is_steady = always, .symbol = size_of_zero});
        assert_by_calls("not registered");
    }
}

static const char *spared; /* the event after which a kernel of this test has not cleared the pointer; read by the self-test's thread */

static void spare(const char *event, _Atomic uint64_t *word)
{
    if (strcmp(event, spared) == 0) {
        atomic_store(word, HPX_CPUCLOCK_OURS);
    }
}

TEST(cpuclock_asks_the_kernel_where_it_clears_too_little, choose)
{
    need_fast();
    static const char *const events[][2] = {{"nanosleep", "nanosleep"},
                                            {"futex", "futex wait"},
                                            {"read", "read that waits"},
                                            {"yield", "sched_yield"},
                                            {"migration", "migration"}};
    cpu_set_t set;
    bool one = sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) == 1;
    for (size_t i = 0; i < HPX_ARRAY_LEN(events) - one; i++) {
        spared = events[i][0];
        for (int tries = 0; tries < 50; tries++) { /* the self-test knows of no switch if the byte was there before the read, say */
            hpx_cpuclock_setup(HPX_CPUCLOCK_CPU, &(struct hpx_cpuclock_ops){.after = spare});
            if (!hpx_cpuclock_is_fast()) {
                break;
            }
        }
        assert_by_calls(events[i][1]);
    }
}

TEST(cpuclock_as_wall_clock_counts_sleep, choose)
{
    for (int fast = 0; fast < 2; fast++) {
        hpx_cpuclock_setup(HPX_CPUCLOCK_WALL, fast ? NULL : &(struct hpx_cpuclock_ops){.is_steady = never});
        assert_non_null(strstr(hpx_cpuclock_name(), "wall clock by "));
        struct hpx_cpuclock c;
        hpx_cpuclock_enter(&c);
        uint64_t first = hpx_cpuclock_now(&c), between = hpx_clock_mono();
        long start = switches();
        do {
            rest(20000000);
        } while (switches() == start); /* the read behind it is a resync */
        uint64_t before = hpx_clock_mono(), ns = hpx_cpuclock_now(&c);
        assert_true(ns >= before && ns <= hpx_clock_mono() + AHEAD_NS);
        assert_true(first <= between + AHEAD_NS && ns - first >= 20000000 - AHEAD_NS);
        hpx_cpuclock_leave(&c);
    }
}

/* What the kernel would write, of each thread: only the test clears it. */
static _Thread_local struct {
    uint32_t cpu_id_start, cpu_id;
    _Atomic uint64_t cs;
} HPX_ALIGNED(32) area;

static void *own_area(const char *name)
{
    static unsigned size = sizeof area;
    static ptrdiff_t offset;
    offset = (char *)&area - (char *)__builtin_thread_pointer();
    return strcmp(name, "__rseq_size") == 0 ? (void *)&size : (void *)&offset;
}

static void clear(const char *event, _Atomic uint64_t *word)
{
    (void)event;
    assert_int_equal(atomic_load(word), HPX_CPUCLOCK_OURS);
    atomic_store(word, 0);
}

TEST(cpuclock_as_wall_clock_goes_by_the_counter_between_two_looks, choose)
{
    if (!HPX_COUNTER || !hpx_counter_is_steady()) {
        skip();
    }
    hpx_cpuclock_setup(HPX_CPUCLOCK_WALL, &(struct hpx_cpuclock_ops){.symbol = own_area, .after = clear});
    assert_string_equal(hpx_cpuclock_reason(), "");
    assert_string_equal(hpx_cpuclock_name(), "wall clock by " HPX_COUNTER_NAME " and rseq");
    struct hpx_cpuclock c;
    hpx_cpuclock_enter(&c);
    assert_ptr_equal(c.word, &area.cs);
    uint64_t by_counter = 0, right = 0;
    for (uint64_t begin = hpx_clock_mono(), before = begin; before - begin < 50000000; before = hpx_clock_mono()) {
        uint64_t resyncs = c.resyncs, ns = hpx_cpuclock_now(&c), after = hpx_clock_mono();
        uint64_t error = ns < before ? before - ns : ns > after ? ns - after : 0;
        by_counter += c.resyncs == resyncs;
        right += c.resyncs == resyncs && error < 50000;
    }
    assert_true(by_counter > 100);
    assert_true(right > by_counter / 2); /* not all: a switch in a resync, between the answer and the counter, is seen by nobody here */
    assert_true(hpx_cpuclock_recheck() || strstr(hpx_cpuclock_reason(), "rseq_cs") != NULL); /* nothing clears it there */
    hpx_cpuclock_leave(&c);
    assert_int_equal(area.cs, 0);
}

TEST(cpuclock_recheck_passes_and_tells_another_rate, choose)
{
    need_fast();
    assert_true(hpx_cpuclock_recheck());
    assert_true(hpx_cpuclock_is_fast());
    assert_string_equal(hpx_cpuclock_name(), "thread clock by " HPX_COUNTER_NAME " and rseq");
    assert_string_equal(hpx_cpuclock_reason(), "");
    struct hpx_cpuclock_found found;
    hpx_cpuclock_check(&found, NULL);
    assert_true(found.scale > 0);
    assert_true(hpx_cpuclock_check_again(&found));
    found.scale += found.scale / 4;
    assert_false(hpx_cpuclock_check_again(&found));
    assert_non_null(strstr(found.why, "rate"));
}

TEST(cpuclock_believes_the_processor_only_near_the_measured_rate)
{
    static const struct {
        double off;
        bool believed;
    } of[] = {{0, true},     {0.005, true},  {-0.015, true}, {0.02, false}, {-0.02, false},
              {0.04, false}, {-0.06, false}, {0.06, false},  {9, false}};
    const uint64_t measured = UINT64_C(40) << 32; /* 25 MHz */
    for (size_t i = 0; i < HPX_ARRAY_LEN(of); i++) {
        uint64_t hz = (uint64_t)(25e6 * (1 + of[i].off)), told = (uint64_t)(1e9 / (double)hz * 4294967296.0);
        assert_int_equal(hpx_cpuclock_rate(measured, hz), of[i].believed ? told : measured);
    }
    assert_int_equal(hpx_cpuclock_rate(measured, 0), measured);
    assert_int_equal(hpx_cpuclock_rate(0, 25000000), 0);
}

TESTS(NULL, NULL)
