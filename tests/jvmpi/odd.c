/* SPDX-License-Identifier: BSD-2-Clause */
/* odd.c: an agent of JVMPI that misbehaves as its option says. */
#include <jvmpi.h>
#include <stdio.h>
#include <string.h>

static JVMPI_Interface *jvmpi;
static const char *option;
static jint exit_in; /* ProfilerExit(7) in this event */
static JVMPI_RawMonitor monitor;

/* Breaks rules of the manual, in every event a few, and a few more outside of them. */
static void break_rules(const JVMPI_Event *e)
{
    switch (e->event_type) {
    case JVMPI_EVENT_THREAD_START: /* collections are disabled here */
        jvmpi->RunGC();
        break;
    case JVMPI_EVENT_JVM_INIT_DONE: /* and enabled here */
        jvmpi->EnableGC();
        (void)jvmpi->GetThreadObject(e->env_id);
        (void)jvmpi->jobject2jobjectID(NULL);
        monitor = jvmpi->RawMonitorCreate((char *)"m");
        jvmpi->RawMonitorExit(monitor);
        jvmpi->RawMonitorWait(monitor, 0);
        jvmpi->RawMonitorDestroy(monitor);
        jvmpi->RawMonitorEnter(monitor);
        (void)jvmpi->ThreadHasRun(e->env_id);
        (void)jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, NULL);
        break;
    case JVMPI_EVENT_GC_START:
        (void)jvmpi->EnableEvent(JVMPI_EVENT_THREAD_END, NULL);
        break;
    default:
        break;
    }
}

static void notify(JVMPI_Event *e)
{
    if (e->event_type == exit_in) {
        printf("leaving\n");
        jvmpi->ProfilerExit(7);
    }
    if (strcmp(option, "rules") == 0) {
        break_rules(e);
    } else if (strcmp(option, "later") == 0) {
        jvmpi->NotifyEvent = NULL;
    }
}

static jint event_of(const char *name)
{
    static const struct {
        const char *name;
        jint event;
    } known[] = {{"THREAD_START", JVMPI_EVENT_THREAD_START},
                 {"JVM_INIT_DONE", JVMPI_EVENT_JVM_INIT_DONE},
                 {"GC_START", JVMPI_EVENT_GC_START},
                 {"GC_FINISH", JVMPI_EVENT_GC_FINISH},
                 {"JVM_SHUT_DOWN", JVMPI_EVENT_JVM_SHUT_DOWN}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].name, name) == 0) {
            return known[i].event;
        }
    }
    return -1;
}

static void enable_all(void)
{
    for (jint e = -3; e <= JVMPI_MAX_EVENT_TYPE_VAL + 3; e++) {
        (void)jvmpi->DisableEvent(e, NULL); /* was never enabled */
        (void)jvmpi->EnableEvent(e, NULL);
    }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    option = options;
    if ((*vm)->GetEnv(vm, (void **)&jvmpi, strcmp(options, "version") == 0 ? JVMPI_VERSION_1 - 1 : JVMPI_VERSION_1) != JNI_OK) {
        return JNI_ERR;
    }
    if (strcmp(options, "exit=load") == 0) {
        jvmpi->ProfilerExit(7);
    } else if (strcmp(options, "fails") == 0) {
        return JNI_ERR;
    }
    if (strncmp(options, "exit=", 5) == 0) {
        exit_in = event_of(options + 5);
    }
    if (strcmp(options, "null") != 0 && strcmp(options, "rules-null") != 0) {
        jvmpi->NotifyEvent = notify;
    }
    enable_all();
    return JNI_OK;
}
