/* SPDX-License-Identifier: BSD-2-Clause */
/* test_later.c: later.h with this machine's C library. */
#include "cmocka_all.h"
#include "later.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t sem;

static struct timespec in(long ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += ms % 1000 * 1000000;
    at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

static int make(void **state)
{
    (void)state;
    return sem_init(&sem, 0, 0);
}

TEST(what_is_posted_is_taken_even_late, make, NULL)
{
    struct timespec gone = in(-1000);
    assert_int_equal(sem_post(&sem), 0);
    assert_int_equal(hpx_sem_wait_until(&sem, &gone), 0);
}

TEST(a_wait_ends_at_its_time_and_not_before, make, NULL)
{
    struct timespec until = in(20), now;
    assert_int_equal(hpx_sem_wait_until(&sem, &until), -1);
    assert_int_equal(errno, ETIMEDOUT);
    clock_gettime(CLOCK_MONOTONIC, &now);
    assert_true(now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec));
}

static void *post(void *arg)
{
    (void)sem_post(arg);
    return NULL;
}

TEST(another_thread_ends_it, make, NULL)
{
    pthread_t thread;
    struct timespec until = in(50000);
    assert_int_equal(pthread_create(&thread, NULL, post, &sem), 0);
    assert_int_equal(hpx_sem_wait_until(&sem, &until), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static int called;

static void before(void)
{
    called += 1;
}

static void in_parent(void)
{
    called += 10;
}

static void in_child(void)
{
    called += 100;
}

TEST(a_fork_calls_what_was_given)
{
    int status = 0;
    assert_int_equal(hpx_atfork(before, in_parent, in_child), 0);
    pid_t child = fork();
    if (child == 0) {
        _exit(called);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(WEXITSTATUS(status), 101);
    assert_int_equal(called, 11);
}

TEST(a_signal_comes_as_one_of_sigqueue_with_its_value)
{
    sigset_t set;
    siginfo_t info;
    const struct timespec longest = {50, 0};
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    assert_int_equal(hpx_sigqueue_self(SIGRTMIN, &info), 0);
    assert_int_equal(sigtimedwait(&set, &info, &longest), SIGRTMIN);
    assert_int_equal(info.si_code, SI_QUEUE);
    assert_int_equal(info.si_pid, getpid());
    assert_ptr_equal(info.si_value.sival_ptr, &info);
    assert_int_equal(hpx_sigqueue_self(-1, NULL), -1);
    assert_int_equal(errno, EINVAL);
}

TESTS(NULL, NULL)
