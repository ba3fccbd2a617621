/* SPDX-License-Identifier: BSD-2-Clause */
/* counter.c: the manual's example: how many methods a thread executes, counted in its thread-local storage without a lock. Prints a line
 * "thread NAME executed N methods, M of CLASS.METHOD" when a thread ends. Option: CLASS.METHOD. */
#include <jvmpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL(function) (jvmpi->function)

struct counter {
    long all, chosen;
    char name[64];
};

static JVMPI_Interface *jvmpi;
static char class_name[128], method_name[128]; /* of the option */
static jmethodID chosen;                       /* set before any code of the class runs, since CLASS_LOAD comes before that */

static void on_thread_start(JNIEnv *thread, const char *name)
{
    struct counter *c = calloc(1, sizeof(*c));
    if (c != NULL) {
        (void)snprintf(c->name, sizeof(c->name), "%s", name);
        CALL(SetThreadLocalStorage)(thread, c);
    }
}

static void on_method_entry(jmethodID method, JNIEnv *thread)
{
    struct counter *c = CALL(GetThreadLocalStorage)(thread);
    if (c != NULL) {
        c->all++;
        c->chosen += method == chosen;
    }
}

static void on_thread_end(JNIEnv *thread)
{
    struct counter *c = CALL(GetThreadLocalStorage)(thread);
    if (c != NULL) {
        printf("thread %s executed %ld methods, %ld of %s.%s\n", c->name, c->all, c->chosen, class_name, method_name);
        fflush(stdout);
        CALL(SetThreadLocalStorage)(thread, NULL);
        free(c);
    }
}

static void on_class_load(const JVMPI_Event *e)
{
    if (strcmp(e->u.class_load.class_name, class_name) != 0) {
        return;
    }
    for (jint i = 0; i < e->u.class_load.num_methods; i++) {
        if (strcmp(e->u.class_load.methods[i].method_name, method_name) == 0) {
            chosen = e->u.class_load.methods[i].method_id;
        }
    }
}

static void notify(JVMPI_Event *e)
{
    switch (e->event_type) {
    case JVMPI_EVENT_CLASS_LOAD:
        on_class_load(e);
        break;
    case JVMPI_EVENT_THREAD_START:
        on_thread_start(e->u.thread_start.thread_env_id, e->u.thread_start.thread_name);
        break;
    case JVMPI_EVENT_METHOD_ENTRY:
        on_method_entry(e->u.method.method_id, e->env_id);
        break;
    case JVMPI_EVENT_THREAD_END:
        on_thread_end(e->env_id);
        break;
    default:
        break;
    }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmpi, JVMPI_VERSION_1) < 0 || sscanf(options, "%127[^.].%127s", class_name, method_name) != 2) {
        return JNI_ERR;
    }
    CALL(NotifyEvent) = notify;
    static const jint events[] = {JVMPI_EVENT_CLASS_LOAD, JVMPI_EVENT_THREAD_START, JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_THREAD_END};
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (CALL(EnableEvent)(events[i], NULL) != JVMPI_SUCCESS) {
            return JNI_ERR;
        }
    }
    return JNI_OK;
}
