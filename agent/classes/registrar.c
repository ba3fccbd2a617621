/* SPDX-License-Identifier: BSD-2-Clause */
/* registrar.c: see registrar.h. */
#include "registrar.h"
#include "tracker_class.h"
#include <stdint.h>

/* The caller's, who is the only one. */
static jclass registrar; /* a global reference; set once */
static jmethodID run;
static struct {
    jclass klass;
    const JNINativeMethod *natives;
    jint n;
    bool done;
} asked;

static void JNICALL on_register(JNIEnv *env, jclass klass)
{
    (void)klass;
    asked.done = (*env)->RegisterNatives(env, asked.klass, asked.natives, asked.n) == 0;
}

static bool define(JNIEnv *env, const char *name)
{
    const JNINativeMethod native = {(char *)(uintptr_t)HPX_TRACKER_REGISTER, (char *)(uintptr_t) "()V", (void *)(uintptr_t)on_register};
    uint8_t bytes[HPX_TRACKER_CLASS_MAX];
    size_t n = hpx_tracker_class_registrar(bytes, name);
    jclass klass = (*env)->DefineClass(env, name, NULL, (const jbyte *)bytes, (jsize)n);
    if (klass != NULL && (*env)->RegisterNatives(env, klass, &native, 1) == 0) {
        run = (*env)->GetStaticMethodID(env, klass, HPX_TRACKER_RUN, "()V");
        registrar = run != NULL ? (*env)->NewGlobalRef(env, klass) : NULL;
    }
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, klass);
    return registrar != NULL;
}

bool hpx_registrar_natives(JNIEnv *env, const char *name, jclass klass, const JNINativeMethod *natives, jint n)
{
    if (registrar == NULL && !define(env, name)) {
        return false;
    }
    asked.klass = klass;
    asked.natives = natives;
    asked.n = n;
    asked.done = false;
    (*env)->CallStaticVoidMethod(env, registrar, run);
    bool failed = (*env)->ExceptionCheck(env);
    (*env)->ExceptionClear(env);
    return asked.done && !failed;
}
