/* SPDX-License-Identifier: BSD-2-Clause */
/* attach.c: sessions in a JVM that runs. The VM calls Agent_OnAttach each time that a command asks for the library, on its attach thread;
 * the profiler of JMH calls its native method in the JVM of a fork, on the thread that drives the iterations. Nothing here ends the
 * process. */
#include "control.h"
#include "err.h"
#include "log.h"
#include "options.h"
#include "run.h"
#include "steer.h"
#include "tls_block.h"
#include "twin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_stdout(void *ctx, const char *s)
{
    (void)ctx;
    fputs(s, stdout);
}

static jint help(void)
{
    hpx_options_help(print_stdout, NULL);
    fflush(stdout);
    return JNI_OK;
}

/* "control": the command that asks has more to say; "stop" ends the session; everything else is the options of a new one. */
static int obey(JavaVM *vm, JNIEnv *env, const char *words, struct hpx_err *err)
{
    int rc = hpx_tls_block_check(err);
    if (rc != 0) {
        return rc;
    }
    if (strcmp(words, "control") == 0) {
        rc = hpx_run_is_live(vm, err);
        return rc != 0 ? rc : hpx_steer_listen(vm, false, err);
    }
    rc = strcmp(words, "stop") == 0 ? hpx_run_end(env, err) : hpx_run_begin(vm, env, words, err);
    hpx_steer_look();
    return rc;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    struct hpx_err err;
    void *env = NULL;
    const char *words = options != NULL ? options : "";
    (void)reserved;
    if (strcmp(words, "help") == 0) {
        return help();
    }
    if (!hpx_twin_is_first()) {
        hpx_warn("another copy of the library is loaded; attach with that one: /proc/PID/maps has its name");
        return HPX_CONTROL_REFUSED + HPX_E_BUSY;
    }
    if ((*vm)->GetEnv(vm, &env, JNI_VERSION_1_6) != JNI_OK) {
        return JNI_EVERSION;
    }
    int rc = obey(vm, env, words, &err);
    if (rc != 0 && (rc != -HPX_E_NOT_LIVE || strcmp(words, "control") != 0)) { /* that command tries again */
        hpx_run_say(&err);
    }
    return rc == 0 ? JNI_OK : HPX_CONTROL_REFUSED - rc;
}

/* `private static native byte[] ask(byte[] words)` of the class hprofx (command/jmh/hprofx.java): the VM looks for native methods in
 * agents, too. NULL, or why not. */
JNIEXPORT jbyteArray JNICALL Java_hprofx_ask(JNIEnv *env, jclass klass, jbyteArray words);
JNIEXPORT jbyteArray JNICALL Java_hprofx_ask(JNIEnv *env, jclass klass, jbyteArray words)
{
    struct hpx_err err;
    JavaVM *vm;
    (void)klass;
    jsize n = (*env)->GetArrayLength(env, words);
    char *text = malloc((size_t)n + 1);
    int rc;
    if (text == NULL || (*env)->GetJavaVM(env, &vm) != JNI_OK) {
        rc = hpx_err_set(&err, HPX_E_NOMEM, "no memory for the options of a session; raise the memory limit of the process");
    } else {
        (*env)->GetByteArrayRegion(env, words, 0, n, (jbyte *)text);
        text[n] = 0;
        rc = obey(vm, env, text, &err);
    }
    free(text);
    if (rc == 0) {
        return NULL;
    }
    jsize len = (jsize)strlen(err.msg);
    jbyteArray why = (*env)->NewByteArray(env, len);
    if (why != NULL) { /* else OutOfMemoryError is thrown */
        (*env)->SetByteArrayRegion(env, why, 0, len, (const jbyte *)err.msg);
    }
    return why;
}
