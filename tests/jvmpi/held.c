/* SPDX-License-Identifier: BSD-2-Clause */
/* held.c: an agent of JVMPI whose handlers hold one raw monitor while they call JNI, and enter it in events of collections, as agents of
 * that time did. The first ROUNDS method entries hold it, in JNI, until the next collection has begun and got the monitor. At the end:
 * "told GC_STARTs GC_FINISHs OBJECT_FREEs". Option "end": the monitor is entered in GC_START and exited in GC_FINISH. */
#include <jvmpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 5

static JVMPI_Interface *jvmpi;
static JVMPI_RawMonitor data;
static atomic_int starts, finishes, frees, rounds;
static atomic_bool over;
static int to_end, held;

static void call_jni(JNIEnv *env)
{
    jstring s = (*env)->NewStringUTF(env, "x");
    (*env)->DeleteLocalRef(env, s);
}

static void on_entry(JNIEnv *env)
{
    jvmpi->RawMonitorEnter(data);
    if (atomic_fetch_add(&rounds, 1) < ROUNDS) {
        int before = atomic_load(&starts);
        do {
            call_jni(env);
        } while (atomic_load(&starts) == before);
    }
    jvmpi->RawMonitorExit(data);
}

static void collect(void *unused)
{
    (void)unused;
    while (atomic_load(&rounds) < ROUNDS && !atomic_load(&over)) {
        jvmpi->RunGC();
    }
}

static void notify(JVMPI_Event *e)
{
    switch (e->event_type) {
    case JVMPI_EVENT_JVM_INIT_DONE:
        (void)jvmpi->CreateSystemThread((char *)"collector", JVMPI_NORMAL_PRIORITY, collect);
        break;
    case JVMPI_EVENT_METHOD_ENTRY:
        on_entry(e->env_id);
        break;
    case JVMPI_EVENT_GC_START:
        jvmpi->RawMonitorEnter(data);
        atomic_fetch_add(&starts, 1);
        held = to_end;
        if (!to_end) {
            jvmpi->RawMonitorExit(data);
        }
        break;
    case JVMPI_EVENT_GC_FINISH:
        if (held) {
            held = 0;
            jvmpi->RawMonitorExit(data);
        } else {
            jvmpi->RawMonitorEnter(data);
            jvmpi->RawMonitorExit(data);
        }
        atomic_fetch_add(&finishes, 1);
        break;
    case JVMPI_EVENT_OBJECT_FREE:
        jvmpi->RawMonitorEnter(data);
        atomic_fetch_add(&frees, 1);
        jvmpi->RawMonitorExit(data);
        break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
        atomic_store(&over, true);
        printf("told %d %d %d\n", atomic_load(&starts), atomic_load(&finishes), atomic_load(&frees));
        (void)fflush(stdout);
        break;
    default:
        break;
    }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    static const jint events[] = {JVMPI_EVENT_JVM_INIT_DONE, JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_GC_START,     JVMPI_EVENT_GC_FINISH,
                                  JVMPI_EVENT_OBJECT_ALLOC,  JVMPI_EVENT_OBJECT_FREE,  JVMPI_EVENT_JVM_SHUT_DOWN};
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmpi, JVMPI_VERSION_1) != JNI_OK) {
        return JNI_ERR;
    }
    to_end = options != NULL && strcmp(options, "end") == 0;
    jvmpi->NotifyEvent = notify;
    data = jvmpi->RawMonitorCreate((char *)"_data");
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (jvmpi->EnableEvent(events[i], NULL) != JVMPI_SUCCESS) {
            return JNI_ERR;
        }
    }
    return JNI_OK;
}
