/* SPDX-License-Identifier: BSD-2-Clause */
/* java_threads.c: from a thread to the JNIEnv by which the agent knows it, and back; THREAD_START, THREAD_END.
 *
 * JVMTI tells no thread's JNIEnv but the calling one's. So every thread notes its own when it starts: for hold() in a table, for
 * env_of() in JVMTI's storage of the thread. Threads that run before VMInit are looked at there: JVMTI tells a thread's name only from then
 * on. Virtual threads raise no ThreadStart, because we do not ask for them. */
#include "java_threads.h"
#include "boot_class.h"
#include "clock.h"
#include "functions.h"
#include "log.h"
#include "thread_state.h"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define BUCKETS 1024u /* of threads that live at one time */
#define LOOK_NS 20000
#define WAIT_NS UINT64_C(2000000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the table; never held across a call of the VM */
static struct hpx_jvmpi_thread *table[BUCKETS];
static _Thread_local struct hpx_jvmpi_thread *mine;

static struct hpx_jvmpi_thread **bucket_of(JNIEnv *env)
{
    uintptr_t u = (uintptr_t)env;
    return &table[(u >> 4 ^ u >> 12 ^ u >> 20) % BUCKETS];
}

static struct hpx_jvmpi_thread *find_locked(JNIEnv *env)
{
    struct hpx_jvmpi_thread *t = *bucket_of(env);
    while (t != NULL && t->env != env) {
        t = t->next;
    }
    return t;
}

/* env: of the calling thread. */
static void free_thread(JNIEnv *env, struct hpx_jvmpi_thread *t)
{
    if (env != NULL && t->thread != NULL) {
        hpx_jvmpi_own_begin();
        (*env)->DeleteWeakGlobalRef(env, t->thread);
        hpx_jvmpi_own_end();
    }
    free(t);
}

struct hpx_jvmpi_thread *hpx_jvmpi_pin(JNIEnv *env)
{
    if (env == NULL) {
        return NULL;
    }
    (void)pthread_mutex_lock(&lock);
    struct hpx_jvmpi_thread *t = find_locked(env);
    if (t != NULL) {
        t->pins++;
    }
    (void)pthread_mutex_unlock(&lock);
    return t;
}

void hpx_jvmpi_unpin(struct hpx_jvmpi_thread *t)
{
    (void)pthread_mutex_lock(&lock);
    bool last = --t->pins == 0 && t->ended;
    (void)pthread_mutex_unlock(&lock);
    if (last) {
        free_thread(hpx_jvmpi_env(), t);
    }
}

JNIEnv *hpx_jvmpi_env(void)
{
    JNIEnv *env = NULL;
    return (*hpx_jvmpi.vm)->GetEnv(hpx_jvmpi.vm, (void **)&env, JNI_VERSION_1_2) == JNI_OK ? env : NULL;
}

/* Looks into the table for threads of which VMInit took note. */
struct hpx_jvmpi_thread *hpx_jvmpi_self(void)
{
    if (hpx_unlikely(mine == NULL)) {
        mine = hpx_jvmpi_pin(hpx_jvmpi_env());
        if (mine != NULL) {
            hpx_jvmpi_unpin(mine);
        }
    }
    return mine;
}

bool hpx_jvmpi_self_is_announced(void)
{
    struct hpx_jvmpi_thread *t = hpx_jvmpi_self();
    return t != NULL && atomic_load_explicit(&t->announced, memory_order_relaxed);
}

JNIEnv *hpx_jvmpi_env_of(jthread thread)
{
    void *env = NULL;
    return thread != NULL && (*hpx_jvmpi.jvmti)->GetThreadLocalStorage(hpx_jvmpi.jvmti, thread, &env) == JVMTI_ERROR_NONE ? env : NULL;
}

jthread hpx_jvmpi_hold(JNIEnv *env, struct hpx_jvmpi_thread **held)
{
    JNIEnv *caller = hpx_jvmpi_env();
    struct hpx_jvmpi_thread *t = caller == NULL ? NULL : hpx_jvmpi_pin(env);
    jthread thread = t != NULL ? (*caller)->NewLocalRef(caller, t->thread) : NULL;
    if (thread != NULL) {
        *held = t;
    } else if (t != NULL) {
        hpx_jvmpi_unpin(t);
    }
    return thread;
}

void hpx_jvmpi_let_go(jthread thread, struct hpx_jvmpi_thread *held)
{
    JNIEnv *caller = hpx_jvmpi_env();
    (*caller)->DeleteLocalRef(caller, thread);
    hpx_jvmpi_unpin(held);
}

/* ---- a thread's begin and end ---- */

/* env: of `thread`, which need not be the calling one. The record, pinned; NULL: no memory. */
static struct hpx_jvmpi_thread *note(JNIEnv *caller, JNIEnv *env, jthread thread)
{
    static atomic_bool said;
    struct hpx_jvmpi_thread *t = calloc(1, sizeof(*t));
    if (t == NULL) {
        hpx_warn_once(&said, "jvmpi: out of memory; the agent does not learn of some threads");
        return NULL;
    }
    hpx_jvmpi_own_begin();
    t->env = env;
    t->thread = (*caller)->NewWeakGlobalRef(caller, thread);
    hpx_jvmpi_own_end();
    (void)(*hpx_jvmpi.jvmti)->SetThreadLocalStorage(hpx_jvmpi.jvmti, thread, env);
    (void)pthread_mutex_lock(&lock);
    struct hpx_jvmpi_thread *there = find_locked(env); /* the thread itself and VMInit may note it at one time */
    if (there == NULL) {
        t->next = *bucket_of(env);
        *bucket_of(env) = t;
    }
    (there == NULL ? t : there)->pins++;
    (void)pthread_mutex_unlock(&lock);
    if (there != NULL) {
        free_thread(caller, t);
        return there;
    }
    return t;
}

/* The last who unpins it frees it. */
static void forget(struct hpx_jvmpi_thread *t)
{
    (void)pthread_mutex_lock(&lock);
    struct hpx_jvmpi_thread **p = bucket_of(t->env);
    while (*p != t) {
        p = &(*p)->next;
    }
    *p = t->next;
    t->ended = true;
    (void)pthread_mutex_unlock(&lock);
}

static bool is_pinned_by_others(const struct hpx_jvmpi_thread *t)
{
    (void)pthread_mutex_lock(&lock);
    bool is = t->pins > 1;
    (void)pthread_mutex_unlock(&lock);
    return is;
}

/* The VM would crash or hang: before JDK 10 it takes a lock of a thread that it is asked about, even if that ends and is freed meanwhile;
 * and GetFrameCount of JDK 17 reads what goes behind ThreadEnd. Who asks may be suspended. t: forgotten, and pinned by the thread itself.
 */
static void await_questions(const struct hpx_jvmpi_thread *t)
{
    uint64_t until = 0;
    while (is_pinned_by_others(t)) {
        until = until == 0 ? hpx_clock_mono() + WAIT_NS : until;
        if (hpx_clock_mono() >= until) {
            return;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
}

/* ---- THREAD_START ---- */

struct names {
    char *thread, *group, *parent;
};

static void free_names(struct names *n)
{
    hpx_jvmpi_give_back(n->thread);
    hpx_jvmpi_give_back(n->group);
    hpx_jvmpi_give_back(n->parent);
}

static void ask_group(JNIEnv *env, jthreadGroup group, struct names *n)
{
    jvmtiThreadGroupInfo info = {0}, above = {0};
    if (group == NULL || (*hpx_jvmpi.jvmti)->GetThreadGroupInfo(hpx_jvmpi.jvmti, group, &info) != JVMTI_ERROR_NONE) {
        return;
    }
    n->group = info.name;
    if (info.parent != NULL) {
        if ((*hpx_jvmpi.jvmti)->GetThreadGroupInfo(hpx_jvmpi.jvmti, info.parent, &above) == JVMTI_ERROR_NONE) {
            n->parent = above.name;
            (*env)->DeleteLocalRef(env, above.parent);
        }
        (*env)->DeleteLocalRef(env, info.parent);
    }
}

static bool ask_names(JNIEnv *env, jthread thread, struct names *n)
{
    jvmtiThreadInfo info = {0};
    if ((*hpx_jvmpi.jvmti)->GetThreadInfo(hpx_jvmpi.jvmti, thread, &info) != JVMTI_ERROR_NONE) {
        return false;
    }
    n->thread = info.name;
    ask_group(env, info.thread_group, n);
    (*env)->DeleteLocalRef(env, info.thread_group);
    (*env)->DeleteLocalRef(env, info.context_class_loader);
    return true;
}

static char *or_empty(char *s)
{
    static char empty[1];
    return s == NULL ? empty : s;
}

/* caller: of the calling thread; env: of the one that started. false: it has ended. */
static bool send_start(JNIEnv *caller, JNIEnv *env, jthread thread, jint bits)
{
    struct names n = {0};
    hpx_jvmpi_own_begin();
    bool known = ask_names(caller, thread, &n);
    jobjectID id = known ? hpx_jvmpi_id_of(thread) : NULL;
    hpx_jvmpi_own_end();
    if (known) {
        hpx_jvmpi_notify(&(JVMPI_Event){.event_type = JVMPI_EVENT_THREAD_START | bits,
                                        .env_id = caller,
                                        .u.thread_start = {.thread_name = or_empty(n.thread),
                                                           .group_name = or_empty(n.group),
                                                           .parent_name = or_empty(n.parent),
                                                           .thread_id = id,
                                                           .thread_env_id = env}});
    }
    free_names(&n);
    return known;
}

/* Once. caller: of the calling thread. */
static void announce(struct hpx_jvmpi_thread *t, JNIEnv *caller, jthread thread)
{
    bool on = hpx_jvmpi_on(JVMPI_EVENT_THREAD_START);
    (void)pthread_mutex_lock(&lock);
    bool first = !t->announcing;
    t->announcing = true;
    (void)pthread_mutex_unlock(&lock);
    if (first && on) {
        (void)send_start(caller, t->env, thread, 0);
    }
    if (first) {
        atomic_store_explicit(&t->announced, true, memory_order_relaxed);
    }
}

static void JNICALL thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    jvmtiPhase phase;
    struct hpx_jvmpi_thread *t = hpx_jvmpi_pin(env); /* VMInit may have been faster */
    if (t == NULL) {
        t = note(env, env, thread);
    }
    mine = t;
    if (t == NULL) {
        return;
    }
    /* Else VMInit announces it. */
    if ((*jvmti)->GetPhase(jvmti, &phase) == JVMTI_ERROR_NONE && phase == JVMTI_PHASE_LIVE) {
        announce(t, env, thread);
    }
    hpx_jvmpi_unpin(t);
}

static void JNICALL thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti, (void)thread;
    struct hpx_jvmpi_thread *t = hpx_jvmpi_pin(env);
    if (hpx_jvmpi_on(JVMPI_EVENT_THREAD_END)) {
        hpx_jvmpi_notify(&(JVMPI_Event){.event_type = JVMPI_EVENT_THREAD_END, .env_id = env});
    }
    mine = NULL;
    hpx_jvmpi_raw_detach();
    if (t != NULL) {
        forget(t);
        await_questions(t);
        hpx_jvmpi_unpin(t);
    }
}

/* ---- threads that ran before VMInit ---- */

/* HotSpot keeps the address of its own thread in a field of java.lang.Thread, and the JNIEnv is part of that. So one's distance is all
 * threads' distance. 0: no such field, or the VM does not show it. */
static uintptr_t eetop_of(JNIEnv *env, jthread thread)
{
    static jfieldID field; /* VMInit alone calls this */
    if (field == NULL) {
        jclass class = hpx_boot_class(env, "java/lang/Thread");
        field = class == NULL ? NULL : (*env)->GetFieldID(env, class, "eetop", "J");
        (*env)->ExceptionClear(env);
        (*env)->DeleteLocalRef(env, class);
    }
    return field == NULL ? 0 : (uintptr_t)(*env)->GetLongField(env, thread, field);
}

#define VM_THREAD_SIZE 16384 /* bytes; more than any VM's */

static long env_offset(JNIEnv *env, jthread thread)
{
    uintptr_t eetop = eetop_of(env, thread);
    return eetop != 0 && (uintptr_t)env - eetop < VM_THREAD_SIZE ? (long)((uintptr_t)env - eetop) : 0;
}

/* A thread that began before the VM told of threads: Reference Handler, Finalizer. They do not end. */
static struct hpx_jvmpi_thread *note_early(JNIEnv *env, jthread thread, long offset)
{
    uintptr_t eetop = offset == 0 ? 0 : eetop_of(env, thread);
    return eetop == 0 ? NULL : note(env, (JNIEnv *)(eetop + (uintptr_t)offset), thread);
}

static void announce_other(JNIEnv *env, jthread thread, long offset)
{
    JNIEnv *its = hpx_jvmpi_env_of(thread);
    struct hpx_jvmpi_thread *t = its == NULL ? note_early(env, thread, offset) : hpx_jvmpi_pin(its);
    if (t != NULL) {
        announce(t, env, thread);
        hpx_jvmpi_unpin(t);
    }
}

static void live(JNIEnv *env, jthread thread)
{
    jint n = 0;
    jthread *all = NULL;
    struct hpx_jvmpi_thread *t = hpx_jvmpi_pin(env);
    if (t == NULL) {
        t = note(env, env, thread);
    }
    mine = t;
    if (t != NULL) {
        announce(t, env, thread);
        hpx_jvmpi_unpin(t);
    }
    hpx_jvmpi_own_begin();
    long offset = env_offset(env, thread);
    hpx_jvmpi_own_end();
    hpx_jvmpi_state_learn(offset);
    if ((*hpx_jvmpi.jvmti)->GetAllThreads(hpx_jvmpi.jvmti, &n, &all) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < n; i++) {
        announce_other(env, all[i], offset);
        (*env)->DeleteLocalRef(env, all[i]);
    }
    hpx_jvmpi_give_back(all);
}

/* arg: the thread object's id. */
static jint requested(jint event, void *arg)
{
    (void)event;
    JNIEnv *env = hpx_jvmpi_env();
    jthread thread = hpx_jvmpi_object_of((jobjectID)arg);
    JNIEnv *its = hpx_jvmpi_env_of(thread);
    jint rc = its != NULL && send_start(env, its, thread, JVMPI_REQUESTED_EVENT) ? JVMPI_SUCCESS : JVMPI_FAIL;
    (*env)->DeleteLocalRef(env, thread);
    return rc;
}

static void callbacks(jvmtiEventCallbacks *set)
{
    set->ThreadStart = thread_start;
    set->ThreadEnd = thread_end;
}

const struct hpx_jvmpi_source hpx_jvmpi_threads = {
    .events = (const jint[]){JVMPI_EVENT_THREAD_START, JVMPI_EVENT_THREAD_END, 0},
    .requested = requested,
    .callbacks = callbacks,
    .live = live,
};
