/* SPDX-License-Identifier: BSD-2-Clause */
/* test_walk_options.c: the first callback of a walk, which may end it. What redact= and its kin hide is held by
 * tests/jvm/test_heap.py, but for the order in which objects are met. */
#include "walk_fixture.h"

static uint32_t firsts;
static const void *first_frame;
static jint first_answer;

static jint first(struct hpx_walk *w, const void *frame)
{
    assert_ptr_equal(w, &fx.walk);
    assert_int_equal(fx.told, 0);
    assert_int_equal(w->known.len + w->found.objects + w->roots.len, 0); /* nothing was looked at */
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
        assert_int_equal(fx.walk.found.objects + fx.walk.roots.len + fx.walk.facts.len + hpx_heap_spool_at(&fx.walk.spool), 0);
        fx_end(state);
    }
}

TEST(the_first_callback_comes_once_with_its_frame)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        begin_first(mode, JVMTI_VISIT_OBJECTS);
        assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
        assert_int_equal(firsts, 1);
        assert_int_equal(fx.walk.found.objects, 2);
        assert_in_range((uint64_t)(uintptr_t)__builtin_frame_address(0) - (uint64_t)(uintptr_t)first_frame, 1, 1 << 16);
        fx_end(state);
    }
}

/* What a class of keep= refers to is met before anything is known of its class. */
TEST(the_first_contents_of_their_class_are_kept_and_no_other_object_is)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin_small(mode, 8);
        fx.walk.keeps = fx.walk.fields = fx.walk.arrays = true;
        ((struct hpx_heap_klass *)(uintptr_t)fx.layout.classes[FX_BASE])->keeps = true;
        fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_BASE, FX_TEXT_BYTES, 1);
        fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_BASE, FX_KIND, 2);
        fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_BASE, FX_BARE, 3);
        fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_STRING, FX_SOME_BYTES, 1);
        fx_class_of(FX_TEXT_BYTES);
        fx_elements(FX_TEXT_BYTES, JVMTI_PRIMITIVE_TYPE_BYTE, "kept!");
        fx_class_of(FX_KIND);
        fx_value(FX_KIND, 7, JVMTI_PRIMITIVE_TYPE_LONG, UINT64_C(0x7365637265747321));
        fx_class_of(FX_SOME_BYTES);
        fx_elements(FX_SOME_BYTES, JVMTI_PRIMITIVE_TYPE_BYTE, "~~");
        assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
        assert_non_null(memmem(fx.spool, fx.spool_len, "kept!", 5));
        assert_null(memmem(fx.spool, fx.spool_len, "secrets!", 8));
        assert_null(memmem(fx.spool, fx.spool_len, "~~", 2));
        fx_end(state);
    }
}

TESTS(NULL, NULL)
