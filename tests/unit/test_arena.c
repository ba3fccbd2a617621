/* SPDX-License-Identifier: BSD-2-Clause */
/* test_arena.c: chunks, alignment, and what happens without memory. */
#include "arena.h"
#include "cmocka_all.h"
#include "failing_memory.h"

#include <string.h>

TEST(arena_aligns_as_asked)
{
    struct hpx_arena a;
    hpx_arena_init(&a);
    for (size_t align = 1; align <= 16; align *= 2) {
        assert_non_null(hpx_arena_alloc(&a, 1, 1));
        char *p = hpx_arena_alloc(&a, 3, align);
        assert_int_equal((uintptr_t)p % align, 0);
    }
    hpx_arena_fini(&a);
}

TEST(arena_large_request_may_be_the_first)
{
    struct hpx_arena a;
    hpx_arena_init(&a);
    char *large = hpx_arena_alloc(&a, 100000, 16), *small = hpx_arena_alloc(&a, 16, 16);
    memset(large, 1, 100000);
    memset(small, 2, 16);
    assert_int_equal(large[99999], 1);
    hpx_arena_fini(&a);
}

TEST(arena_without_memory_stays_usable)
{
    struct hpx_arena a;
    hpx_arena_init(&a);
    memory_refuse();
    void *none = hpx_arena_alloc(&a, 16, 16), *none_large = hpx_arena_alloc(&a, 100000, 16);
    char *none_copy = hpx_arena_copy(&a, "x", 1);
    memory_allow();
    assert_null(none);
    assert_null(none_large);
    assert_null(none_copy);
    assert_null(hpx_arena_alloc(&a, SIZE_MAX, 1));
    assert_null(hpx_arena_copy(&a, "x", SIZE_MAX));
    assert_int_equal(a.bytes, 0);
    assert_string_equal(hpx_arena_copy(&a, "xy", 1), "x");
    hpx_arena_fini(&a);
}

TESTS(NULL, NULL)
