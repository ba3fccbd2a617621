/* SPDX-License-Identifier: BSD-2-Clause */
/* null_monitor.c: an agent that asks the JVM for the events of monitors and does nothing with them: the limit. Test code of tools/bench. */
#include <jvmti.h>
#include <stdio.h>
#include <string.h>

static void JNICALL on_contended(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object)
{
    (void)env, (void)jni, (void)thread, (void)object;
}

static void JNICALL on_wait(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jlong timeout)
{
    (void)env, (void)jni, (void)thread, (void)object, (void)timeout;
}

static void JNICALL on_waited(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jboolean timed_out)
{
    (void)env, (void)jni, (void)thread, (void)object, (void)timed_out;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    static const jvmtiEvent events[] = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
                                        JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED};
    jvmtiEnv *jvmti;
    jvmtiCapabilities caps;
    jvmtiEventCallbacks callbacks;
    (void)options, (void)reserved;
    memset(&caps, 0, sizeof(caps));
    memset(&callbacks, 0, sizeof(callbacks));
    caps.can_generate_monitor_events = 1;
    callbacks.MonitorContendedEnter = on_contended;
    callbacks.MonitorContendedEntered = on_contended;
    callbacks.MonitorWait = on_wait;
    callbacks.MonitorWaited = on_waited;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK || (*jvmti)->AddCapabilities(jvmti, &caps) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks)) != JVMTI_ERROR_NONE) {
        fprintf(stderr, "null_monitor: the JVM refused\n");
        return JNI_ERR;
    }
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) != JVMTI_ERROR_NONE) {
            fprintf(stderr, "null_monitor: the JVM refused an event\n");
            return JNI_ERR;
        }
    }
    return JNI_OK;
}
