/* SPDX-License-Identifier: BSD-2-Clause */
/* test_bci_sites.c: ids of sites: reserved, pushed, told; filters of several users in one pass. */
#include "bci_code.h"

TEST(ids_are_pushed_in_the_shortest_way)
{
    static const uint32_t firsts[] = {0, 4, 5, 126, 127, 32765, 32766, 32767, 32768, INT32_MAX - 3};
    static const uint32_t lengths[] = {1 + 1 + 1 + 1, 1 + 1 + 2 + 2, 1 + 2 + 2 + 2, 2 + 2 + 3 + 3, 2 + 3 + 3 + 3,
                                       3 + 3 + 3 + 2, 3 + 3 + 2 + 2, 3 + 2 + 2 + 2, 2 + 2 + 2 + 2, 2 + 2 + 2 + 2};
    static const uint32_t constants[] = {0, 0, 0, 0, 0, 1, 2, 3, 4, 4};
    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
        for (uint32_t large = 0; large < 2; large++) {
            struct cf_class c;
            begin(&c);
            for (uint32_t k = 0; k < large * 300; k++) {
                (void)cf_ref(&c, 7, 1);
            }
            add_static(&c, "m", 2, 0, every_kind);
            uint32_t before = c.cp_n;
            struct checked k = check_opts(&c, (struct hprofx_bci_opts){.probes = SITES, .first_site = firsts[i]});
            assert_int_equal(k.result.sites, 4);
            uint8_t head[8] = {0, 4, 0, 0, 0, 0, 0, (uint8_t)(21 + 4 * 3 + 2 + 2 + 1 + lengths[i] + large * constants[i])};
            assert_non_null(memmem(k.out, k.m, head, sizeof(head)));
            assert_int_equal(u2_at(&k, 8), before + 2 + 1 + 3 + 4 + 4 + constants[i]); /* tracker, (I)V, alloc, array, multi */
            check_free(&k);
        }
    }
    struct cf_class c;
    begin(&c);
    add_static(&c, "m", 2, 0, every_kind);
    struct checked k = check_opts(&c, (struct hprofx_bci_opts){.probes = SITES, .first_site = INT32_MAX - 2});
    assert_int_equal(k.how, 1);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_IDS], 1);
}

struct told {
    struct hprofx_bci_site s[16];
    struct hprofx_bci_method of[16], m[8];
    char operand[16][32]; /* the class bytes may be gone after the call */
    uint32_t n, methods, asked, reserved;
};

static void tell_method(void *ctx, const struct hprofx_bci_method *m)
{
    struct told *t = ctx;
    assert_int_equal(t->n, 0);
    t->m[t->methods++] = *m;
}

static void tell_site(void *ctx, const struct hprofx_bci_site *s)
{
    struct told *t = ctx;
    t->of[t->n] = *s->method;
    t->s[t->n] = *s;
    if (s->operand.at != NULL) {
        assert_in_range(s->operand.len, 1, sizeof t->operand[0]);
        memcpy(t->operand[t->n], s->operand.at, s->operand.len);
        t->s[t->n].operand.at = t->operand[t->n];
    }
    t->n++;
}

/* Ids in tens. */
static uint32_t tens(void *ctx, uint32_t n)
{
    struct told *t = ctx;
    t->asked += n;
    return 10 * ++t->reserved;
}

static uint32_t none_left(void *ctx, uint32_t n)
{
    (void)ctx;
    (void)n;
    return UINT32_MAX;
}

/* a: CALLS; b: SITES; c: all; d: none; the others what there is. */
static unsigned by_name(void *ctx, const struct hprofx_bci_method *m)
{
    (void)ctx;
    assert_true((m->probes & ~7u) == 0 && m->probes != 0);
    switch (m->name.at[0]) {
    case 'a':
        return CALLS;
    case 'b':
        return SITES;
    case 'd':
        return 0;
    default:
        return 0xFFFFFFFF;
    }
}

TEST(each_user_has_its_own_filter)
{
    struct cf_class c;
    struct told t = {.n = 0};
    static const char *const names[] = {"a", "b", "c", "d"};
    begin(&c);
    for (int i = 0; i < 4; i++) {
        add_static(&c, names[i], 1, 0, "03 bc 0a 57 b1");
    }
    struct hprofx_bci_opts opts = {.probes = CALLS | SITES | OBJECTS, .want = by_name, .method = tell_method, .site = tell_site, .ctx = &t};
    struct cf_bytes b = cf_finish(&c);
    cf_fini(&c);
    struct checked k = check_bytes(b.p, b.n, opts);
    assert_int_equal(k.how, 0);
    assert_int_equal(k.result.rewritten, 3);
    assert_int_equal(k.result.numbered, 2);
    assert_int_equal(k.result.sites, 2);
    assert_int_equal(k.result.objects, 1);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_UNWANTED], 1);
    assert_code(&k, 2, "03 b8 @enter 03 bc 0a 57 03 b8 @exit b1 03 b8 @thrown bf");
    assert_code(&k, 3, "03 bc 0a 59 be 03 b8 @array 57 b1");
    assert_code(&k, 3, "04 b8 @enter 03 bc 0a 59 be 04 b8 @array 59 b8 @object 57 04 b8 @exit b1 04 b8 @thrown bf");
    assert_code(&k, 1, "03 bc 0a 57 b1");
    assert_int_equal(t.methods, 2);
    assert_int_equal(t.m[0].index, 0);
    assert_int_equal(t.m[0].probes, CALLS);
    assert_int_equal(t.m[1].index, 2);
    assert_int_equal(t.m[1].number, 1);
    assert_int_equal(t.m[1].probes, CALLS | SITES | OBJECTS);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.of[0].index, 1);
    assert_int_equal(t.of[0].probes, SITES);
    assert_int_equal(t.of[0].number, 0);
    assert_int_equal(t.of[1].index, 2);
    free(k.out);
    /* Kinds that the class may not have are no kinds that a method may have. */
    t = (struct told){.n = 0};
    opts.probes = SITES;
    k = check_bytes(b.p, b.n, opts);
    assert_int_equal(k.result.rewritten, 2);
    assert_int_equal(k.result.sites, 2);
    assert_int_equal(k.result.numbered + k.result.objects + t.methods, 0);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_UNWANTED], 2);
    free(k.out);
    cf_free(&b);
}

static bool operand_is(const struct hprofx_bci_site *s, const char *text)
{
    return s->operand.at != NULL && s->operand.len == strlen(text) && memcmp(s->operand.at, text, s->operand.len) == 0;
}

TEST(every_site_is_told_with_its_line_and_class)
{
    struct cf_class c;
    struct told t = {.n = 0};
    begin(&c);
    struct cf_code m = {.max_stack = 2};
    struct cf_bytes lines = {0}, more = {0}, source = {0};
    cf_ops(&m, every_kind); /* new at 0, newarray at 5, anewarray at 9, multianewarray at 15 */
    cf_u2(&lines, 2);
    cf_u4(&lines, 0x0009001E); /* out of order */
    cf_u4(&lines, 0x00040014);
    cf_u2(&more, 1);
    cf_u4(&more, 0x000F0028);
    cf_attribute(&c, &m.attrs, "LineNumberTable", &lines);
    cf_attribute(&c, &m.attrs, "LineNumberTable", &more);
    m.attr_n = 2;
    cf_method(&c, 9, "c", "()V", &m);
    add_static(&c, "left", 1, 0, "03 bc 0a 57 cb b1"); /* an unknown opcode: left alone before ids are reserved */
    add_static(&c, "e", 2, 0, "03 bc 04 57 03 bc 63 57 03 bd 0008 57 bb 0001 57 b1");
    cf_u2(&source, cf_utf8(&c, "T.java"));
    cf_attribute(&c, &c.attrs, "SourceFile", &source);
    c.attr_n = 1;
    struct cf_bytes b = cf_finish(&c);
    cf_fini(&c);
    struct hprofx_bci_opts opts = {.probes = SITES, .sites = tens, .site = tell_site, .ctx = &t};
    struct checked k = check_bytes(b.p, b.n, opts);
    assert_int_equal(k.result.rewritten, 2);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_OPCODE], 1);
    assert_int_equal(t.n, 8);
    assert_int_equal(t.asked, 8);
    static const struct {
        uint32_t id, bci, line, opcode;
        const char *operand;
    } want[8] = {{10, 0, 0, 187, "java/lang/Object"},
                 {11, 5, 20, 188, "I"},
                 {12, 9, 30, 189, "java/lang/Object"},
                 {13, 15, 40, 197, "[[I"},
                 {20, 1, 0, 188, "Z"},
                 {21, 5, 0, 188, NULL},
                 {22, 9, 0, 189, "[[I"},
                 {23, 13, 0, 187, NULL}};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(t.s[i].id, want[i].id);
        assert_int_equal(t.s[i].bci, want[i].bci);
        assert_int_equal(t.s[i].line, want[i].line);
        assert_int_equal(t.s[i].opcode, want[i].opcode);
        assert_true(want[i].operand == NULL ? t.s[i].operand.at == NULL : operand_is(&t.s[i], want[i].operand));
        assert_int_equal(t.of[i].index, i < 4 ? 0 : 2);
        assert_int_equal(t.of[i].source.len, 6);
    }
    free(k.out);
    opts.sites = none_left;
    k = check_bytes(b.p, b.n, opts);
    assert_int_equal(k.how, 1);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_IDS], 2);
    assert_int_equal(t.n, 8);
    cf_free(&lines);
    cf_free(&more);
    cf_free(&source);
    cf_free(&b);
}

TEST(ids_of_a_method_left_alone_are_used_again_or_lost)
{
    for (int own = 0; own < 2; own++) {
        struct cf_class c;
        struct told t = {.n = 0};
        begin(&c);
        add_static(&c, "full", 65535, 0, "03 bc 0a 57 b1"); /* no room on its stack: seen when its ids are reserved */
        add_static(&c, "good", 1, 0, "03 bc 0a 57 b1");
        struct cf_bytes b = cf_finish(&c);
        cf_fini(&c);
        struct hprofx_bci_opts opts = {.probes = SITES, .sites = own ? tens : NULL, .first_site = 40000, .site = tell_site, .ctx = &t};
        struct checked k = check_bytes(b.p, b.n, opts);
        assert_int_equal(k.result.left[HPROFX_BCI_LEFT_STACK_FULL], 1);
        assert_int_equal(t.n, 1);
        assert_int_equal(t.s[0].id, own ? 20 : 40000);
        assert_int_equal(t.of[0].index, 1);
        free(k.out);
        cf_free(&b);
    }
}

TEST(a_full_pool_leaves_the_method_alone)
{
    enum { NEEDED = 2 + 4 + 2 }; /* tracker; Methodref of array() and what it names; ids */
    for (uint32_t free_n = 0; free_n <= NEEDED + 1; free_n++) {
        struct cf_class c;
        begin(&c);
        add_static(&c, "m", 1, 0, "03 bc 0a 57 03 bc 0a 57 b1");
        add_static(&c, "none", 0, 0, "b1");
        while (c.cp_n < 65535 - free_n) {
            (void)cf_ref(&c, 8, 1);
        }
        struct checked k = check_opts(&c, (struct hprofx_bci_opts){.probes = SITES, .first_site = 40000});
        assert_int_equal(k.how, free_n < NEEDED ? 1 : 0);
        assert_int_equal(k.result.left[HPROFX_BCI_LEFT_POOL_FULL], free_n < NEEDED);
        assert_int_equal(k.result.left[HPROFX_BCI_LEFT_NOTHING], 1);
        check_free(&k);
    }
}

TESTS(NULL, NULL)
