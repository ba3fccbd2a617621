/* SPDX-License-Identifier: BSD-2-Clause */
/* bci_check.h: builds a class, rewrites it, compares; for the tests of bci/. */
#ifndef HPX_TEST_BCI_CHECK_H
#define HPX_TEST_BCI_CHECK_H

#include "bci_compare.h"
#include "classfile.h"
#include "cmocka_all.h"
#include "hprofx_bci.h"

#include <stdlib.h>
#include <string.h>

struct checked {
    int how;
    const char *why;
    struct hprofx_bci_result result;
    struct bci_compared compared;
    uint8_t *out; /* check_free */
    size_t m, n;
};

/* Under HPX_BCI_CLASSES=DIR each pair is also left there, for a JVM to verify: DIR/in/N/T.class, DIR/out/N/T.class. */
static inline void keep(const char *side, unsigned number, const uint8_t *p, size_t n)
{
    const char *dir = getenv("HPX_BCI_CLASSES");
    char path[512];
    if (dir != NULL) {
        (void)snprintf(path, sizeof(path), "mkdir -p %s/%s/%u", dir, side, number);
        assert_int_equal(system(path), 0); /* NOLINT: a path of the developer's */
        (void)snprintf(path, sizeof(path), "%s/%s/%u/T.class", dir, side, number);
        FILE *f = fopen(path, "wbe");
        assert_non_null(f);
        assert_int_equal(fwrite(p, 1, n, f), n);
        assert_int_equal(fclose(f), 0);
    }
}

/* Between the rewriter and the test: what want() answered for each method. */
struct chosen {
    unsigned (*want)(void *ctx, const struct hprofx_bci_method *m);
    void (*method)(void *ctx, const struct hprofx_bci_method *m);
    void (*site)(void *ctx, const struct hprofx_bci_site *s);
    uint32_t (*number)(void *ctx, uint32_t methods);
    uint32_t (*sites)(void *ctx, uint32_t n);
    void *ctx;
    uint32_t told, sites_told, last_id;
    uint8_t of[65536];
};

static inline unsigned chosen_want(void *ctx, const struct hprofx_bci_method *m)
{
    struct chosen *k = ctx;
    unsigned probes = k->want(k->ctx, m);
    k->of[m->index] = (uint8_t)(probes & m->probes);
    return probes;
}

static inline void chosen_method(void *ctx, const struct hprofx_bci_method *m)
{
    struct chosen *k = ctx;
    assert_true(m->probes & HPROFX_BCI_CALLS);
    k->told++;
    if (k->method != NULL) {
        k->method(k->ctx, m);
    }
}

static inline void chosen_site(void *ctx, const struct hprofx_bci_site *s)
{
    struct chosen *k = ctx;
    assert_true(k->sites_told++ == 0 || s->id > k->last_id);
    assert_true(s->method->probes & HPROFX_BCI_SITES);
    assert_true(s->bci < s->method->code_length);
    k->last_id = s->id;
    if (k->site != NULL) {
        k->site(k->ctx, s);
    }
}

static inline uint32_t chosen_number(void *ctx, uint32_t methods)
{
    struct chosen *k = ctx;
    return k->number(k->ctx, methods);
}

static inline uint32_t chosen_sites(void *ctx, uint32_t n)
{
    struct chosen *k = ctx;
    return k->sites(k->ctx, n);
}

static inline struct bci_asked choose(struct chosen *k, struct hprofx_bci_opts *opts)
{
    *k = (struct chosen){opts->want, opts->method, opts->site, opts->number, opts->sites, opts->ctx, 0, 0, 0, {0}};
    opts->ctx = k;
    opts->want = k->want != NULL ? chosen_want : NULL;
    opts->method = chosen_method;
    opts->site = chosen_site;
    opts->number = k->number != NULL ? chosen_number : NULL;
    opts->sites = k->sites != NULL ? chosen_sites : NULL;
    return (struct bci_asked){.tracker = opts->tracker != NULL ? opts->tracker : HPROFX_BCI_TRACKER,
                              .probes = opts->probes != 0 ? opts->probes : HPROFX_BCI_CALLS,
                              .min = opts->min,
                              .stores = opts->stores,
                              .chosen = opts->want != NULL ? k->of : NULL};
}

/* Rewrites n bytes that end where their memory ends, so that ASan sees a read behind them. Compared if rewritten; bounds are checked
 * always. */
static inline struct checked check_bytes(const uint8_t *p, size_t n, struct hprofx_bci_opts opts)
{
    static unsigned number;
    static struct chosen chosen;
    struct checked k = {.n = n};
    uint8_t *in = malloc(n > 0 ? n : 1);
    assert_non_null(in);
    if (n > 0) {
        memcpy(in, p, n);
    }
    opts.result = &k.result;
    struct bci_asked asked = choose(&chosen, &opts);
    k.how = hprofx_bci_rewrite(&opts, in, n, &k.out, &k.m, &k.why);
    uint32_t left = 0;
    for (int i = 0; i < HPROFX_BCI_LEFT_COUNT; i++) {
        left += k.result.left[i];
    }
    assert_true(k.result.steps <= (uint64_t)HPROFX_BCI_STEPS * n * 2);
    assert_true((k.how == 0) == (k.out != NULL));
    assert_true((k.how == 0) == (k.why == NULL));
    if (k.how == 0) {
        assert_true(k.m <= HPROFX_BCI_GROWTH * n + 1024);
        assert_int_equal(k.result.with_code, k.result.rewritten + left);
        const char *fault = bci_compare(in, n, k.out, k.m, &asked, &k.compared);
        if (fault != NULL) {
            fail_msg("%s", fault);
        }
        assert_int_equal(k.compared.methods, k.result.rewritten);
        assert_int_equal(k.compared.sites, k.result.sites);
        assert_int_equal(k.compared.objects, k.result.objects);
        assert_int_equal(chosen.told, k.result.numbered);
        assert_int_equal(chosen.sites_told, k.result.sites);
        keep("in", number, in, n);
        keep("out", number++, k.out, k.m);
    } else {
        assert_int_equal(chosen.told + chosen.sites_told, 0);
        assert_null(k.out);
        assert_int_equal(k.m, 0);
    }
    free(in);
    return k;
}

/* The class, finished; c is used up. */
static inline struct checked check_opts(struct cf_class *c, struct hprofx_bci_opts opts)
{
    struct cf_bytes b = cf_finish(c);
    cf_fini(c);
    struct checked k = check_bytes(b.p, b.n, opts);
    cf_free(&b);
    return k;
}

static inline struct checked check(struct cf_class *c)
{
    return check_opts(c, (struct hprofx_bci_opts){.tracker = NULL});
}

/* Every method is rewritten. */
static inline struct checked check_all(struct cf_class *c)
{
    struct checked k = check(c);
    assert_int_equal(k.how, 0);
    assert_int_equal(k.result.rewritten, k.result.with_code);
    return k;
}

static inline void check_free(struct checked *k)
{
    free(k->out);
}

/* The class's only method is left alone, for this reason. */
static inline void check_left(struct cf_class *c, enum hprofx_bci_left left)
{
    struct checked k = check(c);
    assert_int_equal(k.how, 1);
    assert_int_equal(k.result.left[left], 1);
    check_free(&k);
}

/* A static method of ()V made of hex. */
static inline void add_static(struct cf_class *c, const char *name, uint16_t stack, uint16_t locals, const char *hex)
{
    struct cf_code m = {.max_stack = stack, .max_locals = locals};
    cf_ops(&m, hex);
    cf_method(c, 9, name, "()V", &m);
}

/* One more frame of the method: its bytes. */
static inline void add_frame(struct cf_code *m, const char *hex)
{
    struct cf_code bytes = {.max_stack = 0};
    cf_ops(&bytes, hex);
    cf_put(&m->frames, bytes.code.p, bytes.code.n);
    cf_free(&bytes.code);
    m->frame_n++;
}

#endif
