/* SPDX-License-Identifier: BSD-2-Clause */
/* test_wake.c: sleeping, waking, and errno. */
#include "clock.h"
#include "cmocka_all.h"
#include "wake.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define MINUTE UINT64_C(60000000000)

static bool refuse;
static atomic_int calls;      /* relaxed: system calls of wake.c */
static uint64_t longest_wait; /* asked of the kernel, from the call on; written while one thread runs */
static bool watch_waits;
static long last_count; /* third argument of the last refused call: how many a wake may wake */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* wake.c passes six arguments, always. */
long __wrap_syscall(long number, ...)
{
    va_list args;
    long v[6];
    va_start(args, number);
    for (int i = 0; i < 6; i++) {
        v[i] = va_arg(args, long);
    }
    va_end(args);
    if (watch_waits && v[3]) {
        const struct timespec *ts = (const struct timespec *)(uintptr_t)v[3]; /* absolute */
        uint64_t end = (uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec, now = hpx_clock_mono();
        longest_wait = end > now && end - now > longest_wait ? end - now : longest_wait;
    }
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    if (refuse) {
        last_count = v[2];
        errno = EPERM;
        return -1;
    }
    return __real_syscall(number, v[0], v[1], v[2], v[3], v[4], v[5]);
}

TEST(wake_post_moves_the_value)
{
    struct hpx_wake w;
    hpx_wake_init(&w);
    uint32_t seen = hpx_wake_value(&w);
    assert_int_equal(hpx_wake_value(&w), seen);
    hpx_wake_post(&w);
    assert_int_not_equal(hpx_wake_value(&w), seen);
}

TEST(wake_post_makes_no_system_call_when_nobody_sleeps)
{
    struct hpx_wake w;
    hpx_wake_init(&w);
    atomic_store(&calls, 0);
    hpx_wake_post(&w);
    assert_int_equal(atomic_load(&calls), 0);
}

TEST(wake_wait_returns_at_once_when_the_value_has_moved)
{
    struct hpx_wake w;
    hpx_wake_init(&w);
    uint32_t seen = hpx_wake_value(&w);
    hpx_wake_post(&w);
    atomic_store(&calls, 0);
    assert_false(hpx_wake_wait(&w, seen, MINUTE));
    assert_int_equal(atomic_load(&calls), 0);
}

TEST(wake_wait_says_when_its_time_is_over)
{
    struct hpx_wake w;
    hpx_wake_init(&w);
    assert_true(hpx_wake_wait(&w, hpx_wake_value(&w), 1000000));
    assert_true(hpx_wake_wait(&w, hpx_wake_value(&w), 0));
}

TEST(wake_wait_asks_the_kernel_for_no_more_than_its_time)
{
    struct hpx_wake w;
    hpx_wake_init(&w);
    longest_wait = 0;
    watch_waits = true;
    bool timed_out = hpx_wake_wait(&w, hpx_wake_value(&w), 20000000);
    watch_waits = false;
    assert_true(timed_out);
    assert_in_range(longest_wait, 0, 20000000);
}

TEST(wake_value_counts_on_behind_the_sleepers_flag)
{
    struct hpx_wake w;
    hpx_wake_init(&w);
    w.opaque = 0x7fffffff;
    uint32_t seen = hpx_wake_value(&w);
    hpx_wake_post(&w);
    assert_int_not_equal(hpx_wake_value(&w), seen);
    assert_false(hpx_wake_wait(&w, seen, MINUTE));
    seen = hpx_wake_value(&w);
    hpx_wake_post(&w);
    assert_int_not_equal(hpx_wake_value(&w), seen);
}

TEST(wake_post_keeps_errno_when_the_kernel_refuses)
{
    struct hpx_wake w;
    hpx_wake_init(&w);
    w.opaque |= UINT32_C(1) << 31; /* ck_ec's flag: somebody sleeps */
    refuse = true;
    atomic_store(&calls, 0);
    errno = ENOTTY;
    hpx_wake_post(&w);
    int after = errno;
    refuse = false;
    assert_int_equal(atomic_load(&calls), 1);
    assert_int_equal(after, ENOTTY);
    assert_int_equal(last_count, INT_MAX);
}

static struct hpx_wake shared;
static uint32_t shared_seen;

static void *sleeper(void *arg)
{
    bool *timed_out = arg;
    *timed_out = hpx_wake_wait(&shared, shared_seen, MINUTE);
    return NULL;
}

TEST(wake_post_ends_the_sleep_of_every_waiter)
{
    pthread_t threads[2];
    bool timed_out[2] = {true, true};
    hpx_wake_init(&shared);
    shared_seen = hpx_wake_value(&shared);
    atomic_store(&calls, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, sleeper, &timed_out[i]), 0);
    }
    while (atomic_load(&calls) < 2) {
        sched_yield(); /* both are at their system call */
    }
    hpx_wake_post(&shared);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_false(timed_out[i]);
    }
}

TESTS(NULL, NULL)
