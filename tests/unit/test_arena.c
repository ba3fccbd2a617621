/* SPDX-License-Identifier: BSD-2-Clause */
/* test_arena.c: chunks, alignment, and what happens without memory. */
#include "arena.h"
#include "cmocka_all.h"
#include "failing_memory.h"

#include <string.h>

TEST(arena_contents_stay_where_they_were_put)
{
    struct hpx_arena a;
    enum { N = 20000 };
    static char *at[N];
    hpx_arena_init(&a);
    for (int i = 0; i < N; i++) {
        char text[32];
        int n = snprintf(text, sizeof(text), "name %d", i);
        at[i] = hpx_arena_copy(&a, text, (size_t)n);
        assert_non_null(at[i]);
    }
    for (int i = 0; i < N; i++) {
        char text[32];
        snprintf(text, sizeof(text), "name %d", i);
        assert_string_equal(at[i], text);
    }
    hpx_arena_fini(&a);
    assert_int_equal(a.bytes, 0);
}

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

TEST(arena_large_request_leaves_the_open_chunk_in_use)
{
    struct hpx_arena a;
    hpx_arena_init(&a);
    char *first = hpx_arena_alloc(&a, 16, 16);
    char *large = hpx_arena_alloc(&a, 100000, 16);
    char *second = hpx_arena_alloc(&a, 16, 16);
    assert_ptr_equal(second, first + 16);
    memset(large, 7, 100000);
    assert_true(a.bytes >= 100000 + 16384);
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

TEST(arena_chunks_double_up_to_one_mebibyte)
{
    struct hpx_arena a;
    hpx_arena_init(&a);
    size_t want = 16384;
    for (int i = 0; i < 12; i++) {
        assert_int_equal(a.next, want);
        size_t before = a.bytes;
        while (a.bytes == before) {
            assert_non_null(hpx_arena_alloc(&a, 2048, 1));
        }
        assert_int_equal(a.capacity, want);
        want = want < (1u << 20) ? want * 2 : want;
    }
    hpx_arena_fini(&a);
}

TEST(arena_of_zero_bytes_gives_a_pointer)
{
    struct hpx_arena a;
    hpx_arena_init(&a);
    assert_non_null(hpx_arena_alloc(&a, 0, 8));
    assert_string_equal(hpx_arena_copy(&a, NULL, 0), "");
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
