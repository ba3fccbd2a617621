/* SPDX-License-Identifier: BSD-2-Clause */
/* test_bci_classes.c: what newer classes carry beside their code; branches that end exactly at, and behind, the reach of 16 bits. */
#include "bci_check.h"

TEST(switches_to_0_do_not_enter_again)
{
    for (uint32_t lookup = 0; lookup < 2; lookup++) {
        struct cf_class c;
        cf_init(&c, 52);
        struct cf_code m = {.max_stack = 1, .max_locals = 1};
        cf_ops(&m, "1a");
        cf_u1(&m.code, lookup ? 0xAB : 0xAA); /* at 1 */
        cf_pad(&m, 0, 2);
        cf_u4(&m.code, UINT32_MAX); /* the default: 0 */
        if (lookup) {
            cf_u4(&m.code, 1);
            cf_u4(&m.code, 5);
            cf_u4(&m.code, UINT32_MAX);
        } else {
            cf_u4(&m.code, 5);
            cf_u4(&m.code, 5);
            cf_u4(&m.code, UINT32_MAX);
        }
        add_frame(&m, "00");
        cf_method(&c, 9, "m", "(I)V", &m);
        struct checked k = check_all(&c);
        check_free(&k);
    }
}

/* 0 iload_0, 1 nops, a return in the middle whose call adds 4 bytes, END iload_0 ifeq 1, return. */
static struct checked back_branch(uint16_t major, uint32_t nops, bool frame_behind)
{
    struct cf_class c;
    cf_init(&c, major);
    struct cf_code m = {.max_stack = 1, .max_locals = 1};
    cf_pad(&m, 0, 1 + nops);
    cf_ops(&m, "1a 99 0004 b1"); /* the 5 bytes whose return grows */
    uint32_t end = (uint32_t)m.code.n;
    cf_ops(&m, "1a");
    cf_branch(&m, 0x99, 1);
    cf_ops(&m, "b1");
    if (major >= 50) {
        cf_ops(&m, "");
        add_frame(&m, "01");
        cf_u1(&m.frames, 251);
        cf_u2(&m.frames, end - 2);
        m.frame_n++;
        if (frame_behind) {
            add_frame(&m, "03");
        }
    }
    cf_method(&c, 9, "m", "(I)V", &m);
    return check_all(&c);
}

TEST(conditional_branches_backwards_become_wide_at_the_byte)
{
    /* The branch is at nops + 7 and grows by the exit call's 4. 32767 is the last that stays, as forwards; the format has one more. */
    static const struct {
        uint16_t major;
        bool frame_behind;
        uint32_t inverted, trampolines;
    } cases[] = {{48, false, 1, 0}, {52, true, 1, 0}, {52, false, 0, 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (uint32_t over = 0; over < 2; over++) {
            struct checked k = back_branch(cases[i].major, 32767 - 4 - 6 + over, cases[i].frame_behind);
            assert_int_equal(k.compared.inverted, over * cases[i].inverted);
            assert_int_equal(k.compared.trampolines, over * cases[i].trampolines);
            check_free(&k);
        }
    }
}

TESTS(NULL, NULL)
