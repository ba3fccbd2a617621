/* SPDX-License-Identifier: BSD-2-Clause */
/* test_attach_barrier.c: threads that attach and threads that ask for the usage of a monitor, on a VM that crashes if both happen at once.
 * The VM is made up; the clock is the test's. */
#include "attach_barrier.h"
#include "clock.h"
#include "cmocka_all.h"
#include <time.h>

#define SLEEP_NS UINT64_C(70000) /* a sleep is longer than it was asked to be */

uint64_t __wrap_hpx_clock_mono(void);
int __wrap_nanosleep(const struct timespec *want, struct timespec *left);

static uint64_t now;
static jint attached;               /* what GetEnv says */
static unsigned attachments, asked; /* calls that reached the VM */
static void (*while_asked)(void);   /* NULL: nothing happens meanwhile */
static void (*while_attaching)(void);
static jvmtiError error;

uint64_t __wrap_hpx_clock_mono(void)
{
    return now;
}

int __wrap_nanosleep(const struct timespec *want, struct timespec *left)
{
    (void)want, (void)left;
    now += SLEEP_NS;
    return 0;
}

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
    (void)vm, (void)env, (void)version;
    return attached;
}

static jint JNICALL attach_current_thread(JavaVM *vm, void **env, void *args)
{
    (void)vm, (void)env, (void)args;
    attachments++;
    if (while_attaching) {
        while_attaching();
    }
    return JNI_OK;
}

static jvmtiError JNICALL get_usage(jvmtiEnv *env, jobject object, jvmtiMonitorUsage *u)
{
    (void)env, (void)object, (void)u;
    asked++;
    if (while_asked) {
        while_asked();
    }
    return error;
}

static const struct JNIInvokeInterface_ vms = {.GetEnv = get_env, .AttachCurrentThread = attach_current_thread};
static const struct jvmtiInterface_1_ functions = {.GetObjectMonitorUsage = get_usage};
static JavaVM java = &vms;
static jvmtiEnv jvmti = &functions;

static enum hpx_usage_answer ask(void)
{
    jvmtiMonitorUsage u;
    return hpx_attach_barrier_ask(&jvmti, NULL, &u);
}

static void attach(void)
{
    void *env = NULL;
    assert_int_equal(java->AttachCurrentThread(&java, &env, NULL), JNI_OK);
}

static int begin(void **state)
{
    (void)state;
    now = 1;
    attached = JNI_EDETACHED;
    attachments = asked = 0;
    while_asked = while_attaching = NULL;
    error = JVMTI_ERROR_NONE;
    return 0;
}

TEST(an_older_vm_is_left_as_it_is, begin)
{
    hpx_attach_barrier_load(&java, 22);
    assert_ptr_equal(java, &vms);
    assert_int_equal(ask(), HPX_USAGE_TOLD);
    hpx_attach_barrier_load(&java, 23); /* for the tests behind it */
    assert_ptr_not_equal(java, &vms);
}

TEST(what_the_vm_says_is_told, begin)
{
    assert_int_equal(ask(), HPX_USAGE_TOLD);
    error = JVMTI_ERROR_NOT_AVAILABLE;
    assert_int_equal(ask(), HPX_USAGE_REFUSED);
    assert_int_equal(asked, 2);
}

TEST(who_attaches_waits_for_a_question_2_s_at_most, begin)
{
    while_asked = attach; /* the question is not over before that */
    assert_int_equal(ask(), HPX_USAGE_TOLD);
    assert_int_equal(attachments, 1);
    assert_in_range(now, UINT64_C(2000000000), UINT64_C(2000000001) + SLEEP_NS);
}

TEST(who_attaches_without_a_question_does_not_wait, begin)
{
    attach();
    attached = JNI_OK; /* no attachment: the VM does nothing */
    while_asked = attach;
    assert_int_equal(ask(), HPX_USAGE_TOLD);
    assert_int_equal(attachments, 2);
    assert_int_equal(now, 1);
}

static void ask_in_vain(void)
{
    assert_int_equal(ask(), HPX_USAGE_ATTACHING);
}

TEST(nobody_asks_while_a_thread_attaches, begin)
{
    while_attaching = ask_in_vain;
    attach();
    assert_int_equal(asked, 0);
    assert_int_equal(ask(), HPX_USAGE_TOLD);
}

TEST(nobody_asks_once_another_agent_replaced_the_functions, begin)
{
    const struct JNIInvokeInterface_ *ours = java, others = *ours;
    java = &others;
    assert_int_equal(ask(), HPX_USAGE_REPLACED);
    assert_int_equal(asked, 0);
    java = ours;
    assert_int_equal(ask(), HPX_USAGE_TOLD);
}

TESTS(NULL, NULL)
