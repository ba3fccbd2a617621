/* SPDX-License-Identifier: BSD-2-Clause */
/* test_known_stacks.c: what a thread remembers of raw walks, what is compared, and when raw walks are left. */
#include "cmocka_all.h"
#include "internals.h"
#include "known_stacks.h"
#include "stacks.h"
#include <string.h>

#define DEPTH 8u

/* ---- what known_stacks.c asks ---- */

static struct {
    struct hpx_raw_stack raw;
    bool whole, faulted;
    uint32_t walks, pushed, slot;
    const char *left;
} vm;

bool hpx_async_stack_raw_sig(const struct hpx_asgct *w, const void *context, struct hpx_raw_stack *to, bool *faulted)
{
    (void)w, (void)context;
    vm.walks++;
    *to = vm.raw;
    *faulted = vm.faulted;
    return vm.whole && !vm.faulted;
}

bool hpx_internals_raw_sig(void)
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

bool hpx_stacks_known(struct hpx_sample_thread *t, uint32_t slot, uint64_t weight)
{
    (void)t, (void)weight;
    vm.pushed++;
    vm.slot = slot;
    return true;
}

/* ---- a thread ---- */

static struct hpx_sample_thread thread;

static int begin(void **state)
{
    (void)state;
    memset(&vm, 0, sizeof vm);
    memset(&thread, 0, sizeof thread);
    vm.whole = true;
    hpx_known_stacks_begin(false);
    return 0;
}

static const struct hpx_asgct question = {.depth = DEPTH, .weight = 1};

/* AsyncGetCallTrace gives this stack, which gets that slot. */
static void answer(struct hpx_known_look *look, uint32_t slot, uint64_t stack, int frames)
{
    look->answer = frames;
    look->probe = look->retried = look->alone = look->nameless = false;
    if (frames > 0) {
        thread.slots[slot] = (struct hpx_ev_hash){stack, stack};
        thread.last_slot = slot + 1;
    }
    hpx_known_stacks_learn_sig(&thread, &question, look);
}

/* A sample of the stack n: true if it was recognised, and nobody asked; else it is learned. */
static bool sample(uint64_t n)
{
    struct hpx_known_look look;
    vm.raw = (struct hpx_raw_stack){n * 11400714819323198485u, n, HPX_RAW_METHOD, 3};
    if (hpx_known_stacks_push_sig(&thread, &question, NULL, &look)) {
        return true;
    }
    answer(&look, (uint32_t)n % HPX_SLOTS, n, 3);
    return false;
}

/* The first ones of a session are compared. */
static void trust(uint64_t n)
{
    for (int i = 0; i < 200; i++) {
        (void)sample(n);
    }
    assert_null(vm.left);
}

static uint64_t counted(enum hpx_counter which)
{
    return hpx_counter_get(&thread.s.base.counters, which);
}

TEST(a_known_stack_is_asked_for_seldom, begin)
{
    trust(5);
    uint32_t asked = 0;
    for (int i = 0; i < 640; i++) {
        asked += !sample(5);
    }
    assert_true(asked > 0 && asked < 64);
    assert_int_equal(counted(HPX_C_KNOWN_DIFFERENT), 0);
}

TEST(a_slot_that_another_stack_has_taken_is_not_used, begin)
{
    trust(5);
    assert_true(sample(5));
    thread.slots[5] = (struct hpx_ev_hash){6, 6};
    assert_false(sample(5));
}

TEST(what_was_not_whole_is_not_learned, begin)
{
    struct hpx_known_look look;
    static const struct {
        int frames;
        bool whole, retried;
        enum hpx_raw_top top;
    } broken[] = {{2, true, false, HPX_RAW_METHOD},
                  {-5, true, false, HPX_RAW_METHOD},
                  {3, false, false, HPX_RAW_METHOD},
                  {3, true, true, HPX_RAW_METHOD}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(broken); i++) {
        vm.raw = (struct hpx_raw_stack){9, 9, broken[i].top, 3};
        vm.whole = broken[i].whole;
        assert_false(hpx_known_stacks_push_sig(&thread, &question, NULL, &look));
        thread.last_slot = 1;
        look.answer = broken[i].frames;
        look.probe = false;
        look.retried = broken[i].retried;
        look.alone = look.nameless = false;
        hpx_known_stacks_learn_sig(&thread, &question, &look);
        vm.whole = true;
        assert_false(hpx_known_stacks_push_sig(&thread, &question, NULL, &look));
        assert_false(look.known);
    }
}

TEST(a_stack_without_an_answer_may_be_known_by_its_stub, begin)
{
    struct hpx_known_look look;
    uint32_t slot = 0;
    vm.raw = (struct hpx_raw_stack){7, 7, HPX_RAW_STUB, 3};
    assert_false(hpx_known_stacks_push_sig(&thread, &question, NULL, &look));
    answer(&look, 20, 70, 3);
    vm.raw.top = HPX_RAW_STUB_BY_ANCHOR;
    assert_false(hpx_known_stacks_push_sig(&thread, &question, NULL, &look));
    look.answer = 3;
    assert_false(hpx_known_stacks_instead_sig(&thread, &look, 1, &slot)); /* there is an answer */
    look.answer = -(int)HPX_UNKNOWN_NOT_JAVA;
    assert_true(hpx_known_stacks_instead_sig(&thread, &look, 1, &slot));
    assert_int_equal(slot, 20);
    vm.raw.hi = 8;
    assert_false(hpx_known_stacks_push_sig(&thread, &question, NULL, &look));
    look.answer = -(int)HPX_UNKNOWN_NOT_JAVA;
    assert_false(hpx_known_stacks_instead_sig(&thread, &look, 1, &slot));
}

/* As if a hash did not tell two stacks apart. */
TEST(raw_walks_that_differ_are_left, begin)
{
    hpx_known_stacks_begin(true);
    uint32_t n = 0;
    for (; vm.left == NULL && n < 100; n++) {
        struct hpx_known_look look;
        vm.raw = (struct hpx_raw_stack){9, 9, HPX_RAW_METHOD, 3};
        assert_false(hpx_known_stacks_push_sig(&thread, &question, NULL, &look));
        answer(&look, n % 2, n % 2 + 1, 3);
    }
    hpx_known_stacks_begin(false);
    assert_string_equal(vm.left, "its stacks are not those of AsyncGetCallTrace");
    assert_true(n < 100 && counted(HPX_C_KNOWN_DIFFERENT) > 8);
    uint32_t walks = vm.walks;
    assert_false(sample(9));
    assert_int_equal(vm.walks, walks);
}

TEST(raw_walks_that_fault_are_left, begin)
{
    vm.faulted = true;
    for (int i = 0; i < 60; i++) {
        assert_false(sample(1));
    }
    assert_string_equal(vm.left, "its reads fault too often");
}

/* As if the program began to do something else after hours. */
TEST(late_differences_count_as_early_ones, begin)
{
    hpx_known_stacks_begin(true);
    for (int i = 0; i < 100000; i++) {
        (void)sample(5);
    }
    uint32_t n = 0;
    for (; vm.left == NULL && n < 1000; n++) {
        struct hpx_known_look look;
        vm.raw = (struct hpx_raw_stack){9, 9, HPX_RAW_METHOD, 3};
        assert_false(hpx_known_stacks_push_sig(&thread, &question, NULL, &look));
        answer(&look, n % 2, n % 2 + 1, 3);
    }
    hpx_known_stacks_begin(false);
    assert_string_equal(vm.left, "its stacks are not those of AsyncGetCallTrace");
}

TESTS(NULL, NULL)
