/* SPDX-License-Identifier: BSD-2-Clause */
/* test_later_old.c: later.h with a C library that has neither sem_clockwait() nor __register_atfork(): in this program the first has a name
 * that nobody has, and so the second. Time passes in pauses alone. */
#include "cmocka_all.h"
#include "compiler.h"
#include "later.h"
#include <errno.h>

#define MS 1000000L

static sem_t sem;
static struct timespec now;
static unsigned n_pauses, post_at; /* the pause in which it is posted */
static long pauses[64];

int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
    assert_null(left);
    assert_true(n_pauses < HPX_ARRAY_LEN(pauses) && pause->tv_sec == 0);
    pauses[n_pauses++] = pause->tv_nsec;
    now.tv_nsec += pause->tv_nsec;
    now.tv_sec += now.tv_nsec / 1000000000;
    now.tv_nsec %= 1000000000;
    if (n_pauses == post_at) {
        assert_int_equal(sem_post(&sem), 0);
    }
    return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *to);
int __wrap_clock_gettime(clockid_t clock, struct timespec *to)
{
    assert_int_equal(clock, CLOCK_MONOTONIC);
    *to = now;
    return 0;
}

static int start(void **state)
{
    (void)state;
    n_pauses = post_at = 0;
    now = (struct timespec){5, 0};
    return sem_init(&sem, 0, 0);
}

static int wait_until(time_t s, long ns)
{
    struct timespec until = {s, ns};
    errno = 0;
    return hpx_sem_wait_until(&sem, &until);
}

TEST(it_looks_again_after_longer_and_longer_pauses_of_2_ms_at_most, start, NULL)
{
    static const long expected[] = {50000, 100000, 200000, 400000, 800000, 1600000, 2 * MS, 2 * MS, 2 * MS, 2 * MS};
    assert_int_equal(wait_until(5, 10 * MS), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_int_equal(n_pauses, HPX_ARRAY_LEN(expected));
    assert_memory_equal(pauses, expected, sizeof expected);
    assert_true(now.tv_sec == 5 && now.tv_nsec >= 10 * MS && now.tv_nsec < 12 * MS);
}

TEST(it_ends_as_soon_as_it_sees_the_post, start, NULL)
{
    post_at = 3;
    assert_int_equal(wait_until(1000, 0), 0);
    assert_int_equal(n_pauses, 3);
}

TEST(what_is_posted_is_taken_even_late, start, NULL)
{
    assert_int_equal(sem_post(&sem), 0);
    assert_int_equal(wait_until(1, 0), 0);
    assert_int_equal(wait_until(5, 0), -1); /* one post, one wait */
    assert_int_equal(errno, ETIMEDOUT);
    assert_int_equal(n_pauses, 0);
}

TEST(seconds_count_before_nanoseconds, start, NULL)
{
    now = (struct timespec){5, 999990000};
    assert_int_equal(wait_until(6, 0), -1);
    assert_int_equal(n_pauses, 1);
    assert_true(now.tv_sec == 6);
    assert_int_equal(wait_until(5, 999999999), -1);
    assert_int_equal(n_pauses, 1);
}

static void (*given[3])(void);

/* As musl has it. */
int pthread_atfork_of_test(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int pthread_atfork_of_test(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    given[0] = prepare;
    given[1] = parent;
    given[2] = child;
    return 7;
}

static void a(void)
{
}

static void b(void)
{
}

static void c(void)
{
}

TEST(handlers_of_fork_go_to_the_function_that_is_there)
{
    assert_int_equal(hpx_atfork(a, b, c), 7);
    assert_true(given[0] == a && given[1] == b && given[2] == c);
}

TESTS(NULL, NULL)
