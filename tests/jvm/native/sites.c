/* SPDX-License-Identifier: BSD-2-Clause */
/* sites.c: allocations by JNI, the VM's own size of an object; as an agent (with "hold"), another owner of the capability that heap=sites
 * asks for. */
#include <jni.h>
#include <jvmti.h>
#include <stdio.h>
#include <string.h>

#define CAPABILITY_SAMPLED 43 /* bit of can_generate_sampled_object_alloc_events, which the header of JDK 8 does not have */

static jvmtiEnv *jvmti;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    (void)reserved;
    return (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) == JNI_OK ? JNI_VERSION_1_8 : JNI_ERR;
}

/* Prints what it got. An agent that also takes the events of allocations would slow the program down, and changes nothing here. */
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiCapabilities can;
    jvmtiEnv *own;
    (void)options;
    (void)reserved;
    memset(&can, 0, sizeof can);
    ((unsigned char *)&can)[CAPABILITY_SAMPLED / 8] = 1u << CAPABILITY_SAMPLED % 8;
    if ((*vm)->GetEnv(vm, (void **)&own, JVMTI_VERSION_1_2) != JNI_OK) {
        return JNI_ERR;
    }
    printf("holder %d\n", (*own)->AddCapabilities(own, &can));
    fflush(stdout);
    return JNI_OK;
}

JNIEXPORT jlong JNICALL Java_SitesJni_size(JNIEnv *env, jclass c, jobject o)
{
    jlong size = -1;
    (void)env;
    (void)c;
    return (*jvmti)->GetObjectSize(jvmti, o, &size) == JVMTI_ERROR_NONE ? size : -1;
}

JNIEXPORT jobject JNICALL Java_SitesJni_newObject(JNIEnv *env, jclass c, jclass of)
{
    (void)c;
    return (*env)->NewObject(env, of, (*env)->GetMethodID(env, of, "<init>", "()V"));
}

JNIEXPORT jobject JNICALL Java_SitesJni_allocObject(JNIEnv *env, jclass c, jclass of)
{
    (void)c;
    return (*env)->AllocObject(env, of);
}

JNIEXPORT jobject JNICALL Java_SitesJni_newIntArray(JNIEnv *env, jclass c, jint n)
{
    (void)c;
    return (*env)->NewIntArray(env, n);
}

JNIEXPORT jobject JNICALL Java_SitesJni_newObjectArray(JNIEnv *env, jclass c, jclass of, jint n)
{
    (void)c;
    return (*env)->NewObjectArray(env, n, of, NULL);
}

JNIEXPORT jobject JNICALL Java_SitesJni_newString(JNIEnv *env, jclass c)
{
    (void)c;
    return (*env)->NewStringUTF(env, "of JNI");
}

/* It returns with an exception pending. */
JNIEXPORT void JNICALL Java_SitesJni_fail(JNIEnv *env, jclass c, jclass of)
{
    (void)c;
    (*env)->ThrowNew(env, of, "of JNI");
}
