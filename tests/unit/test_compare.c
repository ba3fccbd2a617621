/* SPDX-License-Identifier: BSD-2-Clause */
/* test_compare.c: the statistics of hprofx diff against known values and drawn samples; trees on two sides; conditions. */
#include "cmocka_all.h"
#include "condition.h"
#include "generated.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool near(double a, double b, double by)
{
    return fabs(a - b) <= by;
}

/* ---- arithmetic ---- */

TEST(quantiles_are_those_of_the_tables)
{
    assert_true(near(hpx_change_z(0.05), 1.959964, 1e-5));
    assert_true(near(hpx_change_z(0.001), 3.290527, 1e-5));
    assert_true(near(hpx_change_t(0.05, 1), 12.7062, 1e-3));
    assert_true(near(hpx_change_t(0.05, 2), 4.302653, 1e-4));
    assert_true(near(hpx_change_t(0.05, 3), 3.182446, 1e-4));
    assert_true(near(hpx_change_t(0.05, 4), 2.776445, 1e-4));
    assert_true(near(hpx_change_t(0.01, 7), 3.499483, 1e-4));
    assert_true(near(hpx_change_t(0.05, 30), 2.042272, 1e-4));
    assert_true(near(hpx_change_t(0.05, 1001), 1.962, 1e-3));
}

/* x of n samples in one run. */
static struct hpx_change_side drawn(double x, double n)
{
    return (struct hpx_change_side){.runs = 1, .mean = x / n, .events = x, .of = n};
}

static struct hpx_change between(struct hpx_change_side a, struct hpx_change_side b)
{
    return hpx_change_between(HPX_CHANGE_DRAWN, &a, &b, HPX_CHANGE_CHANCE);
}

TEST(shares_are_judged_by_both_counts)
{
    struct hpx_change c = between(drawn(2500, 10000), drawn(2750, 10000));
    assert_true(near(c.ratio, 1.1, 1e-12) && near(c.points, 0.025, 1e-12));
    /* exp(log 1.1 +- 1.96 x sqrt(1/2500 + 1/2750 - 2/10000)) */
    assert_true(near(c.low, 1.0500, 1e-3) && near(c.high, 1.1523, 1e-3));
    assert_true(near(c.points_low, 0.01281, 1e-4) && near(c.points_high, 0.03719, 1e-4));
    assert_true(c.p > 5e-5 && c.p < 8e-5); /* z = 4.02 */
    c = between(drawn(250, 1000), drawn(275, 1000));
    assert_true(c.low < 1 && c.high > 1 && c.p > 0.2);
}

TEST(the_test_of_few_samples_is_exact)
{
    /* none of 1000, 5 of 1000: 2 x C(1000, 5) / C(2000, 5) */
    assert_true(near(between(drawn(0, 1000), drawn(5, 1000)).p, 0.06218, 1e-4));
    assert_true(near(between(drawn(5, 1000), drawn(0, 1000)).p, 0.06218, 1e-4));
    /* 3 of 10, 8 of 10: hypergeometric tail 0.03489, twice */
    assert_true(near(between(drawn(3, 10), drawn(8, 10)).p, 0.06978, 1e-4));
    assert_true(between(drawn(7, 100), drawn(7, 100)).p == 1);
    /* as rare as this on a side with a tenth of the samples: 3 of 3 there, 2 x (1/11)^3 */
    assert_true(near(between(drawn(0, 1e6), drawn(3, 1e5)).p, 2 * pow(1.0 / 11, 3), 1e-5));
}

TEST(what_is_new_or_gone_has_one_bound)
{
    struct hpx_change c = between(drawn(0, 10000), drawn(20, 10000));
    assert_true(isinf(c.ratio) && isinf(c.high) && c.low > 2 && c.low < 10);
    c = between(drawn(20, 10000), drawn(0, 10000));
    assert_true(c.ratio == 0 && c.high < 0.5 && c.low >= 0);
    c = between(drawn(0, 10000), drawn(2, 10000));
    assert_true(c.low < 1);
}

TEST(amounts_have_no_share_to_be_sure_of)
{
    struct hpx_change_side a = {.runs = 1, .mean = 4e9, .events = 400, .of = INFINITY, .unit = 1e7},
                           b = {.runs = 1, .mean = 5e9, .events = 250, .of = INFINITY, .unit = 2e7};
    struct hpx_change c = between(a, b);
    assert_true(near(c.ratio, 1.25, 1e-12));
    assert_true(near(log(c.high / c.low) / 2, 1.959964 * sqrt(1.0 / 400 + 1.0 / 250), 6e-3));
    assert_true(c.p > 0.003 && c.p < 0.02); /* 400 of 650, where 2/3 are expected: z = 2.7 */
}

/* Shares of runs on one side. */
static struct hpx_change_side spread(const double *shares, size_t n, double of)
{
    struct hpx_change_side s = {.runs = n, .of = of * (double)n};
    for (size_t i = 0; i < n; i++) {
        s.mean += shares[i] / (double)n;
    }
    s.events = s.mean * s.of;
    for (size_t i = 0; i < n; i++) {
        s.squares += (shares[i] / s.mean - 1) * (shares[i] / s.mean - 1);
    }
    return s;
}

TEST(runs_that_differ_widen_the_interval)
{
    struct hpx_change_side a = spread((const double[]){0.24, 0.25, 0.26}, 3, 1e6), b = spread((const double[]){0.25, 0.26, 0.27}, 3, 1e6);
    struct hpx_change c = between(a, b);
    assert_true(c.degrees == 4 && c.between > c.drawn);
    assert_true(c.low < 1 && c.high > 1 && c.p > 0.2); /* t = 1.2 */
    /* alike: the samples are the limit */
    a = spread((const double[]){0.25, 0.25, 0.25}, 3, 1e6);
    b = spread((const double[]){0.26, 0.26, 0.26}, 3, 1e6);
    c = between(a, b);
    assert_true(c.between == 0 && c.low > 1.03 && c.p < 1e-9);
    /* nothing is drawn: the spread alone */
    a = spread((const double[]){24, 25, 26}, 3, 0);
    b = spread((const double[]){34, 35, 36}, 3, 0);
    c = hpx_change_between(HPX_CHANGE_MEASURED, &a, &b, HPX_CHANGE_CHANCE);
    assert_true(c.low > 1.2 && c.high < 1.7 && c.p < 0.001);
}

/* ---- trees ---- */

struct made {
    struct hpx_tree tree;
    struct hpx_tree_view *view;
};

static void begin(struct made *m, enum hpx_view_kind kind)
{
    assert_true(hpx_tree_init(&m->tree));
    m->view = &m->tree.views[kind];
}

/* "a;b;c", outermost first; a frame [c] is a class. */
static void stack(struct made *m, const char *frames, uint64_t first, uint64_t second)
{
    uint32_t node = 0;
    char copy[256], *at = copy, *one;
    (void)snprintf(copy, sizeof copy, "%s", frames);
    while ((one = strsep(&at, ";")) != NULL) {
        bool class = one[0] == '[';
        uint32_t name = hpx_name_of_frame(&m->tree, one + class, strlen(one) - 2 * class); /* as every reader */
        node = hpx_tree_node(&m->tree, node, hpx_tree_frame(&m->tree, name, 0, (int32_t)first, class ? HPX_FRAME_CLASS : HPX_FRAME_METHOD));
    }
    hpx_tree_add(&m->tree, m->view, node, 0, (const uint64_t[HPX_TREE_VALUES]){first, second});
}

static struct hpx_compare compared(struct made *made, size_t before, size_t after, const char *view, bool absolute)
{
    struct hpx_compare c;
    assert_true(hpx_compare_init(&c, before, after, absolute));
    for (size_t i = 0; i < before + after; i++) {
        hpx_tree_finish(&made[i].tree);
        hpx_compare_run(&c, i, &made[i].tree);
    }
    assert_true(hpx_compare_choose(&c, view));
    assert_true(hpx_compare_methods(&c));
    return c;
}

static const struct hpx_compare_method *method(const struct hpx_compare *c, const char *name)
{
    for (size_t i = 0; i < c->methods.len; i++) {
        if (strcmp(hpx_compare_method(c, i)->name, name) == 0) {
            return hpx_compare_method(c, i);
        }
    }
    fail_msg("no %s", name);
    return NULL;
}

static void end(struct made *made, size_t n, struct hpx_compare *c)
{
    hpx_compare_fini(c);
    for (size_t i = 0; i < n; i++) {
        hpx_tree_fini(&made[i].tree);
    }
}

TEST(effective_samples_are_what_counts)
{
    struct made m[2];
    for (size_t i = 0; i < 2; i++) {
        begin(&m[i], HPX_VIEW_CPU);
        stack(&m[i], "a", 4000 + 400 * i, 0);
        stack(&m[i], "b", 6000 - 400 * i, 0);
        m[i].tree.effective = 250; /* a sample stands for 40 intervals */
    }
    struct hpx_compare c = compared(m, 1, 1, NULL, false);
    assert_int_equal(c.changed, 0);
    assert_true(near(method(&c, "a")->side[HPX_SELF][HPX_BEFORE].events, 100, 1e-6));
    end(m, 2, &c);
    for (size_t i = 0; i < 2; i++) {
        begin(&m[i], HPX_VIEW_CPU);
        stack(&m[i], "a", 4000 + 400 * i, 0);
        stack(&m[i], "b", 6000 - 400 * i, 0);
    }
    c = compared(m, 1, 1, NULL, false);
    assert_int_equal(c.changed, 4);
    end(m, 2, &c);
}

/* Few long waits are few samples, however many ns they are. */
TEST(blocked_time_is_as_sure_as_its_events)
{
    struct made m[2];
    for (size_t i = 0; i < 2; i++) {
        begin(&m[i], HPX_VIEW_LOCK);
        stack(&m[i], "f;[Lock]", 4, 4000000000u + 2000000000u * i);
        stack(&m[i], "g;[Lock]", 4000, 4000000000u);
    }
    struct hpx_compare c = compared(m, 1, 1, NULL, false);
    assert_string_equal(c.measure.name, "delay");
    assert_int_equal(c.changed, 0);
    assert_true(c.run[0].samples < 10);
    end(m, 2, &c);
}

TEST(several_runs_show_their_spread_and_join_to_one_tree)
{
    static const uint64_t f[] = {2300, 2500, 2700, 2500, 2700, 2900};
    struct made m[6];
    struct hpx_tree all;
    for (size_t i = 0; i < 6; i++) {
        begin(&m[i], HPX_VIEW_CPU);
        stack(&m[i], "main;f", f[i], 0);
        stack(&m[i], "main;g", 10000 - f[i], 0);
        m[i].tree.effective = 10000;
    }
    struct hpx_compare c = compared(m, 3, 3, NULL, false);
    const struct hpx_change *h = &method(&c, "f")->change[HPX_SELF];
    assert_true(near(h->ratio, 0.27 / 0.25, 1e-12) && h->degrees == 4 && h->between > h->drawn);
    assert_int_equal(c.changed, 0);
    assert_true(near(hpx_compare_samples(&c, HPX_AFTER), 30000, 1e-6));
    assert_true(hpx_tree_init(&all));
    for (size_t i = 0; i < 3; i++) {
        hpx_tree_join(&all, &m[i].tree);
    }
    hpx_tree_finish(&all);
    assert_false(all.no_memory);
    assert_int_equal(all.views[HPX_VIEW_CPU].totals[0], 30000);
    assert_int_equal(all.effective, 30000);
    assert_int_equal(all.nodes.len, 13); /* the root; main and f, main and g of every run, whose lines differ */
    hpx_tree_fini(&all);
    end(m, 6, &c);
}

TEST(a_view_and_its_measure_name_one_column)
{
    struct made m[2];
    for (size_t i = 0; i < 2; i++) {
        begin(&m[i], HPX_VIEW_CALLS);
        stack(&m[i], "main;f", 7, 1000000);
    }
    struct hpx_compare c = compared(m, 1, 1, "times", true);
    assert_string_equal(c.measure.name, "time");
    assert_int_equal(c.kind, HPX_CHANGE_MEASURED);
    hpx_compare_fini(&c);
    c = compared(m, 1, 1, "calls", true);
    assert_string_equal(c.measure.name, "calls");
    assert_int_equal(c.kind, HPX_CHANGE_COUNTED);
    hpx_compare_fini(&c);
    struct hpx_compare none;
    assert_true(hpx_compare_init(&none, 1, 1, true));
    hpx_compare_run(&none, 0, &m[0].tree);
    hpx_compare_run(&none, 1, &m[1].tree);
    assert_false(hpx_compare_choose(&none, "lock"));
    end(m, 2, &none);
}

/* ---- conditions ---- */

TEST(names_fit_from_a_boundary_on)
{
    assert_true(hpx_condition_fits("bar", "p.Foo.bar") && hpx_condition_fits("Foo.bar", "p.Foo.bar") &&
                hpx_condition_fits("p.Foo.bar", "p.Foo.bar"));
    assert_false(hpx_condition_fits("oo.bar", "p.Foo.bar") || hpx_condition_fits("Foo.ba", "p.Foo.bar") ||
                 hpx_condition_fits("Foo", "p.Foo.bar"));
    assert_true(hpx_condition_fits("Inner.m", "p.Outer$Inner.m") && hpx_condition_fits("Foo.*", "p.Foo.bar") &&
                hpx_condition_fits("p.*", "p.q.R.s"));
    assert_false(hpx_condition_fits("q.*", "p.aq.R.s"));
    assert_true(hpx_condition_fits("Foo.b?r", "p.Foo.bar") && hpx_condition_fits("*", "x") && hpx_condition_fits("byte[]", "byte[]"));
    assert_true(hpx_condition_fits("Foo.bar", "p.Foo.bar(int, p.X)") && hpx_condition_fits("bar(int)", "p.Foo.bar(int)"));
    assert_false(hpx_condition_fits("bar(long)", "p.Foo.bar(int)") || hpx_condition_fits("", "p.Foo.bar"));
    char name[20000]; /* what backtracks would not end */
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_false(hpx_condition_fits("*a*a*a*a*a*a*a*a*a*a*a*b", name));
}

static int parsed(struct hpx_condition *k, const char *text, bool absolute)
{
    struct hpx_err err;
    int rc = hpx_condition_parse(k, text, absolute, &err);
    if (rc != 0) {
        hpx_condition_fini(k);
    }
    return rc;
}

TEST(conditions_are_a_method_and_a_change)
{
    struct hpx_condition k;
    static const char *const bad[] = {"",          "Foo.bar",     "+5%",        "Foo.bar 5%", "Foo.bar +5",   "Foo.bar +x%",  "Foo.bar +%",
                                      "Foo +-5%",  "Foo -100%",   "Foo +100pt", "total +5%",  "Foo +nan%",    "Foo +inf%",    "Foo +0x5%",
                                      "Foo +1e3%", "Foo +5%% ..", " self +5%",  "Foo +5 %",   "Foo.bar +5%x", "Foo +1e9999%", "Foo +."};
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        if (strcmp(bad[i], " self +5%") == 0) {
            continue; /* a method of this name */
        }
        if (parsed(&k, bad[i], false) == 0) {
            fail_msg("'%s' was taken", bad[i]);
        }
    }
    assert_int_equal(parsed(&k, "  Foo.bar   self  +2.5pt ", false), 0);
    assert_string_equal(k.method, "Foo.bar");
    assert_true(k.self && k.points && k.sign == 1 && near(k.by, 0.025, 1e-12) && !k.every && !k.whole);
    hpx_condition_fini(&k);
    assert_int_equal(parsed(&k, "* -5%", false), 0);
    assert_true(k.every && k.sign == -1 && near(k.by, 0.05, 1e-12));
    hpx_condition_fini(&k);
    assert_int_equal(parsed(&k, "total +5%", true), 0);
    assert_true(k.whole);
    hpx_condition_fini(&k);
    assert_int_equal(parsed(&k, "Foo +2pt", true), -HPX_E_OPT);
    assert_int_equal(parsed(&k, "total self +2%", true), -HPX_E_OPT);
}

/* What a condition finds on n samples, f of which are in f before and after. */
static enum hpx_condition_result judged(const char *text, uint64_t before, uint64_t after, uint64_t n, double *samples)
{
    struct made m[2];
    struct hpx_condition k;
    for (size_t i = 0; i < 2; i++) {
        uint64_t x = i == 0 ? before : after;
        begin(&m[i], HPX_VIEW_CPU);
        if (x > 0) {
            stack(&m[i], "p.A.main;p.A.f", x, 0);
        }
        stack(&m[i], "p.A.main", n - x, 0);
    }
    struct hpx_compare c = compared(m, 1, 1, NULL, false);
    assert_int_equal(parsed(&k, text, false), 0);
    assert_true(hpx_condition_judge(&k, &c));
    enum hpx_condition_result result = k.result;
    *samples = k.finding.len > 0 ? ((struct hpx_finding *)k.finding.items)->samples : 0;
    hpx_condition_fini(&k);
    end(m, 2, &c);
    return result;
}

TEST(conditions_hold_fail_or_want_more_samples)
{
    double samples;
    assert_int_equal(judged("A.f +5%", 25000, 27500, 100000, &samples), HPX_CONDITION_HOLDS);
    assert_int_equal(judged("A.f +5%", 25000, 25100, 100000, &samples), HPX_CONDITION_NOT);
    assert_int_equal(judged("A.f +5%", 250, 251, 1000, &samples), HPX_CONDITION_UNSURE);
    /* the interval is +-15 %, so nine times as many samples; twice, as the distance to the limit is a little less */
    assert_true(samples > 8000 && samples < 15000);
    assert_int_equal(judged("A.f +5%", 2500, 2510, 12000, &samples), HPX_CONDITION_UNSURE);
    assert_int_equal(judged("A.f +2pt", 25000, 27500, 100000, &samples), HPX_CONDITION_HOLDS);
    assert_int_equal(judged("A.f +3pt", 25000, 27500, 100000, &samples), HPX_CONDITION_NOT);
    assert_int_equal(judged("A.f -5%", 27500, 25000, 100000, &samples), HPX_CONDITION_HOLDS);
    assert_int_equal(judged("A.f -5%", 25000, 27500, 100000, &samples), HPX_CONDITION_NOT);
    assert_int_equal(judged("A.f +5%", 0, 300, 100000, &samples), HPX_CONDITION_HOLDS);
    assert_int_equal(judged("B.f +5%", 25000, 27500, 100000, &samples), HPX_CONDITION_UNSURE);
    assert_int_equal(judged("* +2pt", 25000, 27500, 100000, &samples), HPX_CONDITION_HOLDS);
    assert_int_equal(judged("* +2pt", 25000, 25100, 100000, &samples), HPX_CONDITION_NOT);
    assert_int_equal(judged("* +2pt", 250, 251, 1000, &samples), HPX_CONDITION_UNSURE);
    assert_int_equal(judged("f +0%", 25000, 25100, 100000, &samples), HPX_CONDITION_UNSURE);
    assert_int_equal(judged("A.* self +5%", 25000, 27500, 100000, &samples), HPX_CONDITION_NOT); /* both methods: always 100 % */
}

TEST(counted_changes_are_held_to_the_last_call)
{
    static const struct {
        const char *text;
        uint64_t before, after;
        enum hpx_condition_result result;
    } cases[] = {{"f +5%", 100, 105, HPX_CONDITION_NOT},       {"f +5%", 1000, 1051, HPX_CONDITION_HOLDS},
                 {"f +0%", 7, 7, HPX_CONDITION_NOT},           {"f +0%", 7, 8, HPX_CONDITION_HOLDS},
                 {"f -0%", 7, 6, HPX_CONDITION_HOLDS},         {"f -50%", 8, 4, HPX_CONDITION_NOT},
                 {"total +5%", 100, 200, HPX_CONDITION_HOLDS}, {"* +5%", 100, 105, HPX_CONDITION_NOT},
                 {"* +5%", 100, 106, HPX_CONDITION_HOLDS},     {"g +0%", 100, 106, HPX_CONDITION_UNSURE}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        struct made m[2];
        struct hpx_condition k;
        for (size_t side = 0; side < 2; side++) {
            begin(&m[side], HPX_VIEW_CALLS);
            stack(&m[side], "main;f", side == 0 ? cases[i].before : cases[i].after, 1);
        }
        struct hpx_compare c = compared(m, 1, 1, "calls", true);
        assert_int_equal(parsed(&k, cases[i].text, true), 0);
        assert_true(hpx_condition_judge(&k, &c));
        if (k.result != cases[i].result) {
            fail_msg("%s of %llu and %llu: %d", cases[i].text, (unsigned long long)cases[i].before, (unsigned long long)cases[i].after,
                     k.result);
        }
        hpx_condition_fini(&k);
        end(m, 2, &c);
    }
}

TESTS(NULL, NULL)
