/* SPDX-License-Identifier: BSD-2-Clause */
/* test_out_name.c: what % stands for in file=, with hostile variables. */
#include "err.h"
#include "folder_fixture.h"
#include "out_name.h"
#include <limits.h>

/* Both steps. */
static const char *named(const char *name, uint32_t number)
{
    static char pattern[PATH_MAX], text[PATH_MAX];
    assert_int_equal(hpx_name_expand(pattern, sizeof pattern, name, 1000000000), 0);
    assert_int_equal(hpx_name_number(text, sizeof text, pattern, number), 0);
    return text;
}

TEST(letters_are_expanded_and_others_stay, setup, teardown)
{
    setenv("TZ", "UTC", 1);
    tzset();
    char expect[256], host[65];
    snprintf(expect, sizeof expect, "a%ldb%%c%%sd20010909-014640%%", (long)getpid());
    assert_string_equal(named("a%pb%%c%sd%t%", 1), expect);
    assert_int_equal(gethostname(host, sizeof host), 0);
    assert_string_equal(named("%h", 1), host);
    assert_string_equal(named("%%p%%n%%%%{HOME}%Q%", 1), "%p%n%%{HOME}%Q%");
    assert_string_equal(content("said"), "");
}

TEST(profiles_are_numbered, setup, teardown)
{
    assert_string_equal(named("a-%n.txt", 0), "a-0.txt");
    assert_string_equal(named("%n%n%%n", UINT32_MAX), "42949672954294967295%n");
    assert_true(hpx_name_is_numbered("a%n"));
    assert_true(hpx_name_is_numbered("%%%n"));
    assert_false(hpx_name_is_numbered("%%n"));
    assert_false(hpx_name_is_numbered("n%"));
    assert_false(hpx_name_is_numbered(""));
}

TEST(a_variable_stands_for_its_value, setup, teardown)
{
    setenv("HPX_TEST", "shop-1.2_A", 1);
    assert_string_equal(named("x-%{HPX_TEST}.txt", 1), "x-shop-1.2_A.txt");
    setenv("HPX_TEST", "", 1);
    assert_string_equal(named("x-%{HPX_TEST}.txt", 1), "x-.txt");
    assert_string_equal(content("said"), "");
    unsetenv("HPX_TEST");
    assert_string_equal(named("x-%{HPX_TEST}.txt", 1), "x-.txt");
    assert_string_equal(content("said"), "hprofx: file=x-%{HPX_TEST}.txt: the environment variable HPX_TEST is not set; the file name has "
                                         "nothing in its place\n");
}

TEST(a_variable_names_no_other_folder, setup, teardown)
{
    setenv("HPX_TEST", "../../etc/passwd", 1);
    assert_string_equal(named("d/%{HPX_TEST}", 1), "d/_._.._etc_passwd");
    setenv("HPX_TEST", "..", 1);
    assert_string_equal(named("%{HPX_TEST}/x", 1), "_./x");
    setenv("HPX_TEST", "a b\n\x1b[31m;$(x)*?\\\"'\x7f%n%p%%", 1);
    assert_string_equal(named("%{HPX_TEST}", 1), "a_b___31m___x________n_p__");
    setenv("HPX_TEST", "K\xc3\xa4se", 1);
    assert_string_equal(named("%{HPX_TEST}", 1), "K\xc3\xa4se");
}

TEST(a_long_value_is_cut_between_characters, setup, teardown)
{
    char value[1000];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    setenv("HPX_TEST", value, 1);
    assert_int_equal(strlen(named("%{HPX_TEST}", 1)), HPX_NAME_VARIABLE);
    memcpy(value + HPX_NAME_VARIABLE - 1, "\xc3\xa4", 2);
    setenv("HPX_TEST", value, 1);
    assert_int_equal(strlen(named("%{HPX_TEST}", 1)), HPX_NAME_VARIABLE - 1);
}

TEST(braces_without_a_name_stay, setup, teardown)
{
    char longest[400];
    assert_string_equal(named("%{}%{A=B}%{HOME", 1), "%{}%{A=B}%{HOME");
    assert_string_equal(named("%{", 1), "%{");
    snprintf(longest, sizeof longest, "%%{%0300d}", 0);
    assert_string_equal(named(longest, 1), longest);
    assert_string_equal(content("said"), "");
}

TEST(a_name_that_does_not_fit_is_refused, setup, teardown)
{
    char buf[32];
    assert_int_equal(hpx_name_expand(buf, 4, "abc", 0), 0);
    assert_int_equal(hpx_name_expand(buf, 3, "abc", 0), -HPX_E_RANGE);
    assert_int_equal(hpx_name_expand(buf, 8, "%t", 0), -HPX_E_RANGE);
    assert_int_equal(hpx_name_expand(buf, 0, "", 0), -HPX_E_RANGE);
    assert_int_equal(hpx_name_expand(buf, 1, "", 0), 0);
    assert_int_equal(hpx_name_number(buf, 3, "%n", 99), 0);
    assert_int_equal(hpx_name_number(buf, 3, "%n", 100), -HPX_E_RANGE);
    assert_int_equal(hpx_name_number(buf, 0, "", 1), -HPX_E_RANGE);
}

TESTS(NULL, NULL)
