/* SPDX-License-Identifier: BSD-2-Clause */
/* test_bci_sites.c: ids of sites: reserved, pushed, told; filters of several users in one pass. */
#include "bci_code.h"

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

TEST(ids_end_at_the_largest_number)
{
    struct cf_class c;
    begin(&c);
    add_static(&c, "m", 2, 0, every_kind);
    struct checked k = check_opts(&c, (struct hprofx_bci_opts){.probes = SITES, .first_site = INT32_MAX - 2});
    assert_int_equal(k.how, 1);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_IDS], 1);
}

TESTS(NULL, NULL)
