/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_gate.c: callbacks enter while the gate is closed and opened; nobody is inside after close. */
#include "gate.h"
#include "stress.h"

#include <pthread.h>
#include <sched.h>

#define THREADS 4

static struct hpx_gate gate;
static atomic_bool end;                 /* relaxed */
static atomic_int inside;               /* relaxed: the grace period is what is tested, not this counter */
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

/* Threads that come for one callback: liburcu registers and forgets them while the gate closes. */
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

static void gate_close_leaves_nobody_inside(void **state)
{
    (void)state;
    pthread_t threads[THREADS], guest;
    uint64_t rounds = stress_times(300), still_inside = 0, before_last = 0;
    payload = new_payload(0);
    hpx_gate_open(&gate);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, callbacks, NULL), 0);
    }
    for (uint64_t round = 1; round <= rounds; round++) {
        while (atomic_load_explicit(&entered, memory_order_relaxed) == before_last) {
            sched_yield(); /* somebody has been inside since the last round */
        }
        assert_int_equal(pthread_create(&guest, NULL, short_lived, NULL), 0);
        hpx_gate_close(&gate);
        still_inside += atomic_load_explicit(&inside, memory_order_relaxed) != 0;
        *payload = UINT64_MAX; /* a reader that is still inside sees it change, a sanitizer sees the race */
        free(payload);
        payload = new_payload(round);
        before_last = atomic_load_explicit(&entered, memory_order_relaxed);
        hpx_gate_open(&gate);
        pthread_join(guest, NULL);
    }
    atomic_store_explicit(&end, true, memory_order_relaxed);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(still_inside, 0);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_true(atomic_load(&entered) >= rounds);
    free(payload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gate_close_leaves_nobody_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
