/* SPDX-License-Identifier: BSD-2-Clause */
/* test_frame_anchor.c: anchor and state of a thread that is found from its JNIEnv. */
#include "frame_anchor.h"
#include "vm_tables.h"
#include <string.h>

#define THREADS "the VM's threads have another shape"
#define ANCHORS "the VM's frame anchors have another shape"

enum { NATIVE = 4, IN_VM = 6, IN_JAVA = 8, BLOCKED = 10 };

struct thread {
    uint64_t before;
    struct {
        uint64_t before;
        uintptr_t sp, pc, fp;
    } anchor;
    uint64_t env;
    int32_t state;
};

static uintptr_t stack[16];
static struct thread threads[2] = {{.state = NATIVE}, {.state = NATIVE}};

static void fill(void)
{
    vm_tables_field("JavaThread", "_anchor", "JavaFrameAnchor", offsetof(struct thread, anchor));
    vm_tables_field("JavaThread", "_thread_state", "JavaThreadState", offsetof(struct thread, state));
    vm_tables_field("JavaFrameAnchor", "_last_Java_sp", "intptr_t*", 8);
    vm_tables_field("JavaFrameAnchor", "_last_Java_pc", "address", 16);
    vm_tables_field("JavaFrameAnchor", "_last_Java_fp", "intptr_t*", 24);
    vm_tables_type("JavaThread", sizeof(struct thread));
    vm_tables_type("JavaFrameAnchor", sizeof threads[0].anchor);
    vm_tables_constant("_thread_in_native", NATIVE);
    vm_tables_constant("_thread_in_vm", IN_VM);
    vm_tables_constant("_thread_in_Java", IN_JAVA);
    vm_tables_constant("_thread_blocked", BLOCKED);
}

static const char *check(struct thread *t, const void *env)
{
    return hpx_frame_anchor_check(env, (uintptr_t)t);
}

static void learn(void)
{
    fill();
    assert_null(hpx_frame_anchor_init());
    assert_null(check(&threads[0], &threads[0].env));
}

TEST(every_thread_lies_to_its_env_as_the_first)
{
    learn();
    assert_null(check(&threads[1], &threads[1].env));
    assert_string_equal(check(&threads[1], (char *)&threads[1].env + 8), THREADS);
    assert_string_equal(check(&threads[1], &threads[1].anchor), THREADS);
    assert_null(check(&threads[0], &threads[0].env));
}

TEST(an_env_outside_of_its_thread_is_refused)
{
    fill();
    assert_null(hpx_frame_anchor_init());
    assert_string_equal(check(&threads[0], &threads[1]), THREADS);
    assert_string_equal(check(&threads[1], &threads[0]), THREADS);
    assert_string_equal(check(&threads[0], &threads[0]), THREADS);
    assert_string_equal(check(NULL, (void *)(uintptr_t)8), THREADS);
    /* none of these was learned */
    assert_null(check(&threads[0], &threads[0].env));
}

TEST(states_have_their_names)
{
    static const struct {
        int32_t number;
        enum hpx_vm_state is;
    } states[] = {{NATIVE, HPX_VM_STATE_IN_NATIVE}, {IN_VM, HPX_VM_STATE_IN_VM}, {IN_JAVA, HPX_VM_STATE_IN_JAVA},
                  {BLOCKED, HPX_VM_STATE_BLOCKED},  {2, HPX_VM_STATE_OTHER},     {NATIVE + 1, HPX_VM_STATE_OTHER},
                  {BLOCKED + 1, HPX_VM_STATE_OTHER}};
    learn();
    for (size_t i = 0; i < HPX_ARRAY_LEN(states); i++) {
        threads[0].state = states[i].number;
        assert_int_equal(hpx_frame_anchor_state_sig(&threads[0].env), states[i].is);
        assert_int_equal(hpx_frame_anchor_state_sig(&threads[1].env), HPX_VM_STATE_IN_NATIVE);
    }
}

TEST(a_thread_in_a_callback_is_in_native_code)
{
    learn();
    threads[1].state = IN_VM;
    assert_string_equal(check(&threads[1], &threads[1].env), ANCHORS);
}

TEST(a_stack_pointer_lies_in_the_stack)
{
    uintptr_t low = (uintptr_t)stack, end = (uintptr_t)(stack + HPX_ARRAY_LEN(stack));
    const struct {
        struct hpx_frame_anchor anchor;
        const char *why;
    } cases[] = {{{low, 1, 0}, NULL},          {{end - 8, 1, 0}, NULL},    {{low + 8, 1, low + 8}, NULL},
                 {{low, 1, end - 8}, NULL},    {{0, 0, 0}, NULL},          {{low - 8, 1, 0}, ANCHORS},
                 {{end, 1, 0}, ANCHORS},       {{low + 4, 1, 0}, ANCHORS}, {{low, 0, 0}, ANCHORS},
                 {{low + 8, 1, low}, ANCHORS}, {{low, 1, end}, ANCHORS},   {{low, 1, low + 1}, ANCHORS},
                 {{low, 1, low - 8}, ANCHORS}, {{1, 1, 0}, ANCHORS}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        const char *why = hpx_frame_anchor_check_frames(&cases[i].anchor, low, end);
        assert_true(cases[i].why == NULL ? why == NULL : why != NULL && !strcmp(why, cases[i].why));
    }
}

TEST(a_stack_that_is_unknown_holds_any_pointer)
{
    assert_null(hpx_frame_anchor_check_frames(&(struct hpx_frame_anchor){0x1238, 1, 0x1240}, 0, 0));
    assert_string_equal(hpx_frame_anchor_check_frames(&(struct hpx_frame_anchor){0x1234, 1, 0}, 0, 0), ANCHORS);
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}
