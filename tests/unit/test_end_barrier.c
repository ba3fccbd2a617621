/* SPDX-License-Identifier: BSD-2-Clause */
/* test_end_barrier.c: threads that end and threads that ask for the usage of a monitor, on a VM before JDK 10, which crashes if one that it
 * looks at is freed. The VM is made up; the clock is the test's. */
#include "attach_barrier.h"
#include "boot_class.h"
#include "clock.h"
#include "cmocka_all.h"
#include <string.h>
#include <time.h>

#define SLEEP_NS UINT64_C(70000) /* a sleep is longer than it was asked to be */

uint64_t __wrap_hpx_clock_mono(void);
int __wrap_nanosleep(const struct timespec *want, struct timespec *left);

static uint64_t now;
static unsigned asked, sleeps, ends; /* calls that reached the VM; waits; threads that have ended */
static void (*while_asked)(void);
static bool thrown, refuses; /* an exception is pending; the VM gives no event */
static char klass, thread, other, group;
static char *group_of_thread;
static jvmtiEventCallbacks events;
static jvmtiEventMode mode;

uint64_t __wrap_hpx_clock_mono(void)
{
    return now;
}

int __wrap_nanosleep(const struct timespec *want, struct timespec *left)
{
    (void)want, (void)left;
    now += SLEEP_NS;
    sleeps++;
    return 0;
}

static jvmtiError JNICALL get_usage(jvmtiEnv *env, jobject object, jvmtiMonitorUsage *u)
{
    (void)env, (void)object, (void)u;
    asked++;
    if (while_asked) {
        void (*once)(void) = while_asked;
        while_asked = NULL;
        once();
    }
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *env, const jvmtiEventCallbacks *c, jint bytes)
{
    (void)env;
    memcpy(&events, c, (size_t)bytes);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_event(jvmtiEnv *env, jvmtiEventMode to, jvmtiEvent event, jthread of, ...)
{
    (void)env, (void)of;
    assert_int_equal(event, JVMTI_EVENT_THREAD_END);
    mode = to;
    return refuses ? JVMTI_ERROR_INTERNAL : JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *env)
{
    (void)env;
    mode = JVMTI_DISABLE;
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = {.GetObjectMonitorUsage = get_usage,
                                                   .SetEventCallbacks = set_callbacks,
                                                   .SetEventNotificationMode = set_event,
                                                   .DisposeEnvironment = dispose};
static jvmtiEnv jvmti = &functions;

static jboolean JNICALL exception_check(JNIEnv *env)
{
    (void)env;
    return thrown;
}

jclass hpx_boot_class(JNIEnv *env, const char *name)
{
    (void)env;
    assert_string_equal(name, "java/lang/Thread");
    return (jclass)(void *)&klass;
}

static jobject JNICALL same(JNIEnv *env, jobject o)
{
    (void)env;
    return o;
}

static void JNICALL drop(JNIEnv *env, jobject o)
{
    (void)env, (void)o;
}

static void JNICALL clear(JNIEnv *env)
{
    (void)env;
}

static jboolean JNICALL is_instance(JNIEnv *env, jobject o, jclass k)
{
    (void)env, (void)k;
    return o == (jobject)(void *)&thread;
}

static jfieldID JNICALL field(JNIEnv *env, jclass k, const char *name, const char *signature)
{
    (void)env, (void)k, (void)signature;
    assert_string_equal(name, "group");
    return (jfieldID)(void *)&group;
}

static jobject JNICALL get_field(JNIEnv *env, jobject o, jfieldID f)
{
    (void)env, (void)o, (void)f;
    return (jobject)(void *)group_of_thread;
}

static const struct JNINativeInterface_ natives = {.ExceptionCheck = exception_check,
                                                   .ExceptionClear = clear,
                                                   .NewGlobalRef = same,
                                                   .DeleteGlobalRef = drop,
                                                   .DeleteLocalRef = drop,
                                                   .IsInstanceOf = is_instance,
                                                   .GetFieldID = field,
                                                   .GetObjectField = get_field};
static JNIEnv env = &natives;

static jint JNICALL get_env(JavaVM *vm, void **to, jint version)
{
    (void)vm;
    *to = (version & JVMTI_VERSION_MASK_INTERFACE_TYPE) == JVMTI_VERSION_INTERFACE_JVMTI ? (void *)&jvmti : (void *)&env;
    return JNI_OK;
}

static const struct JNIInvokeInterface_ vms = {.GetEnv = get_env};
static JavaVM java = &vms;

static enum hpx_usage_answer ask(char *object)
{
    jvmtiMonitorUsage u;
    return hpx_attach_barrier_ask(&jvmti, (jobject)(void *)object, &u);
}

static void end_thread(void)
{
    events.ThreadEnd(&jvmti, &env, (jthread)(void *)&thread);
    ends++;
}

static int begin(void **unused)
{
    (void)unused;
    now = 1;
    asked = sleeps = ends = 0;
    while_asked = NULL;
    thrown = refuses = false;
    group_of_thread = &group;
    mode = JVMTI_DISABLE;
    hpx_attach_barrier_load(&java, 8);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    hpx_attach_barrier_unload();
    return 0;
}

TEST(the_functions_that_attach_stay_and_the_event_goes, begin, end)
{
    assert_ptr_equal(java, &vms);
    assert_int_equal(mode, JVMTI_ENABLE);
    hpx_attach_barrier_unload();
    assert_int_equal(mode, JVMTI_DISABLE);
}

TEST(a_thread_that_ends_without_a_question_does_not_wait, begin, end)
{
    end_thread();
    assert_int_equal(ask(&other), HPX_USAGE_TOLD);
    end_thread();
    assert_int_equal(sleeps, 0);
}

TEST(a_thread_that_ends_waits_for_a_question_2_s_at_most, begin, end)
{
    while_asked = end_thread; /* the question is not over before that */
    assert_int_equal(ask(&other), HPX_USAGE_TOLD);
    assert_int_equal(ends, 1);
    assert_in_range(now, UINT64_C(2000000000), UINT64_C(2000000001) + SLEEP_NS);
}

TEST(nobody_asks_about_a_thread_that_ends, begin, end)
{
    assert_int_equal(ask(&thread), HPX_USAGE_TOLD);
    group_of_thread = NULL; /* behind Thread.exit() */
    assert_int_equal(ask(&thread), HPX_USAGE_ENDING);
    assert_int_equal(asked, 1);
    while_asked = end_thread; /* the question that was not asked is over */
    assert_int_equal(ask(&other), HPX_USAGE_TOLD);
}

TEST(nobody_asks_with_an_exception_or_if_no_thread_would_wait, begin, end)
{
    thrown = true;
    assert_int_equal(ask(&other), HPX_USAGE_ENDING);
    thrown = false;
    hpx_attach_barrier_unload();
    refuses = true;
    hpx_attach_barrier_load(&java, 8);
    assert_int_equal(ask(&other), HPX_USAGE_ENDING);
    assert_int_equal(asked, 0);
}

static unsigned depth; /* questions that run inside another */

static void ask_deeper(void)
{
    bool fits = ++depth < 64;
    while_asked = ask_deeper;
    assert_int_equal(ask(&other), fits ? HPX_USAGE_TOLD : HPX_USAGE_ENDING);
}

TEST(more_than_64_do_not_ask_at_once, begin, end)
{
    while_asked = ask_deeper;
    depth = 0;
    assert_int_equal(ask(&other), HPX_USAGE_TOLD);
    assert_int_equal(depth, 64);
    while_asked = NULL;
    assert_int_equal(ask(&other), HPX_USAGE_TOLD);
}

TESTS(NULL, NULL)
