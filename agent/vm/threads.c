/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.c: thread states, and the messages about threads. */
#include "threads.h"
#include "claims.h"
#include "kept_states.h"
#include "log.h"
#include "report.h"
#include "service.h"
#include "thread_by_name.h"
#include "thread_id.h"
#include "thread_info.h"
#include "thread_names.h"
#include "thread_refs.h"
#include "vm_mode.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first state of the calling thread's chain; NULL: none; &ours on hprofx's own threads. */
static __thread struct hpx_mode_thread *first_of_self __attribute__((tls_model("initial-exec")));
static struct hpx_mode_thread ours;
/* The session in which it has found its states, or that it has none, and the one in which it is announced: ThreadStart comes again for
 * VMInit's thread, and without states first_of_self does not tell. */
static __thread uint32_t found_in __attribute__((tls_model("initial-exec")));
static __thread uint32_t ended_in __attribute__((tls_model("initial-exec")));
static __thread uint32_t announced_in __attribute__((tls_model("initial-exec")));
static __thread bool begins __attribute__((tls_model("initial-exec"))); /* hpx_threads_begins() */

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
        some = some || hpx_session.modes[i]->vm->state_bytes > 0;
    }
    return some;
}

/* Keys of announced threads are kernel ids, or numbers above these. An adopted thread has no kernel id for a key: it may end, and its
 * native thread attach again, while VMInit still deals with it. */
#define KEYS_ADOPTED (UINT64_C(1) << 32)
#define KEYS_VIRTUAL (UINT64_C(1) << 33)

/* START before the registry: a definition precedes its use. false: no memory, which is counted; nothing may name the serial. */
static bool announce(struct hpx_mode_thread *first, uint64_t key, uint32_t serial, const struct hpx_thread_info *i)
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
    return m != NULL;
}

/* A thread that VMInit adopts; for ever, as its states. It is found by its kernel id and number; if one of them is not known, JVMTI's
 * thread-local storage leads to it, where setting it walks all threads of the JVM from JDK 21 on. */
struct adoptee {
    uint64_t key;                  /* of its START and END */
    uint64_t number;               /* number_of(); 0: unknown */
    uint32_t ref;                  /* its place in thread_refs.h */
    pid_t tid;                     /* 0: unknown, or only by its name */
    struct hpx_mode_thread *first; /* NULL: no states */
    struct adoptee *next;          /* of adoptees */
    /* release: VMInit, when everything above and the states are complete and announced; acquire: the thread. If the thread ends before,
     * VMInit ends it, too: what each of the two finds here decides. */
    _Atomic int stage;
};
enum { ADOPTING, ADOPTED, ENDED };
/* All: the VM's storage of a thread goes with the thread, a checker of leaks does not look there, and while a virtual thread is mounted its
 * storage hides the carrier's. VMInit's thread adds to it. */
#define ADOPTEE_LISTS 1024u
/* By kernel id. release: claim(); acquire: adoptee_of_tid(). Their `next` does not change. */
static HPX_OF_SESSION _Atomic(struct adoptee *) adoptees[ADOPTEE_LISTS];

/* While VMInit looks for the threads that were there before, a thread may start or end and be listed, too. The value of a claim: VMInit's
 * adoptee; 0: the thread itself. */
static struct hpx_claims claims = HPX_CLAIMS_INIT;
static HPX_OF_SESSION atomic_bool adopting; /* seq_cst: it is rare. VMInit is inside the claims meanwhile */

/* That of JVMTI's storage, also if it is not complete; NULL: none. */
static struct adoptee *stored_adoptee(jvmtiEnv *jvmti)
{
    void *mark = NULL;
    return (*jvmti)->GetThreadLocalStorage(jvmti, NULL, &mark) == JVMTI_ERROR_NONE && !hpx_threads_is_virtual(mark) ? mark : NULL;
}

/* A complete one, of the calling thread. */
static struct adoptee *adoptee_of_tid(pid_t tid)
{
    struct adoptee *a = atomic_load_explicit(&adoptees[(uint32_t)tid % ADOPTEE_LISTS], memory_order_acquire);  /* partner: claim() */
    while (a != NULL && (a->tid != tid || atomic_load_explicit(&a->stage, memory_order_acquire) != ADOPTED)) { /* partner: publish() */
        a = a->next;
    }
    return a;
}

/* Thread.getId(), which does not change once a thread is alive. */
static uint64_t number_of(JNIEnv *env, jthread thread)
{
    bool known = hpx_vm_fields.tid != NULL && thread != NULL;
    return known ? (uint64_t)(*env)->GetLongField(env, thread, hpx_vm_fields.tid) : 0;
}

static bool is_found_by_number(const struct adoptee *a)
{
    return a->tid > 0 && a->number != 0;
}

/* The adoptee of the calling thread, also if it is not complete; NULL: none. A kernel id alone may have been another thread's. */
static struct adoptee *adoptee_of_self(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    uint64_t number = number_of(env, thread);
    struct adoptee *a = atomic_load_explicit(&adoptees[(uint32_t)tid % ADOPTEE_LISTS], memory_order_acquire); /* partner: claim() */
    while (a != NULL && (a->tid != tid || a->number != number || number == 0)) {
        a = a->next;
    }
    return a != NULL ? a : stored_adoptee(jvmti);
}

/* After this either VMInit has the calling thread, as *by, or (NULL) never adopts it. false: no memory to find that out, and *by is what is
 * published. */
static bool claim_self(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, struct adoptee **by)
{
    bool claimed = false;
    *by = adoptee_of_self(jvmti, env, thread);
    if (atomic_load(&adopting)) {
        const struct hpx_claim *claim = hpx_claims_add(&claims, env, thread, number_of(env, thread), 0);
        if (claim == NULL) {
            return false;
        }
        *by = (struct adoptee *)(void *)atomic_load_explicit(&claim->value, memory_order_relaxed); /* the claims' lock orders it */
        claimed = atomic_load(&adopting); /* else VMInit may have left, and its claims may be gone */
        hpx_claims_leave(&claims, env);
    }
    *by = claimed ? *by : adoptee_of_self(jvmti, env, thread); /* published meanwhile */
    return true;
}

JNIEnv *hpx_threads_attach(const char *name)
{
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)(uintptr_t)name, NULL};
    first_of_self = &ours; /* first: the VM runs Java code when a thread attaches or leaves */
    HPX_EACH_MODE(vm->ours, ());
    return (*hpx_vm.java)->AttachCurrentThreadAsDaemon(hpx_vm.java, (void **)&env, &args) == JNI_OK ? env : NULL;
}

static void count_unknown(void)
{
    hpx_count(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED, 1);
    if (some_states()) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, 1);
    }
}

static void begin(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, bool armed)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    struct hpx_thread_info i = info_of(jvmti, env, thread);
    struct hpx_mode_thread *first = make(tid);
    uint32_t serial = hpx_thread_refs_serial();
    if (first != NULL) {
        set_self(first, env);
        for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
            hpx_vm_mode_of(s)->begin(s, env, thread);
        }
    }
    announced_in = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
    ended_in = 0;
    if (announce(first, (uint64_t)tid, serial, &i)) { /* first: an image that lists the thread is written behind its START */
        const struct hpx_thread_ref of = {.serial = serial, .key = (uint64_t)tid, .name = hpx_thread_names_hash(i.name)};
        (void)hpx_thread_refs_add(env, thread, &of, true);
    }
    hpx_thread_info_free(jvmti, &i);
    hpx_vm_modes_came(first, serial, env, thread);
    set_first(first);
    if (armed) {
        arm(first);
    }
}

void hpx_threads_begin(jvmtiEnv *jvmti, JNIEnv *env, bool armed)
{
    struct adoptee *by;
    jthread thread = NULL;
    if (first_state() != NULL || hpx_session_is(announced_in)) {
        return; /* a thread of hprofx, an announced one, or an adopted one that found itself */
    }
    (void)(*jvmti)->GetCurrentThread(jvmti, &thread);
    if (!claim_self(jvmti, env, thread, &by)) {
        count_unknown();
    } else if (by == NULL) {
        begin(jvmti, env, thread, armed);
    }
    forget(env, thread);
}

void hpx_threads_arm_self(void)
{
    arm(first_state());
}

/* Inside the gate: until the end of the session the environment and the adoptees are there. */
static bool find_self(JNIEnv *env)
{
    if (first_state() != NULL) {
        return false;
    }
    struct adoptee *a = adoptee_of_tid((pid_t)syscall(SYS_gettid));
    a = a != NULL ? a : stored_adoptee(hpx_vm.jvmti);
    if (a == NULL || atomic_load_explicit(&a->stage, memory_order_acquire) != ADOPTED) { /* partner: publish() */
        return false;
    }
    struct hpx_mode_thread *first = a->first;
    bool unknown = first != NULL && first->tid == 0; /* VMInit did not find out which one it is */
    set_self(first, env);
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        s->tid = (pid_t)syscall(SYS_gettid);
        hpx_vm_mode_of(s)->adopted(s);
        if (unknown) {
            hpx_kept_states_replaced(s->base.mode, s->tid);
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
    bool found = !hpx_threads_stateless() && hpx_gate_enter(&hpx_session.gate);
    if (found) {
        found = find_self(env);
        hpx_gate_leave(&hpx_session.gate);
    }
    return found;
}

uint32_t hpx_threads_announce_virtual(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    struct hpx_thread_info i = info_of(jvmti, env, thread);
    uint32_t serial = hpx_thread_refs_serial();
    if (announce(NULL, KEYS_VIRTUAL + serial, serial, &i)) {
        const struct hpx_thread_ref of = {
            .serial = serial, .key = KEYS_VIRTUAL + serial, .name = hpx_thread_names_hash(i.name), .is_virtual = true};
        (void)hpx_thread_refs_add(env, thread, &of, false);
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
    for (struct hpx_mode_thread *s = first, *next; s != NULL; s = next) {
        next = s->next;
        hpx_registry_retire(&s->base);
    }
}

/* The calling thread has not begun by itself and ends: the adoptee as which it was announced. NULL: it was not, or VMInit ends it. */
static struct adoptee *end_adopted(jvmtiEnv *jvmti, JNIEnv *env)
{
    struct adoptee *by;
    jthread thread = NULL;
    (void)(*jvmti)->GetCurrentThread(jvmti, &thread);
    if (!claim_self(jvmti, env, thread, &by) && by == NULL) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED, 1); /* if VMInit adopts it, it never ends */
    }
    forget(env, thread);
    /* partner: publish() */
    return by != NULL && atomic_exchange_explicit(&by->stage, ENDED, memory_order_acq_rel) == ADOPTED ? by : NULL;
}

void hpx_threads_end(jvmtiEnv *jvmti, JNIEnv *env)
{
    struct hpx_mode_thread *first = first_state();
    uint64_t key = (uint64_t)syscall(SYS_gettid);
    uint32_t place = 0;
    if (first == &ours) {
        return;
    }
    if (!hpx_session_is(announced_in)) {
        const struct adoptee *a = end_adopted(jvmti, env);
        if (a == NULL) {
            return;
        }
        first = a->first;
        key = a->key;
        place = a->ref;
    }
    hpx_thread_names_end(jvmti, env, place);
    hpx_thread_refs_remove(env, place);
    hpx_vm_modes_went(first, env);
    first_of_self = NULL;
    announced_in = found_in = 0;
    ended_in = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        hpx_vm_mode_of(s)->disarm(s);
    }
    for (struct hpx_mode_thread *s = first; s != NULL; s = s->next) {
        if (hpx_vm_mode_of(s)->end != NULL) {
            hpx_vm_mode_of(s)->end(s, env);
        }
    }
    post_end(first, key);
}

void hpx_threads_begins(void)
{
    begins = true;
}

bool hpx_threads_leave(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (begins) {
        hpx_threads_end(jvmti, env);
        first_of_self = &ours;
        HPX_EACH_MODE(vm->ours, ());
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

/* From now on the thread finds its states and ends by itself. false: it has ended meanwhile, or could never find them, which is counted. */
static bool publish(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, struct adoptee *a)
{
    int stage = ADOPTING;
    jvmtiError e = !is_found_by_number(a)                           ? (*jvmti)->SetThreadLocalStorage(jvmti, thread, a)
                   : hpx_thread_info_state(jvmti, env, thread) != 0 ? JVMTI_ERROR_NONE
                                                                    : JVMTI_ERROR_THREAD_NOT_ALIVE;
    bool stored = e == JVMTI_ERROR_NONE;
    if (!stored && e != JVMTI_ERROR_THREAD_NOT_ALIVE) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, a->first != NULL);
    }
    /* partners: hpx_threads_find_self(), end_adopted() */
    return atomic_compare_exchange_strong_explicit(&a->stage, &stage, stored ? ADOPTED : ENDED, memory_order_acq_rel,
                                                   memory_order_acquire) &&
           stored;
}

/* Announces the end of a thread that will not do it. A state whose handler is inside stays, as that of a thread that lives. */
static void abandon(JNIEnv *env, const struct adoptee *a)
{
    bool left = true;
    hpx_vm_modes_went(a->first, env);
    for (struct hpx_mode_thread *s = a->first; s != NULL; s = s->next) {
        left = (hpx_vm_mode_of(s)->abandon == NULL || hpx_vm_mode_of(s)->abandon(s, env)) && left;
    }
    if (a->ref != 0) {
        hpx_thread_refs_remove(env, a->ref);
    }
    post_end(left ? a->first : NULL, a->key);
}

/* The thread is VMInit's until it is published, last: its clock may run before, but only on states that are complete. */
static void complete(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, struct adoptee *a, const struct hpx_thread_info *i)
{
    for (struct hpx_mode_thread *s = a->first; s != NULL; s = s->next) {
        s->adopted = true;
        if (hpx_vm_mode_of(s)->adopt != NULL) {
            hpx_vm_mode_of(s)->adopt(s, env, thread);
        }
    }
    uint32_t serial = hpx_thread_refs_serial();
    if (announce(a->first, a->key, serial, i)) { /* first, as in begin() */
        const struct hpx_thread_ref of = {.serial = serial, .key = a->key, .name = hpx_thread_names_hash(i->name)};
        a->ref = hpx_thread_refs_add(env, thread, &of, false);
    }
    hpx_vm_modes_came(a->first, serial, env, thread);
    if (a->first != NULL && a->first->tid > 0) {
        arm(a->first);
    }
    if (!publish(jvmti, env, thread, a)) {
        abandon(env, a);
    }
}

/* NULL: no memory, which is counted, or the thread has begun or ended by itself meanwhile. */
static struct adoptee *claim(JNIEnv *env, jthread thread, pid_t tid, bool sure)
{
    static HPX_OF_SESSION uint64_t adopted; /* VMInit's thread alone */
    struct adoptee *a = malloc(sizeof *a);
    const struct hpx_claim *oldest = NULL;
    bool mine = false;
    if (a != NULL) {
        *a = (struct adoptee){.key = KEYS_ADOPTED + adopted++, .number = number_of(env, thread), .tid = sure ? tid : 0};
        oldest = hpx_claims_add(&claims, env, thread, a->number, (uintptr_t)a);
    }
    if (oldest == NULL) {
        count_unknown();
    } else {
        mine = atomic_load_explicit(&oldest->value, memory_order_relaxed) == (uintptr_t)a;
        hpx_claims_leave(&claims, env);
    }
    if (!mine && a != NULL) {
        free(a); /* nobody follows a claim that is not the oldest */
        a = NULL;
    }
    if (a != NULL) {
        a->first = tid > 0 || finds_itself() ? make(tid) : NULL; /* read by others from stage ADOPTED on */
        _Atomic(struct adoptee *) *list = &adoptees[(uint32_t)a->tid % ADOPTEE_LISTS];
        a->next = atomic_load_explicit(list, memory_order_relaxed);
        atomic_store_explicit(list, a, memory_order_release); /* partner: adoptee_of_tid() */
    }
    return a;
}

static void adopt(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    if (hpx_thread_info_state(jvmti, env, thread) == 0) {
        return; /* it has ended, or is being attached, may have no name yet, and will begin by itself */
    }
    struct hpx_thread_info i = info_of(jvmti, env, thread);
    bool ended = !i.lives; /* since we asked for its state */
    if (!ended && (i.name == NULL || strncmp(i.name, HPX_OURS, sizeof HPX_OURS - 1) != 0)) {
        struct hpx_stack_bounds stack;
        bool sure;
        pid_t tid = tid_of(env, thread, i.name, &stack, &sure);
        struct adoptee *a = claim(env, thread, tid, sure);
        if (a != NULL) {
            for (struct hpx_mode_thread *s = a->first; s != NULL; s = s->next) { /* its handler may come before it finds its states */
                s->stack_low = stack.low;
                s->stack_end = stack.end;
            }
            complete(jvmti, env, thread, a, &i);
        }
    }
    hpx_thread_info_free(jvmti, &i);
}

void hpx_threads_lines(struct hpx_lines *to)
{
    const char *off = hpx_thread_id_off();
    if (off != NULL) {
        hpx_lines_add(to, "hprofx: thread ids: by name, %s\n", off);
    }
}

void hpx_threads_forget(void)
{
    for (uint32_t i = 0; i < ADOPTEE_LISTS; i++) {
        for (struct adoptee *a = atomic_exchange_explicit(&adoptees[i], NULL, memory_order_relaxed), *next; a != NULL; a = next) {
            next = a->next;
            free(a);
        }
    }
}

void hpx_threads_expect_others(void)
{
    hpx_claims_hold(&claims);
    atomic_store(&adopting, true);
}

void hpx_threads_adopt_others(jvmtiEnv *jvmti, JNIEnv *env)
{
    jint n = 0;
    jthread *all = NULL, self = NULL;
    (*jvmti)->GetCurrentThread(jvmti, &self);
    (void)hpx_thread_id_init(env, self);
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
    forget(env, self);
    atomic_store(&adopting, false);
    hpx_claims_leave(&claims, env);
}
