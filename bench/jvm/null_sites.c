/* SPDX-License-Identifier: BSD-2-Clause */
/* null_sites.c: an agent that asks the JVM for what exact heap=sites needs, and keeps none of it: the limit. Test code of tools/bench.
 *
 * Every allocation that the JVM reports: GetTag of its class, GetStackTrace, SetTag of the object. ObjectFree is enabled; its callback is
 * empty. Options: FRAMES[,BYTES]: bytes between two samples; without them every allocation is reported. JDK 11 or later. */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FRAMES 64
#define OBJECT_TAG  0x100000002LL
#define CLASS_TAG   0x100000003LL

static jvmtiEnv *jvmti;
static jint frames_wanted, interval;
static __thread volatile jlong kept; /* what the calls answered: none of them is dead code */

static void JNICALL on_alloc(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass klass, jlong size)
{
    jvmtiFrameInfo frames[MOST_FRAMES];
    jlong tag = 0;
    jint n = 0;
    (void)jni;
    (void)thread;
    if ((*env)->GetTag(env, klass, &tag) == JVMTI_ERROR_NONE && tag == 0) {
        (void)(*env)->SetTag(env, klass, CLASS_TAG);
    }
    (void)(*env)->GetStackTrace(env, NULL, 0, frames_wanted, frames, &n);
    kept = n + size;
    (void)(*env)->SetTag(env, object, OBJECT_TAG);
}

static void JNICALL on_free(jvmtiEnv *env, jlong tag)
{
    (void)env;
    (void)tag;
}

static void JNICALL on_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
    (void)jni;
    (void)thread;
    if ((*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_OBJECT_FREE, NULL) != JVMTI_ERROR_NONE ||
        (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL) != JVMTI_ERROR_NONE) {
        fprintf(stderr, "null_sites: the JVM refused an event\n");
        exit(1);
    }
    if (interval == 0) {
        (void)(*env)->ForceGarbageCollection(env); /* takes the buffers away that the interval does not hold for */
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiCapabilities caps;
    jvmtiEventCallbacks callbacks;
    char none[] = "", *end = none;
    (void)reserved;
    frames_wanted = options ? (jint)strtol(options, &end, 10) : 0;
    interval = *end == ',' ? (jint)strtol(end + 1, NULL, 10) : 0;
    memset(&caps, 0, sizeof(caps));
    memset(&callbacks, 0, sizeof(callbacks));
    caps.can_tag_objects = 1;
    caps.can_generate_object_free_events = 1;
    caps.can_generate_sampled_object_alloc_events = 1;
    callbacks.VMInit = on_init;
    callbacks.SampledObjectAlloc = on_alloc;
    callbacks.ObjectFree = on_free;
    if (frames_wanted < 1 || frames_wanted > MOST_FRAMES || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
        (*jvmti)->AddCapabilities(jvmti, &caps) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetHeapSamplingInterval(jvmti, interval) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks)) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) != JVMTI_ERROR_NONE) {
        fprintf(stderr, "null_sites: the JVM refused\n");
        return JNI_ERR;
    }
    return JNI_OK;
}
