/* SPDX-License-Identifier: BSD-2-Clause */
/* test_change.c: the statistics of hprofx diff at the ends: very many samples, and what only runs can tell. test_compare.c has the rest. */
#include "change.h"
#include "cmocka_all.h"
#include <math.h>

static bool near(double a, double b, double by)
{
    return fabs(a - b) <= by;
}

/* The p-value of x of n samples before, and y of m after. */
static double chance(double x, double n, double y, double m)
{
    struct hpx_change_side a = {.runs = 1, .mean = x / n, .events = x, .of = n}, b = {.runs = 1, .mean = y / m, .events = y, .of = m};
    return hpx_change_between(HPX_CHANGE_DRAWN, &a, &b, HPX_CHANGE_CHANCE).p;
}

/* Also where the logarithm of a factorial has no digit left for it. That the walk over the tail ends is a part of it. */
TEST(the_test_of_very_many_samples_is_as_exact)
{
    for (double n = 1e6; n < 1e19; n *= 1e3) {
        assert_true(near(chance(n / 10, n, n / 10, n), 1, 1e-9));
        assert_true(near(chance(0, n, 5, n), 2.0 / 32, 1e-4));
        assert_true(near(chance(0, 2 * n, 5, n), 2 * pow(1.0 / 3, 5), 1e-4));
        double off = sqrt(2 * n); /* z = 4: both sides have the error sqrt(n) / 2 */
        assert_true(near(log(chance(n / 2 - off, n, n / 2 + off, n)), log(erfc(4 / M_SQRT2)), 0.02));
        assert_true(near(log(chance(n / 2 + off, n, n / 2 - off, n)), log(erfc(4 / M_SQRT2)), 0.02));
    }
    for (double n = 1e6; n < 1e15; n *= 1e3) {
        assert_true(near(chance(n - 5, n, n, n), 2.0 / 32, 1e-4));
        assert_true(near(chance(3, 3, 0, n), 0, 1e-6));
        assert_true(near(chance(2, 3, n / 2, n), 1, 1e-6)); /* of 3, 2 or more: a half */
    }
}

/* With a million events in the smallest cell another test begins: nothing is seen of it. */
TEST(both_tests_agree_where_one_ends)
{
    for (double off = 0; off < 6000; off += 500) {
        double fewer = chance(999000 - off, 2e6, 999000 + off, 2e6), more = chance(1001000 - off, 2e6, 1001000 + off, 2e6);
        assert_true(near(log(fewer), log(more), 0.05));
    }
}

static double binomial(int n, int x, double p)
{
    return p < 1 ? exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(p) + (n - x) * log1p(-p)) : x == n;
}

struct missed {
    double low, high, points_low, points_high;
};

/* How often the intervals miss the true change, on either side: over all that may be drawn. */
static struct missed misses(int n, int m, double p, double q)
{
    struct missed miss = {0};
    double ratio = q / p, little = 1e-9;
    for (int x = 0; x <= n; x++) {
        for (int y = 0; y <= m && binomial(n, x, p) > little; y++) {
            double often = binomial(n, x, p) * binomial(m, y, q);
            if (often < little) {
                continue;
            }
            struct hpx_change_side a = {.runs = 1, .mean = (double)x / n, .events = x, .of = n},
                                   b = {.runs = 1, .mean = (double)y / m, .events = y, .of = m};
            struct hpx_change c = hpx_change_between(HPX_CHANGE_DRAWN, &a, &b, HPX_CHANGE_CHANCE);
            miss.low += c.low > ratio + little ? often : 0;
            miss.high += c.high < ratio - little ? often : 0;
            miss.points_low += c.points_low > q - p + little ? often : 0;
            miss.points_high += c.points_high < q - p - little ? often : 0;
        }
    }
    return miss;
}

/* An alarm is an interval on one side of the true change. Half of 5 % is what is meant; counts are whole, which adds to it. */
TEST(intervals_hold_the_true_change_also_near_0_and_1)
{
    static const double cases[][4] = {{200, 200, 0.01, 0.01},  {400, 80, 0.01, 0.01}, {400, 80, 0.1, 0.1},    {400, 80, 0.9, 0.9},
                                      {400, 80, 0.975, 0.975}, {80, 400, 0.99, 0.99}, {200, 200, 0.01, 0.05}, {200, 200, 1, 0.99},
                                      {200, 200, 0.99, 1},     {200, 200, 1, 0.97},   {200, 200, 0.9, 0.95},  {200, 200, 0.5, 0.5}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        struct missed miss = misses((int)cases[i][0], (int)cases[i][1], cases[i][2], cases[i][3]);
        if (fmax(miss.low, miss.high) > 0.035 || fmax(miss.points_low, miss.points_high) > 0.04) {
            fail_msg("%g %g: %.3f %.3f, %.3f %.3f", cases[i][2], cases[i][3], miss.low, miss.high, miss.points_low, miss.points_high);
        }
    }
}

/* Figures of three runs, nothing of which is drawn. */
static struct hpx_change_side runs(double a, double b, double c)
{
    struct hpx_change_side s = {.runs = 3, .mean = (a + b + c) / 3, .of = INFINITY};
    double of[] = {a, b, c};
    for (size_t i = 0; i < 3 && s.mean > 0; i++) {
        s.squares += (of[i] / s.mean - 1) * (of[i] / s.mean - 1);
    }
    return s;
}

static struct hpx_change between(enum hpx_change_kind kind, struct hpx_change_side a, struct hpx_change_side b)
{
    return hpx_change_between(kind, &a, &b, HPX_CHANGE_CHANCE);
}

TEST(what_is_new_or_gone_in_all_runs_is_no_chance)
{
    struct hpx_change c = between(HPX_CHANGE_MEASURED, runs(0, 0, 0), runs(80, 81, 82));
    assert_true(isinf(c.low) && isinf(c.high) && c.points_low > 70 && c.p < 0.001);
    c = between(HPX_CHANGE_MEASURED, runs(80, 81, 82), runs(0, 0, 0));
    assert_true(c.low == 0 && c.high == 0 && c.points_high < -70 && c.p < 0.001);
    c = between(HPX_CHANGE_MEASURED, runs(0, 0, 0), runs(0, 0, 81)); /* one run alone has it */
    assert_true(c.low == 0 && isinf(c.high) && c.points_low < 0 && c.p > 0.2);
    c = between(HPX_CHANGE_MEASURED, runs(0, 0, 0), runs(0, 0, 0));
    assert_true(isnan(c.ratio) && c.points == 0 && c.p == 1);
    c = between(HPX_CHANGE_UNKNOWN, runs(0, 0, 0), runs(80, 81, 82));
    assert_true(c.low == 0 && isinf(c.high) && c.p == 1);
}

TESTS(NULL, NULL)
