/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_watch.c: see jfr_watch.h. */
#include "jfr_watch.h"
#include "boot_class.h"
#include "clock.h"
#include "log.h"
#include "thread_by_name.h"
#include "ticks.h"
#include "vm.h"
#include <signal.h>
#include <string.h>

#define SINCE 25    /* the release of the JDK */
#define SHARE 1000u /* of the time that the looks may take */

static HPX_OF_SESSION atomic_bool said;
static HPX_OF_SESSION uint64_t next; /* the service thread's */

/* What a method without arguments returns; NULL: an exception, or there is no such method. */
static jobject ask(JNIEnv *env, jobject of, const char *method, const char *signature)
{
    jclass klass = of != NULL ? (*env)->GetObjectClass(env, of) : NULL;
    jmethodID id = klass != NULL ? (*env)->GetMethodID(env, klass, method, signature) : NULL;
    jobject answer = id != NULL ? (*env)->CallObjectMethod(env, of, id) : NULL;
    answer = (*env)->ExceptionCheck(env) ? NULL : answer;
    (*env)->ExceptionClear(env);
    return answer;
}

static bool has_name(JNIEnv *env, jobject type, const char *name)
{
    jstring is = ask(env, type, "getName", "()Ljava/lang/String;");
    const char *text = is != NULL ? (*env)->GetStringUTFChars(env, is, NULL) : NULL;
    bool same = text != NULL && strcmp(text, name) == 0;
    if (text != NULL) {
        (*env)->ReleaseStringUTFChars(env, is, text);
    }
    return same;
}

static bool is_enabled(JNIEnv *env, jobject type)
{
    jclass klass = (*env)->GetObjectClass(env, type);
    jmethodID id = (*env)->GetMethodID(env, klass, "isEnabled", "()Z");
    bool is = id != NULL && (*env)->CallBooleanMethod(env, type, id);
    is = is && !(*env)->ExceptionCheck(env);
    (*env)->ExceptionClear(env);
    return is;
}

static jobject recorder(JNIEnv *env)
{
    jclass klass = hpx_boot_class(env, "jdk/jfr/FlightRecorder");
    jmethodID get = klass != NULL ? (*env)->GetStaticMethodID(env, klass, "getFlightRecorder", "()Ljdk/jfr/FlightRecorder;") : NULL;
    jobject r = get != NULL ? (*env)->CallStaticObjectMethod(env, klass, get) : NULL;
    r = (*env)->ExceptionCheck(env) ? NULL : r;
    (*env)->ExceptionClear(env);
    return r;
}

static bool wants_cpu_time(JNIEnv *env)
{
    jobjectArray types = ask(env, ask(env, recorder(env), "getEventTypes", "()Ljava/util/List;"), "toArray", "()[Ljava/lang/Object;");
    jsize n = types != NULL ? (*env)->GetArrayLength(env, types) : 0;
    bool wants = false, found = false;
    for (jsize i = 0; i < n && !found && (*env)->PushLocalFrame(env, 16) == 0; i++) {
        jobject type = (*env)->GetObjectArrayElement(env, types, i);
        found = type != NULL && has_name(env, type, "jdk.CPUTimeSample");
        wants = found && is_enabled(env, type);
        (void)(*env)->PopLocalFrame(env, NULL);
    }
    (*env)->ExceptionClear(env);
    return wants;
}

void hpx_jfr_watch_recheck(void)
{
    JNIEnv *env = hpx_vm_env();
    uint64_t now = hpx_clock_mono();
    if (env == NULL || now < next || hpx_session.opt->signal != SIGPROF || hpx_vm_release() < SINCE || !hpx_ticks_armed() ||
        hpx_counter_get(&hpx_session.counters, HPX_C_SIGNALS_FOREIGN) > 0 || atomic_load_explicit(&said, memory_order_relaxed)) {
        return;
    }
    if (hpx_thread_named("JFR Recorder Thread") && (*env)->PushLocalFrame(env, 16) == 0) {
        if (wants_cpu_time(env)) {
            hpx_warn_once(&said,
                          "%s: JFR records no jdk.CPUTimeSample, because hprofx uses its signal SIGPROF; to have both, start hprofx with "
                          "signal=RTMIN+1",
                          hpx_ticks_of());
        }
        (void)(*env)->PopLocalFrame(env, NULL);
    }
    next = now + SHARE * (hpx_clock_mono() - now);
}
