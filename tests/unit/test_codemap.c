/* SPDX-License-Identifier: BSD-2-Clause */
/* test_codemap.c: which method owns a pc. */
#include "cmocka_all.h"
#include "codemap.h"
#include <pthread.h>

/* Addresses as a code cache has them; nothing is read there. */
#define BASE         ((uintptr_t)0x7f1234500000)
#define CODE(offset) ((const void *)(BASE + (offset)))

TEST(method_owns_its_code_and_not_a_byte_before_its_granule)
{
    hpx_codemap_add(CODE(0x1000), 300, 11);
    assert_int_equal(hpx_codemap_owner(BASE + 0x1000), 11);
    assert_int_equal(hpx_codemap_owner(BASE + 0x1000 + 299), 11);
    assert_int_equal(hpx_codemap_owner(BASE + 0xfff), 0);
    assert_int_equal(hpx_codemap_owner(BASE + 0x1000 + 384), 0);
}

TEST(later_method_takes_over_the_code_of_an_earlier_one)
{
    hpx_codemap_add(CODE(0x3000), 1024, 21);
    hpx_codemap_add(CODE(0x3200), 128, 22);
    assert_int_equal(hpx_codemap_owner(BASE + 0x31ff), 21);
    assert_int_equal(hpx_codemap_owner(BASE + 0x3200), 22);
    assert_int_equal(hpx_codemap_owner(BASE + 0x3280), 21);
}

TEST(stub_clears_the_method_that_stood_there)
{
    hpx_codemap_add(CODE(0x5000), 256, 31);
    hpx_codemap_add(CODE(0x5040), 64, 0);
    assert_int_equal(hpx_codemap_owner(BASE + 0x5000), 31);
    assert_int_equal(hpx_codemap_owner(BASE + 0x5040), 0);
    assert_int_equal(hpx_codemap_owner(BASE + 0x5080), 31);
}

TEST(removal_ends_where_another_method_begins)
{
    hpx_codemap_add(CODE(0x7000), 192, 41);
    hpx_codemap_add(CODE(0x70c0), 64, 42);
    hpx_codemap_remove(CODE(0x7000), 41);
    assert_int_equal(hpx_codemap_owner(BASE + 0x7000), 0);
    assert_int_equal(hpx_codemap_owner(BASE + 0x7080), 0);
    assert_int_equal(hpx_codemap_owner(BASE + 0x70c0), 42);
    hpx_codemap_remove(CODE(0x70c0), 41);
    assert_int_equal(hpx_codemap_owner(BASE + 0x70c0), 42);
}

TEST(code_across_two_chunks_has_one_owner)
{
    uintptr_t edge = (BASE & ~((uintptr_t)(1 << 20) - 1)) + (1 << 20);
    hpx_codemap_add((const void *)(edge - 4096), 8192, 51);
    assert_int_equal(hpx_codemap_owner(edge - 1), 51);
    assert_int_equal(hpx_codemap_owner(edge), 51);
    assert_int_equal(hpx_codemap_owner(edge + 4095), 51);
    hpx_codemap_remove((const void *)(edge - 4096), 51);
    assert_int_equal(hpx_codemap_owner(edge + 4095), 0);
}

TEST(code_far_outside_of_the_window_is_left_out)
{
    hpx_codemap_add((const void *)(BASE + ((uintptr_t)1 << 40)), 256, 61);
    hpx_codemap_add((const void *)(uintptr_t)0x10000, 256, 62);
    assert_int_equal(hpx_codemap_owner(BASE + ((uintptr_t)1 << 40)), 0);
    assert_int_equal(hpx_codemap_owner(0x10000), 0);
    assert_int_equal(hpx_codemap_owner(0), 0);
    assert_int_equal(hpx_codemap_owner(UINTPTR_MAX), 0);
    hpx_codemap_remove((const void *)(uintptr_t)0x10000, 62);
}

TEST(code_is_known_until_it_is_taken_back)
{
    hpx_codemap_add(CODE(0x9000), 64, 0);
    hpx_codemap_add(CODE(0xa000), 64, 71);
    assert_true(hpx_codemap_known(BASE + 0x9000));
    assert_int_equal(hpx_codemap_owner(BASE + 0x9000), 0);
    assert_true(hpx_codemap_known(BASE + 0xa000));
    hpx_codemap_remove(CODE(0xa000), 71);
    assert_false(hpx_codemap_known(BASE + 0xa000));
    assert_false(hpx_codemap_known(BASE + 0x9040));
    assert_false(hpx_codemap_known(1));
    assert_false(hpx_codemap_known(UINTPTR_MAX));
}

#define WRITERS 2
#define ROUNDS  20000

static void *write_own_part(void *arg)
{
    uintptr_t part = (uintptr_t)arg;
    for (unsigned i = 0; i < ROUNDS; i++) {
        hpx_codemap_add(CODE(0x100000 * (2 + (i % 8)) + part * 4096), 512, 100 + part);
        hpx_codemap_remove(CODE(0x100000 * (2 + (i % 8)) + part * 4096), 100 + part);
    }
    return NULL;
}

TEST(writers_and_a_reader_meet_and_nobody_sees_the_owner_of_another_part)
{
    pthread_t id[WRITERS];
    unsigned wrong = 0;
    for (uintptr_t i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_create(&id[i], NULL, write_own_part, (void *)i), 0);
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        uintptr_t part = i % WRITERS;
        uint64_t owner = hpx_codemap_owner(BASE + 0x100000 * (2 + (i % 8)) + part * 4096 + 64);
        wrong += owner != 0 && owner != 100 + part;
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(id[i], NULL);
    }
    assert_int_equal(wrong, 0);
}

TESTS(NULL, NULL)
