/* SPDX-License-Identifier: BSD-2-Clause */
/* test_event_stacks.c: which stacks of events are known, named or asked for, what is remembered of them, and what is compared. */
#include "cmocka_all.h"
#include "event_stacks.h"
#include "quiet_stack.h"
#include <string.h>

#define DEPTH 8u

/* ---- what event_stacks.c asks ---- */

static struct {
    struct hpx_raw_stack raw;
    bool whole, compares;
    struct hpx_quiet_thread asked;
    int named; /* frames that hprofx names */
    uint64_t named_method, vm_method;
    jint vm_frames;
    jvmtiError vm_error;
    uint32_t questions, same, different, not_compared;
} vm;

bool hpx_quiet_stack_hash(const struct hpx_quiet_thread *t, struct hpx_raw_stack *to)
{
    vm.asked = *t;
    *to = vm.raw;
    return vm.whole;
}

int hpx_quiet_stack_frames(const struct hpx_quiet_thread *t, struct hpx_ev_frame *frames)
{
    vm.asked = *t;
    for (int i = 0; i < vm.named; i++) {
        frames[i] = (struct hpx_ev_frame){.bci = i, .method = vm.named_method};
    }
    return vm.named;
}

bool hpx_quiet_stack_compares(uint32_t seen)
{
    (void)seen;
    return vm.compares;
}

void hpx_quiet_stack_compared(struct hpx_counters *counters, bool same)
{
    (void)counters;
    vm.same += same;
    vm.different += !same;
}

void hpx_quiet_stack_not_compared(struct hpx_counters *counters)
{
    (void)counters;
    vm.not_compared++;
}

static jvmtiError JNICALL get_stack_trace(jvmtiEnv *jvmti, jthread thread, jint from, jint most, jvmtiFrameInfo *to, jint *n)
{
    (void)jvmti, (void)thread, (void)from;
    vm.questions++;
    *n = vm.vm_frames < most ? vm.vm_frames : most;
    for (jint i = 0; i < *n; i++) {
        to[i] = (jvmtiFrameInfo){.method = (jmethodID)(uintptr_t)vm.vm_method, .location = i};
    }
    return vm.vm_error;
}

static const struct jvmtiInterface_1_ functions = {.GetStackTrace = get_stack_trace};
static jvmtiEnv env = &functions;

/* ---- a thread ---- */

static struct hpx_mode_thread thread;
static struct hpx_event_stacks stacks;
static const uint64_t parts[2] = {1, 2};

static int begin(void **state)
{
    (void)state;
    memset(&vm, 0, sizeof vm);
    memset(&thread, 0, sizeof thread);
    memset(&stacks, 0, sizeof stacks);
    vm.raw = (struct hpx_raw_stack){.lo = 10, .hi = 20, .top = HPX_RAW_METHOD, .methods = 3};
    vm.whole = true;
    vm.vm_frames = 3;
    vm.vm_method = vm.named_method = 77;
    thread.stack_low = 0x1000;
    thread.stack_end = 0x2000;
    return 0;
}

static uint32_t find(const uint64_t what[2], struct hpx_event_look *look)
{
    return hpx_event_stacks_find(&stacks, &thread, DEPTH, what, look);
}

static void teach(uint32_t id)
{
    struct hpx_event_look look;
    assert_int_equal(find(parts, &look), 0);
    hpx_event_stacks_learn(&stacks, &thread, &look, id);
}

static uint32_t take(struct hpx_event_look *look, struct hpx_ev_frame *frames)
{
    return hpx_event_stacks_take(&stacks, &thread, &env, NULL, look, frames, DEPTH);
}

/* ---- known ---- */

/* Every part of the hash counts: each half, the top, what belongs to the stack. */
TEST(another_stack_or_part_is_not_known, begin)
{
    struct hpx_event_look look;
    const struct hpx_raw_stack was = vm.raw;
    const uint64_t others[2][2] = {{1, 3}, {2, 2}};
    teach(5);
    vm.raw.lo++;
    assert_int_equal(find(parts, &look), 0);
    vm.raw = was;
    vm.raw.hi++;
    assert_int_equal(find(parts, &look), 0);
    vm.raw = was;
    vm.raw.top = HPX_RAW_STUB_BY_ANCHOR;
    assert_int_equal(find(parts, &look), 0);
    vm.raw = was;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(find(others[i], &look), 0);
    }
    assert_int_equal(find(parts, &look), 5);
}

TEST(a_stack_that_cannot_be_walked_is_not_learned, begin)
{
    struct hpx_event_look look;
    vm.whole = false;
    teach(5);
    assert_int_equal(find(parts, &look), 0);
    vm.whole = true;
    assert_int_equal(find(parts, &look), 0);
    hpx_event_stacks_learn(&stacks, &thread, &look, 0); /* it has no id */
    assert_int_equal(find(parts, &look), 0);
}

/* ---- compared ---- */

TEST(a_known_stack_is_compared_and_the_vm_is_right, begin)
{
    struct hpx_event_look look;
    struct hpx_ev_frame frames[DEPTH];
    teach(5);
    vm.compares = true;
    vm.named = 3;
    assert_int_equal(find(parts, &look), 0);
    assert_int_equal(look.was, 5);
    assert_int_equal(take(&look, frames), 3);
    assert_int_equal(vm.questions, 1); /* by the VM, not by us */
    hpx_event_stacks_learn(&stacks, &thread, &look, 5);
    assert_true(vm.same == 1 && vm.different == 0);
    assert_int_equal(find(parts, &look), 0);
    hpx_event_stacks_learn(&stacks, &thread, &look, 6);
    assert_true(vm.same == 1 && vm.different == 1);
    vm.compares = false;
    assert_int_equal(find(parts, &look), 6);
}

/* ---- new ---- */

TEST(names_are_compared_and_the_vm_is_right, begin)
{
    struct hpx_event_look look;
    struct hpx_ev_frame frames[DEPTH];
    vm.named = 3;
    vm.compares = true;
    assert_int_equal(find(parts, &look), 0);
    assert_int_equal(take(&look, frames), 3);
    assert_true(vm.questions == 1 && vm.same == 1 && vm.different == 0);
    vm.vm_method = 78;
    assert_int_equal(take(&look, frames), 3);
    assert_true(vm.different == 1 && frames[0].method == 78);
    vm.vm_method = 77;
    vm.vm_frames = 2; /* a part of ours */
    assert_int_equal(take(&look, frames), 2);
    assert_int_equal(vm.different, 2);
    vm.vm_error = JVMTI_ERROR_WRONG_PHASE;
    assert_int_equal(take(&look, frames), 0);
    assert_true(vm.different == 2 && vm.not_compared == 1);
}

/* Else all later events there would have an empty stack. */
TEST(a_stack_that_the_vm_does_not_tell_is_not_learned, begin)
{
    struct hpx_event_look look;
    struct hpx_ev_frame frames[DEPTH];
    vm.vm_error = JVMTI_ERROR_THREAD_NOT_ALIVE;
    assert_int_equal(find(parts, &look), 0);
    assert_int_equal(take(&look, frames), 0);
    hpx_event_stacks_learn(&stacks, &thread, &look, 5);
    assert_int_equal(find(parts, &look), 0);
    vm.vm_error = JVMTI_ERROR_NONE;
    teach(6);
    vm.compares = true;
    vm.vm_error = JVMTI_ERROR_THREAD_NOT_ALIVE;
    assert_int_equal(find(parts, &look), 0);
    assert_int_equal(take(&look, frames), 0);
    hpx_event_stacks_learn(&stacks, &thread, &look, 5);
    assert_true(vm.not_compared == 1 && vm.same == 0 && vm.different == 0);
    vm.compares = false;
    assert_int_equal(find(parts, &look), 6);
    assert_int_equal(vm.different, 0);
}

TESTS(NULL, NULL)
