/* SPDX-License-Identifier: BSD-2-Clause */
/* known_threads.c: see known_threads.h. A reference that a list may be reading is buried first, and deleted when nobody lists. */
#include "known_threads.h"
#include "hash.h"
#include <ck_hs.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PRUNE_FIRST 64 /* ended threads */
#define TID_LISTS   1024u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static HPX_OF_SESSION struct {
    ck_hs_t all; /* of struct hpx_known_thread */
    bool made;   /* all */
    bool adopting;
    struct hpx_known_thread *buried;
    uint32_t ended;    /* whose references are kept */
    uint32_t prune_at; /* the number of ended ones that starts a pruning */
    uint32_t lists;    /* threads that read references outside the lock */
    bool pruning;      /* a thread looks for collected threads */
} known;               /* the lock's */
/* Adopted ones, by kernel id; the first list is that of tid 0. release: enter(), under the lock; acquire: of_tid(). */
static HPX_OF_SESSION _Atomic(struct hpx_known_thread *) of_tids[TID_LISTS + 1];
static HPX_OF_SESSION bool kept, keep_ended; /* constant from load on */
static HPX_OF_SESSION _Atomic uint32_t serials;

static void *allocate(size_t n)
{
    return malloc(n);
}

/* Nobody reads the table without the lock, so none of its memory is `deferred`. */
static void *reallocate(void *p, size_t was, size_t n, bool deferred)
{
    (void)was, (void)deferred;
    return realloc(p, n);
}

static void release(void *p, size_t n, bool deferred)
{
    (void)n, (void)deferred;
    free(p);
}

static struct ck_malloc memory = {.malloc = allocate, .realloc = reallocate, .free = release};

static unsigned long hash(const void *number, unsigned long seed)
{
    (void)seed;
    return hpx_hash128(number, sizeof(uint64_t)).lo;
}

static bool same_number(const void *a, const void *b)
{
    return *(const uint64_t *)a == *(const uint64_t *)b;
}

/* find() and put() are for who has the lock, and next_of(), unless no thread is inside the gate any more. */
static struct hpx_known_thread *find(uint64_t number)
{
    return known.made ? ck_hs_get(&known.all, hash(&number, 0), &number) : NULL;
}

/* No entry has its number. */
static bool put(struct hpx_known_thread *k)
{
    known.made =
        known.made || ck_hs_init(&known.all, CK_HS_MODE_SPMC | CK_HS_MODE_OBJECT | CK_HS_MODE_DELETE, hash, same_number, &memory, 64, 0);
    return known.made && ck_hs_put_unique(&known.all, hash(k, 0), k);
}

static struct hpx_known_thread *next_of(ck_hs_iterator_t *at)
{
    void *k = NULL;
    return known.made && ck_hs_next(&known.all, at, &k) ? k : NULL;
}

static _Atomic(struct hpx_known_thread *) *list_of(pid_t tid)
{
    return &of_tids[tid != 0 ? 1 + (uint32_t)tid % TID_LISTS : 0];
}

static bool is_adopted(const struct hpx_known_thread *k)
{
    return atomic_load_explicit(&k->stage, memory_order_relaxed) != HPX_KNOWN_BEGUN; /* it does not become one */
}

void hpx_known_threads_keep(bool ended)
{
    kept = true;
    keep_ended = keep_ended || ended;
}

bool hpx_known_threads_kept(void)
{
    return kept;
}

uint32_t hpx_known_threads_serial(void)
{
    return HPX_SERIAL_THREAD + 1 + atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed);
}

void hpx_known_threads_adopting(bool on)
{
    pthread_mutex_lock(&lock);
    known.adopting = on;
    pthread_mutex_unlock(&lock);
}

struct hpx_known_thread *hpx_known_threads_enter(uint64_t number, enum hpx_known_stage stage, pid_t tid, bool *mine)
{
    struct hpx_known_thread *fresh = calloc(1, sizeof *fresh);
    if (fresh != NULL) {
        fresh->number = number;
        fresh->tid = tid;
        atomic_init(&fresh->stage, stage);
    }
    pthread_mutex_lock(&lock);
    struct hpx_known_thread *k = find(number);
    *mine = k == NULL && fresh != NULL && put(fresh);
    k = *mine ? fresh : k;
    if (*mine && is_adopted(k)) {
        k->same = atomic_load_explicit(list_of(tid), memory_order_relaxed);
        atomic_store_explicit(list_of(tid), k, memory_order_release); /* partner: of_tid() */
    }
    pthread_mutex_unlock(&lock);
    if (!*mine) {
        free(fresh);
    }
    return k;
}

struct hpx_known_thread *hpx_known_threads_of_tid(pid_t tid)
{
    struct hpx_known_thread *k = atomic_load_explicit(list_of(tid), memory_order_acquire); /* partner: enter() */
    while (k != NULL && (k->tid != tid || atomic_load_explicit(&k->stage, memory_order_acquire) != HPX_KNOWN_ADOPTED)) {
        k = k->same;
    }
    return k;
}

struct hpx_known_thread *hpx_known_threads_without_tid(uint64_t number)
{
    pthread_mutex_lock(&lock);
    struct hpx_known_thread *k = find(number);
    pthread_mutex_unlock(&lock);
    return k != NULL && k->tid == 0 && atomic_load_explicit(&k->stage, memory_order_acquire) == HPX_KNOWN_ADOPTED ? k : NULL;
}

/* Its memory goes, unless it is in a list by kernel id. */
static void forget(struct hpx_known_thread *k)
{
    if (!is_adopted(k)) {
        free(k);
    }
}

/* The lock's. */
static void bury(struct hpx_known_thread *k)
{
    known.ended -= k->ended;
    (void)ck_hs_remove(&known.all, hash(k, 0), k);
    k->next = known.buried;
    known.buried = k;
}

/* Deletes the buried references, unless a thread lists; that thread does it then. */
static void delete_buried(JNIEnv *env)
{
    for (jweak ref = NULL;; (*env)->DeleteWeakGlobalRef(env, ref)) {
        pthread_mutex_lock(&lock);
        struct hpx_known_thread *k = known.lists == 0 ? known.buried : NULL;
        if (k != NULL) {
            ref = k->ref;
            known.buried = k->next;
            k->ref = NULL;
            forget(k);
        }
        pthread_mutex_unlock(&lock);
        if (k == NULL) {
            return;
        }
    }
}

/* Begins to prune: the ended threads; NULL: no memory, or another thread prunes. */
static struct hpx_known_thread **candidates(uint32_t *n)
{
    struct hpx_known_thread **all = NULL, *k;
    ck_hs_iterator_t at = CK_HS_ITERATOR_INITIALIZER;
    *n = 0;
    pthread_mutex_lock(&lock);
    if (!known.pruning) {
        all = calloc((size_t)known.ended + 1, sizeof(struct hpx_known_thread *));
        known.pruning = all != NULL;
    }
    while (all != NULL && (k = next_of(&at)) != NULL) {
        if (k->ended && k->ref != NULL) {
            all[(*n)++] = k;
        }
    }
    pthread_mutex_unlock(&lock);
    return all;
}

/* Forgets the ended threads that have been collected. Only this buries ended threads, and one thread at a time does it. */
static void prune(JNIEnv *env)
{
    uint32_t n, gone = 0;
    struct hpx_known_thread **all = candidates(&n);
    if (all == NULL) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if ((*env)->IsSameObject(env, all[i]->ref, NULL)) {
            all[gone++] = all[i];
        }
    }
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < gone; i++) {
        bury(all[i]);
    }
    known.prune_at = 2 * known.ended;
    known.pruning = false;
    pthread_mutex_unlock(&lock);
    free(all);
    delete_buried(env);
}

void hpx_known_threads_announced(struct hpx_known_thread *k, JNIEnv *env, jthread thread, uint32_t serial, uint64_t name, bool is_virtual)
{
    jweak ref = kept ? (*env)->NewWeakGlobalRef(env, thread) : NULL;
    if (kept && ref == NULL) {
        (*env)->ExceptionClear(env); /* no memory: the program's thread must not find our exception */
    }
    pthread_mutex_lock(&lock);
    k->ref = ref;
    k->serial = serial;
    k->name = name;
    k->is_virtual = is_virtual;
    bool many = known.ended >= PRUNE_FIRST && known.ended >= known.prune_at;
    pthread_mutex_unlock(&lock);
    if (many) {
        prune(env);
    }
}

void hpx_known_threads_end(struct hpx_known_thread *k, JNIEnv *env)
{
    pthread_mutex_lock(&lock);
    bool stays = known.adopting && !is_adopted(k); /* VMInit may have listed it */
    if (k->ref != NULL && (keep_ended || stays)) {
        k->ended = true;
        known.ended++;
    } else if (k->ref != NULL) {
        bury(k);
    } else if (!stays) {
        (void)ck_hs_remove(&known.all, hash(k, 0), k);
        forget(k);
    }
    pthread_mutex_unlock(&lock);
    delete_buried(env);
}

/* The entries without local references yet. NULL without memory. */
static struct hpx_thread_ref *begin_list(jweak **weak, uint32_t *n, bool virtuals)
{
    ck_hs_iterator_t at = CK_HS_ITERATOR_INITIALIZER;
    *n = 0;
    pthread_mutex_lock(&lock);
    size_t most = known.made ? ck_hs_count(&known.all) + 1 : 1;
    struct hpx_thread_ref *to = calloc(most, sizeof *to);
    *weak = calloc(most, sizeof(jweak));
    for (struct hpx_known_thread *k; to != NULL && *weak != NULL && (k = next_of(&at)) != NULL;) {
        if (k->ref != NULL && (virtuals || !k->is_virtual)) {
            (*weak)[*n] = k->ref;
            to[(*n)++] = (struct hpx_thread_ref){.number = k->number, .serial = k->serial, .ended = k->ended, .is_virtual = k->is_virtual};
        }
    }
    known.lists++;
    pthread_mutex_unlock(&lock);
    return to;
}

uint32_t hpx_known_threads_list(JNIEnv *env, struct hpx_thread_ref **to, bool virtuals)
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
    known.lists--;
    pthread_mutex_unlock(&lock);
    delete_buried(env);
    return n;
}

bool hpx_known_threads_rename(struct hpx_thread_ref *t, uint64_t name)
{
    bool news = false, ends = t->serial == 0; /* ends: the thread itself, and nobody has a newer name */
    pthread_mutex_lock(&lock);
    struct hpx_known_thread *k = find(t->number);
    if (k != NULL && k->ref != NULL && (ends || !k->ended)) {
        news = k->name != name;
        k->name = name;
        t->serial = k->serial;
    }
    pthread_mutex_unlock(&lock);
    return news;
}

void hpx_known_threads_forget(JNIEnv *env)
{
    ck_hs_iterator_t at = CK_HS_ITERATOR_INITIALIZER;
    for (struct hpx_known_thread *k; (k = next_of(&at)) != NULL;) {
        if (k->ref != NULL) {
            (*env)->DeleteWeakGlobalRef(env, k->ref);
            k->ref = NULL;
        }
    }
}

/* Adopted ones may be in their list alone, begun ones in the table alone. */
void hpx_known_threads_fini(void)
{
    ck_hs_iterator_t at = CK_HS_ITERATOR_INITIALIZER;
    for (struct hpx_known_thread *k; (k = next_of(&at)) != NULL;) {
        forget(k);
    }
    for (uint32_t i = 0; i <= TID_LISTS; i++) {
        for (struct hpx_known_thread *k = atomic_exchange_explicit(&of_tids[i], NULL, memory_order_relaxed), *same; k != NULL; k = same) {
            same = k->same;
            free(k);
        }
    }
    if (known.made) {
        ck_hs_destroy(&known.all);
    }
    memset(&known, 0, sizeof known);
    kept = keep_ended = false;
}
