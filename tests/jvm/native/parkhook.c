/* SPDX-License-Identifier: BSD-2-Clause */
/* parkhook.c: an agent that puts a function of its own in the place of Unsafe.park when the VM binds it, and says at the end how often that
 * was called. Option: "once" (it looks at no later binding) or "always". */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CAN_EARLY_VMSTART 41

typedef void(JNICALL *park_fn)(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time);

static _Atomic(park_fn) next;
static atomic_long calls;
static bool once;

static void JNICALL park(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time)
{
    atomic_fetch_add(&calls, 1);
    atomic_load (&next)(env, unsafe, absolute, time);
}

static void JNICALL on_bind(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method, void *address, void **instead)
{
    char *name = NULL, *class = NULL;
    jclass c = NULL;
    (void)env, (void)thread;
    if ((*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE || strcmp(name, "park") != 0 ||
        (*jvmti)->GetMethodDeclaringClass(jvmti, method, &c) != JVMTI_ERROR_NONE ||
        (*jvmti)->GetClassSignature(jvmti, c, &class, NULL) != JVMTI_ERROR_NONE || strstr(class, "misc/Unsafe;") == NULL) {
        return;
    }
    atomic_store(&next, (park_fn)(uintptr_t)address);
    *instead = (void *)(uintptr_t)park;
    if (once) {
        (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_NATIVE_METHOD_BIND, NULL);
    }
}

static void JNICALL on_death(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti, (void)env;
    printf("hooked %ld\n", atomic_load(&calls));
    (void)fflush(stdout);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *jvmti;
    jvmtiEventCallbacks cb = {.NativeMethodBind = on_bind, .VMDeath = on_death};
    jvmtiCapabilities can = {.can_generate_native_method_bind_events = 1}, early = {.can_tag_objects = 0};
    (void)reserved;
    once = options != NULL && strcmp(options, "once") == 0;
    ((unsigned char *)&early)[CAN_EARLY_VMSTART / 8] = 1u << CAN_EARLY_VMSTART % 8;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK || (*jvmti)->AddCapabilities(jvmti, &can) != JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    (void)(*jvmti)->AddCapabilities(jvmti, &early); /* JDK 8 has none */
    if ((*jvmti)->SetEventCallbacks(jvmti, &cb, sizeof cb) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_NATIVE_METHOD_BIND, NULL) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL) != JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    return JNI_OK;
}
