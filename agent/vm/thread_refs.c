/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_refs.c: see thread_refs.h.
 *
 * The lock is never held across a call of the JVM: such a call stops while a debugger suspends its thread, and every thread that starts
 * needs the lock. So a reference that a list may be reading is buried first, and deleted when nobody lists. */
#include "thread_refs.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define PRUNE_FIRST 64 /* ended threads */

struct entry {
    jweak ref;     /* NULL: a free entry */
    uint32_t next; /* of a free or buried entry: index + 1 of the next one */
    bool buried;
    struct hpx_thread_ref is; /* without its reference */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static HPX_OF_SESSION struct {
    struct hpx_vec all;                      /* struct entry */
    uint32_t free, buried;                   /* index + 1; 0: none */
    uint32_t ended;                          /* entries of ended threads */
    uint32_t prune_at;                       /* the number of ended ones that starts a pruning */
    uint32_t lists;                          /* threads that read references outside the lock */
    bool pruning;                            /* a thread looks for collected threads */
} refs;                                      /* the lock's */
static HPX_OF_SESSION bool used, keep_ended; /* constant from load on */
static HPX_OF_SESSION _Atomic uint32_t serials;
static __thread uint32_t own __attribute__((tls_model("initial-exec"))); /* index + 1 of the calling thread's entry */
static __thread uint32_t own_session __attribute__((tls_model("initial-exec")));

void hpx_thread_refs_use(bool ended)
{
    if (!used) {
        hpx_vec_init(&refs.all, sizeof(struct entry));
        refs.prune_at = PRUNE_FIRST;
    }
    used = true;
    keep_ended = keep_ended || ended;
}

uint32_t hpx_thread_refs_serial(void)
{
    return HPX_SERIAL_THREAD + 1 + atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed);
}

/* The lock's. */
static void bury(uint32_t index)
{
    struct entry *e = hpx_vec_at(&refs.all, index);
    refs.ended -= e->is.ended;
    e->buried = true;
    e->next = refs.buried;
    refs.buried = index + 1;
}

/* Deletes the buried references, unless a thread lists; that thread does it then. */
static void delete_buried(JNIEnv *env)
{
    for (jweak ref = NULL;; (*env)->DeleteWeakGlobalRef(env, ref)) {
        pthread_mutex_lock(&lock);
        uint32_t at = refs.lists == 0 ? refs.buried : 0;
        if (at != 0) {
            struct entry *e = hpx_vec_at(&refs.all, at - 1);
            ref = e->ref;
            refs.buried = e->next;
            *e = (struct entry){.next = refs.free};
            refs.free = at;
        }
        pthread_mutex_unlock(&lock);
        if (at == 0) {
            return;
        }
    }
}

struct candidate {
    jweak ref;
    uint32_t index;
};

/* Begins to prune: the ended threads; NULL: no memory, or another thread prunes. */
static struct candidate *candidates(uint32_t *n)
{
    struct candidate *all = NULL;
    *n = 0;
    pthread_mutex_lock(&lock);
    if (!refs.pruning) {
        all = calloc((size_t)refs.ended + 1, sizeof *all);
        refs.pruning = all != NULL;
    }
    for (uint32_t i = 0; all != NULL && i < refs.all.len; i++) {
        const struct entry *e = hpx_vec_at(&refs.all, i);
        if (e->ref != NULL && e->is.ended && !e->buried) {
            all[(*n)++] = (struct candidate){e->ref, i};
        }
    }
    pthread_mutex_unlock(&lock);
    return all;
}

/* Forgets the ended threads that have been collected. Only this buries ended threads, and one thread at a time does it. */
static void prune(JNIEnv *env)
{
    uint32_t n, gone = 0;
    struct candidate *all = candidates(&n);
    if (all == NULL) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if ((*env)->IsSameObject(env, all[i].ref, NULL)) {
            all[gone++] = all[i];
        }
    }
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < gone; i++) {
        bury(all[i].index);
    }
    refs.prune_at = 2 * refs.ended > PRUNE_FIRST ? 2 * refs.ended : PRUNE_FIRST;
    refs.pruning = false;
    pthread_mutex_unlock(&lock);
    free(all);
    delete_buried(env);
}

uint32_t hpx_thread_refs_add(JNIEnv *env, jthread thread, const struct hpx_thread_ref *of, bool self)
{
    jweak ref = used && thread != NULL ? (*env)->NewWeakGlobalRef(env, thread) : NULL;
    if (ref == NULL) {
        if (used) {
            (*env)->ExceptionClear(env); /* no memory: the program's thread must not find our exception */
        }
        return 0;
    }
    pthread_mutex_lock(&lock);
    uint32_t at = refs.free;
    struct entry *e = at != 0 ? hpx_vec_at(&refs.all, at - 1) : hpx_vec_push(&refs.all);
    if (e != NULL) {
        refs.free = at != 0 ? e->next : 0;
        at = at != 0 ? at : refs.all.len;
        *e = (struct entry){.ref = ref, .is = *of};
        e->is.place = at;
        own = self ? at : own;
        own_session = self ? atomic_load_explicit(&hpx_session_number, memory_order_relaxed) : own_session;
    }
    bool many = refs.ended >= refs.prune_at;
    pthread_mutex_unlock(&lock);
    if (e == NULL) {
        (*env)->DeleteWeakGlobalRef(env, ref);
    }
    if (many) {
        prune(env);
    }
    return e != NULL ? at : 0;
}

void hpx_thread_refs_remove(JNIEnv *env, uint32_t place)
{
    if (!used) {
        return;
    }
    pthread_mutex_lock(&lock);
    uint32_t at = place != 0 ? place : hpx_session_is(own_session) ? own : 0;
    if (at != 0 && keep_ended) {
        ((struct entry *)hpx_vec_at(&refs.all, at - 1))->is.ended = true;
        refs.ended++;
    } else if (at != 0) {
        bury(at - 1);
    }
    own = place != 0 ? own : 0;
    pthread_mutex_unlock(&lock);
    delete_buried(env);
}

/* The entries without local references yet. NULL without memory. */
static struct hpx_thread_ref *begin_list(jweak **weak, uint32_t *n, bool virtuals)
{
    *n = 0;
    pthread_mutex_lock(&lock);
    struct hpx_thread_ref *to = calloc((size_t)refs.all.len + 1, sizeof *to);
    *weak = calloc((size_t)refs.all.len + 1, sizeof(jweak));
    for (uint32_t i = 0; to != NULL && *weak != NULL && i < refs.all.len; i++) {
        const struct entry *e = hpx_vec_at(&refs.all, i);
        if (e->ref != NULL && !e->buried && (virtuals || !e->is.is_virtual)) {
            (*weak)[*n] = e->ref;
            to[(*n)++] = e->is;
        }
    }
    refs.lists++;
    pthread_mutex_unlock(&lock);
    return to;
}

uint32_t hpx_thread_refs_list(JNIEnv *env, struct hpx_thread_ref **to, bool virtuals)
{
    uint32_t all, n = 0;
    jweak *weak = NULL;
    if (keep_ended) {
        prune(env);
    }
    *to = begin_list(&weak, &all, virtuals);
    if ((*env)->EnsureLocalCapacity(env, (jint)all + 64) != 0) {
        (*env)->ExceptionClear(env);
    }
    for (uint32_t i = 0; i < all; i++) {
        jthread thread = (*env)->NewLocalRef(env, weak[i]);
        if (thread != NULL) {
            (*to)[n] = (*to)[i];
            (*to)[n++].thread = thread;
        }
    }
    free(weak);
    pthread_mutex_lock(&lock);
    refs.lists--;
    pthread_mutex_unlock(&lock);
    delete_buried(env);
    return n;
}

bool hpx_thread_refs_rename(struct hpx_thread_ref *t, uint64_t name)
{
    bool news = false;
    pthread_mutex_lock(&lock);
    uint32_t at = t->place != 0 ? t->place : hpx_session_is(own_session) ? own : 0;
    struct entry *e = used && at != 0 ? hpx_vec_at(&refs.all, at - 1) : NULL;
    bool ends = t->serial == 0; /* the thread itself, and nobody has a newer name */
    if (e != NULL && e->ref != NULL && !e->buried && (ends || (e->is.serial == t->serial && !e->is.ended))) {
        news = e->is.name != name;
        e->is.name = name;
        t->serial = e->is.serial;
        t->key = e->is.key;
    }
    pthread_mutex_unlock(&lock);
    return news;
}

bool hpx_thread_refs_used(void)
{
    return used;
}

void hpx_thread_refs_forget(JNIEnv *env)
{
    for (uint32_t i = 0; used && i < refs.all.len; i++) {
        struct entry *e = hpx_vec_at(&refs.all, i);
        if (e->ref != NULL) {
            (*env)->DeleteWeakGlobalRef(env, e->ref);
            e->ref = NULL;
        }
    }
}

void hpx_thread_refs_fini(void)
{
    if (used) {
        hpx_vec_fini(&refs.all);
        refs.free = refs.buried = refs.ended = 0;
        used = keep_ended = false;
    }
}
