/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_list.c: see thread_list.h. */
#include "thread_list.h"
#include "session.h"
#include "vec.h"
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static HPX_OF_SESSION struct {
    struct hpx_vec all; /* struct hpx_listed, by place */
    uint32_t unused;    /* the first free place + 1; 0: none */
    uint32_t count;
} list; /* the lock's */

struct hpx_listed *hpx_thread_list_at(uint32_t place)
{
    return hpx_vec_at(&list.all, place);
}

void hpx_thread_list_lock(void)
{
    pthread_mutex_lock(&lock);
}

void hpx_thread_list_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool hpx_thread_list_enter(void)
{
    bool inside = hpx_gate_enter(&hpx_session.gate);
    hpx_thread_list_lock();
    return inside;
}

void hpx_thread_list_leave(bool inside)
{
    hpx_thread_list_unlock();
    if (inside) {
        hpx_gate_leave(&hpx_session.gate);
    }
}

uint32_t hpx_thread_list_count(void)
{
    return list.count;
}

uint32_t hpx_thread_list_places(void)
{
    return list.all.len;
}

/* NULL: no memory. */
static struct hpx_listed *take_place(uint32_t *place)
{
    struct hpx_listed *l;
    if (list.unused != 0) {
        *place = list.unused - 1;
        l = hpx_thread_list_at(*place);
        list.unused = l->unused;
        return l;
    }
    if (list.all.size == 0) {
        hpx_vec_init(&list.all, sizeof *l);
    }
    *place = list.all.len;
    return hpx_vec_push(&list.all);
}

void hpx_thread_list_add(struct hpx_mode_thread *first, JNIEnv *env, jthread thread)
{
    uint32_t place;
    jthread ref = thread != NULL ? (*env)->NewGlobalRef(env, thread) : NULL;
    if (ref == NULL) {
        (*env)->ExceptionClear(env); /* no memory: the program's thread must not find our exception */
        return;
    }
    hpx_thread_list_lock();
    struct hpx_listed *l = take_place(&place);
    if (l != NULL) {
        *l = (struct hpx_listed){.first = first, .ref = ref};
        first->place = place + 1;
        list.count++;
    }
    hpx_thread_list_unlock();
    if (l == NULL) {
        (*env)->DeleteGlobalRef(env, ref);
    }
}

/* Frees the place if its thread has ended and nobody holds it. Returns the reference, which the caller deletes, or NULL. */
static jthread release(struct hpx_listed *l, uint32_t place)
{
    jthread ref = l->first == NULL && l->held == 0 ? l->ref : NULL;
    if (ref != NULL) {
        *l = (struct hpx_listed){.unused = list.unused};
        list.unused = place + 1;
    }
    return ref;
}

static void delete_ref(JNIEnv *env, jthread ref)
{
    if (ref != NULL) {
        (*env)->DeleteGlobalRef(env, ref);
    }
}

void hpx_thread_list_remove(struct hpx_mode_thread *first, JNIEnv *env)
{
    if (first->place == 0) {
        return;
    }
    hpx_thread_list_lock();
    struct hpx_listed *l = hpx_thread_list_at(first->place - 1);
    l->first = NULL;
    list.count--;
    jthread ref = release(l, first->place - 1);
    hpx_thread_list_unlock();
    delete_ref(env, ref);
}

struct hpx_held hpx_thread_list_hold(uint32_t place)
{
    struct hpx_listed *l = hpx_thread_list_at(place);
    l->held++;
    return (struct hpx_held){.ref = l->ref, .place = place};
}

void hpx_thread_list_drop(JNIEnv *env, const struct hpx_held *h)
{
    hpx_thread_list_lock();
    struct hpx_listed *l = hpx_thread_list_at(h->place);
    l->held--;
    jthread ref = release(l, h->place);
    hpx_thread_list_unlock();
    delete_ref(env, ref);
}

void hpx_thread_list_forget(JNIEnv *env)
{
    for (uint32_t i = 0; i < list.all.len; i++) {
        delete_ref(env, hpx_thread_list_at(i)->ref);
    }
}

void hpx_thread_list_fini(void)
{
    hpx_vec_fini(&list.all);
    memset(&list, 0, sizeof list);
}
