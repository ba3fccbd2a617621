/* SPDX-License-Identifier: BSD-2-Clause */
/* test_undone.c: what the modes of a session that was loaded and cannot start undo. */
#include "calls_mode.h"
#include "classes.h"
#include "cmocka_all.h"
#include "inlines.h"
#include "loaders.h"
#include "session.h"
#include "vm.h"
#include "vm_mode.h"
#include <string.h>

extern const struct hpx_vm_mode hpx_samples_vm;

static jvmtiError JNICALL set_event(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiEvent event, jthread thread, ...)
{
    (void)jvmti, (void)mode, (void)event, (void)thread;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL version(jvmtiEnv *jvmti, jint *v)
{
    (void)jvmti;
    *v = 17 << JVMTI_VERSION_SHIFT_MAJOR;
    return JVMTI_ERROR_NONE;
}

static const jvmtiInterface_1 functions = {.SetEventNotificationMode = set_event, .GetVersionNumber = version};
static jvmtiEnv jvmti = &functions;

static void load_walk(union hpx_event_callbacks *events)
{
    static const struct hpx_options options = {.sampler = HPX_ENGINE_WALK, .depth = 4};
    struct hpx_err err;
    memset(events, 0, sizeof *events);
    hpx_vm.jvmti = &jvmti;
    hpx_session.opt = &options;
    hpx_samples_vm.callbacks(events);
    assert_int_equal(hpx_samples_vm.load(&err), 0);
}

/* The end of a session before clears the variables of sessions while the begin waits for it. */
TEST(a_begin_that_is_cancelled_while_the_session_before_ends_stays_cancelled)
{
    extern char __start_hpx_session_variables[], __stop_hpx_session_variables[];
    hpx_classes_cancel(true);
    memset(__start_hpx_session_variables, 0, (size_t)(__stop_hpx_session_variables - __start_hpx_session_variables));
    assert_true(hpx_classes_cancelled());
    hpx_classes_cancel(false);
    assert_false(hpx_classes_cancelled());
}

TEST(compiled_code_is_forgotten)
{
    static char method;
    static char code[256] __attribute__((aligned(64)));
    union hpx_event_callbacks events;
    load_walk(&events);
    events.known.CompiledMethodLoad(&jvmti, (jmethodID)(void *)&method, 128, code, 0, NULL, NULL);
    assert_int_not_equal(hpx_inlines_bytes(), 0);
    hpx_samples_vm.disable();
    assert_int_equal(hpx_inlines_bytes(), 0);
    assert_false(hpx_inlines_enabled());
}

/* ---- cpu=times: the classes of probes are there, whatever the VM says ---- */

static unsigned looks;      /* of the class hook */
static bool left_meanwhile; /* the mode says so while the class hook looks */

#define STANDS_IN(type, name, args, body)                                                                                                  \
    type __wrap_##name args;                                                                                                               \
    type __wrap_##name args                                                                                                                \
    {                                                                                                                                      \
        body                                                                                                                               \
    }

STANDS_IN(bool, hpx_registrar_natives, (void), return true;)
STANDS_IN(bool, hpx_loaders_init, (void), return true;)
STANDS_IN(bool, hpx_probe_class_init, (void), return true;)
STANDS_IN(bool, hpx_probe_frames_add, (void), return true;)
STANDS_IN(bool, hpx_downcall_define, (void), return false;)
STANDS_IN(enum hpx_loader, hpx_loaders_look, (void), looks++; left_meanwhile = hpx_calls_vm_mode.left(0); return HPX_LOADER_UNKNOWN;)

static jint JNICALL no_env(JavaVM *java, void **env, jint version)
{
    (void)java, (void)env, (void)version;
    return JNI_ERR;
}

static char klass, method;

static jclass JNICALL define_class(JNIEnv *env, const char *name, jobject loader, const jbyte *bytes, jsize n)
{
    (void)env, (void)name, (void)loader, (void)bytes, (void)n;
    return (jclass)(void *)&klass;
}

static jmethodID JNICALL find_method(JNIEnv *env, jclass of, const char *name, const char *signature)
{
    (void)env, (void)of, (void)name, (void)signature;
    return (jmethodID)(void *)&method;
}

static void JNICALL delete_ref(JNIEnv *env, jobject ref)
{
    (void)env, (void)ref;
}

static unsigned looks_at_a_class(const union hpx_event_callbacks *events, JNIEnv *env)
{
    unsigned before = looks;
    events->known.ClassFileLoadHook(&jvmti, env, NULL, NULL, "A", NULL, 0, NULL, NULL, NULL);
    return looks - before;
}

TEST(no_class_gets_probes_any_more_and_a_thread_inside_the_hook_has_not_left)
{
    static const struct hpx_options options = {.times = HPX_TIMES_CPU};
    const struct JNIInvokeInterface_ java_functions = {.GetEnv = no_env};
    const struct JNINativeInterface_ jni_functions = {
        .DefineClass = define_class, .GetStaticMethodID = find_method, .DeleteLocalRef = delete_ref};
    JavaVM java = &java_functions;
    JNIEnv jni = &jni_functions;
    union hpx_event_callbacks events;
    struct hpx_err err;
    memset(&events, 0, sizeof events);
    hpx_vm.java = &java;
    hpx_vm.jvmti = &jvmti;
    hpx_session.opt = &options;
    hpx_session.in_effect.times = HPX_TIMES_CPU;
    hpx_calls_vm_mode.callbacks(&events);
    assert_int_equal(hpx_calls_vm_mode.load(&err), 0);
    events.known.VMStart(&jvmti, &jni);
    assert_int_equal(looks_at_a_class(&events, &jni), 1);
    assert_false(left_meanwhile);
    assert_true(hpx_calls_vm_mode.left(0));
    hpx_calls_vm_mode.disable();
    assert_int_equal(looks_at_a_class(&events, &jni), 0);
}

TESTS(NULL, NULL)
