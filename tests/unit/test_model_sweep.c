/* SPDX-License-Identifier: BSD-2-Clause */
/* test_model_sweep.c: unloaded classes are forgotten, what was sampled of them is not. */
#include "model_fixture.h"
#include "symbols_internal.h"

static const struct hpx_model_config no_lines = {.lines = false};

#define ID(klass) (UINT64_C(0x7f0000000000) + 64u * (klass))

/* Class gen.C<k> with methods a<k>, b<k> at the ids ID(at), ID(at) + 8; reference k + 1. */
static void announce_at(struct fx *f, uint32_t k, uint32_t at)
{
    char text[128];
    int n = snprintf(text, sizeof(text), "Lgen/C%u;%cC%u.java%ca%u%c%cb%u%c%c", k, 0, k, 0, k, 0, 0, k, 0, 0);
    fx_class(f, k + 1, ID(at), 2, text, (uint32_t)n);
}

static void announce(struct fx *f, uint32_t from, uint32_t to)
{
    for (uint32_t k = from; k < to; k++) {
        announce_at(f, k, k);
    }
}

/* A sample in method b of the ids at `at`, which must be shown as one of class k. */
static void assert_labelled(struct fx *f, uint32_t at, uint32_t k)
{
    char want[128];
    (void)snprintf(want, sizeof(want), "gen.C%u.b%u(C%u.java:-1)", k, k, k);
    fx_define(f, &f->t, 0, 1, FX_STACK({ID(at) + 8, 1}));
    struct hpx_snapshot *s = fx_snapshot(f, 1, 1);
    fx_assert_frame(s->rows[0].trace, 0, want);
    hpx_snapshot_destroy(s);
}

TEST(few_classes_are_not_asked_about, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    announce(f, 0, 999);
    assert_false(hpx_model_pass_end(f->m));
    assert_null(f->sweep);
    announce(f, 999, 1000);
    assert_false(hpx_model_pass_end(f->m));
    assert_non_null(f->sweep);
    assert_false(hpx_model_pass_end(f->m)); /* one batch at a time */
    assert_int_equal(f->nsweeps, 1);
}

TEST(tables_of_classes_that_come_and_go_do_not_grow, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    size_t early = 0;
    for (uint32_t k = 0; k < 60000; k += 100) { /* 500 live at once; names of equal length, so that sizes compare */
        announce(f, 100000 + k, 100000 + k + 100);
        fx_sweep(f, 1, 100000 + (k < 400 ? 0 : k - 400));
        assert_true(hpx_symbols_classes(f->symbols) <= 1500);
        if (k < 6000) {
            early = early > hpx_model_bytes(f->m) ? early : hpx_model_bytes(f->m);
        } else {
            assert_true(hpx_model_bytes(f->m) <= early);
        }
    }
    assert_true(fx_counter(f, HPX_C_CLASSES_UNLOADED) > 58000);
}

TEST(classes_that_live_are_asked_about_seldom, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    uint64_t asked = 0;
    for (uint32_t k = 0; k < 64000; k++) {
        announce(f, k, k + 1);
        while (hpx_model_pass_end(f->m) || f->sweep) {
            asked += f->sweep ? f->sweep->n : 0;
            if (f->sweep) {
                fx_answer_sweep(f, 0, 0);
            }
        }
    }
    assert_int_equal(hpx_symbols_classes(f->symbols), 64000);
    assert_int_equal(asked, 1000 + 2000 + 4000 + 8000 + 16000 + 32000 + 64000);
}

TEST(sampled_methods_of_an_unloaded_class_keep_their_names, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    announce(f, 0, 1000);
    fx_define(f, &f->t, 0, 1, FX_STACK({ID(7) + 8, 1}, {ID(8), 1}));
    fx_sweep(f, 0, UINT64_MAX);
    assert_int_equal(hpx_symbols_classes(f->symbols), 0);
    announce(f, 1000, 3000); /* their numbers are free but for two */
    assert_int_equal(f->symbols->methods.classes.len, 1 + 2 + 2000);
    fx_event(f, &f->t, HPX_EV_SAMPLE, 0, 4);
    struct hpx_snapshot *s = fx_snapshot(f, 5, 1);
    fx_assert_frame(s->rows[0].trace, 0, "gen.C7.b7(C7.java:-1)");
    fx_assert_frame(s->rows[0].trace, 1, "gen.C8.a8(C8.java:-1)");
    hpx_snapshot_destroy(s);
}

static uint32_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

#define PLACES 3000u

/* Each place of ids has an owner, the class that announced it last; each sample must be shown as its owner's. */
TEST(random_classes_come_and_go_under_reused_ids, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    static uint32_t owner[PLACES]; /* class; 0: none so far */
    uint64_t seed = 7;
    for (uint32_t k = 1; k < 40000; k++) {
        uint32_t at = next(&seed) % PLACES;
        owner[at] = k;
        announce_at(f, k, at);
        uint32_t sampled = next(&seed) % PLACES;
        if (k % 16 == 0 && owner[sampled] && owner[sampled] + 2000 > k) {
            assert_labelled(f, sampled, owner[sampled]);
        }
        if (k > 2000 && k % 64 == 0) {
            fx_sweep(f, 0, k - 2000 + 1); /* references of classes before k - 2000 */
        }
    }
    assert_true(fx_counter(f, HPX_C_CLASSES_UNLOADED) > 30000);
    assert_true(f->symbols->methods.index.removed > 0);
    assert_true(f->symbols->methods.index.mask < 32768);
}

TEST(model_that_can_ask_nobody_forgets_nothing)
{
    const struct hpx_model_config cfg = {.lines = false};
    struct fx f = {.m = hpx_model_create(&cfg)};
    f.symbols = hpx_model_symbols(f.m);
    announce(&f, 0, 5000);
    assert_false(hpx_model_pass_end(f.m));
    assert_int_equal(hpx_symbols_classes(f.symbols), 5000);
    hpx_model_destroy(f.m);
}

TESTS(NULL, NULL)
