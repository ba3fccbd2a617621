/* SPDX-License-Identifier: BSD-2-Clause */
/* test_within.c: what differs within a run, in runs drawn with fixed seeds: those that change, and those that do not. */
#include "cmocka_all.h"
#include "within.h"
#include <stdlib.h>
#include <string.h>

#define METHODS 12
#define BINS    HPX_WITHIN_BINS

static uint64_t seed_now;

/* xorshift; 0 to 1. */
static double draw(void)
{
    seed_now ^= seed_now << 13;
    seed_now ^= seed_now >> 7;
    seed_now ^= seed_now << 17;
    return (double)(seed_now >> 11) / 9007199254740992.0;
}

/* The larger ones are rarer. */
static size_t any_method(void)
{
    double at = draw() * 3.103211; /* 1 + 1/2 + ... + 1/12 */
    for (size_t m = 0; m < METHODS; m++) {
        at -= 1 / (double)(m + 1);
        if (at <= 0) {
            return m;
        }
    }
    return METHODS - 1;
}

static uint64_t counts[METHODS][BINS];

static bool each_its_own; /* rarer methods stay longer */

/* stays: samples for which a thread stays in a method, on the average; period: samples after which it does the same again, 0: never. */
static void run(uint64_t seed, size_t bins, size_t each, double stays, size_t period)
{
    size_t method = 0, known[1000];
    uint64_t *to = &counts[0][0];
    seed_now = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < 20; i++) {
        (void)draw();
    }
    for (size_t i = 0; i < period; i++) {
        method = i % 20 == 0 ? any_method() : method;
        known[i] = method;
    }
    for (size_t i = 0; i < bins * each; i++) {
        double here = each_its_own ? stays * (double)(method + 1) / METHODS : stays;
        method = period > 0 ? known[i % period] : i == 0 || draw() * here < 1 ? any_method() : method;
        to[method * bins + i / each]++;
    }
}

static size_t alarms(size_t runs, size_t bins, size_t each, double stays, size_t period)
{
    size_t n = 0;
    struct hpx_within_part part;
    for (size_t i = 0; i < runs; i++) {
        run(i + 1, bins, each, stays, period);
        hpx_within_judge(&counts[0][0], METHODS, bins, 1, &part);
        n += part.n > 0;
    }
    return n;
}

/* Memcheck, which takes twenty times as long, learns nothing from more of the same. */
static size_t how_many(size_t runs)
{
    const char *loaded = getenv("LD_PRELOAD");
    return loaded != NULL && strstr(loaded, "/vgpreload_") != NULL ? runs / 10 : runs;
}

TEST(runs_that_do_not_change_give_less_than_one_false_alarm_in_100)
{
    static const struct {
        size_t bins, each;
        double stays;
        size_t period;
    } of[] = {{BINS, 100, 1, 0}, {BINS, 25, 1, 0}, {40, 25, 1, 0},     {8, 100, 1, 0},  {BINS, 1000, 1, 0},  {BINS, 5, 1, 0},
              {BINS, 100, 5, 0}, {40, 25, 5, 0},   {BINS, 100, 20, 0}, {40, 25, 20, 0}, {BINS, 100, 0, 100}, {40, 25, 0, 500}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(of); i++) {
        const size_t runs = how_many(of[i].each > 100 ? 250 : 1000);
        size_t n = alarms(runs, of[i].bins, of[i].each, of[i].stays, of[i].period);
        print_message("%zu bins of %zu samples, %.0f in a row, period %zu: %zu\n", of[i].bins, of[i].each, of[i].stays, of[i].period, n);
        assert_true(n <= runs / 100);
    }
}

TEST(nor_do_those_whose_methods_stay_differently_long)
{
    const size_t runs = how_many(1000);
    each_its_own = true;
    size_t n = alarms(runs, BINS, 100, 10, 0), few = alarms(runs, 40, 25, 10, 0), most = alarms(runs, BINS, 100, 40, 0);
    each_its_own = false;
    print_message("%zu, %zu, %zu\n", n, few, most);
    assert_true(n <= runs / 100 && few <= runs / 100 && most <= runs / 100);
}

/* From bin `begin` to `end` every sample of the others has a chance to be one of the last method. */
static size_t found(size_t bins, size_t each, double stays, size_t begin, size_t end, double chance)
{
    size_t n = 0;
    for (size_t i = 0; i < 20; i++) {
        struct hpx_within_part part;
        run(1000 + i, bins, each, stays, 0);
        uint64_t *to = &counts[0][0];
        for (size_t m = 0; m + 1 < METHODS; m++) {
            for (size_t b = begin; b < end; b++) {
                for (size_t k = to[m * bins + b]; k > 0; k--) {
                    bool moves = draw() < chance;
                    to[m * bins + b] -= moves;
                    to[(METHODS - 1) * bins + b] += moves;
                }
            }
        }
        hpx_within_judge(&counts[0][0], METHODS, bins, 1, &part);
        n += part.n > 0 && part.top[0].method == METHODS - 1 && part.begin >= begin - 1 && part.begin <= begin + 1 && part.end + 1 >= end &&
             part.end <= end + 1;
    }
    print_message("%zu bins of %zu, %zu to %zu, %.2f: %zu of 20\n", bins, each, begin, end, chance, n);
    return n;
}

TEST(parts_that_differ_are_found)
{
    assert_true(found(BINS, 100, 1, 20, 60, 0.28) >= 18); /* 3 % to 31 % */
    assert_true(found(BINS, 100, 1, 45, 60, 0.28) >= 18);
    assert_true(found(BINS, 100, 5, 20, 60, 0.28) >= 18);
    assert_true(found(BINS, 100, 1, 10, 20, 0.9) >= 18);
    assert_true(found(40, 25, 1, 20, 40, 0.4) >= 18);
    assert_true(found(BINS, 100, 1, 10, 12, 0.95) >= 18); /* a burst */
    assert_true(found(BINS, 25, 1, 10, 12, 0.95) >= 18);
    assert_true(found(BINS, 100, 5, 10, 12, 0.95) >= 18);
    assert_true(found(BINS, 100, 1, 30, 31, 0.95) >= 18);
    assert_true(found(BINS, 100, 20, 10, 16, 0.95) >= 14);
}

TEST(a_part_is_told_with_its_methods_the_largest_difference_first)
{
    struct hpx_within_part part;
    memset(counts, 0, sizeof counts);
    for (size_t b = 0; b < BINS; b++) { /* of 100 samples in a bin, with some noise */
        size_t late = b >= 20;
        counts[0][b] = (late ? 31 : 3) + b % 3;
        counts[1][b] = (late ? 40 : 60) + b % 5;
        counts[2][b] = 100 - counts[0][b] - counts[1][b];
    }
    hpx_within_judge(&counts[0][0], 3, BINS, 1, &part);
    assert_int_equal(part.n, 3);
    assert_true(part.begin == 20 && part.end == BINS);
    assert_true(part.top[0].method == 0 && part.top[0].inside > 0.31 && part.top[0].inside < 0.34 && part.top[0].outside < 0.05);
    assert_true(part.top[1].method == 1 && part.top[1].inside < part.top[1].outside);
}

TEST(few_bins_and_no_samples_say_nothing)
{
    struct hpx_within_part part;
    memset(counts, 0, sizeof counts);
    hpx_within_judge(&counts[0][0], METHODS, BINS, 1, &part);
    assert_int_equal(part.n, 0);
    hpx_within_judge(&counts[0][0], 0, 0, 1, &part);
    assert_int_equal(part.n, 0);
    run(1, 7, 100, 1, 0);
    hpx_within_judge(&counts[0][0], METHODS, 7, 1, &part);
    assert_int_equal(part.n, 0);
    memset(counts, 0, sizeof counts);
    counts[0][3] = UINT64_MAX; /* one bin alone has any */
    hpx_within_judge(&counts[0][0], METHODS, BINS, 1, &part);
    assert_int_equal(part.n, 0);
}

TESTS(NULL, NULL)
