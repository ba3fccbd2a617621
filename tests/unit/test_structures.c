/* SPDX-License-Identifier: BSD-2-Clause */
/* test_structures.c: which tables of the VM are read, and which entries of them are believed. */
#include "structures.h"
#include "vm_tables.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_TABLES "the VM exports no tables"
#define SHAPE     "the VM's tables have another shape"
#define NO_END    "the VM's tables have no end"
#define UNTOUCHED UINT64_C(0x1234)

static int list;

static void fill(void)
{
    vm_tables_field("Klass", "_name", "Symbol*", 8);
    vm_tables_field("Thread", "_name", "char*", 16);
    vm_tables_field("Thread", "_raw", NULL, 24);
    vm_tables_field("Thread", "_last", "int", 60);
    vm_tables_static("Thread", "_list", "Thread*", &list);
    vm_tables_field("Unsized", "_far", "int", 100000);
    vm_tables_type("Klass", 96);
    vm_tables_type("Thread", 64);
    vm_tables_constant("_thread_in_vm", 6);
    vm_tables_constant("_thread_blocked", -10);
}

static const char *tables(void)
{
    return hpx_structures_fields(NULL, 0);
}

static bool field(const char *type, const char *name, const char *is, uint64_t *to)
{
    *to = UNTOUCHED;
    return hpx_structures_field(&(struct hpx_vm_field){type, name, is, to});
}

static void assert_refused(const char *type, const char *name, const char *is)
{
    uint64_t to;
    assert_false(field(type, name, is, &to));
    assert_int_equal(to, UNTOUCHED);
}

TEST(names_that_are_not_there_are_not_found)
{
    fill();
    int value = 77;
    assert_null(tables());
    assert_refused("Thread", "_gone", "char*");
    assert_refused("Gone", "_name", "char*");
    assert_refused("Thread", "_nam", "char*");
    assert_int_equal(hpx_structures_size("Gone"), 0);
    assert_false(hpx_structures_constant("_gone", &value));
    assert_int_equal(value, 77);
}

/* Also the members of the entries lie elsewhere, and the name is not the first. */
TEST(tables_of_another_layout_are_read)
{
    static struct {
        uint64_t offset;
        const char *is, *name;
        int32_t is_static;
        const char *type;
        void *address;
        char more[208];
    } wide[3] = {{.offset = 40, .is = "int", .name = "_a", .type = "Wide"},
                 {.address = &list, .is = "int", .is_static = 1, .name = "_b", .type = "Wide"}};
    assert_int_equal(sizeof wide[0], 256);
    fill();
    vm_tables_type("Wide", 48);
    gHotSpotVMStructs = (struct vm_tables_field *)(void *)wide;
    gHotSpotVMStructEntryArrayStride = sizeof wide[0];
    gHotSpotVMStructEntryOffsetOffset = 0;
    gHotSpotVMStructEntryTypeStringOffset = 8;
    gHotSpotVMStructEntryFieldNameOffset = 16;
    gHotSpotVMStructEntryIsStaticOffset = 24;
    gHotSpotVMStructEntryTypeNameOffset = 32;
    gHotSpotVMStructEntryAddressOffset = 40;
    uint64_t to;
    assert_null(tables());
    assert_true(field("Wide", "_a", "int", &to));
    assert_int_equal(to, 40);
    assert_true(field("Wide", "_b", "static int", &to));
    assert_ptr_equal((void *)(uintptr_t)to, &list);
}

TEST(a_vm_without_fields_is_refused)
{
    fill();
    gHotSpotVMStructs = NULL;
    assert_string_equal(tables(), NO_TABLES);
}

TEST(a_stride_that_is_too_large_is_refused)
{
    fill();
    gHotSpotVMIntConstantEntryArrayStride = 264;
    assert_string_equal(tables(), SHAPE);
}

TEST(a_table_without_end_is_refused)
{
    enum { ENTRIES = 20000 };
    struct vm_tables_constant *endless = malloc(ENTRIES * sizeof *endless);
    assert_non_null(endless);
    for (size_t i = 0; i < ENTRIES; i++) {
        endless[i] = (struct vm_tables_constant){"again", 1};
    }
    fill();
    gHotSpotVMIntConstants = endless;
    assert_string_equal(tables(), NO_END);
    free(endless);
}

TEST(an_empty_table_is_refused)
{
    fill();
    gHotSpotVMTypes[0].name = NULL;
    assert_string_equal(tables(), NO_END);
}

TEST(a_field_that_stands_twice_is_refused)
{
    fill();
    vm_tables_field("Thread", "_name", "char*", 16);
    assert_null(tables());
    assert_refused("Thread", "_name", "char*");
}

TEST(a_missing_field_has_one_text_that_later_questions_leave)
{
    uint64_t to;
    char name[16];
    const struct hpx_vm_field gone = {"Thread", "_gone", NULL, &to}, numbered = {"Thread", name, NULL, &to};
    fill();
    assert_null(tables());
    const char *why = hpx_structures_fields(&gone, 1);
    assert_string_equal(why, "the VM's tables have no Thread._gone as expected");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "_gone%d", i);
        assert_non_null(hpx_structures_fields(&numbered, 1));
    }
    assert_string_equal(why, "the VM's tables have no Thread._gone as expected");
    assert_ptr_equal(why, hpx_structures_fields(&gone, 1));
}

TEST(of_neighbours_that_fill_the_same_the_first_that_is_there_counts)
{
    uint64_t to, name;
    const struct hpx_vm_field all[] = {{"Thread", "_gone", "int", &to},
                                       {"Thread", "_last", "int", &to},
                                       {"Thread", "_raw", NULL, &to},
                                       {"Klass", "_name", "Symbol*", &name},
                                       {"Thread", "_name", "Symbol*", &name}};
    const struct hpx_vm_field lacking[] = {
        {"Klass", "_name", "Symbol*", &name}, {"Thread", "_gone", "int", &to}, {"Klass", "_gone", "int", &to}};
    fill();
    assert_null(tables());
    assert_null(hpx_structures_fields(all, HPX_ARRAY_LEN(all)));
    assert_int_equal(to, 60);
    assert_int_equal(name, 8);
    assert_string_equal(hpx_structures_fields(lacking, HPX_ARRAY_LEN(lacking)), "the VM's tables have no Klass._gone as expected");
}

TEST(a_field_of_another_type_is_refused)
{
    fill();
    assert_null(tables());
    assert_refused("Thread", "_name", "const char*");
    assert_refused("Thread", "_list", "Klass*");
}

TEST(a_static_field_without_an_address_is_refused)
{
    fill();
    vm_tables_field_of("Thread", "_list")->address = NULL;
    vm_tables_field_of("Thread", "_list")->offset = 8;
    assert_null(tables());
    assert_refused("Thread", "_list", "static Thread*");
}

TEST(an_offset_beyond_its_type_is_refused)
{
    fill();
    vm_tables_field_of("Thread", "_last")->offset = 64;
    assert_null(tables());
    assert_refused("Thread", "_last", "int");
    assert_refused("Unsized", "_far", "int");
}

/* An offset is no address, and an address no offset. */
TEST(a_static_field_is_wanted_as_one)
{
    fill();
    assert_null(tables());
    assert_refused("Thread", "_list", "Thread*");
    assert_refused("Thread", "_last", "static int");
}

TEST(a_type_or_constant_that_stands_twice_is_refused)
{
    int value = 7;
    fill();
    vm_tables_type("Klass", 96);
    vm_tables_constant("_thread_in_vm", 6);
    assert_null(tables());
    assert_int_equal(hpx_structures_size("Klass"), 0);
    assert_int_equal(hpx_structures_size("Thread"), 64);
    assert_false(hpx_structures_constant("_thread_in_vm", &value));
    assert_int_equal(value, 7);
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}
