/* SPDX-License-Identifier: BSD-2-Clause */
/* redefine.c: an agent that redefines the program's own classes with the same bytes, one after the other, as long as the program runs:
 * compiled code of their methods dies, and methods become old. Test code.
 *
 * Option: the beginning of the classes' signatures, such as LSoak. */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAUSE_US 5000

static jvmtiEnv *jvmti;
static char prefix[64];

static void redefine(jclass klass)
{
    char *signature = NULL;
    if ((*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) != JVMTI_ERROR_NONE) {
        return;
    }
    if (!strncmp(signature, prefix, strlen(prefix)) && strstr(signature, "$$") == NULL) { /* not those of lambdas */
        (*jvmti)->RetransformClasses(jvmti, 1, &klass);
        usleep(PAUSE_US);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

static void JNICALL run(jvmtiEnv *env, JNIEnv *jni, void *unused)
{
    (void)unused;
    for (;;) {
        jint n = 0;
        jclass *all = NULL;
        if ((*env)->GetLoadedClasses(env, &n, &all) != JVMTI_ERROR_NONE) {
            return;
        }
        for (jint i = 0; i < n; i++) {
            redefine(all[i]);
            (*jni)->DeleteLocalRef(jni, all[i]);
        }
        (*env)->Deallocate(env, (unsigned char *)all);
    }
}

static void JNICALL on_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
    jclass klass = (*jni)->FindClass(jni, "java/lang/Thread");
    jmethodID init = (*jni)->GetMethodID(jni, klass, "<init>", "(Ljava/lang/String;)V");
    jobject mine = (*jni)->NewObject(jni, klass, init, (*jni)->NewStringUTF(jni, "redefine"));
    (void)thread;
    if (mine == NULL || (*env)->RunAgentThread(env, mine, run, NULL, JVMTI_THREAD_NORM_PRIORITY) != JVMTI_ERROR_NONE) {
        fprintf(stderr, "redefine: no thread\n");
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiCapabilities caps;
    jvmtiEventCallbacks callbacks;
    (void)reserved;
    memset(&caps, 0, sizeof caps);
    memset(&callbacks, 0, sizeof callbacks);
    caps.can_retransform_classes = 1;
    callbacks.VMInit = on_init;
    snprintf(prefix, sizeof prefix, "%s", options);
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK || (*jvmti)->AddCapabilities(jvmti, &caps) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) != JVMTI_ERROR_NONE) {
        fprintf(stderr, "redefine: the JVM refused\n");
        return JNI_ERR;
    }
    return JNI_OK;
}
