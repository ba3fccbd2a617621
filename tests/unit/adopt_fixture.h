/* SPDX-License-Identifier: BSD-2-Clause */
/* adopt_fixture.h: the made-up VM of test_adopt.c, and the older thread that meddles. */
#ifndef HPX_ADOPT_FIXTURE_H
#define HPX_ADOPT_FIXTURE_H

#include "cmocka_all.h"
#include "known_threads.h"
#include "threads.h"
#include "vm.h"
#include "vm_mode.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME "an older one"

struct thread {
    jlong number;
    bool gone;
};

struct state {
    struct hpx_mode_thread s;
    bool complete, armed, over;
};

enum what { NOTHING, FINDS, FINDS_INSIDE, ENDS, BEGINS, BEGINS_AND_ENDS };

static struct {
    struct thread init, older;
    pthread_t pthread; /* the older one's, and its tid */
    pid_t tid;
    sem_t todo, done;
    enum what what; /* the older one's order */
    enum what ever; /* BEGINS or ENDS: it has */
    bool finds_itself, mapped, lingers;
    bool found;
    bool in_handler, abandoned; /* in_handler: of the older thread, for ever */
    unsigned calls, meddle_at;  /* places so far where the older thread meddles; the one where it does; 0: none */
    enum what meddle;
    unsigned locked_calls, incomplete, states, refs, states_asked;
    bool leaves, left;         /* leaves: it ends then, without a word; it has */
    unsigned asked, untold_at; /* what VMInit has asked about the older thread; which of it the VM does not tell; 0: none */
    unsigned forgot,
        stays; /* ends of its that modes heard of; of which they did not, or behind which it has not left, or has when it begins */
    bool poor, no_memory; /* poor: the older thread finds none for an entry; no_memory: nobody */
} fx;

static __thread struct thread *self;
static __thread int held;

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    held++;
    return __real_pthread_mutex_lock(m);
}

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);

void *__wrap_calloc(size_t n, size_t bytes)
{
    bool none = bytes == sizeof(struct hpx_known_thread) && (fx.no_memory || (fx.poor && self == &fx.older));
    return none ? NULL : __real_calloc(n, bytes);
}

static void meddle_here(void);

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    held--;
    int rc = __real_pthread_mutex_unlock(m);
    meddle_here();
    return rc;
}

/* ---- the older thread ---- */

static jvmtiEnv *jvmti(void);
static JNIEnv *jni(void);

static void act(enum what what)
{
    if (what == FINDS && fx.ever != ENDS) {
        fx.found = hpx_threads_find_self(jni());
    }
    if (what == FINDS_INSIDE) {
        fx.found = hpx_threads_find_self_inside(jni());
    }
    if (what == BEGINS || what == BEGINS_AND_ENDS) {
        fx.ever = BEGINS;
        hpx_threads_begin(jvmti(), jni(), true);
        fx.stays += hpx_threads_left();
    }
    if ((what == ENDS || what == BEGINS_AND_ENDS) && fx.ever != ENDS) {
        fx.ever = ENDS;
        unsigned forgot = fx.forgot;
        hpx_threads_end(jvmti(), jni());
        fx.stays += !hpx_threads_left() || fx.forgot != forgot + 1;
        fx.older.gone = !fx.lingers;
    }
}

static void *run_older(void *unused)
{
    (void)unused;
    self = &fx.older;
    fx.tid = (pid_t)syscall(SYS_gettid);
    pthread_setname_np(pthread_self(), fx.mapped ? NAME : "another");
    for (sem_post(&fx.done);; sem_post(&fx.done)) {
        sem_wait(&fx.todo);
        if (fx.what == NOTHING) {
            return NULL;
        }
        act(fx.what);
    }
}

static void order(enum what what)
{
    fx.what = what;
    sem_post(&fx.todo);
    if (what != NOTHING) {
        sem_wait(&fx.done);
    }
}

/* ---- the VM ---- */

/* While the caller holds a lock the older thread could wait for it for ever. */
static void meddle_here(void)
{
    if (self == &fx.init && held == 0 && ++fx.calls == fx.meddle_at) {
        order(fx.meddle);
    }
}

/* Any call of the VM. */
static void called(void)
{
    fx.locked_calls += held != 0;
    meddle_here();
}

static struct thread *of(jthread t)
{
    return t != NULL ? (struct thread *)(void *)t : self;
}

/* The kernel has forgotten it, too. */
static void leave(void)
{
    order(NOTHING);
    pthread_join(fx.pthread, NULL);
    fx.left = fx.older.gone = true;
    while (syscall(SYS_tgkill, getpid(), fx.tid, 0) == 0) {
        sched_yield();
    }
}

static bool tells(jthread t)
{
    bool untold = self == &fx.init && of(t) == &fx.older && ++fx.asked == fx.untold_at;
    if (untold && fx.leaves) {
        leave();
    }
    return !untold;
}

static jvmtiError JNICALL get_state(jvmtiEnv *env, jthread t, jint *state)
{
    (void)env;
    if (!tells(t)) {
        return JVMTI_ERROR_OUT_OF_MEMORY;
    }
    *state = of(t)->gone ? JVMTI_THREAD_STATE_TERMINATED : JVMTI_THREAD_STATE_ALIVE;
    fx.states_asked++;
    called();
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_info(jvmtiEnv *env, jthread t, jvmtiThreadInfo *info)
{
    (void)env;
    if (!tells(t)) {
        return JVMTI_ERROR_OUT_OF_MEMORY;
    }
    memset(info, 0, sizeof *info);
    info->name = strdup(NAME);
    info->thread_group = of(t)->gone ? NULL : (jthreadGroup)(void *)&fx;
    called();
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_group(jvmtiEnv *env, jthreadGroup g, jvmtiThreadGroupInfo *info)
{
    (void)env, (void)g;
    memset(info, 0, sizeof *info);
    info->name = strdup("main");
    called();
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL current(jvmtiEnv *env, jthread *t)
{
    (void)env;
    *t = (jthread)(void *)self;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL all_threads(jvmtiEnv *env, jint *n, jthread **to)
{
    (void)env;
    *n = 2;
    *to = malloc(2 * sizeof **to);
    assert_non_null(*to);
    (*to)[0] = (jthread)(void *)&fx.init;
    (*to)[1] = (jthread)(void *)&fx.older;
    called();
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *p)
{
    (void)env;
    free(p);
    return JVMTI_ERROR_NONE;
}

static const jvmtiInterface_1 jvmti_table = {.GetThreadState = get_state,
                                             .GetThreadInfo = get_info,
                                             .GetThreadGroupInfo = get_group,
                                             .GetCurrentThread = current,
                                             .GetAllThreads = all_threads,
                                             .Deallocate = deallocate};

static jvmtiEnv *jvmti(void)
{
    static jvmtiEnv env = &jvmti_table;
    return &env;
}

static jobject JNICALL new_ref(JNIEnv *env, jobject o)
{
    (void)env;
    called();
    return o;
}

static jweak JNICALL new_weak(JNIEnv *env, jobject o)
{
    (void)env;
    called();
    __atomic_fetch_add(&fx.refs, 1, __ATOMIC_RELAXED);
    return o;
}

static void JNICALL delete_weak(JNIEnv *env, jweak o)
{
    (void)env, (void)o;
    called();
    __atomic_fetch_sub(&fx.refs, 1, __ATOMIC_RELAXED);
}

static void JNICALL delete_ref(JNIEnv *env, jobject o)
{
    (void)env, (void)o;
    called();
}

static jboolean JNICALL same(JNIEnv *env, jobject a, jobject b)
{
    (void)env;
    called();
    return a == b;
}

static jboolean JNICALL no_exception(JNIEnv *env)
{
    (void)env;
    return false;
}

static jlong JNICALL get_number(JNIEnv *env, jobject o, jfieldID field)
{
    (void)env, (void)field;
    called();
    return of((jthread)o)->number;
}

/* threadStatus */
static jint JNICALL get_status(JNIEnv *env, jobject o, jfieldID field)
{
    (void)env, (void)field;
    called();
    return of((jthread)o)->gone ? JVMTI_THREAD_STATE_TERMINATED : JVMTI_THREAD_STATE_ALIVE;
}

static jint JNICALL ensure(JNIEnv *env, jint n)
{
    (void)env, (void)n;
    return 0;
}

static void JNICALL clear(JNIEnv *env)
{
    (void)env;
}

static const struct JNINativeInterface_ jni_table = {.NewLocalRef = new_ref,
                                                     .NewWeakGlobalRef = new_weak,
                                                     .DeleteWeakGlobalRef = delete_weak,
                                                     .DeleteLocalRef = delete_ref,
                                                     .IsSameObject = same,
                                                     .GetLongField = get_number,
                                                     .GetIntField = get_status,
                                                     .EnsureLocalCapacity = ensure,
                                                     .ExceptionClear = clear,
                                                     .ExceptionCheck = no_exception};

static JNIEnv *jni(void)
{
    static JNIEnv env = &jni_table;
    return &env;
}

#endif
