/* SPDX-License-Identifier: BSD-2-Clause */
/* oddprobe.c: an agent that puts itself before the probes of the one under test: it throws behind a chosen call of one, as an exception of
 * Thread.stop does that is pending when the native returns, or instead of it, as a stack does that is too short for it. */
#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef void(JNICALL *probe)(JNIEnv *, jclass, jint);

enum { ENTER, EXIT, THROWN, PROBES };
static const char *const names[PROBES] = {"enter", "exit", "thrown"};
static probe real[PROBES];

/* Of the thread that armed it. */
static __thread struct {
    int which, calls;
    bool instead;
    jobject what; /* a global reference */
} armed;

static void call(JNIEnv *env, jclass tracker, jint method, int which)
{
    bool now = armed.calls > 0 && armed.which == which && --armed.calls == 0;
    if (!now || !armed.instead) {
        real[which](env, tracker, method);
    }
    if (now) {
        (*env)->Throw(env, armed.what);
    }
}

static void JNICALL enter(JNIEnv *env, jclass tracker, jint method)
{
    call(env, tracker, method, ENTER);
}

static void JNICALL leave(JNIEnv *env, jclass tracker, jint method)
{
    call(env, tracker, method, EXIT);
}

static void JNICALL thrown(JNIEnv *env, jclass tracker, jint method)
{
    call(env, tracker, method, THROWN);
}

static const probe mine[PROBES] = {enter, leave, thrown};

JNIEXPORT void JNICALL Java_OddProbe_arm(JNIEnv *env, jclass c, jint which, jint calls, jboolean instead, jobject what)
{
    (void)c;
    if (armed.what != NULL) {
        (*env)->DeleteGlobalRef(env, armed.what);
    }
    armed.what = (*env)->NewGlobalRef(env, what);
    armed.which = which;
    armed.instead = instead;
    armed.calls = calls;
}

JNIEXPORT jboolean JNICALL Java_OddProbe_between(JNIEnv *env, jclass c)
{
    (void)env, (void)c;
    return real[ENTER] != NULL && real[EXIT] != NULL && real[THROWN] != NULL;
}

static void JNICALL on_bind(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method, void *address, void **instead)
{
    (void)env, (void)thread;
    jclass c;
    char *name = NULL, *class = NULL;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &c) != JVMTI_ERROR_NONE ||
        (*jvmti)->GetClassSignature(jvmti, c, &class, NULL) != JVMTI_ERROR_NONE ||
        (*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE) {
        return;
    }
    for (int i = 0; i < PROBES && !strcmp(class, "Ljava/lang/HprofxTracker;"); i++) {
        if (!strcmp(name, names[i])) {
            real[i] = (probe)(uintptr_t)address;
            *instead = (void *)(uintptr_t)mine[i];
        }
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)class);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)options, (void)reserved;
    jvmtiEnv *jvmti;
    jvmtiEventCallbacks cb;
    jvmtiCapabilities can;
    memset(&cb, 0, sizeof cb);
    memset(&can, 0, sizeof can);
    cb.NativeMethodBind = on_bind;
    can.can_generate_native_method_bind_events = 1;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK || (*jvmti)->AddCapabilities(jvmti, &can) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &cb, sizeof cb) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_NATIVE_METHOD_BIND, NULL) != JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    return JNI_OK;
}
