/* SPDX-License-Identifier: BSD-2-Clause */
/* test_address_map.c: the map of a heap walk, which grows, and is told that there is no memory. */
#include "address_map.h"
#include "cmocka_all.h"
#include "failing_memory.h"

#define MANY 100000u /* several doublings */

static struct hpx_address_map map;

static uint64_t key(uint64_t i)
{
    return UINT64_C(0x7f0000000000) + 8 * i;
}

static void put_all(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        struct hpx_address_entry *e = hpx_address_map_put(&map, key(i));
        assert_non_null(e);
        assert_int_equal(e->key, key(i));
        assert_int_equal(e->value, 0);
        e->value = i + 1;
    }
}

static void check_all(uint64_t n)
{
    assert_int_equal(map.len, n);
    assert_true(n <= map.room / 2);
    for (uint64_t i = 0; i < n; i++) {
        const struct hpx_address_entry *e = hpx_address_map_find(&map, key(i));
        assert_non_null(e);
        assert_int_equal(e->key, key(i));
        assert_int_equal(e->value, i + 1);
        assert_null(hpx_address_map_find(&map, key(i) + 4));
    }
    assert_null(hpx_address_map_find(&map, key(n)));
}

static int clear(void **state)
{
    (void)state;
    memory_allow();
    hpx_address_map_fini(&map);
    return 0;
}

TEST(a_map_that_grows_keeps_all_values, NULL, clear)
{
    put_all(0, 1);
    uint64_t first = map.room;
    put_all(1, MANY);
    assert_true(map.room >= 8 * first);
    assert_int_equal(map.room & (map.room - 1), 0);
    check_all(MANY);
    hpx_address_map_fini(&map);
    assert_null(map.at);
    assert_null(hpx_address_map_find(&map, key(0)));
    put_all(0, 10); /* it is an empty map again */
    check_all(10);
}

static uint64_t hash(uint64_t k)
{
    return k * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

/* Keys whose place is the last one of the table: their row goes on at its beginning. */
TEST(keys_that_collide_are_told_apart, NULL, clear)
{
    uint64_t keys[64], n = 0;
    assert_non_null(hpx_address_map_put(&map, 1));
    for (uint64_t k = 8; n < HPX_ARRAY_LEN(keys); k += 8) {
        if ((hash(k) & (map.room - 1)) == map.room - 1) {
            keys[n++] = k;
        }
    }
    for (uint64_t i = 0; i < n / 2; i++) {
        hpx_address_map_put(&map, keys[i])->value = i + 1;
    }
    for (uint64_t i = 0; i < n; i++) {
        const struct hpx_address_entry *e = hpx_address_map_find(&map, keys[i]);
        assert_int_equal(e != NULL ? e->value : 0, i < n / 2 ? i + 1 : 0);
    }
    put_all(0, map.room); /* and where they lie in a larger one */
    for (uint64_t i = 0; i < n / 2; i++) {
        assert_int_equal(hpx_address_map_find(&map, keys[i])->value, i + 1);
    }
}

TEST(without_memory_there_is_no_first_entry, NULL, clear)
{
    memory_fail_maps(1);
    assert_null(hpx_address_map_put(&map, 8));
    assert_null(hpx_address_map_find(&map, 8));
    assert_int_equal(map.len, 0);
    put_all(0, 100);
    check_all(100);
}

TEST(a_map_that_cannot_grow_keeps_what_it_has, NULL, clear)
{
    uint64_t n = 0;
    put_all(n, 1);
    for (int doubling = 0; doubling < 4; doubling++) {
        uint64_t room = map.room;
        n = room / 2; /* full */
        put_all(map.len, n);
        assert_int_equal(map.room, room);
        for (int again = 0; again < 3; again++) {
            memory_fail_maps(1);
            assert_null(hpx_address_map_put(&map, key(n)));
            assert_int_equal(memory_maps_left(), 0);
            check_all(n);
        }
        memory_refuse();
        struct hpx_address_entry *e = hpx_address_map_put(&map, key(n - 1)); /* needs no memory */
        memory_allow();
        assert_int_equal(e->value, n);
        put_all(n, n + 1);
        assert_int_equal(map.room, 2 * room);
        check_all(n + 1);
    }
}

TESTS(NULL, NULL)
