/* SPDX-License-Identifier: BSD-2-Clause */
/* test_code_sum.c: what a code cache holds, with the numbers of compilations. */
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

struct sum {
    uint64_t methods, bytes;
    int64_t ids;
};

static void add(void *ctx, int32_t id, uint64_t bytes)
{
    struct sum *s = ctx;
    s->methods++;
    s->bytes += bytes;
    s->ids += id;
}

static void assert_sum(uint64_t methods, uint64_t bytes, int64_t ids)
{
    struct sum s = {0};
    hpx_code_cache_each(add, &s);
    assert_int_equal(s.methods, methods);
    assert_int_equal(s.bytes, bytes);
    assert_int_equal(s.ids, ids);
}

TEST(methods_that_live_are_told_of)
{
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
    assert_sum(3, 900 + 60000 + 500, 7 + 9 + 12);
}

TEST(a_map_that_is_shorter_than_the_memory_is_not_left)
{
    struct heap *heap = add_heap(0, 64, LOG2);
    add_method(heap, 8, 8, CODE, SIZE, &method)->compile_id = 1;
    begin(JDK_17);
    heap->memory.high += 128;
    assert_sum(1, SIZE, 1);
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}
