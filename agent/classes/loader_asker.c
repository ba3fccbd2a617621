/* SPDX-License-Identifier: BSD-2-Clause */
/* loader_asker.c: see loader_asker.h. */
#include "loader_asker.h"
#include "classes.h"
#include "clock.h"
#include "service.h"
#include "spawn.h"
#include "threads.h"
#include <stdlib.h>

#define PATIENCE_NS  (2ull * 1000 * 1000 * 1000) /* for one answer */
#define SLICE_NS     (50ull * 1000 * 1000)       /* the end of the session is seen after so long */
#define MOST_THREADS 4u                          /* each of them but one may wait for ever */

/* Of the threads that ask and the one that waits: whoever leaves last frees it. */
struct work {
    struct hpx_loader_list loaders;
    const struct hpx_probe_class *c;
    _Atomic uint32_t next; /* relaxed: of the loaders; who increments it asks that one */
    sem_t answered;        /* for each loader */
    atomic_int users;      /* acq_rel: the others have left */
};

/* NULL: taken. release: who starts a thread, one at a time; acquire: that thread, or who takes it back. Its share of `users` goes with it
 */
static _Atomic(struct work *) given;

/* env NULL: the references stay. */
static void empty(struct hpx_loader_list *l, JNIEnv *env)
{
    for (uint32_t i = 0; env != NULL && i < l->n; i++) {
        (*env)->DeleteGlobalRef(env, l->of[i]);
    }
    free(l->of);
    *l = (struct hpx_loader_list){.n = 0};
}

static void leave(struct work *w, JNIEnv *env)
{
    if (atomic_fetch_sub_explicit(&w->users, 1, memory_order_acq_rel) == 1) { /* partner: the other threads' */
        empty(&w->loaders, env);
        sem_destroy(&w->answered);
        free(w);
    }
}

static void *run(void *unused)
{
    (void)unused;
    struct work *w = atomic_exchange_explicit(&given, NULL, memory_order_acquire); /* partner: start() */
    hpx_spawn_enter("hprofx-loaders", NULL);
    JNIEnv *env = w != NULL ? hpx_threads_attach(HPX_OURS "loaders") : NULL;
    if (env == NULL) {
        if (w != NULL) {
            leave(w, NULL);
        }
        return NULL;
    }
    for (uint32_t i; (i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed)) < w->loaders.n;) {
        (void)hpx_loaders_ask(w->c, env, w->loaders.of[i]);
        (void)hpx_loaders_list(w->loaders.of[i], false);
        sem_post(&w->answered);
    }
    leave(w, env);
    (*hpx_vm.java)->DetachCurrentThread(hpx_vm.java);
    return NULL;
}

bool hpx_loader_list_add(struct hpx_loader_list *l, const struct hpx_probe_class *c, JNIEnv *env, jobject loader)
{
    if (hpx_loaders_look(c, loader) != HPX_LOADER_UNKNOWN || hpx_loaders_list(loader, true)) {
        return true;
    }
    uint32_t cap = l->cap == 0 ? 16 : 2 * l->cap;
    jobject *more = l->n == l->cap ? realloc(l->of, cap * sizeof(jobject)) : NULL;
    if (more != NULL) {
        l->of = more;
        l->cap = cap;
    }
    jobject kept = l->n < l->cap ? (*env)->NewGlobalRef(env, loader) : NULL;
    if (kept == NULL) {
        (void)hpx_loaders_list(loader, false);
        return false;
    }
    l->of[l->n++] = kept;
    return true;
}

/* Takes what is in the list. NULL: no memory. */
static struct work *new_work(struct hpx_loader_list *l, const struct hpx_probe_class *c)
{
    struct work *w = malloc(sizeof *w);
    if (w != NULL && sem_init(&w->answered, 0, 0) != 0) {
        free(w);
        w = NULL;
    }
    if (w != NULL) {
        w->loaders = *l;
        w->c = c;
        atomic_init(&w->next, 0);
        atomic_init(&w->users, 1);
        *l = (struct hpx_loader_list){.n = 0};
    }
    return w;
}

/* If no thread has taken it: none will. The caller's own share keeps *w. */
static void take_back(struct work *w)
{
    if (atomic_exchange_explicit(&given, NULL, memory_order_acquire) != NULL) { /* partner: start() */
        atomic_fetch_sub_explicit(&w->users, 1, memory_order_relaxed);
    }
}

/* false: no thread can be started, or the one started before has not begun. */
static bool start(struct work *w)
{
    struct hpx_err err;
    if (atomic_load_explicit(&given, memory_order_relaxed) != NULL) {
        return false;
    }
    atomic_fetch_add_explicit(&w->users, 1, memory_order_relaxed);
    atomic_store_explicit(&given, w, memory_order_release); /* partner: run() */
    if (hpx_spawn(run, "hprofx-loaders", &err) != 0) {
        take_back(w);
        return false;
    }
    return true;
}

/* Threads of the program may stand at the session's gate, and VMDeath waits there. */
static bool is_wanted(void)
{
    return hpx_gate_is_open(&hpx_session.gate) && !hpx_classes_cancelled();
}

/* false: no answer came in time, or none is wanted any more. */
static bool await_one(struct work *w)
{
    uint64_t until = hpx_clock_mono() + PATIENCE_NS;
    bool came = false;
    for (uint64_t t; !came && is_wanted() && (t = hpx_clock_mono()) < until;) {
        came = hpx_spawn_wait(&w->answered, t + SLICE_NS < until ? t + SLICE_NS : until);
    }
    return came;
}

/* One that does not answer keeps its thread; another goes on behind it. Returns how many have answered. */
static uint32_t await(struct work *w)
{
    uint32_t answers = 0, threads = 1;
    bool goes_on = is_wanted() && start(w);
    while (goes_on && answers < w->loaders.n) {
        if (await_one(w)) {
            answers++;
        } else if (!is_wanted()) {
            goes_on = false;
        } else {
            goes_on = answers + threads < w->loaders.n && threads < MOST_THREADS && start(w);
            threads++;
        }
    }
    take_back(w);
    return answers;
}

uint32_t hpx_loader_asker_ask(struct hpx_loader_list *l, const struct hpx_probe_class *c, JNIEnv *env)
{
    const uint32_t n = l->n;
    uint32_t answers = 0;
    struct work *w = n > 0 ? new_work(l, c) : NULL;
    if (w != NULL) {
        answers = await(w);
        /* What no thread has begun may be listed by a later session. */
        for (uint32_t i = atomic_exchange_explicit(&w->next, n, memory_order_relaxed); i < n; i++) {
            (void)hpx_loaders_list(w->loaders.of[i], false);
        }
        leave(w, env);
    } else {
        for (uint32_t i = 0; i < n; i++) {
            (void)hpx_loaders_list(l->of[i], false);
        }
        empty(l, env);
    }
    return n - answers;
}
