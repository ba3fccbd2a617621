/* SPDX-License-Identifier: BSD-2-Clause */
/* test_oops.c: the check of what stands beside the tags, against a VM that is as expected, or that differs in one thing. */
#include "cmocka_all.h"
#include "oops_fixture.h"

static const char no_objects[] = "no memory to make objects for the check of addresses";
static const char no_frame[] = "no memory for the check of addresses";
static const char refused[] = "the VM refused to walk the objects for the check of addresses";
static const char elsewhere[] = "known objects are not where the VM's callbacks were expected to have them";
static const char no_length[] = "arrays do not hold their length where it was looked for";
static const char no_class[] = "objects do not hold their class where it was looked for";

/* ---- VMs as expected ---- */

static const struct {
    uint32_t class_at, class_shift, length_at;
} headers[] = {{8, 0, 12}, {8, 0, 16}, {4, 10, 8}};

static void begin(bool indirect, size_t header)
{
    vm = (struct vm){.indirect = indirect,
                     .class_at = headers[header].class_at,
                     .class_shift = headers[header].class_shift,
                     .length_at = headers[header].length_at,
                     .element = -1,
                     .referrer = -1,
                     .missing = -1,
                     .again = -1,
                     .odd_class_word = -1,
                     .no_class_word = -1,
                     .class_word_of = -1,
                     .length_of = -1};
}

TEST(both_forms_and_all_headers_are_recognised)
{
    for (int indirect = 0; indirect < 2; indirect++) {
        for (size_t h = 0; h < HPX_ARRAY_LEN(headers); h++) {
            struct hpx_oops o;
            memset(&o, 0x55, sizeof o);
            begin(indirect != 0, h);
            assert_null(check(&o));
            assert_int_equal(o.indirect, indirect);
            assert_int_equal(o.class_at, headers[h].class_at);
            assert_int_equal(o.class_shift, headers[h].class_shift);
            assert_int_equal(o.length_at, headers[h].length_at);
            assert_int_equal(o.class_of_classes, 0x800 + 0x100 * CLASS);
            assert_int_equal(vm.attempts, 1);
        }
    }
}

TEST(ids_of_fields_are_understood)
{
    struct hpx_oops o;
    begin(false, 0);
    static const struct {
        uintptr_t id;
        uint32_t shift, at;
    } ids[] = {{16 << 2 | 2, 2, 16}, {16 << 3 | 2, 3, 16}, {20 << 2 | 2, 0, 0}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(ids); i++) {
        vm.field = ids[i].id;
        assert_null(check(&o));
        assert_int_equal(o.field_shift, ids[i].shift);
        assert_true(o.field_shift == 0 || hpx_oops_field_at(&o, (uint32_t)vm.field) == ids[i].at);
    }
    o.field_shift = 2;
    assert_int_equal(hpx_oops_field_at(&o, 0x12345600 | 12 << 2 | 3), 12); /* with a hash of the class */
}

/* The lowest address of the heap's reservation, of which the objects lie in the second part. */
TEST(the_heap_begins_where_its_reservation_does)
{
    struct hpx_oops o;
    begin(false, 0);
    assert_null(check(&o));
    assert_int_equal(o.low, (uint64_t)(uintptr_t)reserved + PAGE);
}

/* ---- VMs that differ ---- */

/* Refused after three attempts; accepted if the third, or the second, is right. */
static void differs(const struct vm *how, const char *why)
{
    for (uint32_t wrong = 0; wrong < 3; wrong++) {
        struct hpx_oops o;
        vm = *how;
        vm.wrong_attempts = wrong;
        const char *doubt = check(&o);
        if (wrong == 0) {
            assert_non_null(doubt);
            assert_string_equal(doubt, why);
            assert_int_equal(vm.attempts, 3);
        } else {
            assert_null(doubt);
            assert_int_equal(vm.attempts, wrong + 1);
            assert_int_equal(o.indirect, vm.indirect);
            assert_int_equal(o.length_at, vm.length_at);
            assert_int_equal(o.low, (uint64_t)(uintptr_t)reserved + PAGE);
        }
    }
}

/* For each form and header. */
#define EACH(change, why)                                                                                                                  \
    for (int form = 0; form < 2; form++) {                                                                                                 \
        for (size_t h = 0; h < HPX_ARRAY_LEN(headers); h++) {                                                                              \
            begin(form != 0, h);                                                                                                           \
            change;                                                                                                                        \
            struct vm how = vm;                                                                                                            \
            differs(&how, why);                                                                                                            \
        }                                                                                                                                  \
    }

TEST(an_element_that_stands_elsewhere_is_refused)
{
    for (int i = 0; i < 16; i++) {
        EACH(vm.element = i, elsewhere)
    }
}

TEST(a_referrer_that_stands_elsewhere_is_refused)
{
    for (int i = 1; i < 16; i++) {
        EACH(vm.referrer = i, elsewhere)
    }
}

TEST(an_element_that_is_not_told_is_refused)
{
    for (int i = 0; i < 16; i++) {
        EACH(vm.missing = i, elsewhere)
    }
}

TEST(what_is_told_a_second_time_must_stand_there_too)
{
    for (int i = 0; i < 16; i++) {
        EACH(vm.again = i, elsewhere)
    }
    EACH(vm.bytes_again = true, elsewhere)
}

/* Their objects cannot be told; a word that is none must not pass for one. */
TEST(local_references_that_are_marked_are_refused)
{
    struct hpx_oops o;
    for (int form = 0; form < 2; form++) {
        begin(form != 0, 0);
        vm.marked = true;
        const char *doubt = check(&o);
        assert_non_null(doubt);
        assert_string_equal(doubt, elsewhere);
    }
}

TEST(a_reference_to_itself_with_another_tag_is_refused){EACH(vm.self = true, elsewhere)}

TEST(values_whose_object_stands_elsewhere_are_refused){EACH(vm.value = true, elsewhere) EACH(vm.bytes = true, elsewhere)
                                                           EACH(vm.longs = true, elsewhere)}

TEST(values_that_are_not_told_are_refused)
{
    struct hpx_oops o;
    for (int which = 0; which < 3; which++) {
        begin(false, 0);
        vm.no_value = which == 0;
        vm.no_bytes = which == 1;
        vm.no_longs = which == 2;
        const char *doubt = check(&o);
        assert_non_null(doubt);
        assert_string_equal(doubt, elsewhere);
    }
}

TEST(objects_without_a_class_word_are_refused)
{
    for (int i = 0; i < 16; i++) {
        EACH(vm.no_class_word = i, no_class)
    }
}

/* Of other classes than the one before: elements 0 to 5. Of one class: those from 7 on; 6 is the class, and 7 a bare object. */
TEST(objects_of_two_classes_with_one_word_are_refused)
{
    for (int i = 0; i < 7; i++) {
        EACH(vm.class_word_of = i, no_class)
    }
}

TEST(objects_of_one_class_with_two_words_are_refused)
{
    static const int same[] = {0, 5, 1, 7, 8, 9, 10, 11, 12, 13, 14, 15}; /* arrays of objects; bare objects */
    for (size_t i = 0; i < HPX_ARRAY_LEN(same); i++) {
        EACH(vm.odd_class_word = same[i], no_class)
    }
}

TEST(arrays_without_their_length_are_refused)
{
    static const int arrays[] = {0, 3, 4, 5};
    struct hpx_oops o;
    for (size_t i = 0; i < HPX_ARRAY_LEN(arrays); i++) {
        EACH(vm.length_of = arrays[i], no_length)
    }
    begin(false, 0);
    vm.length_at = 20; /* farther than it is looked for */
    const char *doubt = check(&o);
    assert_non_null(doubt);
    assert_string_equal(doubt, no_length);
}

TEST(a_class_word_in_another_place_is_refused)
{
    struct hpx_oops o;
    begin(false, 0);
    vm.class_at = 20;
    const char *doubt = check(&o);
    assert_non_null(doubt);
    assert_string_equal(doubt, no_class);
}

TEST(a_vm_that_refuses_the_walk_is_refused){EACH(vm.refuses = true, refused)}

TEST(without_a_frame_nothing_is_asked)
{
    struct hpx_oops o;
    begin(false, 0);
    vm.no_frames = true;
    const char *doubt = check(&o);
    assert_non_null(doubt);
    assert_string_equal(doubt, no_frame);
    assert_int_equal(vm.calls + vm.told, 0);
}

/* Every call that makes something fails in its turn. The next attempt makes the objects. */
TEST(without_memory_for_an_object_it_is_tried_again)
{
    struct hpx_oops o;
    begin(false, 0);
    assert_null(check(&o));
    uint32_t calls = vm.calls;
    assert_int_equal(calls, 2 + 5 + 10 + 1); /* classes, arrays and number, bare objects, the outer array */
    for (uint32_t k = 1; k <= calls; k++) {
        begin(false, 0);
        vm.fails_at = k;
        assert_null(check(&o));
        assert_int_equal(vm.attempts, 2);
    }
}

TEST(without_memory_there_is_no_check)
{
    struct hpx_oops o;
    begin(false, 0);
    vm.no_objects = true;
    const char *doubt = check(&o);
    assert_non_null(doubt);
    assert_string_equal(doubt, no_objects);
    assert_int_equal(vm.told, 0);
    assert_int_equal(vm.attempts, 3);
}

/* JNI allows few calls while an exception is pending, and none of those that make objects. */
TEST(no_object_is_asked_for_while_an_exception_is_pending)
{
    struct hpx_oops o;
    begin(false, 0);
    assert_null(check(&o));
    uint32_t calls = vm.calls, forbidden = 0;
    for (uint32_t k = 1; k <= calls; k++) {
        begin(false, 0);
        vm.fails_at = k;
        assert_null(check(&o));
        forbidden += vm.forbidden;
    }
    assert_int_equal(forbidden, 0);
}

/* ---- inline functions ---- */

TEST(a_reference_that_is_none_has_no_object)
{
    static uint64_t slot[2] = {0x1234567890, 0};
    assert_int_equal(hpx_oops_handle((jobject)(void *)slot), 0x1234567890);
    assert_int_equal(hpx_oops_handle(NULL), 0);
    for (uintptr_t tag = 1; tag < 8; tag++) { /* weak and global references are marked there */
        assert_int_equal(hpx_oops_handle((jobject)((uintptr_t)slot + tag)), 0);
    }
}

TESTS(setup, NULL)
