/* SPDX-License-Identifier: BSD-2-Clause */
/* heap.c: global and local references, for heap dumps. */
#include <jni.h>

JNIEXPORT void JNICALL Java_HeapJni_global(JNIEnv *env, jclass c, jobject o)
{
    (void)c;
    (void)(*env)->NewGlobalRef(env, o);
}

JNIEXPORT void JNICALL Java_HeapJni_hold(JNIEnv *env, jclass c, jobject o)
{
    jclass graph = (*env)->FindClass(env, "HeapGraph");
    jmethodID await = graph != NULL ? (*env)->GetStaticMethodID(env, graph, "await", "()V") : NULL;
    jobject own = (*env)->NewLocalRef(env, o);
    (void)c;
    if (await != NULL) {
        (*env)->CallStaticVoidMethod(env, graph, await);
    }
    (*env)->DeleteLocalRef(env, own);
}
