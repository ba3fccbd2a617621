/* SPDX-License-Identifier: BSD-2-Clause */
/* test_bci_classes.c: what newer classes carry beside their code; branches that end exactly at, and behind, the reach of 16 bits. */
#include "bci_check.h"

/* An attribute of the class, of these bytes. */
static void class_attribute(struct cf_class *c, const char *name, const struct cf_bytes *content)
{
    cf_attribute(c, &c->attrs, name, content);
    c->attr_n++;
}

static void u2s(struct cf_bytes *b, const uint16_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cf_u2(b, v[i]);
    }
}

static void list_attribute(struct cf_class *c, const char *name, const uint16_t *v, size_t n)
{
    struct cf_bytes b = {0};
    u2s(&b, v, n);
    class_attribute(c, name, &b);
    cf_free(&b);
}

/* The class of v, rewritten: its attributes are the last bytes of the file, and the same. */
static void attributes_are_kept(struct cf_class *c)
{
    struct cf_bytes attrs = {0};
    cf_u2(&attrs, c->attr_n);
    cf_put(&attrs, c->attrs.p, c->attrs.n);
    struct checked k = check_all(c);
    assert_int_equal(k.result.rewritten, 1);
    assert_true(k.m > attrs.n);
    assert_memory_equal(k.out + k.m - attrs.n, attrs.p, attrs.n);
    cf_free(&attrs);
    check_free(&k);
}

TEST(what_no_class_had_before_is_copied)
{
    struct cf_class c;
    cf_init(&c, 80);
    add_static(&c, "m", 0, 0, "b1");
    list_attribute(&c, "OfTomorrow", (uint16_t[]){0xFFFF, 0xFFFF}, 2);
    list_attribute(&c, "BootstrapMethods", (uint16_t[]){0}, 1);
    attributes_are_kept(&c);
}

TEST(hidden_classes_are_told_by_the_name_in_their_bytes)
{
    /* The VM gives a hidden class its suffix later; lambda forms and proxies have names that no source can have. */
    static const char *const names[] = {"T", "p/T+0x1234", "java/lang/invoke/LambdaForm$MH/0x0000"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct cf_class c;
        cf_init(&c, 60);
        c.this_class = cf_class_ref(&c, names[i]);
        add_static(&c, "m", 0, 0, "b1");
        struct cf_bytes b = cf_finish(&c);
        struct checked k = check_bytes(b.p, b.n, (struct hprofx_bci_opts){.tracker = NULL});
        assert_int_equal(k.how, 0);
        assert_int_equal(k.result.class_name.len, strlen(names[i]));
        check_free(&k);
        cf_free(&b);
        cf_fini(&c);
    }
}

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

TEST(jumps_become_wide_at_the_byte)
{
    for (int back = 0; back < 2; back++) {
        for (uint32_t over = 0; over < 2; over++) {
            struct cf_class c;
            cf_init(&c, 48);
            struct cf_code m = {.max_stack = 1};
            if (back) { /* 0 nop, 1 nops, return, goto 1: 4 bytes farther */
                cf_pad(&m, 0, 1 + 32767 - 4 - 1 + over);
                cf_ops(&m, "b1");
                cf_branch(&m, 0xA7, 1);
            } else { /* 0 goto, return, nops, END return: its exit call is the target */
                uint32_t end = 32767 - 4 + over;
                cf_branch(&m, 0xA7, (int32_t)end);
                cf_ops(&m, "b1");
                cf_pad(&m, 0, end - m.code.n);
                cf_ops(&m, "b1");
            }
            cf_method(&c, 9, "m", "()V", &m);
            struct checked k = check_all(&c);
            assert_int_equal(k.compared.wide, over);
            assert_int_equal(k.result.widened, over);
            check_free(&k);
        }
    }
}

TESTS(NULL, NULL)
