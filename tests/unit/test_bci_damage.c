/* SPDX-License-Identifier: BSD-2-Clause */
/* test_bci_damage.c: damaged classes and methods are refused or left alone. */
#include "bci_check.h"
#include "failing_memory.h"

TEST(malformed_code_leaves_the_method_alone)
{
    static const char *const odd[] = {
        "b1 10",                         /* an operand is missing */
        "b1 c4",                         /* wide of nothing */
        "b1 c4 84 0000 00",              /* */
        "a7 0005 b1",                    /* a jump outside */
        "a7 fffb b1",                    /* before */
        "a7 0004 11 a7 b1 b1",           /* into an instruction */
        "03 aa 0000 00000000 0000 0000", /* a switch that is cut off */
        "03 aa 0000 0000000e 00000001 00000000 b1",
        "03 aa 0000 0000000e 80000000 7fffffff b1",
        "03 ab 0000 00000013 ffffffff b1",
        "03 ab 0000 7fffffff 00000000 b1",
        "00", /* runs off its end */
    };
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct cf_class c;
        cf_init(&c, 52);
        add_static(&c, "m", 1, 0, odd[i]);
        check_left(&c, HPROFX_BCI_LEFT_MALFORMED);
    }
    static const uint16_t handlers[][3] = {{0, 0, 0}, {2, 0, 0}, {0, 4, 0}, {0, 1, 0}, {0, 2, 1}, {0, 2, 9}, {1, 3, 0}};
    for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
        struct cf_class c;
        cf_init(&c, 49);
        struct cf_code m = {.max_stack = 1};
        cf_ops(&m, "10 00 b1");
        cf_handler(&m, handlers[i][0], handlers[i][1], handlers[i][2], 0);
        cf_method(&c, 9, "m", "()V", &m);
        check_left(&c, HPROFX_BCI_LEFT_MALFORMED);
    }
}

TEST(abstract_methods_with_code_and_two_codes_are_left_alone)
{
    struct cf_class c;
    cf_init(&c, 52);
    struct cf_code m = {.max_stack = 1};
    cf_ops(&m, "b1");
    cf_method(&c, 0x401, "m", "()V", &m);
    check_left(&c, HPROFX_BCI_LEFT_MALFORMED);
    /* Two Codes. */
    cf_init(&c, 52);
    add_static(&c, "m", 0, 0, "b1");
    struct cf_bytes code = {0};
    cf_put(&code, c.methods.p + 8, c.methods.n - 8);
    cf_put(&c.methods, code.p, code.n);
    cf_free(&code);
    c.methods.p[7] = 2;
    check_left(&c, HPROFX_BCI_LEFT_MALFORMED);
    /* A Code that goes on behind its last attribute. */
    cf_init(&c, 52);
    add_static(&c, "m", 0, 0, "b1");
    c.methods.p[13]++;
    cf_u1(&c.methods, 0);
    check_left(&c, HPROFX_BCI_LEFT_MALFORMED);
}

TEST(what_is_cut_off_anywhere_is_refused)
{
    struct cf_class c;
    cf_init(&c, 52);
    struct cf_code m = {.max_stack = 2};
    struct cf_bytes lines = {0};
    cf_u4(&lines, 0x00010000);
    cf_u2(&lines, 3);
    cf_ops(&m, "03 aa 0000 00000013 00000000 00000000 00000013 b1 b1");
    m.code.n--;
    cf_attribute(&c, &m.attrs, "LineNumberTable", &lines);
    cf_free(&lines);
    m.attr_n = 1;
    add_frame(&m, "14");
    cf_method(&c, 9, "m", "()V", &m);
    struct cf_bytes b = cf_finish(&c);
    struct hprofx_bci_opts opts = {.tracker = NULL};
    for (size_t n = 0; n < b.n; n++) {
        struct checked k = check_bytes(b.p, n, opts);
        assert_int_equal(k.how, 2);
    }
    cf_u1(&b, 0);
    assert_int_equal(check_bytes(b.p, b.n, opts).how, 2); /* one too many */
    b.n--;
    /* Every byte changed: whatever comes of it, nothing is read outside and what is written compares. */
    for (size_t i = 0; i < b.n; i++) {
        static const uint8_t flips[] = {0x01, 0x80, 0xFF, 0x10};
        for (size_t f = 0; f < sizeof(flips); f++) {
            uint8_t *out;
            size_t n;
            const char *why;
            b.p[i] ^= flips[f];
            (void)hprofx_bci_rewrite(&opts, b.p, b.n, &out, &n, &why);
            free(out);
            b.p[i] ^= flips[f];
        }
    }
    struct checked k = check_bytes(b.p, b.n, opts);
    assert_int_equal(k.how, 0);
    check_free(&k);
    cf_free(&b);
    cf_fini(&c);
}

TEST(nothing_may_refer_behind_the_constant_pool)
{
    /* What is added stands there: a class that no JVM takes would become one that it does. */
    static const char *const odd[] = {"b8 0020 b1", "12 20 57 b1", "13 0020 57 b1", "ba 0020 0000 b1", "c5 0020 01 b1"};
    struct cf_class c;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        cf_init(&c, 52);
        add_static(&c, "m", 1, 0, odd[i]);
        check_left(&c, HPROFX_BCI_LEFT_MALFORMED);
    }
    cf_init(&c, 52); /* what looks for probes reads the instruction elsewhere */
    add_static(&c, "m", 2, 0, "b5 0020 b1");
    struct checked k = check_opts(&c, (struct hprofx_bci_opts){.probes = HPROFX_BCI_STORES, .stores = "f"});
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_MALFORMED], 1);
    struct cf_code m = {.max_stack = 1};
    cf_init(&c, 52);
    cf_ops(&m, "01 57 01 57 b1"); /* a frame with a class */
    add_frame(&m, "40 07 0020");
    cf_method(&c, 9, "m", "()V", &m);
    check_left(&c, HPROFX_BCI_LEFT_MALFORMED);
    cf_init(&c, 48);
    cf_ops(&m, "00 b1 57 b1"); /* a handler of a class */
    cf_handler(&m, 0, 1, 2, 0x20);
    cf_method(&c, 9, "m", "()V", &m);
    check_left(&c, HPROFX_BCI_LEFT_MALFORMED);
    cf_init(&c, 52);
    add_static(&c, "m", 0, 0, "b1");
    c.methods.p[5] = 0x20; /* a descriptor */
    check_left(&c, HPROFX_BCI_LEFT_MALFORMED);
    static const uint8_t tags[] = {7, 8, 9, 10, 11, 12, 16, 17, 18, 19, 20};
    for (size_t i = 0; i < sizeof(tags); i++) {
        cf_init(&c, 72);
        add_static(&c, "m", 0, 0, "b1");
        if (tags[i] >= 9 && tags[i] != 16 && tags[i] < 19) {
            (void)cf_pair(&c, tags[i], 1, 0x20);
        } else {
            (void)cf_ref(&c, tags[i], 0x20);
        }
        assert_int_equal(check(&c).how, 2);
    }
}

static void ignore(void *ctx, const struct hprofx_bci_method *m)
{
    (void)ctx, (void)m;
}

static void ignore_site(void *ctx, const struct hprofx_bci_site *s)
{
    (void)ctx, (void)s;
}

TEST(each_allocation_may_fail)
{
    struct cf_class c;
    struct cf_code m = {.max_stack = 1, .max_locals = 1}, store = {.max_stack = 2, .max_locals = 1};
    cf_init(&c, 52);
    add_static(&c, "a", 1, 0, "03 bc 0a 57 b1");
    cf_ops(&store, "2a 03");
    cf_op2(&store, 0xB5, cf_pair(&c, 9, cf_class_ref(&c, "T"), cf_pair(&c, 12, cf_utf8(&c, "f"), cf_utf8(&c, "Z"))));
    cf_ops(&store, "b1");
    cf_method(&c, 1, "s", "()V", &store);
    cf_ops(&m, "1a"); /* a branch that needs a trampoline */
    cf_branch(&m, 0x99, 32767);
    cf_branch(&m, 0xA7, 8);
    cf_ops(&m, "b1");
    cf_pad(&m, 0, 32767 - m.code.n);
    cf_ops(&m, "b1");
    add_frame(&m, "07 00 fb 7ff6");
    m.frame_n = 3;
    cf_method(&c, 9, "b", "(I)V", &m);
    struct cf_bytes b = cf_finish(&c);
    cf_fini(&c);
    struct hprofx_bci_opts opts = {.probes = HPROFX_BCI_CALLS | HPROFX_BCI_SITES | HPROFX_BCI_OBJECTS | HPROFX_BCI_STORES,
                                   .stores = "f",
                                   .first = 40000,
                                   .first_site = 40000};
    opts.method = ignore;
    opts.site = ignore_site;
    int how = 2;
    uint64_t failures = 0;
    for (; how == 2; failures++) {
        uint8_t *out;
        size_t n;
        const char *why;
        memory_fail(failures + 1, failures + 1);
        how = hprofx_bci_rewrite(&opts, b.p, b.n, &out, &n, &why);
        memory_allow();
        if (how == 2) {
            assert_string_equal(why, "no memory");
            assert_null(out);
        }
        free(out);
    }
    assert_int_equal(how, 0);
    assert_true(failures > 9);
    struct checked k = check_bytes(b.p, b.n, opts);
    assert_int_equal(k.compared.trampolines, 1);
    assert_int_equal(k.compared.stores, 1);
    check_free(&k);
    cf_free(&b);
}

TESTS(NULL, NULL)
