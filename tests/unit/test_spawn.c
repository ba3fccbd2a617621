/* SPDX-License-Identifier: BSD-2-Clause */
/* test_spawn.c: the CPU time of threads of hprofx. */
#include "clock.h"
#include "cmocka_all.h"
#include "spawn.h"
#include <pthread.h>
#include <string.h>

#define BURNT 1000000u /* ns */

static struct hpx_spawned job;
static pthread_barrier_t burnt, seen;

static void *work(void *unused)
{
    hpx_spawn_enter("hprofx-test", &job);
    while (hpx_clock_thread_cpu() < BURNT) {
    }
    pthread_barrier_wait(&burnt);
    pthread_barrier_wait(&seen);
    hpx_spawn_leave(&job);
    return unused;
}

/* The job's CPU time as one of its threads has burnt its part. */
static uint64_t one_thread(void)
{
    pthread_t id;
    assert_int_equal(pthread_create(&id, NULL, work, NULL), 0);
    pthread_barrier_wait(&burnt);
    uint64_t ns = hpx_spawn_cpu(&job);
    pthread_barrier_wait(&seen);
    assert_int_equal(pthread_join(id, NULL), 0);
    return ns;
}

TEST(threads_that_have_left_keep_their_cpu_time)
{
    memset(&job, 0, sizeof job);
    pthread_barrier_init(&burnt, NULL, 2);
    pthread_barrier_init(&seen, NULL, 2);
    assert_int_equal(hpx_spawn_cpu(&job), 0);
    uint64_t first = one_thread(), left = hpx_spawn_cpu(&job);
    assert_true(first >= BURNT && left >= first);
    assert_true(one_thread() >= left + BURNT);
    assert_true(hpx_spawn_cpu(&job) >= left + BURNT);
    pthread_barrier_destroy(&burnt);
    pthread_barrier_destroy(&seen);
}

TEST(only_threads_of_hprofx_are_ours)
{
    assert_false(hpx_spawn_is_ours());
}

TESTS(NULL, NULL)
