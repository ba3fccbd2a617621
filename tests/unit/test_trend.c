/* SPDX-License-Identifier: BSD-2-Clause */
/* test_trend.c: shares of methods over the last seconds as marks. */
#include "cmocka_all.h"
#include "trend.h"
#include <stdio.h>
#include <string.h>

static const char *line(const struct hpx_trend *t, const char *method, size_t seconds, bool utf8)
{
    static char text[HPX_TREND_LINE];
    hpx_trend_line(t, method, seconds, utf8, text);
    return text;
}

TEST(the_newest_second_is_at_the_right_end)
{
    struct hpx_trend t;
    hpx_trend_init(&t);
    assert_string_equal(line(&t, "a.B.c", 4, false), "    ");
    hpx_trend_add(&t, "a.B.c", 1);
    assert_string_equal(line(&t, "a.B.c", 4, false), "   @");
    hpx_trend_next(&t);
    hpx_trend_add(&t, "a.B.c", 0.25);
    hpx_trend_add(&t, "a.B.c", 0.25); /* both count */
    hpx_trend_next(&t);
    assert_string_equal(line(&t, "a.B.c", 4, false), " @= ");
    assert_string_equal(line(&t, "a.B.c", 2, false), "@ "); /* of what is shown */
    assert_string_equal(line(&t, "a.B.other", 3, false), "   ");
    hpx_trend_fini(&t);
}

TEST(small_shares_look_small_and_none_is_blank)
{
    struct hpx_trend t;
    hpx_trend_init(&t);
    for (int i = 0; i < 8; i++) {
        hpx_trend_add(&t, "m", (i + 0.9) * 0.0125);
        hpx_trend_next(&t);
    }
    hpx_trend_add(&t, "m", 1e-9);
    assert_string_equal(line(&t, "m", 9, false), ".:-=+*#@.");
    assert_string_equal(line(&t, "m", 9, true), "▁▂▃▄▅▆▇█▁");
    hpx_trend_fini(&t);
}

TEST(the_ring_forgets_what_is_older)
{
    struct hpx_trend t;
    char wanted[HPX_TREND_LINE] = "";
    hpx_trend_init(&t);
    hpx_trend_add(&t, "m", 1);
    for (int i = 1; i < HPX_TREND_SECONDS; i++) {
        hpx_trend_next(&t);
    }
    (void)snprintf(wanted, sizeof wanted, "@%*s", HPX_TREND_SECONDS - 1, "");
    assert_string_equal(line(&t, "m", 99, false), wanted);
    hpx_trend_next(&t);
    (void)snprintf(wanted, sizeof wanted, "%*s", HPX_TREND_SECONDS, "");
    assert_string_equal(line(&t, "m", 99, false), wanted);
    hpx_trend_fini(&t);
}

/* A program that loads classes without end. */
TEST(methods_without_a_share_are_forgotten)
{
    struct hpx_trend t;
    hpx_trend_init(&t);
    for (int i = 0; i < 100000; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "p.C%d.m", i);
        hpx_trend_add(&t, name, 0.1);
        hpx_trend_add(&t, "always", 0.1);
        if (i % 10 == 0) {
            hpx_trend_next(&t);
            assert_true(t.methods.len <= 2 * 10 * HPX_TREND_SECONDS + 64);
        }
    }
    assert_string_equal(line(&t, "always", 3, false), "@@@");
    hpx_trend_fini(&t);
}

TESTS(NULL, NULL)
