/* SPDX-License-Identifier: BSD-2-Clause */
/* test_thread_info.c: before JDK 10 the stack of another thread is not asked of GetStackTrace, which may wait for ever. The VM is made up:
 * a function that it lacks ends the test. */
#include "cmocka_all.h"
#include "thread_info.h"

static jvmtiError JNICALL version(jvmtiEnv *env, jint *to)
{
    (void)env;
    *to = JVMTI_VERSION_1_2; /* JDK 8 */
    return JVMTI_ERROR_NONE;
}

static jvmtiFrameInfo at[2];
static jvmtiStackInfo info = {.frame_buffer = at, .frame_count = 2, .state = JVMTI_THREAD_STATE_ALIVE};

static jvmtiError JNICALL list(jvmtiEnv *env, jint n, const jthread *of, jint most, jvmtiStackInfo **to)
{
    (void)env, (void)of, (void)most;
    assert_int_equal(n, 1);
    *to = &info;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *mem)
{
    (void)env;
    assert_ptr_equal(mem, &info);
    return JVMTI_ERROR_NONE;
}

TEST(a_stack_is_taken_while_all_threads_are_stopped)
{
    struct jvmtiInterface_1_ functions = {.GetVersionNumber = version, .GetThreadListStackTraces = list, .Deallocate = deallocate};
    jvmtiEnv env = &functions;
    jvmtiFrameInfo frames[4];
    jint n = 0;
    hpx_vm.jvmti = &env;
    at[1].location = 7;
    assert_int_equal(hpx_thread_info_stack(&env, NULL, 4, frames, &n), JVMTI_ERROR_NONE);
    assert_int_equal(n, 2);
    assert_int_equal(frames[1].location, 7);
    info.state = JVMTI_THREAD_STATE_TERMINATED;
    assert_int_equal(hpx_thread_info_stack(&env, NULL, 4, frames, &n), JVMTI_ERROR_THREAD_NOT_ALIVE);
}

TESTS(NULL, NULL)
