/* SPDX-License-Identifier: BSD-2-Clause */
/* null_agent.c: an agent that asks the JVM for one thing and does nothing with it: what that thing alone costs. Test code of tools/bench.
 *
 * Option, one of: nothing (VMInit and VMDeath only), event (compiled-method-load, the callback returns at once), methods (GetClassMethods
 * of every class at its preparation, as AsyncGetCallTrace needs it). */
#include <jvmti.h>
#include <stdio.h>
#include <string.h>

static jvmtiEnv *jvmti;

static void JNICALL on_nothing(jvmtiEnv *env, JNIEnv *jni)
{
    (void)env;
    (void)jni;
}

static void JNICALL on_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
    (void)env;
    (void)jni;
    (void)thread;
}

static void JNICALL on_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
    jint n = 0;
    jmethodID *methods = NULL;
    (void)jni;
    (void)thread;
    if ((*env)->GetClassMethods(env, class, &n, &methods) == JVMTI_ERROR_NONE) {
        (*env)->Deallocate(env, (unsigned char *)methods);
    }
}

static void JNICALL on_compiled(jvmtiEnv *env, jmethodID method, jint size, const void *code, jint n, const jvmtiAddrLocationMap *map,
                                const void *info)
{
    (void)env;
    (void)method;
    (void)size;
    (void)code;
    (void)n;
    (void)map;
    (void)info;
}

static jint refuse(const char *what)
{
    fprintf(stderr, "null_agent: %s\n", what);
    return JNI_ERR;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiCapabilities caps;
    jvmtiEventCallbacks callbacks;
    jvmtiEvent events[3] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH};
    size_t n = 2;
    const char *mode = options ? options : "nothing";
    (void)reserved;
    memset(&caps, 0, sizeof(caps));
    memset(&callbacks, 0, sizeof(callbacks));
    callbacks.VMInit = on_init;
    callbacks.VMDeath = on_nothing;
    if (strcmp(mode, "event") == 0) {
        caps.can_generate_compiled_method_load_events = 1;
        callbacks.CompiledMethodLoad = on_compiled;
        events[n++] = JVMTI_EVENT_COMPILED_METHOD_LOAD;
    } else if (strcmp(mode, "methods") == 0) {
        callbacks.ClassPrepare = on_prepare;
        events[n++] = JVMTI_EVENT_CLASS_PREPARE;
    } else if (strcmp(mode, "nothing") != 0) {
        return refuse("option must be nothing, event or methods");
    }
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK || (*jvmti)->AddCapabilities(jvmti, &caps) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks)) != JVMTI_ERROR_NONE) {
        return refuse("the JVM refused");
    }
    for (size_t i = 0; i < n; i++) {
        if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) != JVMTI_ERROR_NONE) {
            return refuse("the JVM refused an event");
        }
    }
    return JNI_OK;
}
