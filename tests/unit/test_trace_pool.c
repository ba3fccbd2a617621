/* SPDX-License-Identifier: BSD-2-Clause */
/* test_trace_pool.c: work that the workers of a trace pass on (agent/heap/trace_pool.h). */
#include "cmocka_all.h"
#include "trace_pool.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>

static struct hpx_trace_pool pool;

TEST(what_is_given_is_taken_once)
{
    const uint64_t words[] = {3, 1, 4};
    uint64_t got[HPX_TRACE_PIECE];
    uint32_t n;
    memset(&pool, 0, sizeof pool);
    hpx_trace_pool_init(&pool, 2);
    assert_int_equal(hpx_trace_pool_take(&pool, got, &n), HPX_TRACE_WAIT); /* the first one is at work */
    assert_true(hpx_trace_pool_hungry(&pool));
    assert_true(hpx_trace_pool_give(&pool, words, 3));
    assert_int_equal(hpx_trace_pool_take(&pool, got, &n), HPX_TRACE_WORK);
    assert_int_equal(n, 3);
    assert_memory_equal(got, words, sizeof words);
    assert_false(hpx_trace_pool_hungry(&pool));
    hpx_trace_pool_idle(&pool);
    assert_int_equal(hpx_trace_pool_take(&pool, got, &n), HPX_TRACE_WAIT);
    hpx_trace_pool_idle(&pool);
    assert_int_equal(hpx_trace_pool_take(&pool, got, &n), HPX_TRACE_OVER);
}

TEST(what_lies_there_is_taken_before_the_end)
{
    const uint64_t word = 7;
    uint64_t got[HPX_TRACE_PIECE];
    uint32_t n, given = 0;
    memset(&pool, 0, sizeof pool);
    hpx_trace_pool_init(&pool, 2);
    while (hpx_trace_pool_give(&pool, &word, 1)) {
        given++;
    }
    assert_int_equal(given, HPX_TRACE_PIECES);
    hpx_trace_pool_idle(&pool);
    for (uint32_t i = 0; i < given; i++) {
        assert_int_equal(hpx_trace_pool_take(&pool, got, &n), HPX_TRACE_WORK);
        hpx_trace_pool_idle(&pool);
    }
    assert_int_equal(hpx_trace_pool_take(&pool, got, &n), HPX_TRACE_OVER);
}

TEST(a_failure_ends_all)
{
    const uint64_t word = 7;
    uint64_t got[HPX_TRACE_PIECE];
    uint32_t n;
    memset(&pool, 0, sizeof pool);
    hpx_trace_pool_init(&pool, 2);
    assert_true(hpx_trace_pool_give(&pool, &word, 1));
    hpx_trace_pool_end(&pool);
    assert_int_equal(hpx_trace_pool_take(&pool, got, &n), HPX_TRACE_OVER);
}

/* ---- several threads ---- */

#define WORKERS 4
#define DEPTH   17 /* a tree of 2^DEPTH - 1 words: word k stands for what lies below it */

static uint8_t done[1 << DEPTH]; /* plain: each is written by who has its word */

static void work(uint64_t *stack, uint32_t len)
{
    while (len > 0) {
        const uint64_t k = stack[--len];
        done[k]++;
        if (2 * k + 1 < 1 << DEPTH) {
            stack[len++] = 2 * k;
            stack[len++] = 2 * k + 1;
        }
        const uint32_t half = len / 2;
        if (half > 0 && hpx_trace_pool_hungry(&pool) && hpx_trace_pool_give(&pool, stack, half)) {
            len -= half;
            memmove(stack, stack + half, len * sizeof *stack);
        }
    }
    hpx_trace_pool_idle(&pool);
}

static void *worker(void *first)
{
    uint64_t stack[HPX_TRACE_PIECE];
    uint32_t n = 1;
    stack[0] = 1;
    if (first != NULL) {
        work(stack, n);
    }
    for (enum hpx_trace_turn turn = HPX_TRACE_WAIT; turn != HPX_TRACE_OVER;) {
        turn = hpx_trace_pool_take(&pool, stack, &n);
        if (turn == HPX_TRACE_WORK) {
            work(stack, n);
        } else {
            sched_yield();
        }
    }
    return NULL;
}

/* Under ThreadSanitizer this shows that a piece is handed over whole. */
TEST(every_word_is_done_once_by_any_worker)
{
    for (int round = 0; round < 20; round++) {
        pthread_t threads[WORKERS];
        memset(&pool, 0, sizeof pool);
        memset(done, 0, sizeof done);
        hpx_trace_pool_init(&pool, WORKERS);
        for (int i = 0; i < WORKERS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, worker, i == 0 ? &pool : NULL), 0);
        }
        for (int i = 0; i < WORKERS; i++) {
            pthread_join(threads[i], NULL);
        }
        for (uint32_t k = 1; k < 1 << DEPTH; k++) {
            assert_int_equal(done[k], 1);
        }
    }
}

TESTS(NULL, NULL)
