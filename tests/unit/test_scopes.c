/* SPDX-License-Identifier: BSD-2-Clause */
/* test_scopes.c: scopes made by hand in both encodings of UNSIGNED5, whole and broken, and where each release keeps them. */
#include "code_cache.h"
#include "code_heap.h"
#include "scopes.h"

static uintptr_t metadata[3] = {0x10000, 0x20000, 0x30008};

static struct hpx_scopes of_bytes(const uint8_t *bytes, uint32_t size, uint8_t least)
{
    return (struct hpx_scopes){bytes, size, least, HPX_ARRAY_LEN(metadata) - 1, (uintptr_t)metadata}; /* the last one is not in it */
}

/* Known answers, by an encoder of its own: bytes from 192 on are digits of base 64 that another one follows. Since JDK 20 no byte is 0. */
TEST(numbers_of_both_encodings_are_read)
{
    static const struct {
        uint8_t least, bytes[7];
        int32_t number;
    } known[] = {{0, {0, 0, 1, 0}, 0},
                 {0, {0, 0, 1, 190}, 190},
                 {0, {0, 0, 1, 191}, 191},
                 {0, {0, 0, 1, 192, 0}, 192},
                 {0, {0, 0, 1, 255, 3}, 447},
                 {0, {0, 0, 1, 200, 75}, 5000},
                 {0, {0, 0, 1, 255, 252, 12}, 65535},
                 {1, {1, 1, 2, 1}, 0},
                 {1, {1, 1, 2, 191}, 190},
                 {1, {1, 1, 2, 192, 1}, 191},
                 {1, {1, 1, 2, 193, 1}, 192},
                 {1, {1, 1, 2, 192, 5}, 447},
                 {1, {1, 1, 2, 201, 76}, 5000},
                 {1, {1, 1, 2, 192, 254, 13}, 65535}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(known); i++) {
        struct hpx_scopes s = of_bytes(known[i].bytes, sizeof known[i].bytes, known[i].least);
        struct hpx_scope one;
        assert_true(hpx_scopes_read_sig(&s, 1, &one));
        assert_int_equal(one.bci, known[i].number - 1); /* -1 is the entry of a method */
        assert_int_equal(one.caller, 0);
        assert_int_equal(one.method, metadata[0]);
    }
}

static bool read_at(const uint8_t *bytes, uint32_t size, uint8_t least, uint32_t at, struct hpx_scope *one)
{
    uint8_t *exact = malloc(size); /* so that tools see a read behind it */
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    struct hpx_scopes s = of_bytes(exact, size, least);
    bool is = hpx_scopes_read_sig(&s, at, one);
    free(exact);
    return is;
}

TEST(what_is_no_scope_is_refused)
{
    static const uint8_t whole[] = {9, 1, 3, 8}, cut[] = {9, 1, 3}, cut_in_number[] = {9, 1, 3, 200}, zero[] = {9, 2, 0, 8};
    static const uint8_t loop[] = {9, 2, 3, 8}, method[] = {9, 1, 4, 8}, none[] = {9, 1, 1, 8},
                         large[] = {9, 1, 3, 255, 255, 255, 255, 255};
    struct hpx_scope one;
    assert_true(read_at(whole, sizeof whole, 1, 1, &one));
    assert_int_equal(one.method, metadata[1]);
    assert_int_equal(one.bci, 6);
    assert_false(read_at(whole, sizeof whole, 1, 0, &one)); /* the place that says: none */
    assert_false(read_at(whole, sizeof whole, 1, 4, &one));
    assert_false(read_at(whole, sizeof whole, 1, UINT32_MAX, &one));
    assert_false(read_at(cut, sizeof cut, 1, 1, &one));
    assert_false(read_at(cut_in_number, sizeof cut_in_number, 1, 1, &one));
    assert_false(read_at(zero, sizeof zero, 1, 1, &one));
    assert_false(read_at(loop, sizeof loop, 1, 1, &one)); /* its own caller */
    assert_false(read_at(method, sizeof method, 1, 1, &one));
    assert_false(read_at(none, sizeof none, 1, 1, &one));
    assert_false(read_at(large, sizeof large, 1, 1, &one));
    metadata[1] = 0x20004;
    assert_false(read_at(whole, sizeof whole, 1, 1, &one));
    metadata[1] = 8;
    assert_false(read_at(whole, sizeof whole, 1, 1, &one));
}

/* ---- where they are ---- */

static struct {
    struct blob blob;
    int32_t scopes, behind_scopes, metadata_at, immutable_size, mutable_size, relocation_size;
    uintptr_t scopes_begin, mutable;
    uintptr_t inside[4]; /* metadata, then scopes */
} made;
static uint8_t immutable[32];
static uintptr_t mutable[5];
static int32_t release;

#define AT(member) ((int32_t)(offsetof(__typeof__(made), member)))

static void describe_scopes(enum jdk jdk)
{
    describe(jdk);
    vm_tables_type_of("nmethod")->size = sizeof made;
    vm_tables_type_of("CodeBlob")->size = sizeof made;
    vm_tables_static("Abstract_VM_Version", "_vm_major_version", "int", &release);
    made.blob.size = sizeof made;
    made.scopes = AT(inside[2]);
    made.behind_scopes = AT(inside[3]) + 4;
    made.metadata_at = AT(inside[0]);
    if (jdk == JDK_25) {
        vm_tables_field("nmethod", "_immutable_data", "address", AT(blob.immutable));
        vm_tables_field("nmethod", "_immutable_data_size", "int", AT(immutable_size));
        vm_tables_field("nmethod", "_scopes_data_offset", "int", AT(scopes));
        vm_tables_field("CodeBlob", "_mutable_data", "address", AT(mutable));
        vm_tables_field("CodeBlob", "_mutable_data_size", "int", AT(mutable_size));
        vm_tables_field("CodeBlob", "_relocation_size", "int", AT(relocation_size));
        made.blob.immutable = (uintptr_t)immutable, made.immutable_size = sizeof immutable, made.scopes = 20;
        made.mutable = (uintptr_t) mutable, made.mutable_size = sizeof mutable, made.relocation_size = 8;
        return;
    }
    vm_tables_field("nmethod", "_scopes_pcs_offset", "int", AT(behind_scopes));
    vm_tables_field("nmethod", "_metadata_offset", "int", AT(metadata_at));
    if (jdk == JDK_8) {
        vm_tables_field("nmethod", "_scopes_data_offset", "int", AT(scopes));
    } else {
        vm_tables_type_of("CompiledMethod")->size = sizeof made;
        vm_tables_field("CompiledMethod", "_scopes_data_begin", "address", AT(scopes_begin));
        made.scopes_begin = (uintptr_t)&made.inside[2];
    }
}

static struct hpx_scopes found(enum jdk jdk, int32_t of)
{
    struct hpx_scopes s;
    release = of;
    describe_scopes(jdk);
    assert_null(hpx_code_cache_init());
    assert_null(hpx_scopes_init());
    assert_null(hpx_scopes_live());
    assert_true(hpx_scopes_open_sig((uintptr_t)&made, &s));
    return s;
}

TEST(jdk_8_counts_its_releases_by_hotspot)
{
    struct hpx_scopes s = found(JDK_8, 25);
    assert_ptr_equal(s.bytes, &made.inside[2]);
    assert_int_equal(s.least, 0);
}

TEST(a_release_with_other_names_is_refused)
{
    describe_scopes(JDK_25);
    vm_tables_field_of("CodeBlob", "_mutable_data")->name = "gone";
    assert_null(hpx_code_cache_init());
    assert_non_null(hpx_scopes_init());
}

TEST(a_release_that_is_no_number_is_refused)
{
    describe_scopes(JDK_17);
    release = 0;
    assert_null(hpx_code_cache_init());
    assert_null(hpx_scopes_init());
    assert_non_null(hpx_scopes_live());
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}
