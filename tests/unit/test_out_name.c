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

static void letters_are_expanded_and_others_stay(void **state)
{
    (void)state;
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

static void profiles_are_numbered(void **state)
{
    (void)state;
    assert_string_equal(named("a-%n.txt", 0), "a-0.txt");
    assert_string_equal(named("%n%n%%n", UINT32_MAX), "42949672954294967295%n");
    assert_true(hpx_name_is_numbered("a%n"));
    assert_true(hpx_name_is_numbered("%%%n"));
    assert_false(hpx_name_is_numbered("%%n"));
    assert_false(hpx_name_is_numbered("n%"));
    assert_false(hpx_name_is_numbered(""));
}

static void a_variable_stands_for_its_value(void **state)
{
    (void)state;
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

static void a_variable_names_no_other_folder(void **state)
{
    (void)state;
    setenv("HPX_TEST", "../../etc/passwd", 1);
    assert_string_equal(named("d/%{HPX_TEST}", 1), "d/_._.._etc_passwd");
    setenv("HPX_TEST", "..", 1);
    assert_string_equal(named("%{HPX_TEST}/x", 1), "_./x");
    setenv("HPX_TEST", "a b\n\x1b[31m;$(x)*?\\\"'\x7f%n%p%%", 1);
    assert_string_equal(named("%{HPX_TEST}", 1), "a_b___31m___x________n_p__");
    setenv("HPX_TEST", "K\xc3\xa4se", 1);
    assert_string_equal(named("%{HPX_TEST}", 1), "K\xc3\xa4se");
}

static void a_long_value_is_cut_between_characters(void **state)
{
    (void)state;
    char value[1000];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    setenv("HPX_TEST", value, 1);
    assert_int_equal(strlen(named("%{HPX_TEST}", 1)), HPX_NAME_VARIABLE);
    memcpy(value + HPX_NAME_VARIABLE - 1, "\xc3\xa4", 2);
    setenv("HPX_TEST", value, 1);
    assert_int_equal(strlen(named("%{HPX_TEST}", 1)), HPX_NAME_VARIABLE - 1);
}

static void braces_without_a_name_stay(void **state)
{
    (void)state;
    char longest[400];
    assert_string_equal(named("%{}%{A=B}%{HOME", 1), "%{}%{A=B}%{HOME");
    assert_string_equal(named("%{", 1), "%{");
    snprintf(longest, sizeof longest, "%%{%0300d}", 0);
    assert_string_equal(named(longest, 1), longest);
    assert_string_equal(content("said"), "");
}

static void a_name_that_does_not_fit_is_refused(void **state)
{
    (void)state;
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(letters_are_expanded_and_others_stay),   TEST(profiles_are_numbered),
        TEST(a_variable_stands_for_its_value),        TEST(a_variable_names_no_other_folder),
        TEST(a_long_value_is_cut_between_characters), TEST(braces_without_a_name_stay),
        TEST(a_name_that_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests_name("out_name", tests, NULL, NULL);
}
