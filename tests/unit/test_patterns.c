/* SPDX-License-Identifier: BSD-2-Clause */
/* test_patterns.c: which class names the lists of include= and exclude= fit. */
#include "cmocka_all.h"
#include "patterns.h"

#include <string.h>

static bool match(const char *list, const char *name)
{
    return hpx_patterns_match(list, name, strlen(name));
}

TEST(patterns_without_a_star_name_a_class_or_a_package)
{
    assert_true(match("com.acme", "com/acme/App"));
    assert_true(match("com.acme", "com/acme/deep/er/App"));
    assert_true(match("com.acme.App", "com/acme/App"));
    assert_true(match("com.acme.App", "com/acme/App$Inner"));
    assert_true(match("App", "App"));
    assert_false(match("com.acme", "com/acmeister/App"));
    assert_false(match("com.acme.App", "com/acme/Apple"));
    assert_false(match("com.acme.App", "com/acme"));
    assert_false(match("App", "com/acme/App"));
}

TEST(patterns_star_stands_for_any_characters)
{
    assert_true(match("com.acme.*", "com/acme/App"));
    assert_true(match("*", "App"));
    assert_true(match("*.App", "com/acme/App"));
    assert_true(match("*App*", "com/acme/MyApplication"));
    assert_true(match("com.*.impl.*", "com/a/b/impl/X"));
    assert_true(match("a*b*c", "aXbYbZc"));
    assert_true(match("**", "x"));
    assert_false(match("com.acme.*", "com/acme"));
    assert_false(match("*.App", "com/acme/App$Inner"));
    assert_false(match("a*b*c", "aXbYbZ"));
    assert_false(match("*.impl", "com/a/implement"));
}

TEST(patterns_one_of_a_list_is_enough)
{
    assert_true(match("org.x:com.acme:de.y", "com/acme/App"));
    assert_false(match("org.x:de.y", "com/acme/App"));
}

TEST(patterns_exclude_wins)
{
    static const char name[] = "com/acme/gen/App";
    assert_true(hpx_patterns_want(NULL, NULL, name, sizeof(name) - 1));
    assert_true(hpx_patterns_want("com.acme", NULL, name, sizeof(name) - 1));
    assert_false(hpx_patterns_want("org", NULL, name, sizeof(name) - 1));
    assert_false(hpx_patterns_want("com.acme", "*.gen.*", name, sizeof(name) - 1));
    assert_false(hpx_patterns_want(NULL, "com", name, sizeof(name) - 1));
    assert_true(hpx_patterns_want(NULL, "org", name, sizeof(name) - 1));
}

TEST(patterns_that_cannot_be_used)
{
    static const char *const good[] = {"a", "a:b", "*", "a.b.*:c"}, *const bad[] = {"", ":", "a:", ":a", "a::b", "a/b"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        assert_true(hpx_patterns_valid(good[i]));
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        assert_false(hpx_patterns_valid(bad[i]));
    }
}

TESTS(NULL, NULL)
