/* SPDX-License-Identifier: BSD-2-Clause */
/* test_thread.c: the registry hands each thread over once. */
#include "cmocka_all.h"
#include "thread.h"

#define N 5

static struct hpx_thread threads[N];
static struct hpx_thread *got[N];
static int ngot;

static void take(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    assert_true(ngot < N);
    got[ngot++] = t;
}

TEST(registry_gives_threads_oldest_first_and_once)
{
    struct hpx_registry reg;
    hpx_registry_init(&reg);
    for (int i = 0; i < N; i++) {
        hpx_registry_push(&reg, &threads[i]);
    }
    ngot = 0;
    hpx_registry_collect(&reg, take, NULL);
    assert_int_equal(ngot, N);
    for (int i = 0; i < N; i++) {
        assert_ptr_equal(got[i], &threads[i]);
    }
    ngot = 0;
    hpx_registry_collect(&reg, take, NULL);
    assert_int_equal(ngot, 0);
}

static void put_back(void *ctx, struct hpx_thread *t)
{
    ngot++;
    hpx_registry_push(ctx, t);
}

TEST(registry_takes_back_a_thread_while_it_is_collected)
{
    struct hpx_registry reg;
    hpx_registry_init(&reg);
    hpx_registry_push(&reg, &threads[0]);
    hpx_registry_push(&reg, &threads[1]);
    threads[0].slots = &reg;
    ngot = 0;
    hpx_registry_collect(&reg, put_back, &reg);
    assert_int_equal(ngot, 2);
    assert_ptr_equal(threads[0].slots, &reg);
    ngot = 0;
    hpx_registry_collect(&reg, take, NULL);
    assert_int_equal(ngot, 2);
}

TESTS(NULL, NULL)
