/* SPDX-License-Identifier: BSD-2-Clause */
/* test_string_table.c: each byte string once. */
#include "cmocka_all.h"
#include "string_table.h"

#include <string.h>

#define MANY 20000

TEST(strings_equal_bytes_have_one_number)
{
    struct hpx_strings s;
    assert_int_equal(hpx_strings_init(&s), 0);
    assert_int_equal(hpx_strings_intern(&s, "first", 5), 1);
    assert_int_equal(hpx_strings_intern(&s, "second", 6), 2);
    assert_int_equal(hpx_strings_intern(&s, "firsts", 5), 1); /* the length counts, not a 0 */
    assert_int_equal(hpx_strings_intern(&s, "firsts", 6), 3);
    hpx_strings_fini(&s);
}

TEST(strings_empty_is_none)
{
    struct hpx_strings s;
    assert_int_equal(hpx_strings_init(&s), 0);
    assert_int_equal(hpx_strings_intern(&s, "", 0), 0);
    assert_int_equal(hpx_strings_at(&s, 0)->len, 0);
    assert_string_equal(hpx_strings_at(&s, 0)->bytes, "");
    hpx_strings_fini(&s);
}

TEST(strings_keep_zeros_and_bytes_that_are_no_text)
{
    struct hpx_strings s;
    assert_int_equal(hpx_strings_init(&s), 0);
    uint32_t a = hpx_strings_intern(&s, "a\0b", 3), b = hpx_strings_intern(&s, "a\0c", 3), c = hpx_strings_intern(&s, "\xed\xa0\xbd", 3);
    assert_int_not_equal(a, b);
    assert_memory_equal(hpx_strings_at(&s, a)->bytes, "a\0b\0", 4);
    assert_memory_equal(hpx_strings_at(&s, c)->bytes, "\xed\xa0\xbd\0", 4);
    hpx_strings_fini(&s);
}

TEST(strings_stay_where_they_are_when_the_table_grows)
{
    struct hpx_strings s;
    assert_int_equal(hpx_strings_init(&s), 0);
    char name[32];
    uint32_t first = hpx_strings_intern(&s, "stays", 5);
    const char *bytes = hpx_strings_at(&s, first)->bytes;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            int n = snprintf(name, sizeof(name), "method%u", i);
            assert_int_equal(hpx_strings_intern(&s, name, (size_t)n), i + 2);
        }
    }
    assert_ptr_equal(hpx_strings_at(&s, first)->bytes, bytes);
    assert_string_equal(hpx_strings_at(&s, MANY / 2 + 2)->bytes, "method10000");
    assert_int_equal(s.all.len, MANY + 2);
    hpx_strings_fini(&s);
}

TESTS(NULL, NULL)
