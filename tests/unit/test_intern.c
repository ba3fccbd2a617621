/* SPDX-License-Identifier: BSD-2-Clause */
/* test_intern.c: the hash tables behind the model: intern, id_map, and the growth they share. */
#include "cmocka_all.h"
#include "id_map.h"
#include "intern.h"

#define MANY 200000u

static struct hpx_hash128 hash_of(uint64_t i)
{
    return hpx_hash128(&i, sizeof(i));
}

TEST(intern_moves_a_bounded_number_of_slots_an_insert)
{
    struct hpx_intern t;
    uint64_t worst = 0, moved = 0;
    assert_int_equal(hpx_intern_init(&t, 0), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        uint64_t before = t.slots.old ? t.slots.moved : 0, size = t.slots.old_mask + 1;
        assert_int_equal(hpx_intern_insert(&t, hash_of(i), i), 0);
        uint64_t now = (t.slots.old ? t.slots.moved : before > 0 ? size : 0) - before;
        worst = now > worst ? now : worst;
        moved += now;
    }
    assert_int_equal(worst, HPX_SLOTS_MOVE);
    assert_true(moved >= MANY / 4 * 3); /* it did grow, and all of it was moved */
    assert_true(t.slots.len <= (t.slots.mask + 1) / 4 * 3 + 1);
    hpx_intern_fini(&t);
}

TEST(intern_expected_number_needs_no_growth)
{
    struct hpx_intern t;
    assert_int_equal(hpx_intern_init(&t, 10000), 0);
    uint64_t mask = t.slots.mask;
    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(hpx_intern_insert(&t, hash_of(i), i), 0);
    }
    assert_int_equal(t.slots.mask, mask);
    hpx_intern_fini(&t);
}

TEST(intern_tells_hashes_apart_by_either_half)
{
    struct hpx_intern t;
    assert_int_equal(hpx_intern_init(&t, 0), 0);
    struct hpx_hash128 zero = {0, 0}, hi = {0, UINT64_C(1) << 32}, lo = {UINT64_C(1) << 40, 0};
    assert_int_equal(hpx_intern_insert(&t, zero, 1), 0);
    assert_int_equal(hpx_intern_find(&t, hi), HPX_INTERN_NONE);
    assert_int_equal(hpx_intern_find(&t, lo), HPX_INTERN_NONE);
    assert_int_equal(hpx_intern_insert(&t, hi, 2), 0);
    assert_int_equal(hpx_intern_insert(&t, lo, 3), 0);
    assert_int_equal(hpx_intern_find(&t, zero), 1);
    assert_int_equal(hpx_intern_find(&t, hi), 2);
    assert_int_equal(hpx_intern_find(&t, lo), 3);
    hpx_intern_fini(&t);
}

/* In both tables of a growth: a key bound anew must not come back with its old number when its old slot is moved. */
TEST(id_map_rebound_key_keeps_its_last_number_through_growth)
{
    struct hpx_id_map m;
    uint32_t wrong = 0, growing = 0;
    assert_int_equal(hpx_id_map_init(&m), 0);
    for (uint32_t i = 0; i < 5000; i++) {
        assert_int_not_equal(hpx_id_map_bind(&m, 1000000 + i), HPX_INTERN_NONE);
        uint32_t number = hpx_id_map_bind(&m, i % 40);
        growing += m.slots.old != NULL;
        wrong += hpx_id_map_find(&m, i % 40) != number || hpx_id_map_key(&m, number) != i % 40;
        for (uint32_t k = 0; k < 40 && k <= i; k++) {
            uint32_t last = 2 * (i - (i - k) % 40) + 1; /* each round binds two */
            wrong += hpx_id_map_find(&m, k) != last;
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(growing > 100);
    hpx_id_map_fini(&m);
}

TESTS(NULL, NULL)
