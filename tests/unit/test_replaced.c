/* SPDX-License-Identifier: BSD-2-Clause */
/* test_replaced.c: which methods the VM can replace, by annotation and by the table of JDK 8. */
#include "cmocka_all.h"
#include "replaced.h"
#include <string.h>

static bool is(const char *klass, const char *name, const char *desc, bool annotated, int release)
{
    const struct hprofx_bci_method m = {.class_name = {klass, (uint16_t)strlen(klass)},
                                        .name = {name, (uint16_t)strlen(name)},
                                        .desc = {desc, (uint16_t)strlen(desc)},
                                        .intrinsic = annotated};
    return hpx_replaced_is(&m, release);
}

TEST(an_annotation_counts_in_classes_of_the_jdk)
{
    for (int release = 9; release <= 28; release++) {
        assert_true(is("java/lang/Math", "max", "(II)I", true, release));
        assert_true(is("jdk/internal/misc/Unsafe", "getIntUnaligned", "(Ljava/lang/Object;J)I", true, release));
        assert_false(is("java/lang/Math", "max", "(II)I", false, release));
        assert_false(is("p/Math", "max", "(II)I", true, release));
        assert_false(is("javafake/Math", "max", "(II)I", true, release));
        assert_false(is("com/sun/x", "a\nhprofx: lost: 0", "()V", true, release));
        assert_false(is("", "max", "(II)I", true, release));
    }
}

TEST(what_the_vm_never_replaces_is_left_out)
{
    assert_false(is("java/lang/Object", "<init>", "()V", true, 17));
    assert_false(is("java/lang/Integer", "intValue", "()I", true, 17));
    assert_true(is("java/lang/Integer", "valueOf", "(I)Ljava/lang/Integer;", true, 17));
}

TEST(jdk_8_has_a_table)
{
    assert_true(is("java/lang/Math", "abs", "(D)D", false, 8));
    assert_true(is("java/lang/Math", "max", "(II)I", false, 8));
    assert_true(is("java/lang/Math", "subtractExact", "(JJ)J", false, 8));
    assert_true(is("java/lang/StringBuilder", "toString", "()Ljava/lang/String;", false, 8));
    assert_true(is("java/lang/ref/Reference", "get", "()Ljava/lang/Object;", false, 8));
    assert_false(is("java/lang/Math", "abs", "(I)I", false, 8));
    assert_false(is("java/lang/Math", "ab", "(D)D", false, 8));
    assert_false(is("java/lang/Math", "abs", "(D)DD", false, 8));
    assert_false(is("java/lang/Math", "", "", false, 8));
    assert_false(is("p/Math", "max", "(II)I", true, 8));
}

TESTS(NULL, NULL)
