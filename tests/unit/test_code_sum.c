/* SPDX-License-Identifier: BSD-2-Clause */
/* test_code_sum.c: how much a code cache holds, by the numbers of compilations. */
#include "code_cache.h"
#include "code_heap.h"

#define LOG2 7
#define CODE 128 /* a blob's code begins there */
#define SIZE 900 /* of a blob in a block of 8 segments */

static struct method method;

static void begin(enum jdk jdk)
{
    describe(jdk);
    assert_null(hpx_code_cache_init());
    assert_null(hpx_code_cache_live());
}

static void assert_sum(int32_t until, uint64_t methods, uint64_t bytes, int32_t last)
{
    struct hpx_code_sum s;
    assert_true(hpx_code_cache_sum(until, &s));
    assert_int_equal(s.methods, methods);
    assert_int_equal(s.bytes, bytes);
    assert_int_equal(s.last, last);
}

static void methods_that_live_are_added_up_by_their_compilation(void **state)
{
    (void)state;
    const struct heap *first = add_heap(0, 600, LOG2), *second = add_heap(1, 16, LOG2);
    add_method(first, 0, 8, CODE, 900, &method)->compile_id = 7;
    add_method(first, 8, 520, CODE, 60000, &method)->compile_id = 9; /* more segments than the map counts */
    struct blob *dead = add_method(first, 530, 8, CODE, 800, &method), *stub = add_method(second, 0, 4, CODE, 300, &method);
    dead->compile_id = 8;
    dead->state = 3;
    stub->kind = NMETHOD_KIND + 1;
    struct blob *freed = add_method(second, 4, 4, CODE, 400, &method);
    ((struct block *)freed - 1)->used = 0;
    add_method(second, 8, 8, CODE, 500, &method)->compile_id = 12;
    begin(JDK_25);
    assert_sum(INT32_MAX, 3, 900 + 60000 + 500, 12);
    assert_sum(9, 2, 900 + 60000, 9);
    assert_sum(6, 0, 0, 0);
}

static void a_map_that_is_shorter_than_the_memory_is_not_left(void **state)
{
    (void)state;
    struct heap *heap = add_heap(0, 64, LOG2);
    add_method(heap, 8, 8, CODE, SIZE, &method)->compile_id = 1;
    begin(JDK_17);
    heap->memory.high += 128;
    assert_sum(1, 1, SIZE, 1);
}

static void without_numbers_of_compilations_there_is_no_sum(void **state)
{
    struct hpx_code_sum s;
    (void)state;
    add_heap(0, 64, LOG2);
    describe(JDK_25);
    vm_tables_field_of("nmethod", "_compile_id")->name = "_gone";
    assert_null(hpx_code_cache_init());
    assert_null(hpx_code_cache_live());
    assert_false(hpx_code_cache_sum(INT32_MAX, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_that_live_are_added_up_by_their_compilation),
        cmocka_unit_test(a_map_that_is_shorter_than_the_memory_is_not_left),
        cmocka_unit_test(without_numbers_of_compilations_there_is_no_sum),
    };
    return vm_tables_run(tests, HPX_ARRAY_LEN(tests));
}
