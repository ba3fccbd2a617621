/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_gate.c: callbacks and probes enter while their gate is closed and opened; nobody is inside after close. */
#include "clock.h"
#include "gate.h"
#include "stress.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS   4
#define MINUTE_NS UINT64_C(60000000000)

static struct hpx_gate gate;
static struct hpx_gate_own own_gate;
static struct {
    HPX_ALIGNED(HPX_CACHE_LINE) _Atomic int inside;
} flags[THREADS];
static atomic_bool end;                 /* relaxed */
static atomic_int inside;               /* relaxed: the close is what is tested, not this counter */
static uint64_t *payload;               /* plain: read inside, freed and replaced by who closed the gate */
static _Atomic uint64_t entered, wrong; /* relaxed, read after join */

static void *callbacks(void *arg)
{
    (void)arg;
    while (!atomic_load_explicit(&end, memory_order_relaxed)) {
        if (!hpx_gate_enter(&gate)) {
            sched_yield();
            continue;
        }
        atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed);
        uint64_t first = *payload;
        if (hpx_gate_enter(&gate)) { /* a callback inside a callback */
            hpx_gate_leave(&gate);
        }
        sched_yield();
        uint64_t errors = *payload != first;
        atomic_fetch_add_explicit(&wrong, errors, memory_order_relaxed);
        atomic_fetch_add_explicit(&entered, 1, memory_order_relaxed);
        atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
        hpx_gate_leave(&gate);
    }
    return NULL;
}

/* No yield but where it is refused: the closer meets it at any instruction. */
static void *probes(void *flag)
{
    while (!atomic_load_explicit(&end, memory_order_relaxed)) {
        if (hpx_gate_own_enter(&own_gate, flag)) {
            atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed);
            uint64_t first = *payload;
            atomic_fetch_add_explicit(&entered, 1, memory_order_relaxed);
            atomic_fetch_add_explicit(&wrong, *payload != first, memory_order_relaxed);
            atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
            hpx_gate_own_leave(flag);
        } else {
            hpx_gate_own_leave(flag);
            sched_yield();
        }
    }
    return NULL;
}

/* Threads that come for one callback, and may end while the gate closes. */
static void *short_lived(void *arg)
{
    (void)arg;
    if (hpx_gate_enter(&gate)) {
        uint64_t first = *payload;
        atomic_fetch_add_explicit(&wrong, *payload != first, memory_order_relaxed);
        hpx_gate_leave(&gate);
    }
    return NULL;
}

static uint64_t *new_payload(uint64_t value)
{
    uint64_t *p = malloc(sizeof(*p));
    assert_non_null(p);
    *p = value;
    return p;
}

static pthread_t threads[THREADS];
static uint64_t still_inside; /* the closer's: rounds in which somebody was */

static void begin(void *(*body)(void *flag))
{
    payload = new_payload(0);
    atomic_store(&end, false);
    atomic_store(&entered, 0);
    atomic_store(&wrong, 0);
    still_inside = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, body, &flags[i].inside), 0);
    }
}

/* Somebody has been inside since `before`. */
static void wait_for_entries(uint64_t before)
{
    while (atomic_load_explicit(&entered, memory_order_relaxed) == before) {
        sched_yield();
    }
}

/* The gate is closed. Returns how many entries there were. */
static uint64_t replace_payload(uint64_t value)
{
    still_inside += atomic_load_explicit(&inside, memory_order_relaxed) != 0;
    *payload = UINT64_MAX; /* a reader that is still inside sees it change, a sanitizer sees the race */
    free(payload);
    payload = new_payload(value);
    return atomic_load_explicit(&entered, memory_order_relaxed);
}

static void finish(uint64_t rounds)
{
    atomic_store_explicit(&end, true, memory_order_relaxed);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(still_inside, 0);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_true(atomic_load(&entered) >= rounds);
    free(payload);
}

TEST(gate_close_leaves_nobody_inside)
{
    pthread_t guest;
    uint64_t rounds = stress_times(300), before_last = 0;
    begin(callbacks);
    hpx_gate_open(&gate);
    for (uint64_t round = 1; round <= rounds; round++) {
        wait_for_entries(before_last);
        assert_int_equal(pthread_create(&guest, NULL, short_lived, NULL), 0);
        hpx_gate_close_and_wait(&gate);
        before_last = replace_payload(round);
        hpx_gate_open(&gate);
        pthread_join(guest, NULL);
    }
    finish(rounds);
}

TEST(gate_own_close_leaves_nobody_inside)
{
    uint64_t rounds = stress_times(300), before_last = 0, late = 0;
    /* so that a round does not take a grace period of the kernel */
    (void)syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    begin(probes);
    hpx_gate_own_open(&own_gate);
    for (uint64_t round = 1; round <= rounds; round++) {
        wait_for_entries(before_last);
        hpx_gate_own_close_fenced(&own_gate);
        for (int i = 0; i < THREADS; i++) {
            late += !hpx_gate_own_wait(&flags[i].inside, hpx_clock_mono() + MINUTE_NS);
        }
        before_last = replace_payload(round);
        hpx_gate_own_open(&own_gate);
    }
    finish(rounds);
    assert_int_equal(late, 0);
}

TESTS(NULL, NULL)
