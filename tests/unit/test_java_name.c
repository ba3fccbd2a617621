/* SPDX-License-Identifier: BSD-2-Clause */
/* test_java_name.c: JVM signatures as Java spells them. */
#include "cmocka_all.h"
#include "java_name.h"

#include <stdlib.h>
#include <string.h>

/* The buffer has just the promised size, so that ASan sees a byte too many. */
static void assert_name(const char *signature, const char *want)
{
    size_t n = strlen(signature);
    char *to = malloc(HPX_JAVA_NAME_MAX(n));
    assert_non_null(to);
    size_t len = hpx_java_name(to, signature, n);
    assert_int_equal(len, strlen(want));
    assert_memory_equal(to, want, len);
    free(to);
}

TEST(every_primitive_has_its_word)
{
    static const char *const words[][2] = {{"B", "byte"}, {"C", "char"},  {"D", "double"},  {"F", "float"}, {"I", "int"},
                                           {"J", "long"}, {"S", "short"}, {"Z", "boolean"}, {"V", "void"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        assert_name(words[i][0], words[i][1]);
    }
}

TEST(what_is_no_signature_is_kept)
{
    assert_name("", "");
    assert_name("L", "L");
    assert_name("[", "[]");
    assert_name("p/C", "p.C");
    assert_name("Lp/C", "Lp.C");
    assert_name("X", "X");
    assert_name("L;", "");
}

TEST(array_of_255_dimensions_fits)
{
    char signature[257], want[1024] = "boolean";
    memset(signature, '[', 255);
    signature[255] = 'Z';
    signature[256] = 0;
    for (size_t i = 0, at = 7; i < 255; i++, at += 2) {
        memcpy(want + at, "[]", 3);
    }
    assert_name(signature, want);
}

TESTS(NULL, NULL)
