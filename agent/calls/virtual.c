/* SPDX-License-Identifier: BSD-2-Clause */
/* virtual.c: mount and unmount events of virtual.h. */
#include "virtual.h"
#include "log.h"
#include "tracker.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* JVMTI 21: can_support_virtual_threads and its events stand where the header of an older JDK has reserved bits and numbers. */
#define CAN_SUPPORT_VIRTUAL_THREADS 44

/* A virtual thread's, in JVMTI's thread-local storage; written by the carrier that mounts it. */
struct stack {
    uint64_t key, turn;
    struct stack *next, **at; /* of virtual.all; `at` leads here. Under the lock */
};

static HPX_OF_SESSION struct {
    bool offered;
    jint mount, unmount;   /* numbers of the extension events */
    _Atomic uint64_t keys; /* relaxed: a number that only grows */
    atomic_bool no_memory;
    struct stack *all;
} virtual;
/* At the first mount and the end of a virtual thread; never held over a call of the JVM. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void link_stack(struct stack *s)
{
    pthread_mutex_lock(&lock);
    s->next = virtual.all;
    s->at = &virtual.all;
    if (s->next != NULL) {
        s->next->at = &s->next;
    }
    virtual.all = s;
    pthread_mutex_unlock(&lock);
}

static void drop_stack(struct stack *s)
{
    pthread_mutex_lock(&lock);
    *s->at = s->next;
    if (s->next != NULL) {
        s->next->at = s->at;
    }
    pthread_mutex_unlock(&lock);
    free(s);
}

static struct stack *stack_of(jvmtiEnv *jvmti, jthread thread)
{
    void *mine = NULL;
    if ((*jvmti)->GetThreadLocalStorage(jvmti, thread, &mine) != JVMTI_ERROR_NONE) {
        return NULL;
    }
    struct stack *s = mine;
    if (s == NULL) {
        s = malloc(sizeof *s);
        if (s != NULL) {
            *s = (struct stack){.key = atomic_fetch_add_explicit(&virtual.keys, 1, memory_order_relaxed) + 1};
            if ((*jvmti)->SetThreadLocalStorage(jvmti, thread, s) != JVMTI_ERROR_NONE) {
                free(s);
                s = NULL;
            } else {
                link_stack(s);
            }
        }
        if (s == NULL) {
            hpx_warn_once(&virtual.no_memory, "cpu=times: no memory for a virtual thread; its calls are counted on the stack of its "
                                              "carrier; raise the memory limit of the process");
        }
    }
    return s;
}

static void switch_to(struct hpx_calls_thread *t, uint64_t key, uint64_t turn)
{
    uint64_t now = hpx_tracker_now(t);
    t->carries = true;
    hpx_stack_limit_leave(&t->stack_limit, &t->calls, (uintptr_t)__builtin_frame_address(0));
    hpx_calls_switch(&t->calls, key, turn, now);
}

/* On the carrier; nothing of the virtual thread's runs between this and its mounting. The stacks are there while the gate is open. */
static void mounted(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    if (!hpx_vm_enter(&hpx_session.gate, jvmti)) {
        return;
    }
    struct stack *s = stack_of(jvmti, thread);
    struct hpx_calls_thread *t = s != NULL ? hpx_tracker_enter(env) : NULL;
    if (t != NULL) {
        if (t->calls.key != s->key) { /* the first mount is reported twice */
            switch_to(t, s->key, s->turn++);
        }
        hpx_tracker_leave(t);
    }
    hpx_gate_leave(&hpx_session.gate);
}

static void unmounted(JNIEnv *env)
{
    struct hpx_calls_thread *t = hpx_tracker_enter(env);
    if (t != NULL) {
        switch_to(t, 0, 0);
        hpx_tracker_leave(t);
    }
}

static void JNICALL on_mount(jvmtiEnv *jvmti, ...)
{
    va_list ap;
    va_start(ap, jvmti);
    JNIEnv *env = va_arg(ap, JNIEnv *);
    mounted(jvmti, env, va_arg(ap, jthread));
    va_end(ap);
}

static void JNICALL on_unmount(jvmtiEnv *jvmti, ...)
{
    va_list ap;
    va_start(ap, jvmti);
    unmounted(va_arg(ap, JNIEnv *));
    va_end(ap);
}

void hpx_virtual_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    mounted(jvmti, env, thread);
}

void hpx_virtual_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    void *mine = NULL;
    unmounted(env);
    if (!hpx_vm_enter(&hpx_session.gate, jvmti)) {
        return;
    }
    if ((*jvmti)->GetThreadLocalStorage(jvmti, thread, &mine) == JVMTI_ERROR_NONE && mine != NULL) {
        (*jvmti)->SetThreadLocalStorage(jvmti, thread, NULL);
        drop_stack(mine);
    }
    hpx_gate_leave(&hpx_session.gate);
}

void hpx_virtual_forget(void)
{
    for (struct stack *s = virtual.all, *next; s != NULL; s = next) {
        next = s->next;
        free(s);
    }
    virtual.all = NULL;
}

static void find_events(jvmtiEnv *jvmti)
{
    jint n = 0;
    jvmtiExtensionEventInfo *all = NULL;
    if ((*jvmti)->GetExtensionEvents(jvmti, &n, &all) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < n; i++) {
        if (!strcmp(all[i].id, "com.sun.hotspot.events.VirtualThreadMount")) {
            virtual.mount = all[i].extension_event_index;
        } else if (!strcmp(all[i].id, "com.sun.hotspot.events.VirtualThreadUnmount")) {
            virtual.unmount = all[i].extension_event_index;
        }
        for (jint k = 0; k < all[i].param_count; k++) {
            (*jvmti)->Deallocate(jvmti, (unsigned char *)all[i].params[k].name);
        }
        (*jvmti)->Deallocate(jvmti, (unsigned char *)all[i].params);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)all[i].id);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)all[i].short_description);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
}

void hpx_virtual_init(jvmtiEnv *jvmti)
{
    if (hpx_vm_capability(jvmti, CAN_SUPPORT_VIRTUAL_THREADS) == JVMTI_ERROR_NONE) {
        find_events(jvmti);
        virtual.offered = virtual.mount != 0 && virtual.unmount != 0;
        if (!virtual.offered) {
            hpx_warn("cpu=times: this VM does not report when virtual threads change carriers; their calls are counted on the stacks of "
                     "the carriers");
        }
    }
}

void hpx_virtual_enable(jvmtiEnv *jvmti, bool on)
{
    if (!virtual.offered) {
        return;
    }
    /* HotSpot wants both for an extension event: its callback, and its mode. */
    const jint events[] = {virtual.mount, virtual.unmount, HPX_EVENT_VIRTUAL_THREAD_START, HPX_EVENT_VIRTUAL_THREAD_END};
    (*jvmti)->SetExtensionEventCallback(jvmti, virtual.mount, on ? on_mount : NULL);
    (*jvmti)->SetExtensionEventCallback(jvmti, virtual.unmount, on ? on_unmount : NULL);
    for (size_t i = 0; i < HPX_ARRAY_LEN(events); i++) {
        (*jvmti)->SetEventNotificationMode(jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE, (jvmtiEvent)events[i], NULL);
    }
}
