/* SPDX-License-Identifier: BSD-2-Clause */
/* test_walk_options.c: redact=, keep=, primfields=n, primarrays=n, and the call before the first object. */
#include "walk_fixture.h"
#include <string.h>

static const uint8_t text_bytes[5] = {1, 2, 3, 4, 5}, some_bytes[2] = {6, 7};
static const int32_t ints[2] = {8, 9};
static const uint16_t chars[3] = {10, 11, 12};

/* A: next, n; B: next, n; a string with its bytes; ints that B refers to, chars that a constant refers to, and bytes that nothing keeps. */
static void tell(void)
{
    fx_root(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, FX_A);
    fx_root(JVMTI_HEAP_REFERENCE_SYSTEM_CLASS, FX_BASE);
    fx_root(JVMTI_HEAP_REFERENCE_SYSTEM_CLASS, FX_KINDS);
    fx_static(FX_BASE, 4, JVMTI_PRIMITIVE_TYPE_LONG, 77);
    fx_static(FX_KINDS, 0, JVMTI_PRIMITIVE_TYPE_BOOLEAN, 1);
    fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_BASE, FX_SOME_CHARS, 1);
    fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_KINDS, FX_SOME_BYTES, 1);
    fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_BASE, FX_B, 2); /* no contents */
    fx_class_of(FX_A);
    fx_field(FX_A, FX_TEXT, 2);
    fx_value(FX_A, 3, JVMTI_PRIMITIVE_TYPE_INT, 21);
    fx_class_of(FX_TEXT);
    fx_field(FX_TEXT, FX_TEXT_BYTES, 0);
    fx_value(FX_TEXT, 1, JVMTI_PRIMITIVE_TYPE_INT, 22);
    fx_class_of(FX_TEXT_BYTES);
    fx_elements(FX_TEXT_BYTES, JVMTI_PRIMITIVE_TYPE_BYTE, text_bytes);
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_B);
    fx_class_of(FX_B);
    fx_field(FX_B, FX_SOME_INTS, 2);
    fx_value(FX_B, 3, JVMTI_PRIMITIVE_TYPE_INT, 23);
    fx_value(FX_B, 6, JVMTI_PRIMITIVE_TYPE_BOOLEAN, 1);
    fx_class_of(FX_SOME_INTS);
    fx_elements(FX_SOME_INTS, JVMTI_PRIMITIVE_TYPE_INT, ints);
    fx_class_of(FX_SOME_CHARS);
    fx_elements(FX_SOME_CHARS, JVMTI_PRIMITIVE_TYPE_CHAR, chars);
    fx_class_of(FX_SOME_BYTES);
    fx_elements(FX_SOME_BYTES, JVMTI_PRIMITIVE_TYPE_BYTE, some_bytes);
}

/* What stays readable. */
struct readable {
    bool a, text, text_bytes, b, ints, chars, bytes, base_static, kinds_static, none; /* none: arrays have no elements */
};

static void want_array(int object, uint8_t type, uint32_t n, uint32_t size, bool readable, const void *elements)
{
    want_primitives(object, type, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t v = size == 1   ? ((const uint8_t *)elements)[i]
                     : size == 2 ? ((const uint16_t *)elements)[i]
                                 : ((const uint32_t *)elements)[i];
        want(size, readable ? v : 0);
    }
}

static void check_statics(const struct readable *r)
{
    const struct hpx_heap_fact *f = fx_facts();
    uint32_t base = 0, kinds = 0;
    for (uint64_t i = 0; i < fx.walk.facts.len; i++) {
        if (f[i].kind == HPX_HEAP_STATIC) {
            assert_int_equal(f[i].value, f[i].klass.v == FX_BASE ? 77 : 1);
            base += f[i].klass.v == FX_BASE;
            kinds += f[i].klass.v == FX_KINDS;
        }
    }
    assert_int_equal(base, r->base_static);
    assert_int_equal(kinds, r->kinds_static);
}

static void check(struct readable r)
{
    fx_no_threads();
    tell();
    assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
    want_instance(FX_A, FX_BASE, fx.ids + 4);
    want(fx.ids, fx_id(FX_TEXT));
    want(4, r.a ? 21 : 0);
    want_instance(FX_TEXT, FX_STRING, fx.ids + 4);
    want(fx.ids, fx_id(FX_TEXT_BYTES));
    want(4, r.text ? 22 : 0);
    want_array(FX_TEXT_BYTES, 8, r.none ? 0 : 5, 1, r.text_bytes, text_bytes);
    want_instance(FX_B, FX_DERIVED, fx.ids + 5);
    want(1, r.b ? 1 : 0);
    want(fx.ids, fx_id(FX_SOME_INTS));
    want(4, r.b ? 23 : 0);
    want_array(FX_SOME_INTS, 10, r.none ? 0 : 2, 4, r.ints, ints);
    want_array(FX_SOME_CHARS, 5, r.none ? 0 : 3, 2, r.chars, chars);
    want_array(FX_SOME_BYTES, 8, r.none ? 0 : 2, 1, r.bytes, some_bytes);
    fx_check_records(0, 0);
    check_statics(&r);
    assert_int_equal(fx.walk.bytes, 24 + 24 + 24 + 32 + 24 + 24 + 24);
    assert_int_equal(fx.walk.heads, 4 * 24 - (r.none ? 0 : 5 + 2 * 4 + 3 * 2 + 2));
}

static const struct readable everything = {true, true, true, true, true, true, true, true, true, false};

TEST(without_options_everything_is_readable)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin(mode, 8);
        check(everything);
        fx_end(state);
    }
}

TEST(redacted_fields_are_zeros_and_statics_have_no_value)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin(mode, 4);
        fx.walk.fields = true;
        check((struct readable){.text_bytes = true, .ints = true, .chars = true, .bytes = true});
        fx_end(state);
    }
}

TEST(redacted_arrays_are_zeros)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        struct readable r = everything;
        r.text_bytes = r.ints = r.chars = r.bytes = false;
        fx_begin(mode, 8);
        fx.walk.arrays = true;
        check(r);
        fx_end(state);
    }
}

TEST(redacted_strings_are_arrays_of_bytes_and_chars)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        struct readable r = everything;
        r.text_bytes = r.chars = r.bytes = false;
        fx_begin(mode, 8);
        fx.walk.strings = true;
        check(r);
        fx_end(state);
    }
}

TEST(without_primitive_fields_these_are_zeros)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        struct readable r = everything;
        r.a = r.text = r.b = r.base_static = r.kinds_static = false;
        fx_begin(mode, 8);
        fx.walk.primitive_fields = false;
        fx.walk.keeps = true; /* no matter */
        check(r);
        fx_end(state);
    }
}

TEST(without_primitive_arrays_these_are_empty)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        struct readable r = everything;
        r.none = true;
        fx_begin(mode, 8);
        fx.walk.primitive_arrays = false;
        check(r);
        fx_end(state);
    }
}

static void keep_class(int number)
{
    ((struct hpx_heap_klass *)(uintptr_t)fx.layout.classes[number])->keeps = true;
    fx.walk.keeps = fx.walk.fields = fx.walk.arrays = fx.walk.strings = true;
}

/* Its fields and statics, and the strings and arrays that these and its constants refer to; not those of subclasses. */
TEST(a_class_that_is_kept_stays_readable_with_its_contents)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin(mode, 8);
        keep_class(FX_BASE);
        check((struct readable){.a = true, .text = true, .text_bytes = true, .chars = true, .base_static = true});
        fx_end(state);
    }
}

TEST(a_subclass_is_kept_for_itself)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin(mode, 8);
        keep_class(FX_DERIVED);
        check((struct readable){.b = true, .ints = true});
        fx_end(state);
    }
}

TEST(constants_of_a_class_that_is_kept_are_readable)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin(mode, 4);
        keep_class(FX_KINDS);
        check((struct readable){.bytes = true, .kinds_static = true});
        fx_end(state);
    }
}

TEST(keep_without_a_class_keeps_nothing)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin(mode, 8);
        keep_class(FX_LATE - 1);
        check((struct readable){.a = false});
        fx_end(state);
    }
}

/* ---- first ---- */

static uint32_t firsts;
static const void *first_frame;
static jint first_answer;

static jint first(struct hpx_walk *w, const void *frame)
{
    assert_ptr_equal(w, &fx.walk);
    assert_int_equal(fx.told, 0);
    assert_int_equal(w->known.len + w->objects + w->roots.len, 0); /* nothing was looked at */
    firsts++;
    first_frame = frame;
    return first_answer;
}

static void begin_first(enum fx_mode mode, jint answer)
{
    fx_begin_small(mode, 8);
    fx.walk.first = first;
    first_answer = answer;
    firsts = 0;
}

TEST(the_first_callback_may_end_the_walk)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        begin_first(mode, JVMTI_VISIT_ABORT);
        fx.events[0].to_address = 0; /* not even looked at */
        fx_follow();
        assert_int_equal(fx.told, 1);
        assert_int_equal(fx.aborted, 1);
        assert_int_equal(firsts, 1);
        assert_true(fx.walk.begun);
        assert_int_equal(fx.walk.end, HPX_WALK_WHOLE);
        assert_int_equal(fx.walk.objects + fx.walk.roots.len + fx.walk.facts.len + hpx_heap_spool_at(&fx.walk.spool), 0);
        fx_end(state);
    }
}

TEST(the_first_callback_comes_once_with_its_frame)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        begin_first(mode, JVMTI_VISIT_OBJECTS);
        assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
        assert_int_equal(firsts, 1);
        assert_int_equal(fx.walk.objects, 2);
        assert_in_range((uint64_t)(uintptr_t)__builtin_frame_address(0) - (uint64_t)(uintptr_t)first_frame, 1, 1 << 16);
        fx_end(state);
    }
}

TESTS(NULL, NULL)
