/* SPDX-License-Identifier: BSD-2-Clause */
/* attacher.c: an agent whose native threads attach to the JVM and leave it, from VMInit on; options: how often each does. */
#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3

static JavaVM *jvm;
static long rounds;

static void *attach_and_leave(void *unused)
{
    (void)unused;
    JNIEnv *env;
    JavaVMAttachArgs args = {JNI_VERSION_1_8, (char *)(uintptr_t) "attached", NULL};
    for (long i = 0; i < rounds && (*jvm)->AttachCurrentThreadAsDaemon(jvm, (void **)&env, &args) == JNI_OK; i++) {
        (*jvm)->DetachCurrentThread(jvm);
    }
    return NULL;
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti, (void)env, (void)thread;
    for (int i = 0; i < THREADS; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, attach_and_leave, NULL) == 0) {
            pthread_detach(t);
        }
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    jvmtiEnv *jvmti;
    jvm = vm;
    rounds = strtol(options, NULL, 10);
    jvmtiEventCallbacks cb;
    memset(&cb, 0, sizeof cb);
    cb.VMInit = on_vm_init;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK ||
        (*jvmti)->SetEventCallbacks(jvmti, &cb, sizeof cb) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) != JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    return JNI_OK;
}
