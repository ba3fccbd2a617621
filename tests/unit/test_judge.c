/* SPDX-License-Identifier: BSD-2-Clause */
/* test_judge.c: what is compared, and when walks are not trusted any more. */
#include "cmocka_all.h"
#include "judge.h"
#include "session_life.h"
#include <stdlib.h>

static int begin(void **state)
{
    (void)state;
    hpx_session_end();
    unsetenv("HPROFX_VERIFY");
    hpx_judge_begin();
    return 0;
}

static uint32_t asked(enum hpx_judged what, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (uint32_t seen = from; seen < to; seen++) {
        n += hpx_judge_asks_sig(what, seen);
    }
    return n;
}

TEST(the_first_ones_and_some_later_ones_are_compared, begin, begin)
{
    for (uint32_t seen = 1; seen <= 256; seen++) {
        assert_true(hpx_judge_asks_sig(HPX_JUDGED_KNOWN, seen));
        assert_false(hpx_judge_told_sig(HPX_JUDGED_KNOWN, HPX_JUDGED_SAME));
    }
    assert_int_equal(asked(HPX_JUDGED_KNOWN, 1, 6401), 100);
    assert_int_equal(asked(HPX_JUDGED_NAMED, 1, 6401), 0);
    setenv("HPROFX_VERIFY", "1", 1);
    hpx_judge_begin();
    assert_int_equal(asked(HPX_JUDGED_KNOWN, 1, 101) + asked(HPX_JUDGED_NAMED, 1, 101), 200);
}

/* It does not use up those that are to be compared. */
TEST(what_could_not_be_compared_is_counted_alone, begin, begin)
{
    char text[256] = "";
    struct hpx_lines lines = {text, 0};
    for (int i = 0; i < 1000; i++) {
        assert_false(hpx_judge_told_sig(HPX_JUDGED_EVENT, HPX_JUDGED_ALONE));
    }
    assert_true(hpx_judge_asks_sig(HPX_JUDGED_EVENT, 7));
    for (int i = 0; i < 1000; i++) {
        assert_false(hpx_judge_told_sig(HPX_JUDGED_EVENT, HPX_JUDGED_SAME));
    }
    assert_false(hpx_judge_asks_sig(HPX_JUDGED_EVENT, 7));
    hpx_judge_lines(&lines, HPX_JUDGED_EVENT);
    assert_string_equal(text, "hprofx: stacks of events compared: 1000, 0 different, 1000 (50.00 %) not comparable\n");
}

#define DEPTH 8u

/* The walk has frames `from` to `to` of a stack, AsyncGetCallTrace the first n of another one, which is the same but for frame `wrong`. */
static enum hpx_judged_as compared(int from, int to, enum hpx_raw_end end, uint32_t broken, int n, int wrong)
{
    struct hpx_ev_frame frames[DEPTH];
    for (uint32_t i = 0; i < DEPTH; i++) {
        frames[i] = (struct hpx_ev_frame){.bci = (int32_t)i, .method = 100 + i};
    }
    const struct hpx_judged_walk w = hpx_judge_walked_sig(frames + from, to - from, end, broken);
    if (wrong >= 0) {
        frames[wrong].bci++;
    }
    return hpx_judge_compare_sig(&w, frames, n, DEPTH);
}

TEST(behind_the_frames_of_a_virtual_thread_the_answer_has_its_carriers, begin, begin)
{
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, 3 | HPX_FRAME_OF_CARRIER, 8, 3), HPX_JUDGED_SAME);
    assert_int_equal(compared(0, 3, HPX_END_WHOLE, 3 | HPX_FRAME_OF_CARRIER, 8, -1), HPX_JUDGED_SAME);
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, 3 | HPX_FRAME_OF_CARRIER, 8, 2), HPX_JUDGED_DIFFERENT);
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, 3 | HPX_FRAME_OF_CARRIER, 2, -1), HPX_JUDGED_DIFFERENT);
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, HPX_FRAME_OF_CARRIER, 8, -1), HPX_JUDGED_ALONE);
}

TEST(more_and_fewer_frames_are_a_difference, begin, begin)
{
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, UINT32_MAX, 5, -1), HPX_JUDGED_SAME);
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, UINT32_MAX, 5, 4), HPX_JUDGED_DIFFERENT);
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, UINT32_MAX, 6, -1), HPX_JUDGED_DIFFERENT);
    assert_int_equal(compared(0, 5, HPX_END_HEAP, UINT32_MAX, 4, -1), HPX_JUDGED_DIFFERENT);
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, UINT32_MAX, 0, -1), HPX_JUDGED_ALONE);
    assert_int_equal(compared(0, 0, HPX_END_STUB, UINT32_MAX, 5, -1), HPX_JUDGED_ALONE);
}

TEST(an_answer_that_breaks_off_where_it_does_is_not_compared, begin, begin)
{
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, 3, 3, -1), HPX_JUDGED_ALONE);
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, 3, 3, 2), HPX_JUDGED_DIFFERENT);
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, 3, 2, -1), HPX_JUDGED_DIFFERENT);
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, 3, 5, -1), HPX_JUDGED_SAME);
}

TEST(an_answer_for_a_frame_that_is_left_is_not_compared, begin, begin)
{
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, HPX_FRAME_IS_LEFT, 4, -1), HPX_JUDGED_ALONE);
    assert_int_equal(compared(0, 5, HPX_END_WHOLE, HPX_FRAME_IS_LEFT, 5, -1), HPX_JUDGED_ALONE);
}

TEST(a_part_of_a_stack_is_compared_with_that_part, begin, begin)
{
    assert_int_equal(compared(0, 3, HPX_END_STUB, UINT32_MAX, 6, -1), HPX_JUDGED_SAME);
    assert_int_equal(compared(0, 3, HPX_END_STUB, UINT32_MAX, 6, 3), HPX_JUDGED_SAME);
    assert_int_equal(compared(0, 3, HPX_END_STUB, UINT32_MAX, 6, 2), HPX_JUDGED_DIFFERENT);
    assert_int_equal(compared(0, 3, HPX_END_STUB, UINT32_MAX, 2, -1), HPX_JUDGED_DIFFERENT);
    assert_int_equal(compared(2, 6, HPX_END_WAITING, UINT32_MAX, 6, 1), HPX_JUDGED_SAME);
    assert_int_equal(compared(2, 6, HPX_END_WAITING, UINT32_MAX, 6, 2), HPX_JUDGED_DIFFERENT);
    assert_int_equal(compared(2, 6, HPX_END_DEOPTIMIZATION, UINT32_MAX, 3, -1), HPX_JUDGED_DIFFERENT);
    assert_int_equal(compared(2, 6, HPX_END_DEOPTIMIZATION, UINT32_MAX, DEPTH, -1), HPX_JUDGED_ALONE); /* may be cut */
}

static uint32_t differences_until_distrust(uint32_t same_before, uint32_t same_between)
{
    for (uint32_t i = 0; i < same_before; i++) {
        assert_false(hpx_judge_told_sig(HPX_JUDGED_NAMED, HPX_JUDGED_SAME));
    }
    for (uint32_t n = 1; n < 10000; n++) {
        if (hpx_judge_told_sig(HPX_JUDGED_NAMED, HPX_JUDGED_DIFFERENT)) {
            return n;
        }
        for (uint32_t i = 0; i < same_between; i++) {
            assert_false(hpx_judge_told_sig(HPX_JUDGED_NAMED, HPX_JUDGED_SAME));
        }
    }
    return 0;
}

TEST(a_few_differences_are_no_reason, begin, begin)
{
    assert_int_equal(differences_until_distrust(0, 0), 9);
    (void)begin(state);
    assert_int_equal(differences_until_distrust(0, 80), 0); /* less than one in 64 */
}

/* Ten million comparisons before do not keep a change from being seen. */
TEST(a_change_late_in_a_session_is_seen, begin, begin)
{
    assert_in_range(differences_until_distrust(10 * 1000 * 1000, 0), 64, 160);
}

TEST(walks_that_end_early_are_a_reason_if_most_do, begin, begin)
{
    for (int i = 0; i < 1000; i++) {
        assert_null(hpx_judge_walks_sig(HPX_JUDGED_KNOWN, 64, 31));
    }
    const char *why = NULL;
    for (int i = 0; i < 200 && why == NULL; i++) {
        why = hpx_judge_walks_sig(HPX_JUDGED_KNOWN, 64, 60);
    }
    assert_string_equal(why, "most walks of the stack end early");
    (void)begin(state);
    assert_null(hpx_judge_walks_sig(HPX_JUDGED_KNOWN, 200, 200)); /* too few to tell */
}

TEST(the_third_fault_of_a_kind_is_one, begin, begin)
{
    assert_null(hpx_judge_fault_sig(HPX_JUDGED_KNOWN));
    assert_null(hpx_judge_fault_sig(HPX_JUDGED_KNOWN));
    assert_null(hpx_judge_fault_sig(HPX_JUDGED_EVENT));
    assert_string_equal(hpx_judge_fault_sig(HPX_JUDGED_KNOWN), "three reads of the stack faulted");
}

/* Each kind by its own walks. */
TEST(a_fault_now_and_then_is_none, begin, begin)
{
    for (int i = 0; i < 1000; i++) { /* one in 6,400 */
        assert_true(i % 100 != 0 || hpx_judge_fault_sig(HPX_JUDGED_KNOWN) == NULL);
        assert_true(i % 100 != 0 || hpx_judge_fault_sig(HPX_JUDGED_EVENT) == NULL);
        assert_null(hpx_judge_walks_sig(HPX_JUDGED_KNOWN, 64, 0));
        assert_null(hpx_judge_walks_sig(HPX_JUDGED_EVENT, 64, 0));
    }
    (void)begin(state);
    for (int i = 0; i < 1000; i++) {
        assert_null(hpx_judge_walks_sig(HPX_JUDGED_KNOWN, 64, 0));
    }
    assert_null(hpx_judge_fault_sig(HPX_JUDGED_EVENT));
    assert_null(hpx_judge_fault_sig(HPX_JUDGED_EVENT));
    assert_non_null(hpx_judge_fault_sig(HPX_JUDGED_EVENT));
}

TESTS(NULL, NULL)
