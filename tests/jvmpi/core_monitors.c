/* SPDX-License-Identifier: BSD-2-Clause */
/* core_monitors.c: monitors of Java, and raw ones; also those that handlers of collections enter. */
#include "core.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

JNIEXPORT void JNICALL Java_JvmpiCore_forgetMeetings(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_JvmpiCore_met(JNIEnv *env, jclass class, jobject on, jboolean waited, jlong ms);
JNIEXPORT void JNICALL Java_JvmpiCore_rawMonitors(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_JvmpiCore_rawAdd(JNIEnv *env, jclass class, jint rounds);
JNIEXPORT jint JNICALL Java_JvmpiCore_rawSum(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_JvmpiCore_rawContended(JNIEnv *env, jclass class, jboolean silent);
JNIEXPORT void JNICALL Java_JvmpiCore_lockInCollections(JNIEnv *env, jclass class, jboolean on);
JNIEXPORT jint JNICALL Java_JvmpiCore_lockInUnloads(JNIEnv *env, jclass class, jboolean on);
JNIEXPORT void JNICALL Java_JvmpiCore_underLock(JNIEnv *env, jclass class, jint rounds, jobject object);

JNIEXPORT void JNICALL Java_JvmpiCore_forgetMeetings(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    meetings = 0;
}

/* The calling thread was held up at the monitor of `on` once, or waited on it for ms. */
JNIEXPORT void JNICALL Java_JvmpiCore_met(JNIEnv *env, jclass class, jobject on, jboolean waited, jlong ms)
{
    (void)env, (void)class;
    jobjectID id = jvmpi->jobject2jobjectID(on);
    jint first = waited ? JVMPI_EVENT_MONITOR_WAIT : JVMPI_EVENT_MONITOR_CONTENDED_ENTER;
    jint then = waited ? JVMPI_EVENT_MONITOR_WAITED : JVMPI_EVENT_MONITOR_CONTENDED_ENTERED;
    CHECK(meetings == 2 && met[0].type == first && met[0].object == id && met[1].type == then && met[1].object == id);
    CHECK(met[0].timeout == (waited ? ms : 0));
    CHECK(met[1].timeout >= (waited && ms > 0 ? ms - 1 : 0)); /* the VM's clock is another one */
}

/* ---- raw monitors on one thread ---- */

JNIEXPORT void JNICALL Java_JvmpiCore_rawMonitors(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    JVMPI_RawMonitor m = jvmpi->RawMonitorCreate((char *)"raw"), other = jvmpi->RawMonitorCreate(NULL);
    CHECK(m != NULL && other != NULL && m != other);
    jvmpi->RawMonitorWait(m, 0); /* not the owner: does not wait */
    jvmpi->RawMonitorNotifyAll(m);
    jvmpi->RawMonitorExit(m);
    jvmpi->RawMonitorEnter(m);
    jvmpi->RawMonitorEnter(m);
    jvmpi->RawMonitorWait(m, 1);
    jvmpi->RawMonitorWait(m, -1); /* does not wait */
    jvmpi->RawMonitorExit(m);
    jvmpi->RawMonitorExit(m);
    jvmpi->RawMonitorExit(m);
    jvmpi->RawMonitorEnter(NULL);
    jvmpi->RawMonitorExit(NULL);
    jvmpi->RawMonitorWait(NULL, 0);
    jvmpi->RawMonitorNotifyAll(NULL);
    jvmpi->RawMonitorDestroy(NULL);
    jvmpi->RawMonitorEnter(other);
    jvmpi->RawMonitorDestroy(other); /* its owner may */
    jvmpi->RawMonitorEnter(other);   /* is no monitor any more */
    jvmpi->RawMonitorExit(other);
    jvmpi->RawMonitorDestroy(other);
    jvmpi->RawMonitorDestroy(m);
}

/* ---- many threads ---- */

static JVMPI_RawMonitor sum_monitor;
static pthread_once_t sum_once = PTHREAD_ONCE_INIT;
static jint sum;

static void make_sum_monitor(void)
{
    sum_monitor = jvmpi->RawMonitorCreate((char *)"_sum");
}

JNIEXPORT void JNICALL Java_JvmpiCore_rawAdd(JNIEnv *env, jclass class, jint rounds)
{
    (void)env, (void)class;
    (void)pthread_once(&sum_once, make_sum_monitor);
    for (jint i = 0; i < rounds; i++) {
        jvmpi->RawMonitorEnter(sum_monitor);
        sum++;
        jvmpi->RawMonitorExit(sum_monitor);
    }
}

JNIEXPORT jint JNICALL Java_JvmpiCore_rawSum(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    return sum;
}

static struct {
    JVMPI_RawMonitor monitor;
    const char *name;
    atomic_int entered, order[3], events;
} meet;

static void on_raw(JVMPI_Event *e)
{
    if (e->event_type < JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER || e->event_type > JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT) {
        return;
    }
    CHECK(e->u.raw_monitor.id == meet.monitor && strcmp(e->u.raw_monitor.name, meet.name) == 0);
    meet.order[e->event_type - JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER] = ++meet.events;
}

static void *second(void *arg)
{
    (void)arg;
    meet.entered = 1; /* it is about to */
    jvmpi->RawMonitorEnter(meet.monitor);
    meet.entered = 2;
    jvmpi->RawMonitorExit(meet.monitor);
    return NULL;
}

/* The events tell when the second thread waits; without events (silent) nothing does, and nothing is asked but that none came. */
JNIEXPORT void JNICALL Java_JvmpiCore_rawContended(JNIEnv *env, jclass class, jboolean silent)
{
    (void)env, (void)class;
    pthread_t t;
    meet.name = silent ? "_meet" : "meet";
    meet.monitor = jvmpi->RawMonitorCreate((char *)(uintptr_t)meet.name);
    meet.events = meet.entered = 0;
    in_event = on_raw;
    jvmpi->RawMonitorEnter(meet.monitor);
    CHECK(pthread_create(&t, NULL, second, NULL) == 0);
    while (silent ? meet.entered == 0 : meet.events == 0) {
        (void)sched_yield();
    }
    jvmpi->RawMonitorExit(meet.monitor);
    CHECK(pthread_join(t, NULL) == 0 && meet.entered == 2);
    in_event = NO_HANDLER;
    /* The exit of the first thread and the entry of the second are told in any order. */
    CHECK(silent ? meet.events == 0 : meet.events == 3 && meet.order[0] == 1 && meet.order[1] > 1 && meet.order[2] > 1);
    jvmpi->RawMonitorDestroy(meet.monitor);
}

/* ---- the lock of an agent of old: in the handlers of collections, and around calls of the VM ---- */

static JVMPI_RawMonitor data_lock;
static int inside;       /* under data_lock: what a collection must not find */
static int steps, noted; /* under data_lock: no owner goes on while a collection has it */

static void lock_in_collection(JVMPI_Event *e)
{
    if (e->event_type == JVMPI_EVENT_GC_START) {
        jvmpi->RawMonitorEnter(data_lock);
        CHECK(inside == 0);
        noted = steps;
    } else if (e->event_type == JVMPI_EVENT_GC_FINISH) {
        CHECK(inside == 0 && steps == noted);
        jvmpi->RawMonitorExit(data_lock);
    }
}

JNIEXPORT void JNICALL Java_JvmpiCore_lockInCollections(JNIEnv *env, jclass class, jboolean on)
{
    (void)env, (void)class;
    if (data_lock == NULL) {
        data_lock = jvmpi->RawMonitorCreate((char *)"_data");
    }
    in_event = on ? lock_in_collection : NULL;
}

static void lock_in_unload(JVMPI_Event *e)
{
    if (e->event_type == JVMPI_EVENT_CLASS_UNLOAD) {
        jvmpi->RawMonitorEnter(data_lock);
        CHECK(inside == 0);
        jvmpi->RawMonitorExit(data_lock);
    }
}

/* Classes that were unloaded until now. */
JNIEXPORT jint JNICALL Java_JvmpiCore_lockInUnloads(JNIEnv *env, jclass class, jboolean on)
{
    Java_JvmpiCore_lockInCollections(env, class, JNI_FALSE);
    CHECK((on ? jvmpi->EnableEvent : jvmpi->DisableEvent)(JVMPI_EVENT_CLASS_UNLOAD, NULL) == JVMPI_SUCCESS);
    in_event = on ? lock_in_unload : NULL;
    return counts[JVMPI_EVENT_CLASS_UNLOAD];
}

static void step(void)
{
    inside++;
    steps++;
    for (int k = 0; k < 200; k++) {
        __asm__ volatile("" ::: "memory");
    }
    inside--;
}

JNIEXPORT void JNICALL Java_JvmpiCore_underLock(JNIEnv *env, jclass class, jint rounds, jobject object)
{
    (void)class;
    JVMPI_CallFrame frames[16];
    JVMPI_CallTrace t = {.env_id = env, .frames = frames};
    for (jint i = 0; i < rounds; i++) {
        jvmpi->RawMonitorEnter(data_lock);
        step();
        jvmpi->GetCallTrace(&t, 16);
        CHECK(t.num_frames > 0);
        step();
        CHECK(jvmpi->GetThreadObject(env) != NULL);
        step();
        CHECK(jvmpi->jobject2jobjectID(object) != NULL);
        jvmpi->RawMonitorExit(data_lock);
    }
}
