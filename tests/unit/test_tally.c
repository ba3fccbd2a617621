/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tally.c: counters of methods by threads that come and go, with the probe's look into the table in C. */
#include "call_rows.h"
#include "cmocka_all.h"
#include "failing_memory.h"
#include "session.h"
#include "tally.h"
#include "tracker_class.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define NUMBERS 1000u

static int begin(void **state)
{
    (void)state;
    atomic_fetch_add(&hpx_session_number, 1);
    assert_true(hpx_tally_table() != 0);
    assert_true(hpx_tally_reach(NUMBERS));
    hpx_tally_open();
    return 0;
}

static int end(void **state)
{
    (void)state;
    hpx_tally_close();
    hpx_tally_forget();
    return 0;
}

/* As java.lang.HprofxCounts. true: the table led to the counters. */
static bool probe(uint32_t number, uint64_t thread)
{
    const uint64_t places[] = {hpx_tracker_first(thread), hpx_tracker_second(thread)};
    for (size_t i = 0; i < HPX_ARRAY_LEN(places); i++) {
        const _Atomic uint64_t *place = (const _Atomic uint64_t *)(uintptr_t)(hpx_tally_table() + places[i]);
        if (atomic_load_explicit(&place[0], memory_order_relaxed) == thread) {
            _Atomic uint64_t *n =
                (_Atomic uint64_t *)(uintptr_t)(atomic_load_explicit(&place[1], memory_order_relaxed) + 8 * (uint64_t)number);
            atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1, memory_order_relaxed);
            return true;
        }
    }
    assert_true(hpx_tally_count(number, thread));
    return false;
}

static uint64_t counted(uint32_t number)
{
    static uint64_t sums[NUMBERS];
    memset(sums, 0, sizeof sums);
    (void)hpx_tally_add_up(sums, NUMBERS);
    return sums[number];
}

static struct hpx_tally_figures figures(void)
{
    static uint64_t sums[NUMBERS];
    return hpx_tally_add_up(sums, NUMBERS);
}

#define THREAD(i) (UINT64_C(0x7f0000000000) + (uint64_t)(i)*2048)

TEST(the_second_call_of_a_thread_finds_its_counters, begin, end)
{
    assert_false(probe(7, THREAD(1)));
    assert_true(probe(7, THREAD(1)));
    assert_true(probe(9, THREAD(1)));
    assert_int_equal(counted(7), 2);
    assert_int_equal(counted(9), 1);
    assert_int_equal(counted(8), 0);
    assert_int_equal(figures().blocks, 1);
    assert_int_equal(figures().bytes, 4096);
    hpx_tally_leave();
    assert_int_equal(counted(7), 2); /* it has ended */
}

static void *call(void *arg)
{
    uint64_t thread = THREAD((uintptr_t)arg);
    for (uint32_t i = 0; i < 10 * NUMBERS; i++) {
        (void)probe(i % NUMBERS, thread);
    }
    hpx_tally_leave();
    return NULL;
}

TEST(threads_lose_no_call_whoever_has_their_counters_next, begin, end)
{
    enum { AT_ONCE = 8, ROUNDS = 50 };
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t all[AT_ONCE];
        for (uintptr_t i = 0; i < AT_ONCE; i++) {
            assert_int_equal(pthread_create(&all[i], NULL, call, (void *)(i + AT_ONCE * (uintptr_t)round)), 0);
        }
        for (int i = 0; i < AT_ONCE; i++) {
            assert_int_equal(pthread_join(all[i], NULL), 0);
        }
    }
    for (uint32_t i = 0; i < NUMBERS; i += 111) {
        assert_int_equal(counted(i), 10 * AT_ONCE * ROUNDS);
    }
    assert_in_range(figures().blocks, 1, AT_ONCE);
    assert_int_equal(figures().apart, 0);
}

/* The places of a thread are taken by two others. */
TEST(a_thread_without_a_place_counts_by_the_native, begin, end)
{
    uint64_t thread = THREAD(5), second = hpx_tracker_second(thread);
    const uint64_t others[] = {thread + ((HPX_TRACKER_MASK + 16) << HPX_TRACKER_SHIFT), second << HPX_TRACKER_SHIFT};
    assert_int_equal(hpx_tracker_first(others[0]), hpx_tracker_first(thread));
    assert_int_equal(hpx_tracker_first(others[1]), second);
    _Atomic uint64_t *table = (_Atomic uint64_t *)(uintptr_t)hpx_tally_table();
    for (size_t i = 0; i < HPX_ARRAY_LEN(others); i++) {
        table[hpx_tracker_first(others[i]) / 8] = others[i];
    }
    for (int i = 0; i < 5; i++) {
        assert_false(probe(3, thread));
    }
    assert_int_equal(counted(3), 5);
    assert_int_equal(figures().apart, 1);
    hpx_tally_leave();
    for (size_t i = 0; i < HPX_ARRAY_LEN(others); i++) {
        table[hpx_tracker_first(others[i]) / 8] = 0;
    }
}

TEST(no_thread_is_found_under_the_number_0, begin, end)
{
    assert_false(probe(3, 0));
    assert_false(probe(3, 0));
    assert_int_equal(counted(3), 2);
    hpx_tally_leave();
}

TEST(a_session_counts_what_is_called_while_it_is_open, begin, end)
{
    for (int i = 0; i < 3; i++) {
        (void)probe(4, THREAD(2));
    }
    hpx_tally_close();
    assert_false(probe(4, THREAD(2)));
    assert_int_equal(counted(4), 3);
    atomic_fetch_add(&hpx_session_number, 1);
    assert_false(probe(4, THREAD(2)));
    hpx_tally_open();
    assert_int_equal(counted(4), 0);
    assert_false(probe(4, THREAD(2)));
    assert_true(probe(4, THREAD(2)));
    assert_int_equal(counted(4), 2);
    hpx_tally_leave();
}

/* As after mlockall() of the program. */
TEST(a_later_session_does_not_count_what_locked_pages_have, begin, end)
{
    assert_false(probe(5, THREAD(4)));
    const _Atomic uint64_t *place = (const _Atomic uint64_t *)(uintptr_t)(hpx_tally_table() + hpx_tracker_first(THREAD(4)));
    void *counts = (void *)(uintptr_t)place[1];
    if (mlock(counts, 4096) != 0) {
        hpx_tally_leave();
        skip();
    }
    hpx_tally_close();
    hpx_tally_forget();
    atomic_fetch_add(&hpx_session_number, 1);
    hpx_tally_open();
    assert_false(probe(5, THREAD(4)));
    assert_int_equal(counted(5), 1);
    assert_int_equal(munlock(counts, 4096), 0);
    hpx_tally_leave();
}

TEST(counters_grow_and_keep_their_counts, begin, end)
{
    uint32_t before = hpx_tally_end(), more = before + 1;
    assert_false(probe(1, THREAD(3)));
    assert_false(hpx_tally_count(more, THREAD(3)));
    assert_true(hpx_tally_reach(more + 1));
    assert_true(hpx_tally_end() > more);
    assert_true(probe(more, THREAD(3)));
    assert_int_equal(counted(1), 1);
    uint64_t *sums = calloc(hpx_tally_end(), sizeof *sums);
    assert_non_null(sums);
    (void)hpx_tally_add_up(sums, hpx_tally_end());
    assert_int_equal(sums[more], 1);
    free(sums);
    hpx_tally_leave();
    assert_true(hpx_tally_reach(UINT32_MAX));
    assert_int_equal(hpx_tally_end(), HPX_CALL_COUNTERS);
}

static void *call_without_memory(void *arg)
{
    memory_refuse();
    bool found = probe(6, THREAD((uintptr_t)arg)), again = probe(6, THREAD((uintptr_t)arg));
    memory_allow();
    assert_false(found || again);
    hpx_tally_leave();
    return NULL;
}

static pthread_barrier_t called, may_end;

static void *call_and_wait(void *arg)
{
    (void)probe(2, THREAD(100 + (uintptr_t)arg));
    (void)pthread_barrier_wait(&called);
    (void)pthread_barrier_wait(&may_end);
    hpx_tally_leave();
    return NULL;
}

/* More threads live than in the tests before: none of their blocks is left. */
TEST(without_memory_calls_are_counted_all_the_same, begin, end)
{
    enum { LIVE = 20 };
    pthread_t all[LIVE], without;
    assert_int_equal(pthread_barrier_init(&called, NULL, LIVE + 1), 0);
    assert_int_equal(pthread_barrier_init(&may_end, NULL, LIVE + 1), 0);
    for (uintptr_t i = 0; i < LIVE; i++) {
        assert_int_equal(pthread_create(&all[i], NULL, call_and_wait, (void *)i), 0);
    }
    (void)pthread_barrier_wait(&called);
    assert_int_equal(pthread_create(&without, NULL, call_without_memory, (void *)7), 0);
    assert_int_equal(pthread_join(without, NULL), 0);
    assert_int_equal(counted(6), 2);
    assert_int_equal(counted(2), LIVE);
    (void)pthread_barrier_wait(&may_end);
    for (int i = 0; i < LIVE; i++) {
        assert_int_equal(pthread_join(all[i], NULL), 0);
    }
    assert_int_equal(pthread_barrier_destroy(&called), 0);
    assert_int_equal(pthread_barrier_destroy(&may_end), 0);
}

TESTS(NULL, NULL)
