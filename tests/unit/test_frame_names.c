/* SPDX-License-Identifier: BSD-2-Clause */
/* test_frame_names.c: what the frames of stacks made by hand are called, and that no table, however damaged, leads a walk astray. */
#include "java_stack.h"
#include <sys/mman.h>

#if HPX_FRAMES_KNOWN

#define ACC_NATIVE 0x100
#define NATIVE     (-3)
#define PAGE       4096u
#define ROUNDS     20000

static struct hpx_ev_frame frames[DEPTH];

struct want {
    int java;
    int32_t bci;
};

static void check(int n, const struct want *want, int wanted)
{
    assert_int_equal(n, wanted);
    for (int i = 0; i < n; i++) {
        assert_int_equal(frames[i].method, ids[want[i].java + 1]);
        assert_int_equal(frames[i].bci, want[i].bci);
    }
}

static enum hpx_raw_end ended;

/* 0: not all of the stack could be walked, of which `frames` has what could. */
static int name(uintptr_t pc, uint32_t sp, uintptr_t fp)
{
    struct hpx_raw_thread t = thread_at(pc, sp, fp);
    int n = hpx_raw_walk_frames_sig(&t, frames, &ended, NULL, NULL);
    return ended == HPX_END_WHOLE ? n : 0;
}

/* methods[0] at pc, called by methods[1] at `caller`, called by C. */
static int two_methods(uintptr_t pc, uintptr_t caller)
{
    put_entry();
    put_compiled(8, at(methods[1], caller), 0);
    put_compiled(12, call_return, address(50));
    return name(at(methods[0], pc), 8, 0);
}

/* ---- compiled frames ---- */

/* ---- stubs, interpreted frames, C ---- */

/* methods[0] called by an interpreted method, called by methods[1] through an adapter, called by C. */
static int mixed(uint32_t bci, int bytecode)
{
    put_entry();
    put_compiled(8, queue.buffer + 10, address(30));
    put_interpreted(30, at(methods[1], 100), 0, 34, bci, bytecode);
    put_compiled(34, call_return, address(50));
    return name(at(methods[0], 20), 8, 0);
}

/* ---- what is refused ---- */

TEST(the_depth_may_end_among_inlined_methods)
{
    begin(JDK_17);
    int32_t outer = put_scope(0, 0, FIRST, 2), middle = put_scope(0, outer, INLINED, 6), inner = put_scope(0, middle, INLINED, 5);
    put_places(0, 40, inner, 60, inner, 400, inner);
    static const struct want want[] = {{INLINED, 5}, {INLINED, 6}, {FIRST, 2}, {SECOND, 3}};
    check(two_methods(20, 100), want, 4);
    for (uint32_t depth = 1; depth <= 4; depth++) {
        struct hpx_raw_thread t = thread_at(at(methods[0], 20), 8, 0);
        t.depth = depth;
        frames[depth].method = 1;
        check(hpx_raw_walk_frames_sig(&t, frames, &ended, NULL, NULL), want, (int)depth);
        assert_int_equal(frames[depth].method, 1); /* there may be no room */
        frames[depth].method = 0;
    }
}

TEST(a_method_without_an_id_has_no_name)
{
    begin(JDK_17);
    int32_t outer = put_scope(0, 0, FIRST, 2), inner = put_scope(0, outer, INLINED, 5);
    put_places(0, 40, inner, 60, inner, 400, inner);
    assert_int_equal(two_methods(20, 100), 3);
    for (int m = FIRST; m <= INLINED; m++) {
        uintptr_t was = ids[m + 1];
        ids[m + 1] = 0;
        assert_int_equal(two_methods(20, 100), 3);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(frames[i].method == 0, i == (m == FIRST ? 1 : m == SECOND ? 2 : 0));
        }
        ids[m + 1] = was;
    }
}

TEST(the_outermost_scope_is_the_methods_own)
{
    begin(JDK_17);
    int32_t other = put_scope(0, 0, SECOND, 2), inner = put_scope(0, other, INLINED, 5);
    put_places(0, 40, inner, 60, inner, 400, inner);
    assert_int_equal(two_methods(20, 100), 0);
}

/* ---- damage ---- */

static uint64_t seed;

static uint32_t chance(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

static void spoil(uint8_t *from, size_t n)
{
    for (uint32_t k = chance(8); k > 0; k--) {
        from[chance((uint32_t)n)] = (uint8_t)chance(256);
    }
}

/* Offsets that tables have: mostly sound ones, else near the ends or anywhere. */
static int32_t offset(int32_t sound, int32_t end)
{
    switch (chance(8)) {
    case 0:
        return end + (int32_t)chance(16) - 8;
    case 1:
        return (int32_t)chance(16) - 8;
    case 2:
        return (int32_t)(chance(UINT32_MAX) ^ chance(2) << 31);
    default:
        return sound;
    }
}

static bool is_known(const struct hpx_ev_frame *f)
{
    bool known = f->method == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED);
    for (int m = 0; m < JAVAS; m++) {
        known = known || f->method == ids[m + 1];
    }
    return known && f->bci >= NATIVE && f->bci < 65536;
}

static void check_sound(int n)
{
    assert_in_range(n, 0, DEPTH);
    for (int i = 0; i < n; i++) {
        assert_true(is_known(&frames[i]));
    }
}

/* The tables of the first method end where nobody may read. */
static void at_the_end_of_memory(uint8_t *pages)
{
    uint8_t *at = pages + PAGE - sizeof immutable[0];
    memcpy(at, &immutable[0], sizeof immutable[0]);
    methods[0]->immutable = (uintptr_t)at;
    tables[0].descs = (struct desc *)(void *)at;
    tables[0].scopes = at + sizeof immutable[0].descs;
    uint8_t *words = pages + 3 * PAGE - sizeof mutable[0];
    memcpy(words, mutable[0], sizeof mutable[0]);
    methods[0]->mutable = (uintptr_t)words;
}

TEST(damaged_tables_outside_of_the_method_are_not_left)
{
    begin(JDK_25);
    int32_t outer = put_scope(0, 0, FIRST, 2), inner = put_scope(0, outer, INLINED, 300), named = 0;
    put_places(0, 40, inner, 60, outer, 400, inner);
    uint8_t *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
    assert_int_equal(mprotect(pages + 3 * PAGE, PAGE, PROT_NONE), 0);
    const struct blob whole = *methods[0];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct blob *b = methods[0];
        *b = whole;
        at_the_end_of_memory(pages);
        spoil((uint8_t *)b->immutable, sizeof immutable[0]);
        b->pcs = offset(b->pcs, b->immutable_size);
        b->behind_pcs = offset(b->behind_pcs, b->immutable_size);
        b->relocation = offset(b->relocation, b->mutable_size);
        int n = two_methods(chance(512), 100);
        check_sound(n);
        named += n > 0;
    }
    assert_in_range(named, ROUNDS / 8, ROUNDS); /* enough came through to what follows */
}

static void damaged_tables_in_the_method(enum jdk jdk)
{
    begin(jdk);
    int32_t outer = put_scope(0, 0, FIRST, 2), inner = put_scope(0, outer, INLINED, 300), named = 0;
    put_places(0, 40, inner, 60, outer, 400, inner);
    uint8_t whole[SIZE];
    memcpy(whole, methods[0], SIZE);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct blob *b = methods[0];
        memcpy(b, whole, SIZE);
        spoil((uint8_t *)b + SCOPES, SIZE - SCOPES);
        b->pcs = offset(b->pcs, b->size);
        b->behind_pcs = offset(b->behind_pcs, b->size);
        b->scopes = offset(b->scopes, b->size);
        b->scopes_begin = (uintptr_t)b + (uintptr_t)(intptr_t)offset(SCOPES, b->size);
        int n = two_methods(chance(512), 100);
        check_sound(n);
        named += n > 0;
    }
    assert_in_range(named, ROUNDS / 8, ROUNDS);
}

TEST(damaged_tables_of_jdk_8_are_not_left)
{
    damaged_tables_in_the_method(JDK_8);
}

TEST(damaged_tables_of_jdk_17_are_not_left)
{
    damaged_tables_in_the_method(JDK_17);
}

/* A word of the stack may be any address: only those above the frame are followed, and pcs in the code. */
TEST(a_damaged_stack_ends_the_walk)
{
    begin(JDK_17);
    int32_t named = 0;
    uintptr_t whole[WORDS];
    assert_int_equal(mixed(5, HPX_BYTECODE), 3);
    memcpy(whole, stack, sizeof stack);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uintptr_t words[] = {0,
                                   1,
                                   UINTPTR_MAX,
                                   address(chance(WORDS)),
                                   address(WORDS),
                                   at(methods[chance(2)], chance(700)),
                                   (uintptr_t)stub + CODE,
                                   call_return,
                                   queue.buffer + chance(300),
                                   (uintptr_t)methods[0] + STUBS};
        memcpy(stack, whole, sizeof stack);
        for (uint32_t k = chance(4); k > 0; k--) {
            uint32_t place = chance(WORDS);
            stack[place] = place == 30 - 3 ? stack[place] : words[chance(HPX_ARRAY_LEN(words))]; /* a Method* may fault */
        }
        struct hpx_raw_thread t = thread_at(words[chance(HPX_ARRAY_LEN(words))], chance(WORDS), address(chance(WORDS)));
        struct hpx_raw_stack raw;
        (void)hpx_raw_walk_take_sig(&t, &raw);
        check_sound(hpx_raw_walk_frames_sig(&t, frames, &ended, NULL, NULL));
        int n = name(at(methods[0], 20), 8, 0);
        check_sound(n);
        named += n > 0;
    }
    assert_in_range(named, ROUNDS / 8, ROUNDS);
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}

#else

int main(void)
{
    return 77;
}

#endif
