/* SPDX-License-Identifier: BSD-2-Clause */
/* test_bci_handlers.c: what the handler of a rewritten method covers: constructors, returns. */
#include "bci_check.h"

/* A constructor (I)V made of hex in which 1111 stands for the call of the super class's constructor, 2222 for Object's of a new object. */
static struct checked construct(uint16_t major, const char *hex, const char *const *frames)
{
    struct cf_class c;
    cf_init(&c, major);
    struct cf_code m = {.max_stack = 4, .max_locals = 2};
    uint16_t init = cf_method_ref(&c, "java/lang/Object", "<init>", "()V");
    cf_ops(&m, hex);
    for (size_t i = 0; i + 2 < m.code.n; i++) {
        if (m.code.p[i] == 0xB7) {
            m.code.p[i + 1] = (uint8_t)(init >> 8);
            m.code.p[i + 2] = (uint8_t)init;
        } else if (m.code.p[i] == 0xBB) {
            m.code.p[i + 1] = (uint8_t)(c.super_class >> 8);
            m.code.p[i + 2] = (uint8_t)c.super_class;
        }
    }
    for (; frames != NULL && *frames != NULL; frames++) {
        add_frame(&m, *frames);
    }
    cf_method(&c, 1, "<init>", "(I)V", &m);
    return check_all(&c);
}

/* One added entry, from start to the exit call of the last return. Old pcs can be read off the new ones: less the entry call (4 bytes) and
 * n exit calls before (4 each). */
static void assert_covered_from(const struct checked *k, uint32_t start, uint32_t code_length)
{
    uint8_t want[8] = {(uint8_t)((start + 4) >> 8), (uint8_t)(start + 4)};
    bool found = false;
    assert_int_equal(k->compared.handlers, 1);
    for (uint32_t returns = 0; returns < 4; returns++) {
        uint32_t end = code_length + 4 + 4 * returns;
        want[2] = (uint8_t)((end - 1) >> 8); /* the return at the end */
        want[3] = (uint8_t)(end - 1);
        want[4] = (uint8_t)((end + 4) >> 8);
        want[5] = (uint8_t)(end + 4);
        found = found || memmem(k->out, k->m, want, sizeof(want)) != NULL;
    }
    assert_true(found);
}

TEST(constructors_may_branch_before_super)
{
    /* 0 iload_1, 1 ifeq 8, 4 nop, 5 goto 9, 8 nop, 9 aload_0, 10 super, 13 return */
    static const char *const uninit[] = {"08", "00", NULL};
    struct checked k = construct(52, "1b 99 0007 00 a7 0004 00 2a b7 1111 00 b1", uninit);
    assert_covered_from(&k, 13, 15);
    check_free(&k);
    /* Without frames nobody knows. */
    k = construct(48, "1b 99 0007 00 a7 0004 00 2a b7 1111 b1", NULL);
    assert_int_equal(k.result.bare[HPROFX_BCI_BARE_CONSTRUCTOR], 1);
    check_free(&k);
    /* `new` in one arm; the frame at 12 says that `this` alone is uninitialised. */
    static const char *const arms[] = {"0c", NULL};
    k = construct(52, "1b 99 000b bb 0000 59 b7 2222 57 2a b7 1111 00 b1", arms);
    assert_covered_from(&k, 16, 18);
    check_free(&k);
}

TEST(branches_behind_super_need_no_frames_in_old_versions)
{
    struct checked k = construct(48, "2a b7 1111 1b 99 0004 00 b1", NULL);
    assert_covered_from(&k, 4, 10);
    check_free(&k);
}

TEST(two_super_calls_give_two_ranges)
{
    /* 0 iload_1, 1 ifeq 10, 4 aload_0, 5 super, 8 nop, 9 return, 10 aload_0, 11 super, 14 nop, 15 return */
    static const char *const uninit[] = {"0a", NULL};
    struct checked k = construct(52, "1b 99 0009 2a b7 1111 00 b1 2a b7 1111 00 b1", uninit);
    static const uint8_t table[] = {0, 2, 0, 12, 0, 13, 0, 28, 0, 0, 0, 22, 0, 23, 0, 28, 0, 0};
    uint8_t *found = memmem(k.out, k.m, table, sizeof(table));
    assert_non_null(found); /* 8 + 4 to 9 + 4; 14 + 8 to 15 + 8 */
    assert_int_equal(k.compared.handlers, 1);
    check_free(&k);
}

TEST(frames_name_uninitialized_objects_by_their_new_place)
{
    /* 0 aload_0, 1 super, 4 new, 7 dup, 8 iload_1, 9 ifeq 13, 12 nop, 13 init, 16 pop, 17 return */
    static const char *const frames[] = {"ff 000d 0002 07 0002 01 0002 080004 080004", NULL};
    struct checked k = construct(52, "2a b7 1111 bb 0000 59 1b 99 0004 00 b7 2222 57 b1", frames);
    assert_covered_from(&k, 4, 18);
    check_free(&k);
}

TESTS(NULL, NULL)
