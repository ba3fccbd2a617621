/* SPDX-License-Identifier: BSD-2-Clause */
/* sessions.c: natives of tests/jvm/programs/Sessions*.java: begin and end sessions of the agent in the JVM that runs; a native thread that
 * attaches and leaves as it is told. */
#include "kept_states.h"
#include "run.h"
#include "vm.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

static JavaVM *java;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *unused)
{
    (void)unused;
    java = vm;
    return JNI_VERSION_1_6;
}

static jboolean said(int rc, const struct hpx_err *err)
{
    if (rc != 0) {
        printf("error %d: %s\n", rc, err->msg);
        fflush(stdout);
    }
    return rc == 0;
}

JNIEXPORT jboolean JNICALL Java_Sessions_begin(JNIEnv *env, jclass unused, jstring options);
JNIEXPORT jboolean JNICALL Java_Sessions_begin(JNIEnv *env, jclass unused, jstring options)
{
    struct hpx_err err;
    const char *text = (*env)->GetStringUTFChars(env, options, NULL);
    (void)unused;
    int rc = hpx_run_begin(java, env, text, &err);
    (*env)->ReleaseStringUTFChars(env, options, text);
    return said(rc, &err);
}

JNIEXPORT jboolean JNICALL Java_Sessions_end(JNIEnv *env, jclass unused);
JNIEXPORT jboolean JNICALL Java_Sessions_end(JNIEnv *env, jclass unused)
{
    struct hpx_err err;
    (void)unused;
    return said(hpx_run_end(env, &err), &err);
}

/* States that the process keeps for threads that live. */
JNIEXPORT jint JNICALL Java_Sessions_kept(JNIEnv *env, jclass unused);
JNIEXPORT jint JNICALL Java_Sessions_kept(JNIEnv *env, jclass unused)
{
    (void)env, (void)unused;
    return (jint)hpx_kept_states_sweep();
}

static bool is_lambda(jvmtiEnv *jvmti, jclass klass)
{
    char *name = NULL;
    bool is = (*jvmti)->GetClassSignature(jvmti, klass, &name, NULL) == JVMTI_ERROR_NONE && strstr(name, "$$Lambda") != NULL;
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    return is;
}

/* Loaded classes; the VM's own figure also counts the versions of rewritten ones. Without those of lambdas, which the VM makes anew where a
 * rewritten class comes to one. */
JNIEXPORT jint JNICALL Java_Sessions_classes(JNIEnv *env, jclass unused);
JNIEXPORT jint JNICALL Java_Sessions_classes(JNIEnv *env, jclass unused)
{
    void *got = NULL;
    jclass *all = NULL;
    jint n = -1;
    (void)unused;
    if ((*java)->GetEnv(java, &got, JVMTI_VERSION_1_2) != JNI_OK) {
        return n;
    }
    jvmtiEnv *jvmti = got;
    if ((*env)->PushLocalFrame(env, 16) == 0) {
        (void)(*jvmti)->GetLoadedClasses(jvmti, &n, &all);
        jint lambdas = 0;
        for (jint i = 0; i < n; i++) {
            lambdas += is_lambda(jvmti, all[i]);
            (*env)->DeleteLocalRef(env, all[i]);
        }
        n -= lambdas;
        (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)all);
        (*env)->PopLocalFrame(env, NULL);
    }
    (void)(*jvmti)->DisposeEnvironment(jvmti);
    return n;
}

/* ---- the thread from outside ---- */

static struct {
    sem_t told, done;
    enum { ATTACH, WORK, LEAVE } step;
    jclass program; /* global */
} outside;

static void do_step(JNIEnv **env)
{
    JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)(uintptr_t) "outside", NULL};
    switch (outside.step) {
    case ATTACH:
        (void)(*java)->AttachCurrentThreadAsDaemon(java, (void **)env, &args);
        break;
    case WORK:
        (**env)->CallStaticVoidMethod(*env, outside.program, (**env)->GetStaticMethodID(*env, outside.program, "work", "()V"));
        break;
    case LEAVE:
        (void)(*java)->DetachCurrentThread(java);
        break;
    }
}

static void *be_outside(void *unused)
{
    JNIEnv *env = NULL;
    for (;;) {
        while (sem_wait(&outside.told) != 0) {
        }
        do_step(&env);
        sem_post(&outside.done);
    }
    return unused;
}

JNIEXPORT void JNICALL Java_SessionsOutside_tell(JNIEnv *env, jclass program, jint step);
JNIEXPORT void JNICALL Java_SessionsOutside_tell(JNIEnv *env, jclass program, jint step)
{
    pthread_t t;
    if (outside.program == NULL) {
        outside.program = (*env)->NewGlobalRef(env, program);
        sem_init(&outside.told, 0, 0);
        sem_init(&outside.done, 0, 0);
        if (pthread_create(&t, NULL, be_outside, NULL) != 0) {
            return;
        }
    }
    outside.step = (unsigned)step;
    sem_post(&outside.told);
    while (sem_wait(&outside.done) != 0) {
    }
}
