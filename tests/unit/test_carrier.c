/* SPDX-License-Identifier: BSD-2-Clause */
/* test_carrier.c: rings of threads that carry virtual threads. Counts the memory and the locks that their records take. */
#include "carrier.h"
#include "cmocka_all.h"
#include "session.h"
#include <pthread.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)

static struct hpx_thread *ring; /* that was registered last */
static unsigned rings, blocks, locks;
static bool refuses;

void __wrap_hpx_registry_push(struct hpx_registry *reg, struct hpx_thread *t);
void __wrap_hpx_registry_push(struct hpx_registry *reg, struct hpx_thread *t)
{
    (void)reg;
    ring = t;
    rings++;
}

int __real_posix_memalign(void **at, size_t alignment, size_t n);
int __wrap_posix_memalign(void **at, size_t alignment, size_t n);
int __wrap_posix_memalign(void **at, size_t alignment, size_t n)
{
    blocks++;
    return refuses ? 12 : __real_posix_memalign(at, alignment, n);
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    blocks++;
    return __real_malloc(n);
}

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    locks++;
    return __real_pthread_mutex_lock(m);
}

static struct hpx_options options;

static int begin(void **unused)
{
    (void)unused;
    hpx_session.opt = &options;
    atomic_fetch_add(&hpx_session_number, 1);
    rings = blocks = locks = 0;
    refuses = false;
    ring = NULL;
    hpx_session.counters = (struct hpx_counters){0};
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    hpx_carrier_end();
    if (ring != NULL) {
        hpx_ring_fini(&ring->ring);
        free(ring);
    }
    return 0;
}

static uint64_t lost_ms(void)
{
    return atomic_load(&hpx_session.counters.v[HPX_C_WALL_LOST]);
}

static bool put(uint32_t wanted, uint32_t frames)
{
    struct hpx_ev_head *ev = hpx_carrier_reserve(wanted, 20 * MS);
    if (ev != NULL) {
        ev->kind = HPX_EV_WALL_VIRTUAL;
        hpx_carrier_commit(ev, frames);
    }
    return ev != NULL;
}

static void drain(void)
{
    hpx_ring_release(&ring->ring, hpx_ring_peek(&ring->ring));
}

TEST(later_records_take_no_lock_and_no_memory, begin, end)
{
    assert_true(put(32, 5));
    const unsigned before[] = {blocks, locks};
    for (int i = 0; i < 1000; i++) {
        assert_true(put(32, 32));
        drain();
    }
    assert_int_equal(rings, 1);
    assert_int_equal(blocks, before[0]);
    assert_int_equal(locks, before[1]);
}

TEST(a_full_ring_loses_time_which_is_counted, begin, end)
{
    uint64_t lost = 0;
    for (int i = 0; i < 10000 && put(32, 32); i++) {
    }
    for (lost = 20; lost < 100; lost += 20) {
        assert_int_equal(lost_ms(), lost);
        assert_false(put(32, 32));
    }
    drain();
    assert_true(put(32, 32));
    assert_int_equal(lost_ms(), lost);
}

TEST(the_deepest_stack_has_room, begin, end)
{
    for (int i = 0; i < 100; i++) {
        assert_true(put(HPX_MAX_DEPTH + 32, HPX_MAX_DEPTH + 32));
        drain();
    }
}

TEST(without_memory_time_is_counted_and_no_more_is_asked_for, begin, end)
{
    refuses = true;
    assert_false(put(32, 32));
    refuses = false;
    assert_false(put(32, 32));
    assert_int_equal(blocks, 1);
    assert_int_equal(lost_ms(), 40);
}

TEST(a_thread_that_ends_retires_its_ring, begin, end)
{
    assert_true(put(32, 32));
    assert_int_equal(atomic_load(&ring->state), HPX_THREAD_ATTACHED);
    hpx_carrier_end();
    assert_int_equal(atomic_load(&ring->state), HPX_THREAD_RETIRED);
    assert_false(put(32, 32));
}

TEST(another_session_has_another_ring, begin, end)
{
    struct hpx_thread *first;
    assert_true(put(32, 32));
    first = ring;
    atomic_fetch_add(&hpx_session_number, 1);
    hpx_carrier_end(); /* has none in this session: the first one is not touched */
    assert_int_equal(atomic_load(&first->state), HPX_THREAD_ATTACHED);
    assert_true(put(32, 32));
    assert_ptr_not_equal(ring, first);
    hpx_ring_fini(&first->ring);
    free(first);
}

TESTS(NULL, NULL)
