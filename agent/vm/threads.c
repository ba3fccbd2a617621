/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.c: thread states, and the messages about threads. */
#include "threads.h"
#include "clock.h"
#include "internals.h"
#include "kept_states.h"
#include "known_threads.h"
#include "log.h"
#include "report.h"
#include "service.h"
#include "thread_by_name.h"
#include "thread_id.h"
#include "thread_info.h"
#include "thread_list.h"
#include "thread_names.h"
#include "vm_mode.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first state of the calling thread's chain; NULL: none; &ours on hprofx's own threads. */
static __thread struct hpx_mode_thread *first_of_self;
static struct hpx_mode_thread ours;
/* The session in which it has found its states, or that it has none, and the one in which it is announced: ThreadStart comes again for
 * VMInit's thread, and without states first_of_self does not tell. */
static __thread uint32_t found_in;
static __thread uint32_t ended_in;
static __thread uint32_t announced_in;
/* Its entry in that session; NULL: its number is unknown. */
static __thread struct hpx_known_thread *known_self;
static __thread uint64_t key_of_self;
static __thread bool begins; /* hpx_threads_begins() */

/* As first_of_self, of this session. */
static struct hpx_mode_thread *first_state(void)
{
    return first_of_self == &ours || hpx_session_is(found_in) ? first_of_self : NULL;
}

static void set_first(struct hpx_mode_thread *first)
{
    first_of_self = first;
    found_in = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
}

bool hpx_threads_stateless(void)
{
    return first_of_self == NULL && hpx_session_is(found_in);
}

bool hpx_threads_left(void)
{
    return first_of_self == &ours || hpx_session_is(ended_in);
}

static void forget(JNIEnv *env, jobject local)
{
    if (local != NULL) {
        (*env)->DeleteLocalRef(env, local);
    }
}

static struct hpx_thread_info info_of(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    return hpx_thread_info_of(jvmti, env, thread, hpx_session.opt->binary);
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

static void destroy(struct hpx_mode_thread *first)
{
    for (struct hpx_mode_thread *next; first != NULL; first = next) {
        next = first->next;
        hpx_kept_states_drop(first);
    }
}

/* One state per mode. tid 0: unknown yet. */
static struct hpx_mode_thread *make(pid_t tid)
{
    struct hpx_mode_thread *first = NULL, **end = &first;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        const struct hpx_mode *m = hpx_session.modes[i];
        if (m->vm->state_bytes == 0) {
            continue;
        }
        *end = hpx_kept_states_make(m, hpx_kept_states_take(m, tid));
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
        s->session = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
        __atomic_store_n(&s->env, env, __ATOMIC_RELAXED); /* partner: walk() of watched.c, on another thread */
        __atomic_store_n(&s->stack_low, low, __ATOMIC_RELAXED);
        __atomic_store_n(&s->stack_end, end, __ATOMIC_RELAXED);
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
        some = some || hpx_session.modes[i]->vm->state_bytes > 0;
    }
    return some;
}

static bool some_lists(void)
{
    bool some = false;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        some = some || hpx_session.modes[i]->vm->lists;
    }
    return some;
}

/* It is announced. first: NULL: it has no states. */
static void came(struct hpx_mode_thread *first, uint32_t serial, JNIEnv *env, jthread thread)
{
    if (first != NULL) {
        first->serial = serial;
        if (some_lists()) {
            hpx_thread_list_add(first, env, thread);
        }
        HPX_EACH_MODE(vm->came, (first, env, thread));
    }
}

static void went(struct hpx_mode_thread *first, JNIEnv *env)
{
    if (first != NULL) {
        HPX_EACH_MODE(vm->went, (first));
        hpx_thread_list_remove(first, env);
    }
}

/* The key of an announced thread is its number (known_threads.h). If java.lang.Thread has no field tid, numbers are unknown, and the key is
 * this plus the serial. */
#define KEYS_UNNUMBERED (UINT64_C(1) << 63)

/* Thread.getId(), which does not change once a thread is alive. 0: unknown. */
static uint64_t number_of(JNIEnv *env, jthread thread)
{
    bool known = hpx_vm_fields.tid != NULL && thread != NULL;
    return known ? (uint64_t)(*env)->GetLongField(env, thread, hpx_vm_fields.tid) : 0;
}

/* 0 also while an exception is pending: a probe may be the caller. */
static uint64_t number_of_self(jvmtiEnv *jvmti, JNIEnv *env)
{
    jthread thread = NULL;
    if ((*env)->ExceptionCheck(env)) {
        return 0;
    }
    (void)(*jvmti)->GetCurrentThread(jvmti, &thread);
    uint64_t number = number_of(env, thread);
    forget(env, thread);
    return number;
}

static uint64_t key_of(uint64_t number, uint32_t serial)
{
    return number != 0 ? number : KEYS_UNNUMBERED + serial;
}

static void register_states(struct hpx_mode_thread *first)
{
    for (struct hpx_mode_thread *s = first, *next; s != NULL; s = next) {
        next = s->next;
        hpx_registry_push(&hpx_session.aggregator.registry, &s->base); /* cleared by make(): the aggregator may be at its START already */
    }
}

static void retire_states(struct hpx_mode_thread *first)
{
    for (struct hpx_mode_thread *s = first, *next; s != NULL; s = next) {
        next = s->next;
        hpx_registry_retire(&s->base);
    }
}

/* START before the registry: a definition precedes its use. false: no memory, which is counted; nothing may name the serial. */
static bool announce(struct hpx_mode_thread *first, uint64_t key, uint32_t serial, const struct hpx_thread_info *i)
{
    uint32_t name = i->name ? (uint32_t)strlen(i->name) : 0, group = i->group ? (uint32_t)strlen(i->group) : 0;
    uint32_t parent = i->parent ? (uint32_t)strlen(i->parent) : 0;
    struct hpx_msg_thread_start *m = hpx_msg_thread_start_new(name + group + parent + 3);
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
    register_states(first);
    return m != NULL;
}

JNIEnv *hpx_threads_attach(const char *name)
{
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)(uintptr_t)name, NULL};
    first_of_self = &ours; /* first: the VM runs Java code when a thread attaches or leaves. No mode finds a state of such a thread */
    return (*hpx_vm.java)->AttachCurrentThreadAsDaemon(hpx_vm.java, (void **)&env, &args) == JNI_OK ? env : NULL;
}

static void count_unknown(void)
{
    hpx_count(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED, 1);
    if (some_states()) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, 1);
    }
}

/* States of the calling thread, complete but for their clocks. NULL: no memory, or no mode has any. */
static struct hpx_mode_thread *make_self(JNIEnv *env, jthread thread)
{
    struct hpx_mode_thread *first = make((pid_t)syscall(SYS_gettid));
    if (first != NULL) {
        set_self(first, env);
        for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
            hpx_vm_mode_of(s)->begin(s, env, thread);
        }
    }
    return first;
}

/* known: NULL: its number is unknown. */
static void begin(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, struct hpx_known_thread *known, bool armed)
{
    struct hpx_thread_info i = info_of(jvmti, env, thread);
    struct hpx_mode_thread *first = make_self(env, thread);
    uint32_t serial = hpx_known_threads_serial();
    hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, first == NULL && some_states());
    announced_in = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
    known_self = known;
    key_of_self = key_of(known != NULL ? known->number : 0, serial);
    if (announce(first, key_of_self, serial, &i) && known != NULL) { /* first: an image that lists the thread is written behind its START */
        hpx_known_threads_announced(known, env, thread, serial, hpx_thread_names_hash(i.name), false);
    }
    hpx_thread_info_free(jvmti, &i);
    came(first, serial, env, thread);
    set_first(first);
    if (armed) {
        arm(first);
    }
}

/* The thread of hprofx that begins the session has states, but nobody hears of it: it is none of the program's. */
static void begin_unnamed(JNIEnv *env, jthread thread)
{
    struct hpx_mode_thread *first = make_self(env, thread);
    register_states(first);
    set_first(first);
}

static void begin_named(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, bool armed)
{
    uint64_t number = number_of(env, thread);
    bool mine = number == 0; /* VMInit adopts none without a number */
    ended_in = 0;
    struct hpx_known_thread *known = mine ? NULL : hpx_known_threads_enter(number, HPX_KNOWN_BEGUN, 0, &mine);
    if (mine) {
        begin(jvmti, env, thread, known, armed);
    } else if (known == NULL) {
        count_unknown();
    }
}

void hpx_threads_begin(jvmtiEnv *jvmti, JNIEnv *env, bool armed)
{
    jthread thread = NULL;
    if (first_state() != NULL || hpx_session_is(announced_in) || (begins && armed)) {
        return; /* a thread of hprofx, also one that came to begin another session; an announced one, or an adopted one that found itself */
    }
    (void)(*jvmti)->GetCurrentThread(jvmti, &thread);
    if (begins) {
        begin_unnamed(env, thread);
    } else {
        begin_named(jvmti, env, thread, armed);
    }
    forget(env, thread);
}

void hpx_threads_arm_self(void)
{
    arm(first_state());
}

/* Until the caller leaves the gate the environment and the entries of adopted threads are there. */
bool hpx_threads_find_self_inside(JNIEnv *env)
{
    if (first_state() != NULL || hpx_threads_stateless()) {
        return false;
    }
    pid_t tid = (pid_t)syscall(SYS_gettid);
    const struct hpx_known_thread *k = hpx_known_threads_of_tid(tid);
    if (k == NULL && hpx_known_threads_of_tid(0) != NULL) {
        k = hpx_known_threads_without_tid(number_of_self(hpx_vm.jvmti, env));
    }
    if (k == NULL) {
        return false;
    }
    struct hpx_mode_thread *first = k->first;
    bool unknown = first != NULL && first->tid == 0; /* VMInit did not find out which one it is */
    set_self(first, env);
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        __atomic_store_n(&s->tid, tid, __ATOMIC_RELAXED); /* partner: pass() of watched.c, on another thread */
        hpx_vm_mode_of(s)->adopted(s);
        if (unknown) {
            hpx_kept_states_replaced(s->base.mode, tid);
        }
    }
    set_first(first);
    if (unknown) {
        arm(first);
    }
    return first != NULL;
}

bool hpx_threads_find_self(JNIEnv *env)
{
    bool found = hpx_gate_enter(&hpx_session.gate);
    if (found) {
        found = hpx_threads_find_self_inside(env);
        hpx_gate_leave(&hpx_session.gate);
    }
    return found;
}

uint32_t hpx_threads_announce_virtual(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    struct hpx_thread_info i = info_of(jvmti, env, thread);
    uint32_t serial = hpx_known_threads_serial();
    uint64_t number = number_of(env, thread);
    bool mine = false;
    struct hpx_known_thread *k = number != 0 ? hpx_known_threads_enter(number, HPX_KNOWN_BEGUN, 0, &mine) : NULL;
    if (announce(NULL, key_of(mine ? number : 0, serial), serial, &i) && mine) {
        hpx_known_threads_announced(k, env, thread, serial, hpx_thread_names_hash(i.name), true);
    }
    hpx_thread_info_free(jvmti, &i);
    return serial;
}

static void post_end(struct hpx_mode_thread *first, uint64_t key)
{
    struct hpx_msg_thread_end *m = hpx_msg_new(HPX_MSG_THREAD_END, sizeof *m);
    if (m == NULL) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED, 1);
    } else {
        m->key = key;
        hpx_lane_post(&hpx_session.aggregator.control, &m->m, false);
    }
    retire_states(first);
}

/* The calling thread has not begun by itself and ends: as what it was adopted. NULL: it was not and never will be, or VMInit ends it. */
static struct hpx_known_thread *end_adopted(jvmtiEnv *jvmti, JNIEnv *env)
{
    bool mine = false;
    uint64_t number = number_of_self(jvmti, env);
    struct hpx_known_thread *k = number != 0 ? hpx_known_threads_enter(number, HPX_KNOWN_BEGUN, 0, &mine) : NULL;
    if (k == NULL && number != 0) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED, 1); /* if VMInit adopts it, it never ends */
    } else if (mine) {
        hpx_known_threads_end(k, env);
        k = NULL;
    }
    /* partner: publish() */
    bool adopted = k != NULL && atomic_exchange_explicit(&k->stage, HPX_KNOWN_ENDED, memory_order_acq_rel) == HPX_KNOWN_ADOPTED;
    return adopted ? k : NULL;
}

/* Whatever the thread still does in this session is not counted, and its handler looks for no state. */
static void note_end(void)
{
    first_of_self = NULL;
    announced_in = found_in = 0;
    ended_in = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* before its pointers go; partner: hpx_threads_left() of the handler */
}

/* Clocks stop, and nothing finds the states any more. */
static void end_states(struct hpx_mode_thread *first, JNIEnv *env)
{
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        if (hpx_vm_mode_of(s)->disarm != NULL) {
            hpx_vm_mode_of(s)->disarm(s);
        }
    }
    HPX_EACH_MODE(vm->ended, ());
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        if (hpx_vm_mode_of(s)->end != NULL) {
            hpx_vm_mode_of(s)->end(s, env);
        }
    }
}

void hpx_threads_end(jvmtiEnv *jvmti, JNIEnv *env)
{
    struct hpx_mode_thread *first = first_state();
    struct hpx_known_thread *known = known_self;
    uint64_t key = key_of_self;
    if (first == &ours || begins) {
        return;
    }
    if (!hpx_session_is(announced_in)) {
        known = end_adopted(jvmti, env);
        if (known == NULL) {
            note_end();
            HPX_EACH_MODE(vm->ended, ()); /* a handler may have found them nevertheless */
            return;
        }
        first = known->first;
        key = known->number;
    }
    if (known != NULL) {
        hpx_thread_names_end(jvmti, env, key);
        hpx_known_threads_end(known, env);
    }
    went(first, env);
    note_end();
    end_states(first, env);
    post_end(first, key);
}

void hpx_threads_begins(void)
{
    begins = true;
}

bool hpx_threads_leave(JNIEnv *env)
{
    if (begins) {
        struct hpx_mode_thread *first = first_state();
        first_of_self = &ours;
        end_states(first, env);
        retire_states(first);
    }
    return begins;
}

/* 0: unknown. *sure: the VM has told it, and no name that two threads may have. */
static pid_t tid_of(JNIEnv *env, jthread thread, const char *name, struct hpx_stack_bounds *stack, bool *sure)
{
    pid_t tid = hpx_thread_id_of(env, thread, stack);
    *sure = tid > 0;
    tid = tid >= 0 ? tid : name != NULL ? hpx_thread_by_name(name) : 0;
    return tid != (pid_t)syscall(SYS_gettid) ? tid : 0;
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

/* Where the VM does not tell, the kernel does, unless its id is unknown. */
static bool still_lives(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, const struct hpx_known_thread *k)
{
    jint state = hpx_thread_info_state(jvmti, env, thread);
    pid_t tid = k->first != NULL ? k->first->tid : k->tid;
    return state == HPX_STATE_UNTOLD ? tid <= 0 || hpx_clock_tid_cpu(tid) != 0 : state != 0;
}

/* From now on the thread finds its states and ends by itself. false: it has ended meanwhile. */
static bool publish(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, struct hpx_known_thread *k)
{
    int stage = HPX_KNOWN_ADOPTING;
    bool lives = still_lives(jvmti, env, thread, k);
    /* partners: hpx_threads_find_self(), end_adopted() */
    return atomic_compare_exchange_strong_explicit(&k->stage, &stage, lives ? HPX_KNOWN_ADOPTED : HPX_KNOWN_ENDED, memory_order_acq_rel,
                                                   memory_order_acquire) &&
           lives;
}

/* Announces the end of a thread that will not do it. A state whose handler is inside stays, as that of a thread that lives. */
static void abandon(JNIEnv *env, struct hpx_known_thread *k)
{
    bool left = true;
    went(k->first, env);
    for (struct hpx_mode_thread *s = k->first; s != NULL; s = s->next) {
        left = (hpx_vm_mode_of(s)->abandon == NULL || hpx_vm_mode_of(s)->abandon(s)) && left;
    }
    hpx_known_threads_end(k, env);
    post_end(left ? k->first : NULL, k->number);
}

/* The thread is VMInit's until it is published, last: its clock may run before, but only on states that are complete. */
static void complete(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, struct hpx_known_thread *k, const struct hpx_thread_info *i)
{
    for (struct hpx_mode_thread *s = k->first; s != NULL; s = s->next) {
        s->adopted = true;
        if (hpx_vm_mode_of(s)->adopt != NULL) {
            hpx_vm_mode_of(s)->adopt(s);
        }
    }
    uint32_t serial = hpx_known_threads_serial();
    if (announce(k->first, k->number, serial, i)) { /* first, as in begin() */
        hpx_known_threads_announced(k, env, thread, serial, hpx_thread_names_hash(i->name), false);
    }
    came(k->first, serial, env, thread);
    if (k->first != NULL && k->first->tid > 0) {
        arm(k->first);
    }
    if (!publish(jvmti, env, thread, k)) {
        abandon(env, k);
    }
}

/* NULL: the thread has begun or ended by itself meanwhile, or it cannot be adopted, which is counted. */
static struct hpx_known_thread *claim(uint64_t number, pid_t tid, bool sure)
{
    bool mine = false;
    struct hpx_known_thread *k = number != 0 ? hpx_known_threads_enter(number, HPX_KNOWN_ADOPTING, sure ? tid : 0, &mine) : NULL;
    if (k == NULL) {
        count_unknown();
    } else if (mine) {
        k->first = tid > 0 || finds_itself() ? make(tid) : NULL; /* read by others from stage ADOPTED on */
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, k->first == NULL && some_states());
    }
    return mine ? k : NULL;
}

/* Its name is known, and it is none of hprofx. */
static void adopt_known(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, const struct hpx_thread_info *i)
{
    struct hpx_stack_bounds stack;
    bool sure;
    pid_t tid = tid_of(env, thread, i->name, &stack, &sure);
    struct hpx_known_thread *k = claim(number_of(env, thread), tid, sure);
    if (k != NULL) {
        for (struct hpx_mode_thread *s = k->first; s != NULL; s = s->next) { /* its handler may come before it finds its states */
            s->stack_low = stack.low;
            s->stack_end = stack.end;
        }
        complete(jvmti, env, thread, k, i);
    }
}

static void adopt(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    jint state = hpx_thread_info_state(jvmti, env, thread);
    if (state == 0) {
        return; /* it has ended, or is being attached, may have no name yet, and will begin by itself */
    }
    struct hpx_thread_info i = info_of(jvmti, env, thread);
    if (state == HPX_STATE_UNTOLD || i.untold) {
        count_unknown();
    } else if (i.lives && (i.name == NULL || strncmp(i.name, HPX_OURS, sizeof HPX_OURS - 1) != 0)) { /* it may have ended since */
        adopt_known(jvmti, env, thread, &i);
    }
    hpx_thread_info_free(jvmti, &i);
}

void hpx_threads_lines(struct hpx_lines *to)
{
    const char *off = hpx_internals_without(HPX_INTERNALS_IDS);
    if (off != NULL) {
        hpx_lines_add(to, "hprofx: thread ids: by name, %s\n", off);
    }
}

void hpx_threads_expect_others(void)
{
    hpx_known_threads_adopting(true);
}

void hpx_threads_adopt_others(jvmtiEnv *jvmti, JNIEnv *env)
{
    jint n = 0;
    jthread *all = NULL, self = NULL;
    (*jvmti)->GetCurrentThread(jvmti, &self);
    hpx_thread_id_init(env, self);
    if ((*jvmti)->GetAllThreads(jvmti, &n, &all) != JVMTI_ERROR_NONE) {
        hpx_warn("%s: the VM does not list its threads, perhaps for lack of memory; those that run are left out", hpx_session_modes());
        count_unknown();
    } else {
        (*env)->EnsureLocalCapacity(env, n + 64);
        for (jint i = 0; i < n; i++) {
            if (!(*env)->IsSameObject(env, all[i], self)) {
                adopt(jvmti, env, all[i]);
            }
            (*env)->DeleteLocalRef(env, all[i]);
        }
        (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
    }
    forget(env, self);
    hpx_known_threads_adopting(false);
}
