/* SPDX-License-Identifier: BSD-2-Clause */
/* monitors.c: threads that meet at a monitor of Java, or wait on one. */
#include "shim.h"
#include <time.h>

static void send_contended(jint event, JNIEnv *env, jobject object)
{
    if (hpx_jvmpi_on(event)) {
        hpx_jvmpi_notify(&(JVMPI_Event){.event_type = event, .env_id = env, .u.monitor = {.object = hpx_jvmpi_id_of(object)}});
    }
}

static void send_wait(jint event, JNIEnv *env, jobject object, jlong ms)
{
    if (hpx_jvmpi_on(event)) {
        hpx_jvmpi_notify(
            &(JVMPI_Event){.event_type = event, .env_id = env, .u.monitor_wait = {.object = hpx_jvmpi_id_of(object), .timeout = ms}});
    }
}

static void JNICALL contended_enter(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
    (void)jvmti, (void)thread;
    send_contended(JVMPI_EVENT_MONITOR_CONTENDED_ENTER, env, object);
}

static void JNICALL contended_entered(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
    (void)jvmti, (void)thread;
    send_contended(JVMPI_EVENT_MONITOR_CONTENDED_ENTERED, env, object);
}

/* JVMTI does not say how long the thread waited, which JVMPI does. One slot is enough: a thread waits on one monitor at a time, but for a
 * handler that waits itself, whose end leaves no start. */
static _Thread_local jlong since; /* ns, CLOCK_MONOTONIC; 0: not known */

static jlong now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (jlong)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void JNICALL wait_begins(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jlong ms)
{
    (void)jvmti, (void)thread;
    send_wait(JVMPI_EVENT_MONITOR_WAIT, env, object, ms);
    since = now();
}

static void JNICALL wait_ends(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jboolean timed_out)
{
    (void)jvmti, (void)thread, (void)timed_out;
    jlong ms = since == 0 ? 0 : (now() - since) / 1000000;
    since = 0;
    send_wait(JVMPI_EVENT_MONITOR_WAITED, env, object, ms);
}

/* WAITED needs the start too. */
static jint switched_wait(jint event, bool on)
{
    if (event == JVMPI_EVENT_MONITOR_WAITED && !hpx_jvmpi_listen(JVMTI_EVENT_MONITOR_WAITED, on)) {
        return JVMPI_FAIL;
    }
    bool any = hpx_jvmpi_on(JVMPI_EVENT_MONITOR_WAIT) || hpx_jvmpi_on(JVMPI_EVENT_MONITOR_WAITED);
    return hpx_jvmpi_listen(JVMTI_EVENT_MONITOR_WAIT, any) ? JVMPI_SUCCESS : JVMPI_FAIL;
}

static jint switched(jint event, bool on, void *arg)
{
    (void)arg;
    if (event == JVMPI_EVENT_MONITOR_WAIT || event == JVMPI_EVENT_MONITOR_WAITED) {
        return switched_wait(event, on);
    }
    jvmtiEvent vm =
        event == JVMPI_EVENT_MONITOR_CONTENDED_ENTER ? JVMTI_EVENT_MONITOR_CONTENDED_ENTER : JVMTI_EVENT_MONITOR_CONTENDED_ENTERED;
    return hpx_jvmpi_listen(vm, on) ? JVMPI_SUCCESS : JVMPI_FAIL;
}

static void callbacks(jvmtiEventCallbacks *set)
{
    set->MonitorContendedEnter = contended_enter;
    set->MonitorContendedEntered = contended_entered;
    set->MonitorWait = wait_begins;
    set->MonitorWaited = wait_ends;
}

const struct hpx_jvmpi_source hpx_jvmpi_monitors = {
    .events = (const jint[]){JVMPI_EVENT_MONITOR_CONTENDED_ENTER, JVMPI_EVENT_MONITOR_CONTENDED_ENTERED, JVMPI_EVENT_MONITOR_WAIT,
                             JVMPI_EVENT_MONITOR_WAITED, 0},
    .switched = switched,
    .callbacks = callbacks,
};
