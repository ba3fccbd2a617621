/* SPDX-License-Identifier: BSD-2-Clause */
/* test_thread.c: the registry hands each thread over once. */
#include "cmocka_all.h"
#include "thread.h"

#include <string.h>

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
        hpx_registry_attach(&reg, &threads[i]);
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

TEST(registry_attach_clears_all_but_the_ring)
{
    struct hpx_registry reg;
    struct hpx_thread *t = &threads[0];
    hpx_registry_init(&reg);
    memset((void *)t, 0x5a, sizeof(*t));
    assert_int_equal(hpx_ring_init(&t->ring, HPX_RING_MIN), 0);
    char *bytes = t->ring.bytes;
    hpx_registry_attach(&reg, t);
    assert_ptr_equal(t->ring.bytes, bytes);
    assert_int_equal(t->ring.mask, HPX_RING_MIN - 1);
    assert_int_equal(atomic_load(&t->busy), 0);
    assert_int_equal(atomic_load(&t->state), HPX_THREAD_ATTACHED);
    assert_null(t->slots);
    for (int i = 0; i < HPX_C_COUNT; i++) {
        assert_int_equal(hpx_counter_get(&t->counters, (enum hpx_counter)i), 0);
    }
    hpx_registry_retire(t);
    assert_int_equal(atomic_load(&t->state), HPX_THREAD_RETIRED);
    hpx_ring_fini(&t->ring);
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
    hpx_registry_attach(&reg, &threads[0]);
    hpx_registry_attach(&reg, &threads[1]);
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
