/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_refs.c: see thread_refs.h. */
#include "thread_refs.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct entry {
    jweak ref; /* NULL: a free entry */
    uint64_t key;
    uint32_t serial, next_free; /* of a free entry: index + 1 of the next one */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct hpx_vec all; /* struct entry */
    uint32_t free;      /* index + 1; 0: none */
} refs;                 /* the lock's */
static bool used;       /* constant from load on */
static _Atomic uint32_t serials;
static __thread uint32_t own __attribute__((tls_model("initial-exec"))); /* index + 1 of the calling thread's entry */

void hpx_thread_refs_use(void)
{
    hpx_vec_init(&refs.all, sizeof(struct entry));
    used = true;
}

uint32_t hpx_thread_refs_serial(void)
{
    return HPX_SERIAL_THREAD + 1 + atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed);
}

void hpx_thread_refs_add(JNIEnv *env, jthread thread, uint64_t key, uint32_t serial, bool self)
{
    jweak ref = used && thread != NULL ? (*env)->NewWeakGlobalRef(env, thread) : NULL;
    if (ref == NULL) {
        if (used) {
            (*env)->ExceptionClear(env); /* no memory: the program's thread must not find our exception */
        }
        return;
    }
    pthread_mutex_lock(&lock);
    uint32_t at = refs.free;
    struct entry *e = at != 0 ? hpx_vec_at(&refs.all, at - 1) : hpx_vec_push(&refs.all);
    if (e != NULL) {
        refs.free = at != 0 ? e->next_free : 0;
        *e = (struct entry){ref, key, serial, 0};
        own = !self ? own : at != 0 ? at : refs.all.len;
    }
    pthread_mutex_unlock(&lock);
    if (e == NULL) {
        (*env)->DeleteWeakGlobalRef(env, ref);
    }
}

/* Takes the entry out of the list. The lock's. */
static jweak take(uint32_t index)
{
    struct entry *e = hpx_vec_at(&refs.all, index);
    jweak ref = e->ref;
    *e = (struct entry){.next_free = refs.free};
    refs.free = index + 1;
    return ref;
}

void hpx_thread_refs_remove(JNIEnv *env, uint64_t key)
{
    jweak ref = NULL;
    if (!used) {
        return;
    }
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; own == 0 && i < refs.all.len; i++) { /* a thread older than VMInit */
        const struct entry *e = hpx_vec_at(&refs.all, i);
        own = e->ref != NULL && e->key == key ? i + 1 : 0;
    }
    if (own != 0) {
        ref = take(own - 1);
        own = 0;
    }
    pthread_mutex_unlock(&lock);
    if (ref != NULL) {
        (*env)->DeleteWeakGlobalRef(env, ref);
    }
}

uint32_t hpx_thread_refs_list(JNIEnv *env, struct hpx_thread_ref **to)
{
    uint32_t n = 0;
    pthread_mutex_lock(&lock);
    *to = calloc((size_t)refs.all.len + 1, sizeof **to);
    if (*to != NULL && (*env)->EnsureLocalCapacity(env, (jint)refs.all.len + 64) != 0) {
        (*env)->ExceptionClear(env);
    }
    for (uint32_t i = 0; *to != NULL && i < refs.all.len; i++) {
        const struct entry *e = hpx_vec_at(&refs.all, i);
        jthread thread = e->ref != NULL ? (*env)->NewLocalRef(env, e->ref) : NULL;
        if (thread != NULL) {
            (*to)[n++] = (struct hpx_thread_ref){thread, e->serial};
        }
    }
    pthread_mutex_unlock(&lock);
    return n;
}

void hpx_thread_refs_fini(void)
{
    if (used) {
        hpx_vec_fini(&refs.all);
        refs.free = 0;
        used = false;
    }
}
