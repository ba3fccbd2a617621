/* SPDX-License-Identifier: BSD-2-Clause */
/* test_vm_flags.c: flags of the VM in the layouts of JDK 8, 11 and 17 on; tables that are not understood change nothing. */
#include "compiler.h"
#include "vm_flags.h"
#include "vm_tables.h"
#include <string.h>

#define SHAPE "the VM's table of flags has another shape"

/* The members of all versions: what a version lacks is not in its tables. */
struct flag {
    const char *type_name;
    const char *name;
    void *value;
    int flags, type;
};

enum { TLAB, PERF_DATA, PLAIN, ON, CHOSEN, SEEN, NUMBER, STRANGE, NOWHERE, NFLAGS };

static uint8_t values[NFLAGS] = {[TLAB] = 1, [ON] = 1, [STRANGE] = 2};
static struct flag flags[NFLAGS + 1] = {
    [TLAB] = {"bool", "UseTLAB", &values[TLAB], 4, 0},
    [PERF_DATA] = {"bool", "UsePerfData", &values[PERF_DATA], 0, 0},
    [PLAIN] = {"bool", "DebugNonSafepoints", &values[PLAIN], 0, 0},
    [ON] = {"bool", "On", &values[ON], 1, 0},
    [CHOSEN] = {"bool", "Chosen_by_command_line", &values[CHOSEN], 1, 0},
    [SEEN] = {"bool", "OtherBits", &values[SEEN], 0x30, 0},
    [NUMBER] = {"uintx", "Number", &values[NUMBER], 0, 3},
    [STRANGE] = {"bool", "Strange", &values[STRANGE], 0, 0},
    [NOWHERE] = {"bool", "Nowhere", NULL, 0, 0},
};
static struct flag *first = flags;
static size_t count = NFLAGS + 1;

static void fill(const char *type, const char *pointer, const char *bits, bool by_name)
{
    vm_tables_static(type, "flags", pointer, &first);
    vm_tables_static(type, "numFlags", "size_t", &count);
    vm_tables_field(type, "_name", "const char*", offsetof(struct flag, name));
    vm_tables_field(type, "_addr", NULL, offsetof(struct flag, value));
    vm_tables_field(type, "_flags", bits, offsetof(struct flag, flags));
    if (by_name) {
        vm_tables_field(type, "_type", "const char*", offsetof(struct flag, type_name));
    } else {
        vm_tables_field(type, "_type", "int", offsetof(struct flag, type));
    }
    vm_tables_type(type, sizeof(struct flag));
    vm_tables_constant("any", 1);
}

static void fill_17(void)
{
    fill("JVMFlag", "JVMFlag*", "JVMFlag::Flags", false);
}

/* Nothing is known, and nothing is changed. */
static void assert_unreadable(const char *name, const char *because)
{
    uint8_t before[NFLAGS];
    memcpy(before, values, sizeof before);
    const char *why = "";
    assert_false(hpx_vm_flag(name, false));
    assert_true(hpx_vm_flag(name, true));
    assert_int_equal(hpx_vm_flag_set(name, &why), HPX_FLAG_UNREADABLE);
    assert_string_equal(why, because);
    hpx_vm_flag_reset(name);
    assert_memory_equal(before, values, sizeof before);
}

static void assert_flags_work(void)
{
    const char *why = "";
    assert_false(hpx_vm_flag("DebugNonSafepoints", true));
    assert_true(hpx_vm_flag("On", false));

    assert_int_equal(hpx_vm_flag_set("DebugNonSafepoints", &why), HPX_FLAG_SET);
    assert_int_equal(values[PLAIN], 1);
    assert_int_equal(flags[PLAIN].flags, 0);
    assert_true(hpx_vm_flag("DebugNonSafepoints", false));
    assert_int_equal(hpx_vm_flag_set("DebugNonSafepoints", &why), HPX_FLAG_WAS_TRUE);
    hpx_vm_flag_reset("DebugNonSafepoints");
    assert_int_equal(values[PLAIN], 0);

    assert_int_equal(hpx_vm_flag_set("On", &why), HPX_FLAG_WAS_TRUE);
    assert_int_equal(values[ON], 1);
    assert_int_equal(hpx_vm_flag_set("Chosen_by_command_line", &why), HPX_FLAG_CHOSEN);
    assert_int_equal(values[CHOSEN], 0);
    assert_int_equal(hpx_vm_flag_set("OtherBits", &why), HPX_FLAG_SET);
    assert_int_equal(values[SEEN], 1);

    assert_unreadable("Number", SHAPE);
    assert_unreadable("Strange", SHAPE);
    assert_unreadable("Nowhere", SHAPE);
    assert_unreadable("Unknown", SHAPE);
}

TEST(flags_of_jdk_8_are_typed_by_name)
{
    fill("Flag", "Flag*", "Flag::Flags", true);
    flags[NUMBER].type = 0;
    flags[PLAIN].type = 3;
    assert_flags_work();
}

static const char *text = "record";

static void assert_texts_work(int other)
{
    flags[STRANGE] = (struct flag){"ccstr", "Text", &text, 0, flags[STRANGE].type};
    assert_string_equal(hpx_vm_flag_text("Text"), "record");
    text = NULL;
    assert_null(hpx_vm_flag_text("Text"));
    assert_null(hpx_vm_flag_text("On"));
    assert_null(hpx_vm_flag_text("Absent"));
    text = "record";
    flags[STRANGE].type_name = "ccstrlist";
    flags[STRANGE].type = other;
    assert_null(hpx_vm_flag_text("Text"));
}

TEST(texts_of_jdk_11_are_typed_by_name)
{
    fill("JVMFlag", "JVMFlag*", "JVMFlag::Flags", true);
    flags[STRANGE].type = 0;
    assert_texts_work(0);
}

TEST(texts_of_jdk_17_are_typed_by_number)
{
    fill_17();
    flags[STRANGE].type = 8;
    assert_texts_work(9);
}

TEST(a_flag_without_a_name_refuses_the_table)
{
    fill_17();
    flags[STRANGE].name = NULL;
    assert_unreadable("DebugNonSafepoints", SHAPE);
}

static char long_name[102];

TEST(a_name_of_101_characters_refuses_the_table)
{
    fill_17();
    memset(long_name, 'x', 101);
    flags[STRANGE].name = long_name;
    assert_unreadable("DebugNonSafepoints", SHAPE);
}

TEST(the_last_element_is_no_flag)
{
    fill_17();
    flags[NFLAGS] = (struct flag){"bool", "Behind", &values[ON], 0, 0};
    assert_false(hpx_vm_flag("Behind", false));
    assert_true(hpx_vm_flag("On", false));
}

TEST(flags_of_a_vm_without_the_usual_ones_are_not_set)
{
    fill_17();
    values[TLAB] = 0;
    const char *why = "";
    assert_int_equal(hpx_vm_flag_set("DebugNonSafepoints", &why), HPX_FLAG_UNREADABLE);
    assert_string_equal(why, SHAPE);
    assert_int_equal(values[PLAIN], 0);
    values[PERF_DATA] = 1;
    assert_int_equal(hpx_vm_flag_set("DebugNonSafepoints", &why), HPX_FLAG_SET);
}

/* n elements, all with good names but the last. */
static void fill_many(size_t n)
{
    static struct flag many[10001];
    for (size_t i = 0; i + 1 < n; i++) {
        many[i] = flags[i % NFLAGS];
    }
    fill_17();
    first = many;
    count = n;
}

TEST(a_table_of_too_many_flags_is_refused)
{
    fill_many(10001);
    assert_unreadable("DebugNonSafepoints", SHAPE);
}

TEST(a_table_that_is_null_is_refused)
{
    fill_17();
    first = NULL;
    assert_unreadable("DebugNonSafepoints", SHAPE);
}

TEST(a_type_that_is_neither_text_nor_number_is_refused)
{
    fill_17();
    vm_tables_field_of("JVMFlag", "_type")->is = "BasicType";
    assert_unreadable("DebugNonSafepoints", "the VM's tables have no JVMFlag._type as expected");
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}
