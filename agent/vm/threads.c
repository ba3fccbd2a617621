/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.c: thread states, and the messages about threads. */
#include "threads.h"
#include "log.h"
#include "service.h"
#include "thread_refs.h"
#include "vm_mode.h"
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first state of the calling thread's chain; NULL: none; &ours on hprofx's own threads. */
static __thread struct hpx_mode_thread *first_of_self __attribute__((tls_model("initial-exec")));
static struct hpx_mode_thread ours;
/* It is announced: ThreadStart comes again for VMInit's thread, and without states first_of_self does not tell. */
static __thread bool announced __attribute__((tls_model("initial-exec")));

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
            if (hpx_session.opt.binary && g.parent != NULL && (*jvmti)->GetThreadGroupInfo(jvmti, g.parent, &parent) == JVMTI_ERROR_NONE) {
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

static void find_own_stack(uintptr_t *low, uintptr_t *end)
{
    pthread_attr_t attr;
    void *at = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &at, &size);
        pthread_attr_destroy(&attr);
    }
    *low = (uintptr_t)at;
    *end = (uintptr_t)at + size;
}

int hpx_mode_thread_init(struct hpx_mode_thread *s, const struct hpx_mode *mode, uint32_t bytes)
{
    s->base.mode = mode;
    return hpx_ring_init(&s->base.ring, bytes);
}

static void destroy(struct hpx_mode_thread *first)
{
    for (struct hpx_mode_thread *next; first != NULL; first = next) {
        next = first->next;
        hpx_vm_mode_of(first)->destroy(first);
    }
}

/* One state per mode. tid 0: unknown yet. */
static struct hpx_mode_thread *make(pid_t tid)
{
    struct hpx_mode_thread *first = NULL, **end = &first;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        const struct hpx_vm_mode *m = hpx_session.modes[i]->vm;
        if (m->make == NULL) {
            continue;
        }
        *end = m->make();
        if (*end == NULL) {
            destroy(first);
            return NULL;
        }
        (*end)->first = first;
        (*end)->tid = tid;
        end = &(*end)->next;
    }
    return first;
}

/* The calling thread is the owner of these. */
static void set_self(struct hpx_mode_thread *first, JNIEnv *env)
{
    uintptr_t low, end;
    find_own_stack(&low, &end);
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        s->env = env;
        s->stack_low = low;
        s->stack_end = end;
    }
}

static void arm(struct hpx_mode_thread *first)
{
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        if (hpx_vm_mode_of(s)->arm != NULL) {
            hpx_vm_mode_of(s)->arm(s);
        }
    }
}

/* Some mode has states of threads. */
static bool some_states(void)
{
    bool some = false;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        some = some || hpx_session.modes[i]->vm->make != NULL;
    }
    return some;
}

/* Keys of announced threads are kernel ids, or numbers above these. */
#define KEYS_UNMAPPED (UINT64_C(1) << 32)
#define KEYS_VIRTUAL  (UINT64_C(1) << 33)

/* START before the registry: a definition precedes its use. */
static void announce(struct hpx_mode_thread *first, uint64_t key, uint32_t serial, const struct info *i)
{
    uint32_t name = i->name ? (uint32_t)strlen(i->name) : 0, group = i->group ? (uint32_t)strlen(i->group) : 0;
    uint32_t parent = i->parent ? (uint32_t)strlen(i->parent) : 0;
    struct hpx_msg_thread_start *m = hpx_msg_thread_start_new(name + group + parent + 3);
    if (first == NULL && key < KEYS_VIRTUAL && some_states()) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, 1);
    }
    if (m == NULL) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED, 1);
    } else {
        for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
            m->threads[m->nthreads++] = &s->base;
        }
        m->key = key;
        m->serial = serial;
        memcpy(m->text, i->name ? i->name : "", name + 1);
        memcpy(m->text + name + 1, i->group ? i->group : "", group + 1);
        memcpy(m->text + name + group + 2, i->parent ? i->parent : "", parent + 1);
        hpx_lane_post(&hpx_session.aggregator.control, &m->m, false);
    }
    for (struct hpx_mode_thread *s = first, *next; s != NULL; s = next) {
        next = s->next;
        hpx_registry_push(&hpx_session.aggregator.registry, &s->base); /* cleared by make(): the aggregator may be at its START already */
    }
}

/* While VMInit looks for the threads that were there before, a thread may start and be listed, too: thread-local storage of JVMTI tells who
 * was first. */
static atomic_bool adopting;                                 /* seq_cst: it is rare, and ordered with nothing else */
static HPX_ALIGNED(16) char without_state;                   /* its address: announced, but no state could be made */
static pthread_mutex_t claiming = PTHREAD_MUTEX_INITIALIZER; /* the mark is read and set at once */

/* Marks the thread (NULL: the calling one) as announced with these states, while VMInit adopts threads. false: the thread is marked, or has
 * ended; the caller must not announce it. */
static bool claim(jvmtiEnv *jvmti, jthread thread, struct hpx_mode_thread *first)
{
    void *mark = NULL;
    bool adopts = atomic_load(&adopting); /* afterwards nobody else marks a thread, and the start of a thread takes no lock */
    if (adopts) {
        pthread_mutex_lock(&claiming);
    }
    bool unmarked = (*jvmti)->GetThreadLocalStorage(jvmti, thread, &mark) == JVMTI_ERROR_NONE ? mark == NULL : thread == NULL;
    if (unmarked && adopts) {
        (*jvmti)->SetThreadLocalStorage(jvmti, thread, first != NULL ? (void *)first : (void *)&without_state);
    }
    if (adopts) {
        pthread_mutex_unlock(&claiming);
    }
    return unmarked;
}

/* The calling thread's states, found by that mark; *known: it has a mark. */
static struct hpx_mode_thread *marked(jvmtiEnv *jvmti, bool *known)
{
    void *mark = NULL;
    *known = (*jvmti)->GetThreadLocalStorage(jvmti, NULL, &mark) == JVMTI_ERROR_NONE && mark != NULL;
    return mark == &without_state || hpx_threads_is_virtual(mark) ? NULL : mark;
}

JNIEnv *hpx_threads_attach(const char *name)
{
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)(uintptr_t)name, NULL};
    first_of_self = &ours; /* first: the VM runs Java code when a thread attaches or leaves */
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        if (hpx_session.modes[i]->vm->ours != NULL) {
            hpx_session.modes[i]->vm->ours();
        }
    }
    return (*hpx_vm.java)->AttachCurrentThreadAsDaemon(hpx_vm.java, (void **)&env, &args) == JNI_OK ? env : NULL;
}

void hpx_threads_begin(jvmtiEnv *jvmti, JNIEnv *env, bool armed)
{
    bool known = false;
    if (first_of_self == NULL) {
        marked(jvmti, &known);
    }
    if (first_of_self != NULL || announced || known) {
        return; /* a thread of hprofx, an announced or an adopted one */
    }
    pid_t tid = (pid_t)syscall(SYS_gettid);
    struct info i = info_of(jvmti, env, NULL);
    struct hpx_mode_thread *first = make(tid);
    if (!claim(jvmti, NULL, first)) { /* VMInit adopted it meanwhile */
        destroy(first);
        forget(jvmti, env, i.name, NULL);
        forget(jvmti, env, i.group, NULL);
        forget(jvmti, env, i.parent, NULL);
        return;
    }
    uint32_t serial = hpx_thread_refs_serial();
    jthread thread = NULL;
    (void)(*jvmti)->GetCurrentThread(jvmti, &thread);
    if (first != NULL) {
        set_self(first, env);
        for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
            hpx_vm_mode_of(s)->begin(s, env, thread);
        }
    }
    announced = true;
    hpx_thread_refs_add(env, thread, (uint64_t)tid, serial, true);
    forget(jvmti, env, NULL, thread);
    announce(first, (uint64_t)tid, serial, &i);
    forget(jvmti, env, i.name, NULL);
    forget(jvmti, env, i.group, NULL);
    forget(jvmti, env, i.parent, NULL);
    first_of_self = first;
    if (armed) {
        arm(first);
    }
}

void hpx_threads_arm_self(void)
{
    arm(first_of_self);
}

bool hpx_threads_find_self(JNIEnv *env)
{
    bool known;
    struct hpx_mode_thread *first = first_of_self == NULL ? marked(hpx_vm.jvmti, &known) : NULL;
    if (first == NULL) {
        return false;
    }
    bool unknown = first->tid == 0; /* VMInit did not find out which one it is */
    set_self(first, env);
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        s->tid = (pid_t)syscall(SYS_gettid);
        hpx_vm_mode_of(s)->adopted(s);
    }
    first_of_self = first;
    if (unknown) {
        arm(first);
    }
    return true;
}

uint32_t hpx_threads_announce_virtual(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    struct info i = info_of(jvmti, env, thread);
    uint32_t serial = hpx_thread_refs_serial();
    announce(NULL, KEYS_VIRTUAL + serial, serial, &i);
    forget(jvmti, env, i.name, NULL);
    forget(jvmti, env, i.group, NULL);
    forget(jvmti, env, i.parent, NULL);
    return serial;
}

void hpx_threads_end(jvmtiEnv *jvmti, JNIEnv *env)
{
    bool known;
    struct hpx_mode_thread *first = first_of_self != NULL ? first_of_self : marked(jvmti, &known); /* adopted, and never signalled */
    if (first == &ours) {
        return;
    }
    pid_t tid = (pid_t)syscall(SYS_gettid);
    hpx_thread_refs_remove(env, (uint64_t)tid);
    first_of_self = NULL;
    announced = false;
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        hpx_vm_mode_of(s)->disarm(s);
    }
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        hpx_vm_mode_of(s)->end(s, env);
    }
    struct hpx_msg_thread_end *m = hpx_msg_new(HPX_MSG_THREAD_END, sizeof *m);
    if (m == NULL) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED, 1);
    } else {
        m->key = (uint64_t)tid;
        hpx_lane_post(&hpx_session.aggregator.control, &m->m, false);
    }
    for (struct hpx_mode_thread *s = first, *next; s != NULL; s = next) {
        next = s->next;
        hpx_registry_retire(&s->base);
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

/* 0: unknown. A thread sets its name a moment after its start, later on a busy machine. */
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

/* true if a mode's events occur on the thread itself, which then completes its states even if its kernel id is unknown. */
static bool finds_itself(void)
{
    bool some = false;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        some = some || hpx_session.modes[i]->vm->finds_itself;
    }
    return some;
}

static void adopt(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    static uint64_t unmapped = KEYS_UNMAPPED; /* VMInit's thread alone */
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
    if (ended || (i.name != NULL && strncmp(i.name, HPX_OURS, sizeof HPX_OURS - 1) == 0)) {
        forget(jvmti, env, i.name, NULL);
        forget(jvmti, env, i.group, NULL);
        forget(jvmti, env, i.parent, NULL);
        return;
    }
    pid_t tid = i.name != NULL ? tid_by_name(i.name) : 0;
    bool mapped = tid > 0 && tid != (pid_t)syscall(SYS_gettid);
    struct hpx_mode_thread *first = mapped || finds_itself() ? make(mapped ? tid : 0) : NULL;
    if (!claim(jvmti, thread, first)) { /* it began by itself meanwhile */
        destroy(first);
        forget(jvmti, env, i.name, NULL);
        forget(jvmti, env, i.group, NULL);
        forget(jvmti, env, i.parent, NULL);
        return;
    }
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        s->adopted = true;
        if (hpx_vm_mode_of(s)->adopt != NULL) {
            hpx_vm_mode_of(s)->adopt(s, env, thread);
        }
    }
    uint64_t key = mapped ? (uint64_t)tid : unmapped++;
    uint32_t serial = hpx_thread_refs_serial();
    hpx_thread_refs_add(env, thread, key, serial, false);
    announce(first, key, serial, &i);
    if (mapped) {
        arm(first);
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
