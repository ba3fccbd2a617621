/* SPDX-License-Identifier: BSD-2-Clause */
/* polls.c: an agent of JVMPI whose threads ask about threads that have begun lately: for their status, or for their stack. */
#include <jvmpi.h>
#include <stdatomic.h>
#include <string.h>

#define ASKERS 6
#define LATEST 8
#define DEEP   2000 /* more frames than any stack here has */

static JVMPI_Interface *jvmpi;
static JNIEnv *_Atomic latest[LATEST];
static atomic_uint begun;
static int stacks;

static void ask(void *unused)
{
    JVMPI_CallFrame frames[DEEP];
    (void)unused;
    for (unsigned i = 0;; i++) { /* until the JVM ends */
        JNIEnv *env = atomic_load(&latest[i % LATEST]);
        JVMPI_CallTrace trace = {env, 0, frames};
        if (env != NULL && stacks) {
            jvmpi->GetCallTrace(&trace, DEEP);
        } else if (env != NULL) {
            (void)jvmpi->GetThreadStatus(env);
        }
    }
}

static void notify(JVMPI_Event *e)
{
    if (e->event_type == JVMPI_EVENT_THREAD_START) {
        atomic_store(&latest[atomic_fetch_add(&begun, 1) % LATEST], e->u.thread_start.thread_env_id);
    }
    for (int i = 0; e->event_type == JVMPI_EVENT_JVM_INIT_DONE && i < ASKERS; i++) {
        (void)jvmpi->CreateSystemThread((char *)"asks", JVMPI_NORMAL_PRIORITY, ask);
    }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmpi, JVMPI_VERSION_1) != JNI_OK) {
        return JNI_ERR;
    }
    stacks = options != NULL && strcmp(options, "stacks") == 0;
    jvmpi->NotifyEvent = notify;
    (void)jvmpi->EnableEvent(JVMPI_EVENT_THREAD_START, NULL);
    (void)jvmpi->EnableEvent(JVMPI_EVENT_JVM_INIT_DONE, NULL);
    return JNI_OK;
}
