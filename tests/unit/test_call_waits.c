/* SPDX-License-Identifier: BSD-2-Clause */
/* test_call_waits.c: mounts that wait, by key, against a list of them; also while allocations fail. */
#include "call_waits.h"
#include "cmocka_all.h"
#include "failing_memory.h"
#include "id_map.h"
#include <stdlib.h>

#define KEYS  200u
#define TURNS 20u

static struct hpx_call_waits w;
static bool waits[KEYS + 1][TURNS + 1];

static bool earlier(uint64_t key, uint64_t turn)
{
    for (uint64_t i = 0; i < turn; i++) {
        if (waits[key][i]) {
            return true;
        }
    }
    return false;
}

static void assert_as_listed(void)
{
    for (uint64_t key = 0; key <= KEYS; key++) {
        for (uint64_t turn = 0; turn <= TURNS; turn += 3) {
            assert_int_equal(hpx_call_waits_earlier(&w, key, turn), earlier(key, turn));
        }
    }
}

/* Those that are added while call number `fault` and all behind it fail; how many were refused. */
static uint32_t add_all(uint64_t fault)
{
    uint32_t refused = 0;
    memory_fail(fault, UINT64_MAX);
    for (uint32_t i = 0; i < KEYS * TURNS; i++) {
        uint64_t key = i * 7919u % KEYS, turn = i / KEYS * 7 % TURNS;
        if (!waits[key][turn]) {
            waits[key][turn] = hpx_call_waits_add(&w, key, turn);
            refused += !waits[key][turn];
        }
    }
    memory_allow();
    return refused;
}

static void remove_all(void)
{
    for (uint64_t key = 0; key <= KEYS; key++) {
        for (uint64_t turn = 0; turn <= TURNS; turn++) { /* those that were refused too: no effect */
            hpx_call_waits_remove(&w, key, turn);
            waits[key][turn] = false;
        }
    }
    assert_int_equal(w.heap_bytes, 0);
}

TEST(mounts_for_which_there_is_no_memory_do_not_wait_and_the_others_do)
{
    uint32_t refused = 1, most = 0;
    for (uint64_t fault = memory_first_fault(); refused > 0; fault += memory_fault_step()) {
        memory_fail(fault, UINT64_MAX);
        int rc = hpx_call_waits_init(&w);
        memory_allow();
        if (rc != 0) {
            continue;
        }
        refused = add_all(fault);
        most = refused > most ? refused : most;
        assert_as_listed();
        assert_true(hpx_call_waits_bytes(&w) >= w.heap_bytes);
        remove_all();
        assert_as_listed();
        assert_int_equal(add_all(MEMORY_NEVER), 0); /* with the keys that are free again */
        assert_true(w.keys.len <= KEYS);
        assert_as_listed();
        remove_all();
        hpx_call_waits_fini(&w);
    }
    assert_true(most > KEYS);
}

static int by_hash(const void *a, const void *b)
{
    uint32_t x = hpx_id_hash(*(const uint64_t *)a), y = hpx_id_hash(*(const uint64_t *)b);
    return (x > y) - (x < y);
}

/* Two of 200,000 have the same 32 bits. */
TEST(keys_of_the_same_hash_are_apart)
{
    enum { MANY = 200000 };
    uint64_t *keys = malloc(MANY * sizeof *keys);
    assert_non_null(keys);
    for (uint32_t i = 0; i < MANY; i++) {
        keys[i] = i;
    }
    qsort(keys, MANY, sizeof *keys, by_hash);
    uint32_t at = 0;
    while (by_hash(&keys[at], &keys[at + 1]) != 0) {
        assert_true(++at + 1 < MANY);
    }
    assert_int_equal(hpx_call_waits_init(&w), 0);
    assert_true(hpx_call_waits_add(&w, keys[at], 5));
    assert_false(hpx_call_waits_earlier(&w, keys[at + 1], 9));
    assert_true(hpx_call_waits_add(&w, keys[at + 1], 7));
    hpx_call_waits_remove(&w, keys[at], 5);
    assert_false(hpx_call_waits_earlier(&w, keys[at], 9));
    assert_true(hpx_call_waits_earlier(&w, keys[at + 1], 9));
    hpx_call_waits_remove(&w, keys[at + 1], 6); /* never added */
    assert_true(hpx_call_waits_earlier(&w, keys[at + 1], 9));
    hpx_call_waits_fini(&w);
    free(keys);
}

/* Twice as many turns would be none, and realloc() of none frees what is there. */
TEST(a_heap_of_2_to_31_turns_does_not_grow)
{
    assert_int_equal(hpx_call_waits_init(&w), 0);
    assert_true(hpx_call_waits_add(&w, 1, 5));
    struct hpx_call_waiting *k = hpx_vec_at(&w.keys, 0), was = *k;
    k->n = k->cap = 1u << 31;
    assert_false(hpx_call_waits_add(&w, 1, 6));
    *k = was;
    assert_true(hpx_call_waits_earlier(&w, 1, 6));
    hpx_call_waits_fini(&w);
}

TESTS(NULL, NULL)
