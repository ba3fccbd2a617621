/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_site_ids.c: threads ask for ids of keys that overlap, while one thread frees what they allocated and one reads the counters: each
 * key has one id and is fresh once, and the sums are exact at the end. */
#include "site_ids.h"
#include "stress.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define THREADS 4
#define KEYS    60000u /* more than the first two tables have room for: all threads map tables */
#define CLASSES 4000u
#define BYTES   24u

static struct hpx_site_ids s;
static _Atomic uint32_t id_of[KEYS];                           /* relaxed: what the first thread to know it was told; 0: nobody yet */
static _Atomic uint32_t fresh_of[KEYS], allocated[KEYS];       /* relaxed */
static _Atomic uint64_t queue[THREADS];                        /* release: a worker; acquire: the freeing thread. Allocations so far */
static _Atomic uint32_t class_given[CLASSES * THREADS + 2];    /* relaxed */
static _Atomic uint64_t other_ids, out_of_bounds, not_counted; /* relaxed: what is wrong */
static atomic_bool ended;                                      /* release: main; acquire: the others. The workers have ended */
static uint64_t each;

/* The i-th key of a thread: all have them all, in another order. */
static uint32_t key_of(uint32_t thread, uint64_t i)
{
    uint64_t n = i % KEYS;
    return (uint32_t)(thread % 2 == 0 ? n : KEYS - 1 - n);
}

static uint64_t hash_of(uint32_t key)
{
    return ((uint64_t)key + 1) * UINT64_C(0x9E3779B97F4A7C15);
}

static void *allocate(void *arg)
{
    uint32_t thread = (uint32_t)(uintptr_t)arg;
    for (uint64_t i = 0; i < each; i++) {
        uint32_t key = key_of(thread, i), none = 0;
        bool fresh;
        uint32_t id = hpx_site_ids_get(&s, hash_of(key), &fresh);
        if (id == HPX_SITE_NONE || id >= HPX_SITE_IDS_MOST) {
            atomic_fetch_add_explicit(&out_of_bounds, 1, memory_order_relaxed);
            continue;
        }
        if (!atomic_compare_exchange_strong_explicit(&id_of[key], &none, id, memory_order_relaxed, memory_order_relaxed) && none != id) {
            atomic_fetch_add_explicit(&other_ids, 1, memory_order_relaxed);
        }
        atomic_fetch_add_explicit(&fresh_of[key], fresh, memory_order_relaxed);
        atomic_fetch_add_explicit(&allocated[key], 1, memory_order_relaxed);
        atomic_store_explicit(&queue[thread], i + 1, memory_order_release);
        if (i < CLASSES) { /* its mirror is an object of this site */
            struct hpx_class_number number = hpx_site_ids_class(&s, hpx_site_tag(id, BYTES));
            if (number.v == 0 || number.v > CLASSES * THREADS) {
                atomic_fetch_add_explicit(&out_of_bounds, 1, memory_order_relaxed);
                number.v = CLASSES * THREADS + 1;
            }
            atomic_fetch_add_explicit(&class_given[number.v], 1, memory_order_relaxed);
        }
    }
    return NULL;
}

/* The collector: every other object of each thread is freed, in the order of its allocation. */
static void *free_some(void *arg)
{
    uint64_t done[THREADS] = {0};
    bool last = false;
    (void)arg;
    while (!last) {
        last = atomic_load_explicit(&ended, memory_order_acquire);
        for (uint32_t t = 0; t < THREADS; t++) {
            for (uint64_t n = atomic_load_explicit(&queue[t], memory_order_acquire); done[t] < n; done[t]++) {
                if (done[t] % 2 == 0) {
                    uint32_t id = atomic_load_explicit(&id_of[key_of(t, done[t])], memory_order_relaxed);
                    hpx_site_ids_freed(&s, hpx_site_tag(id, BYTES));
                }
            }
        }
        sched_yield();
    }
    return NULL;
}

/* The aggregator: what it reads of a site never decreases, and is never more than was freed. */
static void *read_all(void *arg)
{
    static uint64_t seen[KEYS];
    (void)arg;
    while (!atomic_load_explicit(&ended, memory_order_acquire)) {
        for (uint32_t key = 0; key < KEYS; key++) {
            uint32_t id = atomic_load_explicit(&id_of[key], memory_order_relaxed);
            uint64_t objects = id != 0 ? atomic_load_explicit(&hpx_site_ids_objects_of(&s, id)->objects, memory_order_relaxed) : 0;
            bool wrong = objects < seen[key] || objects > THREADS * (each / KEYS + 1);
            seen[key] = objects;
            if (wrong) {
                atomic_fetch_add_explicit(&not_counted, 1, memory_order_relaxed);
            }
        }
        (void)hpx_site_ids_bytes(&s);
        sched_yield();
    }
    return NULL;
}

static uint64_t freed_objects(uint32_t id)
{
    return atomic_load_explicit(&hpx_site_ids_objects_of(&s, id)->objects, memory_order_relaxed);
}

static void check_keys(void)
{
    static uint8_t given[HPX_SITE_IDS_MOST];
    static uint32_t want[KEYS];
    uint64_t sum = 0;
    memset(given, 0, sizeof(given));
    memset(want, 0, sizeof(want));
    for (uint32_t t = 0; t < THREADS; t++) {
        for (uint64_t i = 0; i < each; i += 2) {
            want[key_of(t, i)]++;
        }
    }
    for (uint32_t key = 0; key < KEYS; key++) {
        uint32_t id = atomic_load_explicit(&id_of[key], memory_order_relaxed);
        assert_int_equal(atomic_load_explicit(&fresh_of[key], memory_order_relaxed), 1);
        assert_int_equal(given[id]++, 0);
        assert_int_equal(freed_objects(id), want[key]);
        assert_int_equal(atomic_load_explicit(&hpx_site_ids_objects_of(&s, id)->bytes, memory_order_relaxed), (uint64_t)want[key] * BYTES);
        sum += atomic_load_explicit(&allocated[key], memory_order_relaxed);
    }
    assert_int_equal(sum, THREADS * each);
}

/* When all classes are freed each has freed its mirror. */
static void check_classes(void)
{
    uint64_t before = 0, after = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        before += freed_objects(atomic_load_explicit(&id_of[key], memory_order_relaxed));
    }
    for (uint32_t number = 1; number <= CLASSES * THREADS; number++) {
        assert_int_equal(atomic_load_explicit(&class_given[number], memory_order_relaxed), 1);
        hpx_site_ids_freed(&s, hpx_site_class_tag((struct hpx_class_number){number}));
    }
    for (uint32_t key = 0; key < KEYS; key++) {
        after += freed_objects(atomic_load_explicit(&id_of[key], memory_order_relaxed));
    }
    assert_int_equal(after - before, CLASSES * THREADS);
}

TEST(each_key_has_one_id_and_all_frees_are_counted)
{
    pthread_t workers[THREADS], freeing, reading;
    each = stress_times(2 * KEYS);
    assert_int_equal(pthread_create(&freeing, NULL, free_some, NULL), 0);
    assert_int_equal(pthread_create(&reading, NULL, read_all, NULL), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&workers[i], NULL, allocate, (void *)(uintptr_t)i), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i], NULL);
    }
    atomic_store_explicit(&ended, true, memory_order_release);
    pthread_join(freeing, NULL);
    pthread_join(reading, NULL);
    assert_int_equal(atomic_load_explicit(&out_of_bounds, memory_order_relaxed), 0);
    assert_int_equal(atomic_load_explicit(&other_ids, memory_order_relaxed), 0);
    assert_int_equal(atomic_load_explicit(&not_counted, memory_order_relaxed), 0);
    check_keys();
    check_classes();
    hpx_site_ids_fini(&s);
}

TESTS(NULL, NULL)
