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
    pthread_cond_t served; /* one of them is done */
    struct asked *first;
    bool open; /* a session takes them */
} asked = {.lock = PTHREAD_MUTEX_INITIALIZER, .served = PTHREAD_COND_INITIALIZER};

static __thread bool serves __attribute__((tls_model("initial-exec"))); /* this thread retransforms them: it does not wait for itself */

static void add(_Atomic uint64_t *to)
{
    atomic_fetch_add_explicit(to, 1, memory_order_relaxed);
}

static bool turn(struct hpx_class_state *s, unsigned from, unsigned to)
{
    return atomic_compare_exchange_strong_explicit(&s->waits, &from, to, memory_order_relaxed, memory_order_relaxed);
}

static struct asked *take(void)
{
    pthread_mutex_lock(&asked.lock);
    struct asked *a = asked.first;
    asked.first = a != NULL ? a->next : NULL;
    pthread_mutex_unlock(&asked.lock);
    return a;
}

static void drop(JNIEnv *env, struct asked *a)
{
    (*env)->DeleteGlobalRef(env, a->klass);
    pthread_mutex_lock(&asked.lock);
    (void)turn(a->state, HPX_CLASS_ASKED, HPX_CLASS_KNOWN);
    pthread_cond_broadcast(&asked.served);
    pthread_mutex_unlock(&asked.lock);
    free(a);
}

static jvmtiError serve(jvmtiEnv *jvmti, JNIEnv *env)
{
    serves = true;
    hpx_names_ignore(true);
    for (struct asked *a; (a = take()) != NULL; drop(env, a)) {
        if ((*jvmti)->RetransformClasses(jvmti, 1, &a->klass) != JVMTI_ERROR_NONE) {
            add(&done.late);
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
    bool open = asked.open;
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

/* false: it has no probes yet. */
static bool await(const struct hpx_class_state *s)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    int rc = 0;
    pthread_mutex_lock(&asked.lock);
    while (rc != ETIMEDOUT && atomic_load_explicit(&s->waits, memory_order_relaxed) == HPX_CLASS_ASKED) {
        rc = pthread_cond_timedwait(&asked.served, &asked.lock, &until);
    }
    pthread_mutex_unlock(&asked.lock);
    return rc != ETIMEDOUT;
}

/* The class is linked, not yet initialized; its thread holds its lock. */
static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass klass)
{
    (void)jvmti, (void)thread;
    struct hpx_class_state *s = hpx_class_numbers_state(klass, false);
    if (s == NULL || !turn(s, HPX_CLASS_WAITS, HPX_CLASS_ASKED)) {
        return;
    }
    if (!ask(env, klass, s) || (!serves && !await(s))) {
        add(&done.late);
    } else {
        add(&done.linked);
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
    jvmtiEnv *jvmti = hpx_class_numbers_environment();
    bool can =
        jvmti != NULL && (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks) == JVMTI_ERROR_NONE && enable(JVMTI_ENABLE);
    pthread_mutex_lock(&asked.lock);
    asked.open = can;
    pthread_mutex_unlock(&asked.lock);
    return can;
}

static bool is_linked(jvmtiEnv *jvmti, jclass klass)
{
    jint status = 0;
    return (*jvmti)->GetClassStatus(jvmti, klass, &status) != JVMTI_ERROR_NONE || (status & JVMTI_CLASS_STATUS_PREPARED) != 0;
}

/* It may be linked between the looks: what has been asked for by then has its probes. */
bool hpx_waiting_add(jvmtiEnv *jvmti, jclass klass)
{
    struct hpx_class_state *s = is_linked(jvmti, klass) ? NULL : hpx_class_numbers_state(klass, true);
    if (s == NULL || (!turn(s, HPX_CLASS_KNOWN, HPX_CLASS_WAITS) && !turn(s, HPX_CLASS_WAITS, HPX_CLASS_WAITS))) {
        return false;
    }
    if (is_linked(jvmti, klass) && turn(s, HPX_CLASS_WAITS, HPX_CLASS_KNOWN)) {
        return false;
    }
    add(&done.waited);
    return true;
}

void hpx_waiting_end(JNIEnv *env)
{
    (void)enable(JVMTI_DISABLE);
    pthread_mutex_lock(&asked.lock);
    asked.open = false;
    pthread_mutex_unlock(&asked.lock);
    for (struct asked *a; (a = take()) != NULL;) {
        drop(env, a);
    }
}

struct hpx_waiting_figures hpx_waiting_figures(void)
{
    return (struct hpx_waiting_figures){atomic_load_explicit(&done.waited, memory_order_relaxed),
                                        atomic_load_explicit(&done.linked, memory_order_relaxed),
                                        atomic_load_explicit(&done.late, memory_order_relaxed)};
}
