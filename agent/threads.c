/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.c: thread states, and the messages about threads. */
#include "threads.h"
#include "handshake.h"
#include "log.h"
#include "sampler.h"
#include "service.h"
#include "tracker.h"
#include "virtual.h"
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS_RING (256u << 10) /* bytes: 16,384 records, some hundreds of microseconds of calls that do not fold */

struct info {
    char *name, *group, *parent; /* JVMTI's; NULL: none; parent: the group's, with format=b */
};

static void forget(jvmtiEnv *jvmti, JNIEnv *env, void *allocated, jobject local)
{
    if (allocated != NULL) {
        (*jvmti)->Deallocate(jvmti, allocated);
    }
    if (local != NULL) {
        (*env)->DeleteLocalRef(env, local);
    }
}

/* thread NULL: the calling one. */
static struct info info_of(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    struct info i = {NULL, NULL, NULL};
    jvmtiThreadInfo t;
    jvmtiThreadGroupInfo g, parent;
    memset(&t, 0, sizeof t);
    memset(&parent, 0, sizeof parent);
    memset(&g, 0, sizeof g);
    if ((*jvmti)->GetThreadInfo(jvmti, thread, &t) == JVMTI_ERROR_NONE) {
        i.name = t.name;
        if (t.thread_group != NULL && (*jvmti)->GetThreadGroupInfo(jvmti, t.thread_group, &g) == JVMTI_ERROR_NONE) {
            i.group = g.name;
            if (hpx_agent.opt.binary && g.parent != NULL && (*jvmti)->GetThreadGroupInfo(jvmti, g.parent, &parent) == JVMTI_ERROR_NONE) {
                i.parent = parent.name;
                forget(jvmti, env, NULL, parent.parent);
            }
            forget(jvmti, env, NULL, g.parent);
        }
        forget(jvmti, env, NULL, t.thread_group);
        forget(jvmti, env, NULL, t.context_class_loader);
    }
    return i;
}

static void find_own_stack(struct hpx_agent_thread *t)
{
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &low, &size);
        pthread_attr_destroy(&attr);
    }
    t->stack_low = (uintptr_t)low;
    t->stack_end = (uintptr_t)low + size;
}

/* On the thread itself. */
static void begin_calls(struct hpx_agent_thread *t)
{
    find_own_stack(t);
    hpx_deep_init(&t->deep, t->stack_low, t->stack_end - t->stack_low);
    if (hpx_tracker_reads_clock()) {
        hpx_cpuclock_enter(&t->cpuclock);
    }
}

static struct hpx_agent_thread *make_one(pid_t tid, uint32_t ring)
{
    struct hpx_agent_thread *t = NULL;
    if (posix_memalign((void **)&t, HPX_CACHE_LINE, sizeof *t) != 0) {
        return NULL;
    }
    memset(t, 0, sizeof *t);
    if (hpx_ring_init(&t->base.ring, ring) != 0) {
        free(t);
        return NULL;
    }
    t->tid = tid;
    t->perf_fd = -1;
    t->slot = -1;
    t->sampling = t->counting = t;
    hpx_calls_init(&t->calls, &hpx_agent.aggregator, &hpx_agent.gate, &t->base);
    return t;
}

static void release(struct hpx_agent_thread *t)
{
    hpx_ring_fini(&t->base.ring);
    free(t);
}

/* The state of the mode, or both. tid 0: it is not known yet. */
static struct hpx_agent_thread *make(pid_t tid)
{
    if (!hpx_agent_calls()) {
        return make_one(tid, hpx_sampler_ring_size());
    }
    struct hpx_agent_thread *t = make_one(tid, CALLS_RING);
    if (t != NULL && hpx_agent_samples()) {
        t->sampling = make_one(tid, hpx_sampler_ring_size());
        if (t->sampling == NULL) {
            release(t);
            return NULL;
        }
        t->sampling->counting = t;
    }
    return t;
}

/* START before the registry: a definition precedes its use. */
static void announce(struct hpx_agent_thread *t, uint64_t key, const struct info *i)
{
    uint32_t name = i->name ? (uint32_t)strlen(i->name) : 0, group = i->group ? (uint32_t)strlen(i->group) : 0;
    uint32_t parent = i->parent ? (uint32_t)strlen(i->parent) : 0;
    struct hpx_msg_thread_start *m = hpx_msg_thread_start_new(name + group + parent + 3);
    if (t == NULL) {
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNSAMPLED, 1);
    }
    if (m == NULL) {
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNTOLD, 1);
    } else {
        m->thread = t ? &t->base : NULL;
        m->other = t != NULL && t->sampling != t ? &t->sampling->base : NULL;
        m->key = key;
        memcpy(m->text, i->name ? i->name : "", name + 1);
        memcpy(m->text + name + 1, i->group ? i->group : "", group + 1);
        memcpy(m->text + name + group + 2, i->parent ? i->parent : "", parent + 1);
        hpx_lane_post(&hpx_agent.aggregator.control, &m->m, false);
    }
    if (t != NULL) {
        hpx_registry_push(&hpx_agent.aggregator.registry, &t->base); /* cleared by make(): the aggregator may be at its START already */
        if (t->sampling != t) {
            hpx_registry_push(&hpx_agent.aggregator.registry, &t->sampling->base);
        }
    }
}

/* While VMInit looks for the threads that were there before, a thread may start and be listed, too: thread-local storage of JVMTI tells who
 * was first. */
static atomic_bool adopting;               /* seq_cst: it is rare, and ordered with nothing else */
static HPX_ALIGNED(16) char without_state; /* its address: told of, but no state could be made */

/* The calling thread's state by that mark; *known: it has a mark. */
static struct hpx_agent_thread *marked(jvmtiEnv *jvmti, bool *known)
{
    void *mark = NULL;
    *known = (*jvmti)->GetThreadLocalStorage(jvmti, NULL, &mark) == JVMTI_ERROR_NONE && mark != NULL;
    return mark == &without_state || hpx_virtual_is_mark(mark) ? NULL : mark;
}

void hpx_threads_begin(jvmtiEnv *jvmti, JNIEnv *env, bool arm)
{
    bool known = false;
    if (hpx_self == NULL && atomic_load(&adopting)) {
        marked(jvmti, &known);
    }
    if (hpx_self != NULL || known) {
        return; /* ours, or one that was adopted */
    }
    pid_t tid = (pid_t)syscall(SYS_gettid);
    struct info i = info_of(jvmti, env, NULL);
    struct hpx_agent_thread *t = make(tid);
    if (atomic_load(&adopting)) {
        (*jvmti)->SetThreadLocalStorage(jvmti, NULL, t != NULL ? (void *)t : (void *)&without_state);
    }
    if (t != NULL) {
        jthread self = NULL;
        t->env = t->sampling->env = env;
        if (hpx_agent_samples()) {
            find_own_stack(t->sampling);
            (*jvmti)->GetCurrentThread(jvmti, &self);
            hpx_handshake_list(env, t->sampling, self);
            forget(jvmti, env, NULL, self);
        }
        if (hpx_agent_calls()) {
            begin_calls(t);
        }
    }
    announce(t, (uint64_t)tid, &i);
    forget(jvmti, env, i.name, NULL);
    forget(jvmti, env, i.group, NULL);
    forget(jvmti, env, i.parent, NULL);
    if (t != NULL) {
        hpx_self = t;
        atomic_signal_fence(memory_order_seq_cst); /* partner: the handler on this thread */
        if (arm) {
            hpx_sampler_arm(t->sampling, false);
        }
    }
}

void hpx_threads_arm_self(void)
{
    if (hpx_self != NULL) {
        hpx_sampler_arm(hpx_self->sampling, false);
    }
}

struct hpx_agent_thread *hpx_threads_scratch(void)
{
    struct hpx_agent_thread *t = make_one((pid_t)syscall(SYS_gettid), CALLS_RING);
    if (t != NULL) {
        hpx_cpuclock_enter(&t->cpuclock);
    }
    return t;
}

void hpx_threads_release_scratch(struct hpx_agent_thread *t)
{
    if (t != NULL) {
        release(t);
    }
}

struct hpx_agent_thread *hpx_threads_find_self(JNIEnv *env)
{
    bool known;
    struct hpx_agent_thread *t = marked(hpx_agent.jvmti, &known);
    if (t == NULL) {
        return NULL;
    }
    t->env = t->sampling->env = env;
    begin_calls(t);
    hpx_self = t;
    if (t->tid == 0) { /* VMInit did not find out which one it is */
        t->tid = t->sampling->tid = (pid_t)syscall(SYS_gettid);
        atomic_signal_fence(memory_order_seq_cst); /* partner: the handler on this thread */
        hpx_sampler_arm(t->sampling, false);
    }
    return t;
}

void hpx_threads_end(jvmtiEnv *jvmti, JNIEnv *env)
{
    bool known;
    struct hpx_agent_thread *t = hpx_self != NULL ? hpx_self : marked(jvmti, &known); /* adopted, and never signalled */
    if (t == &hpx_ours) {
        return;
    }
    pid_t tid = (pid_t)syscall(SYS_gettid);
    if (t != NULL) {
        hpx_sampler_disarm(t->sampling);
        hpx_self = NULL;
        atomic_signal_fence(memory_order_seq_cst); /* a signal that is still on its way finds no state */
        if (hpx_agent_samples()) {
            hpx_handshake_unlist(env, t->sampling);
        }
        hpx_sampler_settle(t->sampling);
        if (hpx_agent_calls()) {
            hpx_calls_flush(&t->calls, hpx_tracker_now(t));
        }
        if (hpx_tracker_reads_clock()) {
            hpx_cpuclock_leave(&t->cpuclock);
        }
    }
    struct hpx_msg_thread_end *m = hpx_msg_new(HPX_MSG_THREAD_END, sizeof *m);
    if (m == NULL) {
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNTOLD, 1);
    } else {
        m->key = (uint64_t)tid;
        hpx_lane_post(&hpx_agent.aggregator.control, &m->m, false);
    }
    if (t != NULL) {
        struct hpx_agent_thread *sampling = t->sampling;
        if (sampling != t) {
            hpx_registry_retire(&sampling->base);
        }
        hpx_registry_retire(&t->base);
    }
}

/* HotSpot gives a thread's name to the kernel in 15 bytes: cut behind, or (JDK 22 on) in the middle with two dots. */
static bool same_name(const char *comm, const char *name)
{
    size_t n = strlen(name);
    char cut[16];
    if (n < sizeof cut) {
        return strcmp(comm, name) == 0;
    }
    snprintf(cut, sizeof cut, "%.7s..%s", name, name + n - 6);
    return strncmp(comm, name, sizeof cut - 1) == 0 || strcmp(comm, cut) == 0;
}

/* The kernel id of the thread of that name; 0 if there is none, -1 if there is more than one. */
static pid_t look_for_name(const char *name)
{
    DIR *dir = opendir("/proc/self/task");
    pid_t found = 0;
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        char path[64], comm[32] = "";
        long tid = strtol(e->d_name, NULL, 10);
        if (tid <= 0) {
            continue;
        }
        snprintf(path, sizeof path, "/proc/self/task/%ld/comm", tid);
        FILE *f = fopen(path, "re");
        if (f != NULL && fgets(comm, sizeof comm, f) != NULL) {
            comm[strcspn(comm, "\n")] = 0;
            if (same_name(comm, name)) {
                found = found ? -1 : (pid_t)tid;
            }
        }
        if (f != NULL) {
            fclose(f);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return found;
}

/* 0: not to be told. A thread gives itself its name a moment after it has begun, later on a busy machine. */
static pid_t tid_by_name(const char *name)
{
    static int patience = 10; /* ms, of VMInit's thread alone */
    pid_t tid = look_for_name(name);
    for (; tid == 0 && patience > 0; patience--) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        tid = look_for_name(name);
    }
    return tid > 0 ? tid : 0;
}

static void adopt(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    static uint64_t unmapped = UINT64_C(1) << 32; /* keys above any kernel id; VMInit's thread alone */
    void *mark = NULL;
    jint state = 0;
    if ((*jvmti)->GetThreadLocalStorage(jvmti, thread, &mark) != JVMTI_ERROR_NONE || mark != NULL) {
        return; /* it has begun by itself, or has ended */
    }
    if ((*jvmti)->GetThreadState(jvmti, thread, &state) != JVMTI_ERROR_NONE || !(state & JVMTI_THREAD_STATE_ALIVE)) {
        return; /* it has ended, or is being attached, may have no name yet, and will begin by itself */
    }
    struct info i = info_of(jvmti, env, thread);
    bool ended = i.group == NULL; /* since we asked for its state */
    if (ended || (i.name != NULL && (strcmp(i.name, HPX_SERVICE_NAME) == 0 || strcmp(i.name, HPX_HANDSHAKE_NAME) == 0))) {
        forget(jvmti, env, i.name, NULL);
        forget(jvmti, env, i.group, NULL);
        forget(jvmti, env, i.parent, NULL);
        return;
    }
    pid_t tid = i.name != NULL ? tid_by_name(i.name) : 0;
    bool mapped = tid > 0 && tid != (pid_t)syscall(SYS_gettid);
    struct hpx_agent_thread *t = mapped || hpx_agent_calls() ? make(mapped ? tid : 0) : NULL;
    (*jvmti)->SetThreadLocalStorage(jvmti, thread, t != NULL ? (void *)t : (void *)&without_state);
    if (t != NULL) {
        t->adopted = t->sampling->adopted = true;
        if (hpx_agent_samples()) {
            hpx_handshake_list(env, t->sampling, thread);
        }
    }
    announce(t, mapped ? (uint64_t)tid : unmapped++, &i);
    if (t != NULL && mapped) {
        hpx_sampler_arm(t->sampling, true);
    }
    forget(jvmti, env, i.name, NULL);
    forget(jvmti, env, i.group, NULL);
    forget(jvmti, env, i.parent, NULL);
}

void hpx_threads_expect_others(void)
{
    atomic_store(&adopting, true);
}

void hpx_threads_adopt_others(jvmtiEnv *jvmti, JNIEnv *env)
{
    jint n = 0;
    jthread *all = NULL, self = NULL;
    (*jvmti)->GetCurrentThread(jvmti, &self);
    if ((*jvmti)->GetAllThreads(jvmti, &n, &all) == JVMTI_ERROR_NONE) {
        (*env)->EnsureLocalCapacity(env, n + 64);
        for (jint i = 0; i < n; i++) {
            if (!(*env)->IsSameObject(env, all[i], self)) {
                adopt(jvmti, env, all[i]);
            }
            (*env)->DeleteLocalRef(env, all[i]);
        }
        (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
    }
    forget(jvmti, env, NULL, self);
    atomic_store(&adopting, false);
}
