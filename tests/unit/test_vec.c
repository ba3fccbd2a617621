/* SPDX-License-Identifier: BSD-2-Clause */
/* test_vec.c: growth without moving, and its limits. */
#include "cmocka_all.h"
#include "failing_memory.h"
#include "vec.h"

#include <stdlib.h>

TEST(vec_push_without_memory_changes_nothing)
{
    struct hpx_vec v;
    hpx_vec_init(&v, 8);
    for (int i = 0; i < 64; i++) {
        assert_non_null(hpx_vec_push(&v));
    }
    size_t bytes = v.bytes;
    memory_refuse();
    void *none = hpx_vec_push(&v);
    memory_allow();
    assert_null(none);
    assert_int_equal(v.len, 64);
    assert_int_equal(v.bytes, bytes);
    assert_non_null(hpx_vec_push(&v));
    assert_int_equal(v.len, 65);
    hpx_vec_fini(&v);
}

TEST(vec_ends_64_below_two_to_the_32)
{
    struct hpx_vec v;
    hpx_vec_init(&v, 1);
    v.len = UINT32_MAX - 63;
    assert_null(hpx_vec_push(&v));
    assert_int_equal(v.len, UINT32_MAX - 63);
    hpx_vec_fini(&v);
}

TEST(vec_reaches_an_element_and_keeps_what_it_had)
{
    static const uint32_t numbers[] = {3, 0, 255, 256, 257, 5000, 100000, 7};
    struct hpx_vec v;
    hpx_vec_init(&v, sizeof(uint64_t));
    assert_null(hpx_vec_find(&v, 0));
    for (uint32_t i = 0; i < HPX_ARRAY_LEN(numbers); i++) {
        uint64_t *e = hpx_vec_reach(&v, numbers[i]);
        assert_int_equal(*e, 0);
        *e = i + 1;
    }
    for (uint32_t i = 0; i < HPX_ARRAY_LEN(numbers); i++) {
        assert_int_equal(*(uint64_t *)hpx_vec_find(&v, numbers[i]), i + 1);
    }
    assert_null(hpx_vec_find(&v, v.len));
    memory_refuse();
    assert_null(hpx_vec_reach(&v, 1000000));
    memory_allow();
    assert_int_equal(*(uint64_t *)hpx_vec_find(&v, 7), HPX_ARRAY_LEN(numbers));
    hpx_vec_fini(&v);
}

TESTS(NULL, NULL)
