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

TEST(without_memory_there_is_no_first_entry, NULL, clear)
{
    memory_fail_maps(1);
    assert_null(hpx_address_map_put(&map, 8));
    assert_null(hpx_address_map_find(&map, 8));
    assert_int_equal(map.len, 0);
    put_all(0, 100);
    check_all(100);
}

TESTS(NULL, NULL)
