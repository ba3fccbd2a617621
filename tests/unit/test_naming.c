/* SPDX-License-Identifier: BSD-2-Clause */
/* test_naming.c: a named stack that AsyncGetCallTrace contradicts does not count, names that it contradicts often are left, and a read that
 * faults names nothing. That names are those of AsyncGetCallTrace is held by tests/jvm/test_structures.py. */
#include "cmocka_all.h"
#include "internals.h"
#include "known_stacks.h"
#include "naming.h"
#include <string.h>

#define DEPTH 8u

/* ---- what naming.c asks ---- */

static struct {
    int n; /* frames of a raw walk: methods 1, 2, ..; the leaf's bytecode is `leaf`, behind a call `behind` */
    int32_t leaf, behind;
    bool faulted;
    uint32_t broken; /* frames above the first one that is being deoptimized */
    uint32_t walks, faults;
    const char *left;
} vm;

static void fill(struct hpx_ev_frame *frames, int n, int32_t leaf)
{
    for (int i = 0; i < n; i++) {
        frames[i] = (struct hpx_ev_frame){i == 0 ? leaf : 7, 0, (uint64_t)i + 1};
    }
}

int hpx_async_stack_names_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, const void *context, uint32_t *broken, bool *faulted)
{
    (void)w, (void)context;
    vm.walks++;
    *faulted = vm.faulted;
    fill(frames, vm.n, broken != NULL ? vm.behind : vm.leaf);
    if (broken != NULL) {
        *broken = vm.broken;
    }
    return vm.faulted ? 0 : vm.n;
}

bool hpx_internals_names_sig(void)
{
    return vm.left == NULL;
}

void hpx_internals_leave_part_sig(enum hpx_internals_part part, const char *why)
{
    (void)part;
    vm.left = why;
}

const char *hpx_internals_without(enum hpx_internals_part part)
{
    (void)part;
    return vm.left;
}

void hpx_known_stacks_fault_sig(void)
{
    vm.faults++;
}

/* ---- a thread ---- */

static struct hpx_sample_thread thread;
static struct hpx_ev_frame frames[DEPTH + 1];
static const struct hpx_asgct question = {.depth = DEPTH, .weight = 1};

static int begin(void **state)
{
    (void)state;
    memset(&vm, 0, sizeof vm);
    memset(&thread, 0, sizeof thread);
    vm.n = 3;
    vm.broken = UINT32_MAX;
    vm.leaf = vm.behind = 5;
    hpx_naming_begin(false);
    return 0;
}

static struct hpx_naming take(bool compare)
{
    struct hpx_naming named;
    hpx_naming_take_sig(&thread, &question, frames, NULL, compare, &named);
    return named;
}

/* AsyncGetCallTrace gives n frames, whose leaf has this bytecode; usable: they are an answer that may be compared. */
static int compare(int n, int32_t leaf, bool *usable)
{
    fill(frames, n, leaf);
    return hpx_naming_compare_sig(&thread, &question, frames, NULL, n, usable);
}

static uint64_t counted(enum hpx_counter which)
{
    return hpx_counter_get(&thread.s.base.counters, which);
}

TEST(where_they_differ_asyncgetcalltrace_counts, begin)
{
    bool usable = true;
    assert_int_equal(compare(3, 6, &usable), 0); /* the caller asks it again */
    assert_true(usable);
    assert_int_equal(counted(HPX_C_NAMED_DIFFERENT), 1);
    assert_int_equal(compare(4, 5, &usable), 0); /* it has a frame that the walk lacks */
    assert_int_equal(counted(HPX_C_NAMED_DIFFERENT), 2);
}

/* It breaks off where a caller is being deoptimized. */
TEST(the_part_of_a_stack_above_a_frame_that_is_deoptimized_is_no_difference, begin)
{
    bool usable = true;
    vm.broken = 2;
    assert_int_equal(compare(2, 5, &usable), 3);
    assert_false(usable);
    assert_int_equal(counted(HPX_C_NAMED_PART), 1);
    usable = false; /* no answer at all, or a remedy's */
    assert_int_equal(compare(0, 5, &usable), 3);
    assert_int_equal(counted(HPX_C_NAMED_ALONE), 1);
    assert_int_equal(counted(HPX_C_NAMED_COMPARED), 0);
}

/* As if the walk went on where the stack has ended. */
TEST(frames_that_only_the_walk_has_are_a_difference, begin)
{
    bool usable = true;
    assert_int_equal(compare(2, 5, &usable), 0);
    assert_true(usable);
    usable = true;
    vm.broken = 1; /* not where the answer ends */
    assert_int_equal(compare(2, 5, &usable), 0);
    assert_int_equal(counted(HPX_C_NAMED_DIFFERENT), 2);
    usable = true;
    vm.broken = 2;
    assert_int_equal(compare(2, 6, &usable), 0); /* nor is what it has the same */
    assert_int_equal(counted(HPX_C_NAMED_DIFFERENT), 3);
    assert_int_equal(counted(HPX_C_NAMED_PART), 0);
}

TEST(names_that_differ_often_are_left, begin)
{
    for (int i = 0; i < 8; i++) {
        bool usable = true;
        assert_int_equal(compare(3, 6, &usable), 0);
    }
    assert_null(vm.left); /* a few may have another reason */
    bool usable = true;
    assert_int_equal(compare(3, 6, &usable), 0);
    assert_string_equal(vm.left, "its stacks are not those of AsyncGetCallTrace");
    uint32_t walks = vm.walks;
    assert_int_equal(take(false).n, 0);
    assert_int_equal(vm.walks, walks);
}

TEST(a_read_that_faults_is_told_and_names_nothing, begin)
{
    vm.faulted = true;
    struct hpx_naming named = take(true);
    assert_int_equal(named.n, 0);
    assert_false(named.compare);
    assert_int_equal(vm.faults, 1);
}

TESTS(NULL, NULL)
