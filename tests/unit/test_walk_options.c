/* SPDX-License-Identifier: BSD-2-Clause */
/* test_walk_options.c: the first callback of a walk, which may end it. What redact= and its kin hide is held by tests/jvm/test_heap.py. */
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

TESTS(NULL, NULL)
