/* SPDX-License-Identifier: BSD-2-Clause */
/* tell.c: an agent that tells at the end what it was told, for the tests to compare with what the program knows and with hprofx. Option:
 *   calls   "calls CLASS.METHOD ENTRIES ENTRIES2 WITH_OBJECT EXITS"
 *   locks   "enter CLASS THREAD COUNT" and "entered CLASS THREAD COUNT" */
#include "book.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static JVMPI_Interface *jvmpi;
static const char *what;
static JVMPI_RawMonitor lock; /* of the book and of what is below */

/* ---- calls ---- */

static void tell_calls(struct book_method *m)
{
    if (m->entries != 0 || m->exits != 0) {
        printf("calls %s.%s %ld %ld %ld %ld\n", m->of->name, m->name, (long)m->entries, (long)m->entries2, (long)m->with_object,
               (long)m->exits);
    }
}

static void on_method(const JVMPI_Event *e)
{
    bool second = e->event_type == JVMPI_EVENT_METHOD_ENTRY2;
    struct book_method *m = book_method(second ? e->u.method_entry2.method_id : e->u.method.method_id);
    if (m == NULL) {
        return;
    }
    if (second) {
        m->entries2++;
        m->with_object += e->u.method_entry2.obj_id != NULL;
    } else {
        ++*(e->event_type == JVMPI_EVENT_METHOD_ENTRY ? &m->entries : &m->exits);
    }
}

/* ---- monitors ---- */

#define MOST_PLACES 4096
static struct place {
    char class_name[128], thread[64];
    long enter, entered;
} places[MOST_PLACES];
static int nplaces;
static _Thread_local char asked_class[128]; /* of the requested OBJECT_ALLOC */
static _Thread_local char own_name[64];

/* Under the lock. */
static struct place *place(const char *class_name, const char *thread)
{
    for (int i = 0; i < nplaces; i++) {
        if (strcmp(places[i].class_name, class_name) == 0 && strcmp(places[i].thread, thread) == 0) {
            return &places[i];
        }
    }
    if (nplaces == MOST_PLACES) {
        abort();
    }
    (void)snprintf(places[nplaces].class_name, sizeof(places[nplaces].class_name), "%s", class_name);
    (void)snprintf(places[nplaces].thread, sizeof(places[nplaces].thread), "%s", thread);
    return &places[nplaces++];
}

static void on_monitor(const JVMPI_Event *e)
{
    if (jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_ALLOC, e->u.monitor.object) != JVMPI_SUCCESS) {
        printf("BAD no OBJECT_ALLOC on request\n");
        return;
    }
    if (own_name[0] == '\0' && jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, jvmpi->GetThreadObject(e->env_id)) != JVMPI_SUCCESS) {
        printf("BAD no THREAD_START on request\n");
    }
    jvmpi->RawMonitorEnter(lock);
    struct place *p = place(asked_class, own_name);
    ++*(e->event_type == JVMPI_EVENT_MONITOR_CONTENDED_ENTER ? &p->enter : &p->entered);
    jvmpi->RawMonitorExit(lock);
}

/* ---- events ---- */

static void shut_down(void)
{
    if (strcmp(what, "calls") == 0) {
        book_each_method(tell_calls);
    }
    for (int i = 0; i < nplaces; i++) {
        printf("enter %s %s %ld\nentered %s %s %ld\n", places[i].class_name, places[i].thread, places[i].enter, places[i].class_name,
               places[i].thread, places[i].entered);
    }
    printf("told\n");
    fflush(stdout);
}

static void notify(JVMPI_Event *e)
{
    switch (e->event_type & ~JVMPI_REQUESTED_EVENT) {
    case JVMPI_EVENT_CLASS_LOAD:
        jvmpi->RawMonitorEnter(lock);
        book_add(e);
        jvmpi->RawMonitorExit(lock);
        break;
    case JVMPI_EVENT_METHOD_ENTRY:
    case JVMPI_EVENT_METHOD_ENTRY2:
    case JVMPI_EVENT_METHOD_EXIT:
        on_method(e);
        break;
    case JVMPI_EVENT_OBJECT_ALLOC:
        book_name(jvmpi, asked_class, sizeof(asked_class), e->u.obj_alloc.class_id, e->u.obj_alloc.is_array);
        break;
    case JVMPI_EVENT_THREAD_START:
        (void)snprintf(own_name, sizeof(own_name), "%s", e->u.thread_start.thread_name);
        break;
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTER:
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTERED:
        on_monitor(e);
        break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
        shut_down();
        break;
    default:
        break;
    }
}

static bool enable(const jint *events)
{
    for (; *events != 0; events++) {
        if (jvmpi->EnableEvent(*events, NULL) != JVMPI_SUCCESS) {
            return false;
        }
    }
    return true;
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    static const jint always[] = {JVMPI_EVENT_CLASS_LOAD, JVMPI_EVENT_JVM_SHUT_DOWN, 0};
    static const jint calls[] = {JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_ENTRY2, JVMPI_EVENT_METHOD_EXIT, 0};
    static const jint locks[] = {JVMPI_EVENT_MONITOR_CONTENDED_ENTER, JVMPI_EVENT_MONITOR_CONTENDED_ENTERED, 0};
    (void)reserved;
    what = options;
    if ((*vm)->GetEnv(vm, (void **)&jvmpi, JVMPI_VERSION_1_1) < 0) {
        return JNI_ERR;
    }
    jvmpi->NotifyEvent = notify;
    lock = jvmpi->RawMonitorCreate((char *)(uintptr_t) "_tell");
    bool sound = enable(always) && (strcmp(what, "calls") != 0 || enable(calls)) && (strcmp(what, "locks") != 0 || enable(locks));
    return sound ? JNI_OK : JNI_ERR;
}
