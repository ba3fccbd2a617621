/* SPDX-License-Identifier: BSD-2-Clause */
/* test_bci_limits.c: the limits of the format and of the rewriter; branches that become too long; what is no class. */
#include "bci_check.h"

TEST(unknown_attributes_and_opcodes_leave_one_method_alone)
{
    struct cf_class c;
    cf_init(&c, 52);
    struct cf_code m = {.max_stack = 1};
    struct cf_bytes empty = {0};
    cf_ops(&m, "b1");
    cf_attribute(&c, &m.attrs, "Unheard", &empty);
    m.attr_n = 1;
    cf_method(&c, 9, "a", "()V", &m);
    add_static(&c, "b", 0, 0, "cb b1");
    add_static(&c, "c", 0, 0, "c4 00 b1"); /* wide nop */
    add_static(&c, "d", 0, 0, "b1");
    struct checked k = check_opts(&c, (struct hprofx_bci_opts){.first = 40000}); /* their numbers' constants are taken back */
    assert_int_equal(k.how, 0);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_ATTRIBUTE], 1);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_OPCODE], 2);
    assert_int_equal(k.result.rewritten, 1);
    check_free(&k);
}

TEST(every_constant_is_known)
{
    struct cf_class c;
    cf_init(&c, 72);
    uint16_t name = cf_utf8(&c, "x");
    (void)cf_ref(&c, 8, name);
    (void)cf_ref(&c, 16, name);
    (void)cf_ref(&c, 19, name);
    (void)cf_ref(&c, 20, name);
    (void)cf_pair(&c, 17, 0, name);
    (void)cf_pair(&c, 18, 0, name);
    (void)cf_pair(&c, 9, name, name);
    (void)cf_pair(&c, 11, name, name);
    (void)cf_pair(&c, 3, 1, 2);
    (void)cf_pair(&c, 4, 1, 2);
    cf_u1(&c.cp, 15);
    cf_u1(&c.cp, 6);
    cf_u2(&c.cp, 1);
    c.cp_n++;
    for (uint32_t tag = 5; tag <= 6; tag++) {
        cf_u1(&c.cp, tag);
        cf_u4(&c.cp, 1);
        cf_u4(&c.cp, 2);
        c.cp_n += 2;
    }
    add_static(&c, "m", 2, 0, "11 0001 ba 0001 0000 57 b1");
    struct checked k = check_all(&c);
    check_free(&k);
    /* One that is not: malformed today, left alone if the class is of a later version. */
    for (uint16_t major = 72; major <= 73; major++) {
        cf_init(&c, major);
        (void)cf_ref(&c, 21, 1);
        add_static(&c, "m", 0, 0, "b1");
        k = check(&c);
        assert_int_equal(k.how, major == 72 ? 2 : 1);
    }
    cf_init(&c, 80);
    add_static(&c, "m", 0, 0, "b1");
    k = check_all(&c);
    check_free(&k);
}

/* Fills the pool up to `count`. */
static void fill_pool(struct cf_class *c, uint32_t count)
{
    while (c->cp_n < count) {
        (void)cf_ref(c, 8, 1);
    }
}

TEST(a_full_pool_leaves_the_class_or_a_method_alone)
{
    enum { NEEDED = 16 };
    for (uint32_t free_n = NEEDED - 2; free_n <= NEEDED + 2; free_n++) {
        struct cf_class c;
        cf_init(&c, 52);
        add_static(&c, "a", 0, 0, "b1");
        add_static(&c, "b", 0, 0, "b1");
        fill_pool(&c, 65535 - free_n);
        struct checked k = check_opts(&c, (struct hprofx_bci_opts){.first = 40000});
        assert_int_equal(k.how, free_n <= NEEDED ? 1 : 0);
        if (free_n >= NEEDED) {
            assert_int_equal(k.result.rewritten, free_n - NEEDED);
            assert_int_equal(k.result.left[HPROFX_BCI_LEFT_POOL_FULL], NEEDED + 2 - free_n);
        }
        check_free(&k);
    }
}

TEST(max_stack_ends_at_65535)
{
    for (uint32_t stack = 65533; stack <= 65535; stack++) {
        struct cf_class c;
        cf_init(&c, 52);
        add_static(&c, "m", (uint16_t)stack, 0, "b1");
        if (stack == 65535) {
            check_left(&c, HPROFX_BCI_LEFT_STACK_FULL);
        } else {
            struct checked k = check_all(&c);
            check_free(&k);
        }
    }
}

TEST(a_full_exception_table_gets_no_handler)
{
    for (uint32_t n = 65534; n <= 65535; n++) {
        struct cf_class c;
        cf_init(&c, 52);
        struct cf_code m = {.max_stack = 1};
        cf_ops(&m, "00 b1 57 b1");
        for (uint32_t i = 0; i < n; i++) {
            cf_handler(&m, 0, 1, 2, 0);
        }
        add_frame(&m, "42 07 0002");
        cf_method(&c, 9, "m", "()V", &m);
        struct checked k = check_all(&c);
        assert_int_equal(k.result.bare[HPROFX_BCI_BARE_TABLE_FULL], n == 65535);
        check_free(&k);
    }
}

TEST(old_code_layouts_modules_and_trackers_are_left_alone)
{
    struct cf_class c;
    for (uint16_t minor = 0; minor <= 3; minor++) {
        cf_init(&c, 45);
        c.minor = minor;
        add_static(&c, "m", 0, 0, "b1");
        struct checked k = check(&c);
        assert_int_equal(k.how, minor == 3 ? 0 : 1);
        check_free(&k);
    }
    cf_init(&c, 53);
    c.access = 0x8000;
    add_static(&c, "m", 0, 0, "b1");
    assert_string_equal(check(&c).why, "a module");
    cf_init(&c, 52);
    assert_int_equal(check(&c).how, 1); /* no methods */
    cf_init(&c, 52);
    add_static(&c, "m", 0, 0, "b1");
    assert_int_equal(check_opts(&c, (struct hprofx_bci_opts){.tracker = "T"}).how, 1);
    cf_init(&c, 52);
    add_static(&c, "m", 0, 0, "b1");
    assert_int_equal(check_opts(&c, (struct hprofx_bci_opts){.first = INT32_MAX}).how, 1);
}

TEST(code_that_would_pass_65535_is_left_alone)
{
    /* Calls of 4 bytes: entry, exit, handler with athrow: 13 more. */
    for (uint32_t n = 65535 - 14; n <= 65535 - 11; n++) {
        struct cf_class c;
        cf_init(&c, 52);
        struct cf_code m = {.max_stack = 1};
        cf_pad(&m, 0, n - 1);
        cf_ops(&m, "b1");
        cf_method(&c, 9, "m", "()V", &m);
        if (n <= 65535 - 13) {
            struct checked k = check_all(&c);
            assert_int_equal(k.result.huge, 0);
            check_free(&k);
        } else {
            check_left(&c, HPROFX_BCI_LEFT_CODE_FULL);
        }
    }
    struct cf_class c;
    cf_init(&c, 48);
    struct cf_code m = {.max_stack = 1};
    cf_pad(&m, 0xB1, 65535);
    cf_method(&c, 9, "m", "()V", &m);
    check_left(&c, HPROFX_BCI_LEFT_CODE_FULL);
}

TEST(dense_returns_stay_below_16_times_the_input)
{
    struct cf_class c;
    cf_init(&c, 48);
    for (uint32_t i = 0; i < 10; i++) {
        struct cf_code m = {.max_stack = 1};
        for (uint32_t pair = 0; pair < 4000; pair++) { /* each other method with an entry of the handler between two returns */
            cf_ops(&m, i % 2 == 0 ? "b1 b1" : "00 b1");
        }
        cf_method(&c, 9, "m", "()V", &m);
    }
    struct checked k = check_opts(&c, (struct hprofx_bci_opts){.first = 100000});
    assert_int_equal(k.how, 0);
    assert_int_equal(k.result.rewritten, 10);
    assert_int_equal(k.result.huge, 10);
    check_free(&k);
}

/* n bytes of nops, then a return: about 5 bytes of growth for each. */
static void add_returns(struct cf_code *m, size_t nops, uint32_t returns, bool frames)
{
    cf_pad(m, 0, nops);
    for (uint32_t i = 0; i < returns; i++) {
        cf_ops(m, "1a");
        cf_branch(m, 0x99, (int32_t)m->code.n + 4);
        cf_ops(m, "b1");
        if (frames) {
            m->frame_n++;
        }
    }
}

/* Frames of type same at every target of add_returns, of which the first is at `first`. */
static void same_frames(struct cf_code *m, uint32_t last, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        cf_u1(&m->frames, 251);
        cf_u2(&m->frames, i == 0 ? first - last - 1 : 4);
    }
}

/* covered: end of a handler's range from 0 on, 0: no handler.
 * 0 iload_0, 1 ifeq END, 4 32000 nops and 100 returns, END return. */
static struct checked far_branch(uint16_t major, bool frame_behind, uint32_t returns, bool place, uint32_t covered)
{
    struct cf_class c;
    cf_init(&c, major);
    struct cf_code m = {.max_stack = 1, .max_locals = 2};
    cf_ops(&m, "1a");
    uint32_t end = 4 + (place ? 4 : 0) + 31000 + 1000 + 5 * returns;
    cf_branch(&m, 0x99, (int32_t)end);
    if (place) {
        cf_branch(&m, 0xA7, 8); /* behind it a trampoline may stand */
        cf_ops(&m, "b1");
    }
    cf_ops(&m, "04 3c"); /* local 1 becomes an int here, which the target does not have */
    add_returns(&m, 31998, returns, false);
    cf_ops(&m, "b1");
    if (major >= 50) {
        uint32_t at = place ? 8 : 4;
        if (place) {
            cf_ops(&m, "");
            cf_u1(&m.frames, 7); /* at 7, dead */
            cf_u1(&m.frames, 0); /* at 8 */
            m.frame_n += 2;
        } else if (frame_behind) {
            cf_u1(&m.frames, 4);
            m.frame_n++;
        }
        cf_u1(&m.frames, 252); /* append an int behind the nops */
        cf_u2(&m.frames, at + 2 + 31990 - (place ? 8 : frame_behind ? 4 : UINT32_MAX) - 1);
        cf_u1(&m.frames, 1);
        m.frame_n++;
        same_frames(&m, at + 2 + 31990, at + 32000 + 5, returns - 1);
        m.frame_n += returns - 1;
        cf_u1(&m.frames, 249); /* no locals: a frame that builds on the trampoline's would have none either */
        cf_u2(&m.frames, 4);
        m.frame_n++;
    }
    if (covered > 0) {
        cf_handler(&m, 0, covered, end, 0);
    }
    cf_method(&c, 9, "m", "(I)V", &m);
    return check(&c);
}

TEST(conditional_branches_take_trampolines_elsewhere)
{
    struct checked k = far_branch(52, false, 150, true, 0);
    assert_int_equal(k.compared.trampolines, 1);
    assert_int_equal(k.compared.inverted, 0);
    check_free(&k);
    /* Not where a handler covers it and not its target; a range that ends there ends before it (compared). */
    k = far_branch(52, false, 150, true, 9);
    assert_int_equal(k.how, 1);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_BRANCH], 1);
    check_free(&k);
    k = far_branch(52, false, 150, true, 7);
    assert_int_equal(k.compared.trampolines, 1);
    check_free(&k);
    /* No place within reach but the last: there it is of use too, if the last return is near enough. */
    k = far_branch(52, false, 150, false, 0);
    if (k.how == 1) {
        assert_int_equal(k.result.left[HPROFX_BCI_LEFT_BRANCH], 1);
    } else {
        assert_int_equal(k.compared.trampolines, 1);
    }
    check_free(&k);
}

TEST(steps_are_bounded_where_descriptors_are_long)
{
    struct cf_class c;
    char *desc = malloc(60003);
    assert_non_null(desc);
    memset(desc, 'x', 60003);
    memcpy(desc, "(L", 2);
    memcpy(desc + 59998, ";)V", 4);
    cf_init(&c, 52);
    struct cf_code m = {.max_stack = 1, .max_locals = 2};
    uint16_t init = cf_method_ref(&c, "java/lang/Object", "<init>", "()V");
    cf_ops(&m, "2a");
    cf_op2(&m, 0xB7, init);
    cf_ops(&m, "b1");
    cf_method(&c, 1, "<init>", desc, &m);
    free(desc);
    size_t len = c.methods.n;
    for (uint32_t i = 1; i < 1000; i++) { /* the limit is reached at about 240 */
        struct cf_bytes copy = {0};
        cf_put(&copy, c.methods.p, len);
        cf_put(&c.methods, copy.p, len);
        cf_free(&copy);
        c.method_n++;
    }
    struct checked k = check(&c);
    assert_true(k.result.left[HPROFX_BCI_LEFT_LIMIT] > 0);
    assert_int_equal(k.how, 0);
    check_free(&k);
}

TEST(methods_that_the_vm_looks_at_are_spared)
{
    struct cf_class c;
    cf_init(&c, 52);
    struct cf_code m = {.max_stack = 0, .max_locals = 1};
    cf_ops(&m, "b1");
    cf_method(&c, 4, "finalize", "()V", &m);
    check_left(&c, HPROFX_BCI_LEFT_FINALIZER);
    cf_init(&c, 52);
    cf_ops(&m, "00 b1");
    m.max_locals = 1;
    cf_method(&c, 4, "finalize", "()V", &m);
    struct checked k = check_all(&c);
    check_free(&k);
    static const uint16_t releases[] = {52, 53}; /* JDK 8 and 9 */
    for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
        cf_init(&c, releases[i]);
        c.this_class = cf_class_ref(&c, "java/lang/ref/Reference");
        m.max_stack = m.max_locals = 1;
        cf_ops(&m, "01 b0"); /* aconst_null areturn */
        cf_method(&c, 1, "get", "()Ljava/lang/Object;", &m);
        if (releases[i] == 52) {
            check_left(&c, HPROFX_BCI_LEFT_ACCESSOR);
        } else {
            k = check_all(&c);
            check_free(&k);
        }
    }
    /* The root class: no handler in its constructor. */
    cf_init(&c, 52);
    c.super_class = 0;
    cf_ops(&m, "b1");
    m.max_locals = 1;
    cf_method(&c, 1, "<init>", "()V", &m);
    k = check_all(&c);
    assert_int_equal(k.result.bare[HPROFX_BCI_BARE_ROOT], 1);
    assert_int_equal(k.compared.handlers, 0);
    check_free(&k);
}

TESTS(NULL, NULL)
