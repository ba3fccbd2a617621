/* SPDX-License-Identifier: BSD-2-Clause */
/* test_walk_doubt.c: what contradicts itself ends a walk, before an address is read that cannot be one. */
#include "walk_fixture.h"
#include <string.h>
#undef fail /* of cmocka */
#include "walk_internal.h"

/* Places in the events of fx_begin_small(). */
enum { ROOT, CLASS_ROOT, CLASS_OF_A, FIELD, VALUE, STATIC, CLASS_OF_BARE, SMALL };

static const uint8_t bytes[] = {1, 2};

static enum hpx_walk_end doubt(enum fx_mode mode)
{
    return mode == FX_BY_TAGS ? HPX_WALK_ORDER : HPX_WALK_DOUBT;
}

/* The walk ends in this way; at the event with this number, or at the end. */
static void ends(enum hpx_walk_end want_end, uint32_t event)
{
    assert_int_equal(fx_walk(), want_end);
    if (event == UINT32_MAX) {
        assert_int_equal(fx.told, fx.nevents);
        assert_int_equal(fx.aborted, 0);
    } else {
        assert_int_equal(fx.told, event + 1);
        assert_int_equal(fx.aborted, 1);
    }
}

/* A small walk, of which a test changes one thing, in every mode or in the first ones. */
static void each_mode(enum fx_mode end, void (*change)(void), enum hpx_walk_end (*want_end)(enum fx_mode), uint32_t event)
{
    for (enum fx_mode mode = 0; mode < end; mode++) {
        fx_begin_small(mode, 8);
        change();
        ends(want_end(mode), event);
        fx_end(NULL);
    }
}

static enum hpx_walk_end order(enum fx_mode mode)
{
    (void)mode;
    return HPX_WALK_ORDER;
}

static enum hpx_walk_end whole(enum fx_mode mode)
{
    (void)mode;
    return HPX_WALK_WHOLE;
}

static void nothing(void)
{
}

TEST(a_small_walk_is_whole)
{
    each_mode(FX_MODES, nothing, whole, UINT32_MAX);
}

/* ---- addresses ---- */

/* Where an address may be wrong: the object and the referrer of each event of the small walk, and of an array of bytes. */
static void with_address(enum fx_mode mode, uint32_t event, bool referrer, uint64_t address)
{
    fx_begin_small(mode, 8);
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_SOME_BYTES);
    fx_class_of(FX_SOME_BYTES);
    fx_elements(FX_SOME_BYTES, JVMTI_PRIMITIVE_TYPE_BYTE, bytes);
    if (referrer) {
        fx.events[event].from_address = address;
    } else {
        fx.events[event].to_address = address;
    }
    ends(HPX_WALK_DOUBT, event);
    fx_end(NULL);
}

TEST(a_word_that_cannot_be_an_address_is_not_read)
{
    for (enum fx_mode mode = 0; mode < FX_BY_TAGS; mode++) {
        for (uint32_t event = 0; event < SMALL + 3; event++) {
            for (uint64_t low = 0; low < 8; low++) {
                bool referrer = event == CLASS_OF_A || event == FIELD || event == CLASS_OF_BARE || event == SMALL + 1;
                fx_begin(mode, 8);
                uint64_t address = low != 0 ? fx_forbidden() + low : 0;
                fx_end(NULL);
                with_address(mode, event, false, address);
                if (referrer) {
                    with_address(mode, event, true, address);
                }
            }
        }
    }
}

/* Variables of the VM lie near the frame of the callback, above it, at multiples of 8. */
static void with_variable(uint32_t event, bool referrer, uint64_t variable)
{
    fx_begin_small(FX_INDIRECT, 8);
    struct fx_event *e = &fx.events[event];
    uint64_t address = variable != 0 ? variable : fx_forbidden();
    if (referrer) {
        e->from_variable = address;
    } else {
        e->to_variable = address;
    }
    ends(HPX_WALK_DOUBT, event);
    fx_end(NULL);
}

TEST(a_variable_that_is_not_near_the_callback_is_not_read)
{
    static const uint32_t events[] = {ROOT, CLASS_OF_A, FIELD, VALUE, STATIC};
    static uint64_t right; /* an address, but in a variable of another place */
    fx_begin(FX_INDIRECT, 8);
    right = fx_address(FX_A);
    fx_end(NULL);
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    const uint64_t far[] = {
        0, (uint64_t)(uintptr_t)&right, 8, UINT64_MAX - 7, here + 4, here - ((uint64_t)64 << 20), here + ((uint64_t)2 << 20)};
    for (size_t i = 0; i < HPX_ARRAY_LEN(events); i++) {
        for (size_t k = 0; k < HPX_ARRAY_LEN(far); k++) {
            with_variable(events[i], false, far[k]);
            if (events[i] == CLASS_OF_A || events[i] == FIELD) {
                with_variable(events[i], true, far[k]);
            }
        }
    }
}

/* A variable that would be right, but for its place. */
TEST(a_variable_that_is_not_aligned_is_not_read)
{
    for (int referrer = 0; referrer < 2; referrer++) {
        uint64_t words[2];
        fx_begin_small(FX_INDIRECT, 8);
        uint64_t address = fx_address(FX_A);
        memcpy((char *)words + 4, &address, sizeof address);
        struct fx_event *e = &fx.events[referrer != 0 ? CLASS_OF_A : ROOT];
        *(referrer != 0 ? &e->from_variable : &e->to_variable) = (uint64_t)(uintptr_t)words + 4;
        ends(HPX_WALK_DOUBT, referrer != 0 ? CLASS_OF_A : ROOT);
        fx_end(state);
    }
}

/* ---- what an object is ---- */

TEST(an_array_of_another_length_than_the_vm_tells_is_doubted)
{
    for (enum fx_mode mode = 0; mode < FX_BY_TAGS; mode++) {
        for (int array = FX_ARRAY; array <= FX_SOME_BYTES; array += FX_SOME_BYTES - FX_ARRAY) {
            fx_begin_small(mode, 8);
            fx_root(JVMTI_HEAP_REFERENCE_OTHER, array)->length++;
            ends(HPX_WALK_DOUBT, SMALL);
            fx_end(state);
        }
    }
}

static void other_class_object(void)
{
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_UNSTARTED);
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_MAIN);
    fx_class_of(FX_UNSTARTED);
    struct fx_event *e = fx_class_of(FX_MAIN);
    e->to = FX_STRING;
    e->to_address = fx_address(FX_STRING);
}

TEST(a_class_word_whose_class_object_changes_is_doubted)
{
    each_mode(FX_MODES, other_class_object, doubt, SMALL + 3);
}

static void two_classes_with_one_word(void)
{
    uint32_t word;
    memcpy(&word, (const char *)fx.objects[FX_A].at + 8, sizeof word);
    fx_set_class_word(FX_BARE, word);
}

TEST(two_classes_that_have_one_class_word_are_doubted)
{
    each_mode(FX_BY_TAGS, two_classes_with_one_word, doubt, CLASS_OF_BARE);
}

static void no_class_word(void)
{
    fx_set_class_word(FX_BARE, 0);
}

static void no_class_word_of_the_first(void)
{
    fx_set_class_word(FX_A, 0);
}

TEST(a_class_word_of_zero_is_doubted)
{
    each_mode(FX_BY_TAGS, no_class_word, doubt, FIELD);
    each_mode(FX_BY_TAGS, no_class_word_of_the_first, doubt, ROOT);
}

/* ---- flattened objects ---- */

#define KLASS UINT64_C(0x7f0012345600)

static uint64_t flat(uint32_t at, uint64_t klass)
{
    const struct hpx_oops_variable v = {.object = fx_address(FX_ARRAY), .flat_at = at, .klass = klass};
    const uint64_t wrapper[] = {(uintptr_t)&v, 0, 0};
    return hpx_walk_flat_key(&fx.walk, (const jlong *)(const void *)&wrapper[2], v.object);
}

TEST(the_key_of_a_flattened_object_is_its_place_and_its_class)
{
    fx_begin_small(FX_INDIRECT, 8);
    fx.walk.flattened = true;
    const uint64_t key = flat(20, KLASS), inner = flat(20, KLASS + 16);
    assert_int_equal(flat(0, KLASS), fx_address(FX_ARRAY));
    assert_int_equal(key & ((UINT64_C(1) << HPX_WALK_FLAT) - 1), fx_address(FX_ARRAY) + 20);
    assert_int_equal(flat(24, KLASS), key + 4);
    assert_int_equal(inner ^ key, (UINT64_C(1) ^ UINT64_C(2)) << HPX_WALK_FLAT);
    assert_true(class_of(&fx.walk, key, 0) != class_of(&fx.walk, inner, 0));
    assert_ptr_equal(class_of(&fx.walk, key, 0), class_of(&fx.walk, flat(32, KLASS), 0));
    fx.walk.flattened = false; /* of what the fixture tells nothing is */
    assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
    fx_end(state);
}

static enum hpx_walk_end element_at(jint index, uint32_t at)
{
    const jvmtiHeapReferenceInfo info = {.array = {.index = index}};
    fx_begin_small(FX_INDIRECT, 8);
    fx.walk.flattened = true;
    fx.walk.array_base = 12;
    hpx_walk_meet_flat(&fx.walk, JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT, &info, fx_address(FX_ARRAY), NULL, flat(at, KLASS));
    const enum hpx_walk_end end = fx.walk.end;
    fx.walk.flattened = false;
    assert_int_equal(fx_walk(), HPX_WALK_DOUBT); /* it has no record */
    fx_end(NULL);
    return end;
}

TEST(a_flattened_element_lies_where_its_index_says)
{
    assert_int_equal(element_at(0, 16), HPX_WALK_WHOLE);
    assert_int_equal(element_at(3, 28), HPX_WALK_WHOLE);
    assert_int_equal(element_at(0, 20), HPX_WALK_DOUBT);
    assert_int_equal(element_at(3, 29), HPX_WALK_DOUBT);
    assert_int_equal(element_at(1, 16), HPX_WALK_DOUBT);
    assert_int_equal(element_at(0, 8), HPX_WALK_DOUBT);
}

static enum hpx_walk_end field_at(uint32_t at, bool linked)
{
    static const uint32_t ids[] = {0, 0, 20 << 2, 0, 0, 0, 0, 0};
    fx_begin_small(FX_INDIRECT, 8);
    fx.walk.flattened = true;
    fx.walk.oops.field_shift = 2;
    struct hpx_heap_klass klass = {
        .kind = HPX_HEAP_INSTANCES, .linked = linked, .nslots = linked ? HPX_ARRAY_LEN(ids) : 0, .first = 2, .ids = linked ? ids : NULL};
    const struct hpx_walk_class of = {.klass = &klass};
    const jvmtiHeapReferenceInfo info = {.field = {.index = 4}};
    hpx_walk_meet_flat(&fx.walk, JVMTI_HEAP_REFERENCE_FIELD, &info, fx_address(FX_ARRAY), &of, flat(at, KLASS));
    const enum hpx_walk_end end = fx.walk.end;
    fx.walk.flattened = false;
    assert_int_equal(fx_walk(), HPX_WALK_DOUBT); /* it has no record */
    fx_end(NULL);
    return end;
}

TEST(a_flattened_field_lies_where_its_id_says)
{
    assert_int_equal(field_at(16, true), HPX_WALK_DOUBT);
    assert_int_equal(field_at(20, true), HPX_WALK_WHOLE);
    assert_int_equal(field_at(24, true), HPX_WALK_DOUBT);
}

TEST(a_field_of_a_class_that_was_linked_later_is_not_known)
{
    assert_int_equal(field_at(16, false), HPX_WALK_WHOLE);
}

/* ---- whose value it is ---- */

static void field_of_another(void)
{
    struct fx_event *e = &fx.events[FIELD];
    e->from = FX_BARE;
    e->to = FX_A;
    e->from_address = fx_address(FX_BARE);
    e->to_address = fx_address(FX_A);
}

static void value_of_another(void)
{
    fx.events[VALUE].to = FX_BARE;
    fx.events[VALUE].to_address = fx_address(FX_BARE);
}

TEST(a_field_whose_object_is_not_open_is_doubted)
{
    each_mode(FX_MODES, field_of_another, doubt, FIELD);
    each_mode(FX_MODES, value_of_another, doubt, VALUE);
}

static void field_before_its_object(void)
{
    struct fx_event e = fx.events[FIELD];
    fx.events[FIELD] = fx.events[CLASS_OF_A];
    fx.events[CLASS_OF_A] = e;
}

TEST(a_field_before_its_object_is_doubted)
{
    each_mode(FX_MODES, field_before_its_object, doubt, CLASS_OF_A);
}

static void element_of_another(void)
{
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_ARRAY);
    fx_class_of(FX_ARRAY);
    fx_class_of(FX_BARE);
    fx_element(FX_ARRAY, FX_A, 0);
}

static void elements_of_another(void)
{
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_SOME_BYTES);
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_TEXT_BYTES);
    fx_class_of(FX_SOME_BYTES);
    fx_elements(FX_TEXT_BYTES, JVMTI_PRIMITIVE_TYPE_BYTE, "12345");
}

static void elements_twice(void)
{
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_SOME_BYTES);
    fx_class_of(FX_SOME_BYTES);
    fx_elements(FX_SOME_BYTES, JVMTI_PRIMITIVE_TYPE_BYTE, bytes);
    fx_elements(FX_SOME_BYTES, JVMTI_PRIMITIVE_TYPE_BYTE, bytes);
}

TEST(elements_whose_array_is_not_open_are_doubted)
{
    each_mode(FX_MODES, element_of_another, doubt, SMALL + 3);
    each_mode(FX_MODES, elements_of_another, doubt, SMALL + 3);
    each_mode(FX_MODES, elements_twice, doubt, SMALL + 3);
}

/* ---- roots ---- */

static void root_without_record(void)
{
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_TEXT);
    struct fx_event last = fx.events[fx.nevents - 1];
    memmove(&fx.events[1], &fx.events[0], (fx.nevents - 1) * sizeof last);
    fx.events[0] = last;
}

static void root_among_objects_without_record(void)
{
    fx_root(JVMTI_HEAP_REFERENCE_STACK_LOCAL, FX_TEXT);
}

TEST(an_object_that_a_root_names_must_have_its_record)
{
    each_mode(FX_BY_TAGS, root_without_record, doubt, UINT32_MAX);
    each_mode(FX_BY_TAGS, root_among_objects_without_record, whole, UINT32_MAX);
}

/* Two threads that the layout has, and their frames. */
static void begin_threads(enum fx_mode mode)
{
    fx_begin(mode, 8);
    fx_root(JVMTI_HEAP_REFERENCE_THREAD, FX_MAIN);
    fx_frame(JVMTI_HEAP_REFERENCE_STACK_LOCAL, FX_MAIN, FX_MAIN_TID, 1, 0);
    fx_root(JVMTI_HEAP_REFERENCE_THREAD, FX_OTHER);
    fx_frame(JVMTI_HEAP_REFERENCE_JNI_LOCAL, FX_MAIN, FX_OTHER_TID, 1, 0);
    fx_class_of(FX_MAIN);
    fx_class_of(FX_OTHER);
}

TEST(threads_where_their_references_say_are_whole)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        begin_threads(mode);
        ends(HPX_WALK_WHOLE, UINT32_MAX);
        assert_int_equal(fx.walk.matched, 2);
        fx_end(state);
    }
}

/* A thread of hprofx may name a method just now, whose class it holds meanwhile. */
TEST(classes_that_threads_of_hprofx_hold_are_no_roots)
{
    static const char *const names[] = {"hprofx service", "hprofs service", "hprofx"};
    static const uint32_t roots[] = {1, 2, 2};
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
            fx_begin(mode, 8);
            fx.layout.threads[1].name = (struct hpx_text){names[i], (uint32_t)strlen(names[i])};
            fx_root(JVMTI_HEAP_REFERENCE_THREAD, FX_OTHER);
            fx_frame(JVMTI_HEAP_REFERENCE_JNI_LOCAL, FX_KINDS, FX_OTHER_TID, 1, 0);
            fx_class_of(FX_OTHER);
            ends(HPX_WALK_WHOLE, UINT32_MAX);
            assert_int_equal(fx.walk.roots.len, roots[i]);
            fx_end(state);
        }
    }
}

TEST(a_frame_of_another_thread_than_the_root_before_is_doubted)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        begin_threads(mode);
        fx.events[1].info.stack_local.thread_id = FX_OTHER_TID;
        ends(doubt(mode), 1);
        fx_end(state);
        begin_threads(mode);
        fx.events[3].info.jni_local.thread_id = FX_MAIN_TID;
        ends(doubt(mode), 3);
        fx_end(state);
        begin_threads(mode); /* the VM has the thread, but not where its reference says */
        fx.events[2].to = FX_UNSTARTED;
        fx.events[2].to_address = fx_address(FX_UNSTARTED);
        ends(doubt(mode), 3);
        fx_end(state);
    }
}

TEST(threads_of_which_none_is_where_its_reference_says_are_doubted)
{
    for (enum fx_mode mode = 0; mode < FX_BY_TAGS; mode++) {
        fx_begin(mode, 8);
        fx_root(JVMTI_HEAP_REFERENCE_THREAD, FX_UNSTARTED);
        fx_class_of(FX_UNSTARTED);
        ends(HPX_WALK_DOUBT, UINT32_MAX);
        fx_end(state);
        fx_begin(mode, 8);
        fx_root(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, FX_BARE);
        fx_class_of(FX_BARE);
        ends(HPX_WALK_DOUBT, UINT32_MAX);
        fx_end(state);
    }
}

static void thread_that_is_a_class(void)
{
    fx.events[CLASS_ROOT].kind = JVMTI_HEAP_REFERENCE_THREAD;
}

TEST(a_thread_root_that_is_a_class_is_doubted)
{
    each_mode(FX_MODES, thread_that_is_a_class, doubt, CLASS_ROOT);
}

/* ---- the order of values ---- */

static void field_beyond(void)
{
    fx.events[FIELD].info.field.index = 6; /* of the subclass */
}

static void field_of_an_interface(void)
{
    fx.events[FIELD].info.field.index = 1;
}

static void field_negative(void)
{
    fx.events[VALUE].info.field.index = -1;
}

static void field_static(void)
{
    fx.events[VALUE].info.field.index = 4;
}

static void reference_for_a_number(void)
{
    fx.events[FIELD].info.field.index = 3;
}

static void number_for_a_reference(void)
{
    fx.events[VALUE].info.field.index = 2;
}

TEST(a_field_that_the_class_does_not_have_is_refused)
{
    each_mode(FX_MODES, reference_for_a_number, order, FIELD);
    each_mode(FX_MODES, number_for_a_reference, order, VALUE);
    each_mode(FX_MODES, field_beyond, order, FIELD);
    each_mode(FX_MODES, field_of_an_interface, order, FIELD);
    each_mode(FX_MODES, field_negative, order, VALUE);
    each_mode(FX_MODES, field_static, order, VALUE);
}

static void tell_elements(jint first, jint second)
{
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_ARRAY);
    fx_class_of(FX_ARRAY);
    fx_element(FX_ARRAY, FX_A, first);
    fx_element(FX_ARRAY, FX_BARE, second);
}

static void elements_descending(void)
{
    tell_elements(2, 1);
}

static void elements_repeated(void)
{
    tell_elements(1, 1);
}

TEST(elements_that_do_not_ascend_are_refused)
{
    each_mode(FX_MODES, elements_descending, order, SMALL + 3);
    each_mode(FX_MODES, elements_repeated, order, SMALL + 3);
}

static void element_of_an_instance(void)
{
    fx.events[FIELD].kind = JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT;
}

static void element_of_primitives(void)
{
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_SOME_BYTES);
    fx_class_of(FX_SOME_BYTES);
    fx_element(FX_SOME_BYTES, FX_A, 0);
}

TEST(an_element_of_what_is_no_array_of_objects_is_refused)
{
    each_mode(FX_MODES, element_of_an_instance, order, FIELD);
    each_mode(FX_MODES, element_of_primitives, order, SMALL + 2);
}

static void elements_of_an_instance(void)
{
    fx.events[VALUE].what = FX_ELEMENTS;
    fx.events[VALUE].type = JVMTI_PRIMITIVE_TYPE_BYTE;
    fx.events[VALUE].elements = bytes;
    fx.events[VALUE].length = 2;
}

TEST(primitive_elements_of_an_instance_have_no_record)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin_small(mode, 8);
        elements_of_an_instance();
        (void)fx_walk();
        want_instance(FX_A, FX_BASE, 12);
        want(8, fx_id(FX_BARE));
        want(4, 0);
        want_instance(FX_BARE, FX_OBJECT, 0);
        fx_check_records(0, 0);
        fx_end(state);
    }
}

TESTS(NULL, NULL)
