/* SPDX-License-Identifier: BSD-2-Clause */
/* test_certainty.c: the error of shares against their spread in drawn samples, and which rows are too close. */
#include "certainty.h"
#include "cmocka_all.h"
#include <math.h>
#include <string.h>

TEST(known_shares)
{
    /* 100 of 1000: (100 + 1.92) / 1003.84 = 0.10153; 1.96 x sqrt(0.10153 x 0.89847 / 1003.84) */
    assert_true(fabs(hpx_certainty_points(100, 1000, 1000) - 1.868) < 0.001);
    assert_true(fabs(hpx_certainty_points(500, 1000, 1000) - 3.093) < 0.001);
    /* signals that stand for 40 intervals each */
    assert_true(hpx_certainty_points(4000, 40000, 1000) == hpx_certainty_points(100, 1000, 1000));
}

TEST(no_row_is_certain_by_its_few_samples)
{
    for (uint64_t n = 1; n < 1000; n++) {
        assert_true(hpx_certainty_points(1, n, n) > 100.0 / (double)(n + 4) / 2);
        assert_true(hpx_certainty_points(0, n, n) > 0 && hpx_certainty_points(n, n, n) > 0);
    }
    assert_true(hpx_certainty_points(0, 0, 0) == 0 && hpx_certainty_points(5, 5, 0) == 0);
    assert_true(hpx_certainty_points(UINT64_MAX, 1, 1) == 0);
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Draws n samples with the share of one row, again and again: in 95 % of the tables the true share lies within what is said. */
TEST(nineteen_of_twenty_tables_are_right)
{
    static const double shares[] = {0.01, 0.05, 0.2, 0.5};
    uint64_t seed = 88172645463325252u;
    for (size_t i = 0; i < HPX_ARRAY_LEN(shares); i++) {
        uint32_t right = 0;
        for (uint32_t table = 0; table < 2000; table++) {
            uint64_t x = 0;
            for (uint32_t k = 0; k < 400; k++) {
                x += (double)(next(&seed) >> 11) / 9007199254740992.0 < shares[i];
            }
            right += fabs((double)x / 4 - 100 * shares[i]) <= hpx_certainty_points(x, 400, 400);
        }
        assert_in_range(right, 1840, 2000);
    }
}

#define CLOSE(n, ...) hpx_certainty_close((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8, 1000, n)

TEST(rows_whose_order_may_be_chance_are_close)
{
    char text[HPX_CERTAINTY_TEXT];
    assert_int_equal(CLOSE(1000, 600, 300, 100), 0);
    assert_int_equal(CLOSE(1000, 400, 380, 100), 1); /* 20 < 1.96 x sqrt(780) = 54.7 */
    assert_int_equal(CLOSE(1000, 400, 340, 100), 0);
    assert_int_equal(CLOSE(100, 400, 340, 100), 1); /* the same shares of a tenth of the samples */
    assert_int_equal(CLOSE(1000, 500, 100, 90, 80, 10, 9), 1 << 1 | 1 << 2 | 1 << 4);
    assert_string_equal(hpx_certainty_rows(text, 1 << 1 | 1 << 2 | 1 << 4), "2 to 4, 5 to 6");
    assert_int_equal(CLOSE(1000, 5), 0);
    assert_int_equal(CLOSE(0, 5, 5), 0);
    assert_int_equal(CLOSE(1000, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4), 0x1ff);
    assert_string_equal(hpx_certainty_rows(text, 0x1ff), "1 to 10");
    assert_string_equal(hpx_certainty_rows(text, 0x155), "1 to 2, 3 to 4, 5 to 6, 7 to 8, 9 to 10");
    assert_string_equal(hpx_certainty_rows(text, 0), "");
}

TESTS(NULL, NULL)
