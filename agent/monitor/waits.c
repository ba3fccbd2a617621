/* SPDX-License-Identifier: BSD-2-Clause */
/* waits.c: see waits.h.
 *
 * A list reads the references of other threads. A thread takes its reference out of its slot and then looks whether a list goes on; the
 * list says so before it looks at a slot. So a reference that a list has seen is not deleted by its thread, but left for the next list. */
#include "waits.h"
#include "askable.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct slot {
    struct slot *next, *next_free;
    _Atomic(jobject) object; /* a global reference; seq_cst */
    _Atomic uint64_t tid;    /* relaxed: a wrong one costs a question */
};

struct grave {
    struct grave *next;
    jobject object;
};

HPX_OF_SESSION bool hpx_waits_wanted;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static HPX_OF_SESSION _Atomic(struct slot *) slots;   /* release: a thread's first wait; acquire: a list */
static HPX_OF_SESSION struct slot *free_slots;        /* the lock's */
static HPX_OF_SESSION _Atomic(struct grave *) graves; /* release: a wait ends; acquire: a list */
static HPX_OF_SESSION atomic_bool listing;            /* seq_cst */
static __thread struct slot *own;
static __thread uint32_t own_session; /* the slots of an earlier session are freed */

static bool has_slot(void)
{
    own = hpx_session_is(own_session) ? own : NULL;
    return own != NULL;
}

static struct slot *new_slot(void)
{
    pthread_mutex_lock(&lock);
    struct slot *s = free_slots;
    if (s != NULL) {
        free_slots = s->next_free;
    } else if ((s = calloc(1, sizeof *s)) != NULL) {
        s->next = atomic_load_explicit(&slots, memory_order_relaxed);
        atomic_store_explicit(&slots, s, memory_order_release); /* partner: hpx_waits_list() */
    }
    pthread_mutex_unlock(&lock);
    return s;
}

static void drop(JNIEnv *env, jobject object)
{
    if (object == NULL) {
        return;
    }
    if (!atomic_load(&listing)) {
        (*env)->DeleteGlobalRef(env, object);
        return;
    }
    struct grave *g = malloc(sizeof *g);
    if (g != NULL) { /* without memory the object is never collected */
        g->object = object;
        g->next = atomic_load_explicit(&graves, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&graves, &g->next, g, memory_order_release, memory_order_relaxed)) {
        } /* partner: bury() */
    }
}

void hpx_waits_begin(JNIEnv *env, jthread self, jobject object)
{
    if (!hpx_waits_wanted || hpx_vm_fields.tid == NULL) {
        return;
    }
    if (!has_slot()) {
        own = new_slot();
        if (own == NULL) {
            return;
        }
        own_session = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
        atomic_store_explicit(&own->tid, (uint64_t)(*env)->GetLongField(env, self, hpx_vm_fields.tid), memory_order_relaxed);
    }
    drop(env, atomic_exchange(&own->object, (*env)->NewGlobalRef(env, object)));
}

void hpx_waits_end(JNIEnv *env)
{
    if (has_slot()) {
        drop(env, atomic_exchange(&own->object, NULL));
    }
}

void hpx_waits_gone(JNIEnv *env)
{
    if (!has_slot()) {
        return;
    }
    struct slot *mine = own;
    drop(env, atomic_exchange(&mine->object, NULL));
    pthread_mutex_lock(&lock);
    mine->next_free = free_slots;
    free_slots = mine;
    pthread_mutex_unlock(&lock);
    own = NULL;
}

/* Frees the graves. env NULL: the VM is gone. */
static void bury(JNIEnv *env)
{
    struct grave *g = atomic_exchange_explicit(&graves, NULL, memory_order_acquire); /* partner: drop() */
    while (g != NULL) {
        struct grave *next = g->next;
        if (env != NULL) {
            (*env)->DeleteGlobalRef(env, g->object);
        }
        free(g);
        g = next;
    }
}

uint32_t hpx_waits_list(JNIEnv *env, struct hpx_wait_ref **to)
{
    uint32_t n = 0, room = 0;
    const struct slot *first = atomic_load_explicit(&slots, memory_order_acquire); /* partner: new_slot() */
    for (const struct slot *s = first; s != NULL; s = s->next) {
        room++;
    }
    *to = calloc((size_t)room + 1, sizeof **to);
    (void)(*env)->EnsureLocalCapacity(env, (jint)room + 64);
    (*env)->ExceptionClear(env);
    bury(env); /* of the lists before */
    atomic_store(&listing, true);
    for (const struct slot *s = first; *to != NULL && s != NULL; s = s->next) {
        jobject seen = atomic_load(&s->object), object = seen != NULL ? (*env)->NewLocalRef(env, seen) : NULL;
        if (object != NULL) {
            (*to)[n++] = (struct hpx_wait_ref){atomic_load_explicit(&s->tid, memory_order_relaxed), object};
        }
    }
    atomic_store(&listing, false);
    bury(env);
    return n;
}

void hpx_waits_forget(JNIEnv *env)
{
    for (struct slot *s = atomic_load_explicit(&slots, memory_order_acquire); s != NULL; s = s->next) { /* partner: new_slot() */
        jobject object = atomic_exchange(&s->object, NULL);
        if (object != NULL) {
            (*env)->DeleteGlobalRef(env, object);
        }
    }
    bury(env);
}

void hpx_waits_fini(void)
{
    struct slot *s = atomic_load_explicit(&slots, memory_order_acquire);
    bury(NULL);
    while (s != NULL) {
        struct slot *next = s->next;
        free(s);
        s = next;
    }
    atomic_store_explicit(&slots, NULL, memory_order_relaxed);
    free_slots = NULL;
    hpx_waits_wanted = false;
}
