/* SPDX-License-Identifier: BSD-2-Clause */
/* waiting.c: see waiting.h. */
#include "waiting.h"
#include "class_numbers.h"
#include "compiler.h"
#include "names.h"
#include "service.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_MS 500

static HPX_OF_SESSION struct {
    _Atomic uint64_t waited, linked, late;
} done; /* relaxed */

struct asked {
    struct asked *next;
    jclass klass; /* global reference */
    struct hpx_class_state *state;
};

/* Of classes whose probes the service thread is to add. */
static struct {
    pthread_mutex_t lock;
    pthread_once_t made;
    pthread_cond_t served; /* one of them is done, or they are taken no longer */
    struct asked *first;   /* the newest */
    atomic_bool open;      /* relaxed: a session takes them */
    bool silent;           /* the service thread let a class wait in vain, and has served none since: nobody waits for it */
} asked = {.lock = PTHREAD_MUTEX_INITIALIZER, .made = PTHREAD_ONCE_INIT};

static __thread bool serves; /* this thread retransforms them: it does not wait for itself */

static void add(_Atomic uint64_t *to)
{
    atomic_fetch_add_explicit(to, 1, memory_order_relaxed);
}

static bool turn(struct hpx_class_state *s, unsigned from, unsigned to)
{
    return atomic_compare_exchange_strong_explicit(&s->waits, &from, to, memory_order_relaxed, memory_order_relaxed);
}

/* Who takes it out of this state tells whether it has its probes in time; it does so once. */
static void tell(struct hpx_class_state *s, bool in_time)
{
    if (turn(s, HPX_CLASS_ASKED, HPX_CLASS_KNOWN)) {
        add(in_time ? &done.linked : &done.late);
    }
}

/* Takes all, oldest first, and counts them. */
static struct asked *take(uint32_t *n)
{
    struct asked *list = NULL;
    *n = 0;
    pthread_mutex_lock(&asked.lock);
    for (struct asked *a = asked.first, *next; a != NULL; a = next) {
        next = a->next;
        a->next = list;
        list = a;
        ++*n;
    }
    asked.first = NULL;
    asked.silent = false;
    pthread_mutex_unlock(&asked.lock);
    return list;
}

static void drop(JNIEnv *env, struct asked *a, bool has_probes)
{
    (*env)->DeleteGlobalRef(env, a->klass);
    pthread_mutex_lock(&asked.lock);
    tell(a->state, has_probes);
    pthread_cond_broadcast(&asked.served);
    pthread_mutex_unlock(&asked.lock);
    free(a);
}

jvmtiError hpx_retransform_one(jvmtiEnv *jvmti, jclass klass)
{
    jvmtiError e = (*jvmti)->RetransformClasses(jvmti, 1, &klass);
    return e == JVMTI_ERROR_NONE || e == JVMTI_ERROR_OUT_OF_MEMORY ? e : (*jvmti)->RetransformClasses(jvmti, 1, &klass);
}

/* false: each of them is to be tried alone. */
static bool retransform_all(jvmtiEnv *jvmti, const struct asked *list, uint32_t n)
{
    jclass *of = n > 1 ? malloc(n * sizeof(jclass)) : NULL;
    uint32_t i = 0;
    for (const struct asked *a = list; of != NULL && a != NULL; a = a->next) {
        of[i++] = a->klass;
    }
    bool has = of != NULL && (*jvmti)->RetransformClasses(jvmti, (jint)n, of) == JVMTI_ERROR_NONE;
    free(of);
    return has;
}

static jvmtiError serve(jvmtiEnv *jvmti, JNIEnv *env)
{
    uint32_t n;
    serves = true;
    hpx_names_ignore(true);
    for (struct asked *list; (list = take(&n)) != NULL;) {
        bool all = retransform_all(jvmti, list, n);
        for (struct asked *a = list, *next; a != NULL; a = next) {
            next = a->next;
            drop(env, a, all || hpx_retransform_one(jvmti, a->klass) == JVMTI_ERROR_NONE);
        }
    }
    hpx_names_ignore(false);
    serves = false;
    return JVMTI_ERROR_NONE;
}

static void served(uint64_t unused)
{
    (void)unused;
}

static bool is_open(void)
{
    return atomic_load_explicit(&asked.open, memory_order_relaxed);
}

/* false: nobody takes it. */
static bool ask(JNIEnv *env, jclass klass, struct hpx_class_state *s)
{
    static const struct hpx_service_task task = HPX_SERVICE_TASK(serve, "probes of a class that was linked late");
    struct asked *a = malloc(sizeof *a);
    jclass held = a != NULL ? (*env)->NewGlobalRef(env, klass) : NULL;
    if (held == NULL) {
        free(a);
        return false;
    }
    pthread_mutex_lock(&asked.lock);
    bool open = is_open();
    if (open) {
        *a = (struct asked){asked.first, held, s};
        asked.first = a;
        (void)hpx_service_ask(&task, served, 0); /* under the lock: the session does not end. Without memory the next one takes it */
    }
    pthread_mutex_unlock(&asked.lock);
    if (!open) {
        (*env)->DeleteGlobalRef(env, held);
        free(a);
    }
    return open;
}

/* Until it has its probes, or what becomes of it is told. */
static void await(struct hpx_class_state *s)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    int rc = 0;
    pthread_mutex_lock(&asked.lock);
    while (rc == 0 && is_open() && !asked.silent && atomic_load_explicit(&s->waits, memory_order_relaxed) == HPX_CLASS_ASKED) {
        rc = pthread_cond_timedwait(&asked.served, &asked.lock, &until);
    }
    asked.silent = asked.silent || rc == ETIMEDOUT;
    tell(s, false);
    pthread_mutex_unlock(&asked.lock);
}

/* The class is linked, not yet initialized; its thread holds its lock. */
static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass klass)
{
    (void)jvmti, (void)thread;
    struct hpx_class_state *s = hpx_class_numbers_state(klass, false);
    if (s == NULL || !is_open() || (!turn(s, HPX_CLASS_WAITS, HPX_CLASS_ASKED) && !turn(s, HPX_CLASS_MAY_HAVE, HPX_CLASS_ASKED))) {
        return;
    }
    if (!ask(env, klass, s)) {
        tell(s, false);
    } else if (!serves) {
        await(s);
    }
}

static void make(void)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) == 0) { /* else, with the other clock, nobody waits */
        (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        (void)pthread_cond_init(&asked.served, &monotonic);
        (void)pthread_condattr_destroy(&monotonic);
    }
}

static bool enable(jvmtiEventMode mode)
{
    jvmtiEnv *jvmti = hpx_class_numbers_environment();
    return jvmti != NULL && (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_CLASS_PREPARE, NULL) == JVMTI_ERROR_NONE;
}

bool hpx_waiting_begin(void)
{
    const jvmtiEventCallbacks callbacks = {.ClassPrepare = on_class_prepare};
    hpx_class_numbers_remember();
    (void)pthread_once(&asked.made, make);
    jvmtiEnv *jvmti = hpx_class_numbers_environment();
    bool can =
        jvmti != NULL && (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks) == JVMTI_ERROR_NONE && enable(JVMTI_ENABLE);
    pthread_mutex_lock(&asked.lock);
    atomic_store_explicit(&asked.open, can, memory_order_relaxed);
    asked.silent = false;
    pthread_mutex_unlock(&asked.lock);
    return can;
}

static bool is_linked(jvmtiEnv *jvmti, jclass klass)
{
    jint status = 0;
    return (*jvmti)->GetClassStatus(jvmti, klass, &status) != JVMTI_ERROR_NONE || (status & JVMTI_CLASS_STATUS_PREPARED) != 0;
}

/* It may be linked between the looks: what has been asked for by then has its probes. */
bool hpx_waiting_add(jvmtiEnv *jvmti, jclass klass, bool has_none)
{
    const unsigned waits = has_none ? HPX_CLASS_WAITS : HPX_CLASS_MAY_HAVE;
    struct hpx_class_state *s = is_linked(jvmti, klass) ? NULL : hpx_class_numbers_state(klass, true);
    if (s == NULL || (!turn(s, HPX_CLASS_KNOWN, waits) && !turn(s, HPX_CLASS_WAITS, waits) && !turn(s, HPX_CLASS_MAY_HAVE, waits))) {
        return false;
    }
    if (is_linked(jvmti, klass) && turn(s, waits, HPX_CLASS_KNOWN)) {
        return false;
    }
    add(&done.waited);
    return true;
}

void hpx_waiting_close(void)
{
    atomic_store_explicit(&asked.open, false, memory_order_relaxed);
}

void hpx_waiting_end(JNIEnv *env)
{
    uint32_t n;
    (void)enable(JVMTI_DISABLE);
    hpx_waiting_close();
    for (struct asked *a = take(&n), *next; a != NULL; a = next) {
        next = a->next;
        drop(env, a, false);
    }
}

struct hpx_waiting_figures hpx_waiting_figures(void)
{
    return (struct hpx_waiting_figures){atomic_load_explicit(&done.waited, memory_order_relaxed),
                                        atomic_load_explicit(&done.linked, memory_order_relaxed),
                                        atomic_load_explicit(&done.late, memory_order_relaxed)};
}
