/* SPDX-License-Identifier: BSD-2-Clause */
/* wait_class.c: see wait_class.h. */
#include "wait_class.h"
#include "clock.h"
#include "intern.h"
#include "releases.h"
#include "session.h"
#include "waited_monitor.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define READABLE 17         /* the first release on which waited_monitor.h reads monitors */
#define ANSWERS  1024u      /* stacks whose class is kept for a round, where a question stops all threads; a power of two */
#define MOST     (1u << 20) /* numbers */
#define KNOWN    64u        /* classes that are recognised at once; each costs a comparison */
#define MADE     1024u      /* in a session, where one takes the place of another one, which was unloaded */

static HPX_OF_SESSION struct {
    bool contended; /* the capability; constant from load on */
    /* the looking thread's */
    bool single;
    bool waits;                   /* JVMTI tells the monitor of Object.wait */
    _Atomic(const char *) unread; /* release: begin; acquire: hpx_wait_class_unread() */
    bool reads;                   /* waited_monitor.h tells what JVMTI does not */
    bool opened;                  /* guarded by `numbering`, as are the next two: the index is there */
    struct hpx_intern index;      /* signature -> number */
    uint32_t numbers;             /* given so far */
    uint64_t round;               /* number of the current one; the first is 1 */
    struct answer {
        struct hpx_hash128 stack;
        uint64_t round; /* 0: there is none */
        uint32_t state, klass;
    } answers[ANSWERS], *asked; /* asked: the one that the last question has filled; NULL: none was asked */
} classes;

struct known_class { /* does not change: other threads may read one whose place was taken */
    jweak klass;
    uint32_t number;
};

static HPX_OF_SESSION struct {
    _Atomic uint32_t n; /* relaxed: classes that were begun, or MADE and more */
    struct known_class of[MADE];
    _Atomic(const struct known_class *) at[KNOWN]; /* the first are taken; NULL: the others. release: remember(); acquire: remembered() */
} known;

static pthread_mutex_t numbering = PTHREAD_MUTEX_INITIALIZER; /* the VM is not called meanwhile */

void hpx_wait_class_load(jvmtiEnv *jvmti)
{
    const jvmtiCapabilities want = {.can_get_current_contended_monitor = 1};
    classes.contended = (*jvmti)->AddCapabilities(jvmti, &want) == JVMTI_ERROR_NONE;
}

static bool begin_reading(JNIEnv *env)
{
    const char *why = "the VM grants can_get_current_contended_monitor only at its start";
    jthread self = NULL;
    if (hpx_vm_release() >= READABLE) {
        bool named = (*hpx_vm.jvmti)->GetCurrentThread(hpx_vm.jvmti, &self) == JVMTI_ERROR_NONE;
        why = named ? hpx_waited_monitor_init(env, self) : "the VM does not name the looking thread";
    }
    (*env)->DeleteLocalRef(env, self);
    atomic_store_explicit(&classes.unread, why, memory_order_release); /* partner: hpx_wait_class_unread() */
    return why == NULL;
}

void hpx_wait_class_begin(JNIEnv *env, bool single)
{
    classes.single = single;
    classes.waits = hpx_vm_release() < HPX_RELEASE_WAITS_UNTOLD;
    classes.reads = !(classes.waits && classes.contended) && begin_reading(env);
    pthread_mutex_lock(&numbering);
    classes.opened = hpx_intern_init(&classes.index, 0) == 0;
    pthread_mutex_unlock(&numbering);
    classes.round = 1;
}

const char *hpx_wait_class_unread(void)
{
    const char *why = atomic_load_explicit(&classes.unread, memory_order_acquire); /* partner: begin_reading() */
    return why != NULL ? why : hpx_waited_monitor_off();
}

void hpx_wait_class_fini(void)
{
    pthread_mutex_lock(&numbering);
    if (classes.opened) {
        hpx_intern_fini(&classes.index);
        classes.opened = false;
    }
    pthread_mutex_unlock(&numbering);
}

/* ---- numbers ---- */

/* A new number, which the aggregator knows from then on; 0: no memory, or the session ends. */
static uint32_t announce(const char *signature)
{
    struct hpx_msg_row_class *m = NULL;
    if (hpx_gate_enter(&hpx_session.gate)) {
        m = hpx_msg_row_class_new(HPX_MSG_WALL_CLASS, classes.numbers + 1, signature);
        if (m != NULL) {
            hpx_lane_post(&hpx_session.aggregator.control, &m->m, false);
        } else {
            hpx_count(&hpx_session.counters, HPX_C_CLASSES_UNNAMED, 1);
        }
        hpx_gate_leave(&hpx_session.gate);
    }
    classes.numbers += m != NULL;
    return m != NULL ? classes.numbers : 0;
}

static uint32_t number_inside(const char *signature)
{
    struct hpx_hash128 h = hpx_hash128(signature, strlen(signature));
    uint32_t number = classes.opened ? hpx_intern_find(&classes.index, h) : HPX_INTERN_NONE;
    if (number != HPX_INTERN_NONE) {
        return number;
    }
    if (!classes.opened || classes.numbers == MOST || hpx_intern_reserve(&classes.index) != 0) {
        hpx_count(&hpx_session.counters, HPX_C_CLASSES_UNNAMED, 1);
        return 0;
    }
    number = announce(signature);
    if (number != 0) {
        hpx_intern_put(&classes.index, h, number);
    }
    return number;
}

static uint32_t number_of(const char *signature)
{
    pthread_mutex_lock(&numbering);
    uint32_t number = number_inside(signature);
    pthread_mutex_unlock(&numbering);
    return number;
}

/* ---- classes whose number is known: without their names, a lock or memory ---- */

/* 0: not remembered. */
static uint32_t remembered(JNIEnv *env, jclass klass)
{
    for (uint32_t i = 0; i < KNOWN; i++) {
        const struct known_class *is = atomic_load_explicit(&known.at[i], memory_order_acquire); /* partner: remember() */
        if (is == NULL || (*env)->IsSameObject(env, is->klass, klass)) {
            return is != NULL ? is->number : 0;
        }
    }
    return 0;
}

/* The first place that is free, or whose class was unloaded; KNOWN: none. *is: what it has. */
static uint32_t find_place(JNIEnv *env, const struct known_class **is)
{
    for (uint32_t i = 0; i < KNOWN; i++) {
        *is = atomic_load_explicit(&known.at[i], memory_order_acquire); /* partner: remember() */
        if (*is == NULL || (*env)->IsSameObject(env, (*is)->klass, NULL)) {
            return i;
        }
    }
    return KNOWN;
}

/* Others, too, may have asked for its number, and one of them has done this. If two do so at once it may be there twice, or not yet. */
static void remember(JNIEnv *env, jclass klass, uint32_t number)
{
    const struct known_class *is = NULL;
    if (number == 0 || atomic_load_explicit(&known.n, memory_order_relaxed) >= MADE || remembered(env, klass) != 0) {
        return;
    }
    const uint32_t place = find_place(env, &is), at = place < KNOWN ? atomic_fetch_add_explicit(&known.n, 1, memory_order_relaxed) : MADE;
    jweak ref = at < MADE ? (*env)->NewWeakGlobalRef(env, klass) : NULL;
    if (ref == NULL) {
        (*env)->ExceptionClear(env); /* no memory: the program's thread must not find our exception */
        return;
    }
    known.of[at] = (struct known_class){ref, number};
    /* partners: remembered(), find_place() */
    (void)atomic_compare_exchange_strong_explicit(&known.at[place], &is, &known.of[at], memory_order_release, memory_order_relaxed);
}

void hpx_wait_class_forget(JNIEnv *env)
{
    for (uint32_t i = 0; i < KNOWN; i++) {
        atomic_store_explicit(&known.at[i], NULL, memory_order_relaxed);
    }
    for (uint32_t i = 0; i < MADE; i++) {
        if (known.of[i].klass != NULL) {
            (*env)->DeleteWeakGlobalRef(env, known.of[i].klass);
            known.of[i].klass = NULL;
        }
    }
}

static uint32_t number_by_name(JNIEnv *env, jclass klass)
{
    char *signature = NULL;
    bool told = (*hpx_vm.jvmti)->GetClassSignature(hpx_vm.jvmti, klass, &signature, NULL) == JVMTI_ERROR_NONE;
    uint32_t number = told ? number_of(signature) : 0;
    (*hpx_vm.jvmti)->Deallocate(hpx_vm.jvmti, (unsigned char *)signature);
    remember(env, klass, number);
    return number;
}

uint32_t hpx_wait_class_of(JNIEnv *env, jobject object)
{
    jclass klass = (*env)->GetObjectClass(env, object);
    uint32_t number = remembered(env, klass);
    number = number != 0 ? number : number_by_name(env, klass);
    (*env)->DeleteLocalRef(env, klass);
    return number;
}

/* Deletes the reference. */
static uint32_t class_of(JNIEnv *env, jobject object)
{
    uint32_t number = object != NULL ? hpx_wait_class_of(env, object) : 0;
    (*env)->DeleteLocalRef(env, object);
    return number;
}

/* ---- what a thread waits for ---- */

static uint32_t ask(JNIEnv *env, jthread thread, uint64_t *asking_ns)
{
    jobject monitor = NULL;
    uint64_t from = hpx_clock_mono();
    jvmtiError e = (*hpx_vm.jvmti)->GetCurrentContendedMonitor(hpx_vm.jvmti, thread, &monitor);
    *asking_ns += hpx_clock_mono() - from;
    return e == JVMTI_ERROR_NONE ? class_of(env, monitor) : 0;
}

/* For a monitor that JVMTI does not tell. */
static uint32_t read_monitor(JNIEnv *env, const struct hpx_held *h)
{
    char signature[HPX_WAITED_MONITOR_ROOM];
    uint64_t thread = classes.reads ? hpx_waited_monitor_thread(env, h->ref) : 0;
    return thread != 0 && hpx_watched_monitor(h, thread, signature) ? number_of(signature) : 0;
}

void hpx_wait_class_round(void)
{
    classes.round++;
}

/* The question stops all threads: in a round it is asked once for all that wait in this state with this stack. In a later one they may wait
 * for another monitor. */
static uint32_t ask_once(JNIEnv *env, jthread thread, uint32_t state, struct hpx_hash128 stack, uint64_t *asking_ns)
{
    struct answer *a = &classes.answers[stack.lo % ANSWERS];
    if (a->stack.lo != stack.lo || a->stack.hi != stack.hi || a->state != state || a->round != classes.round) {
        *a = (struct answer){stack, classes.round, state, ask(env, thread, asking_ns)};
        classes.asked = a;
    }
    return a->klass;
}

void hpx_wait_class_delivered(bool holds)
{
    if (!holds && classes.asked != NULL) {
        classes.asked->round = 0;
    }
    classes.asked = NULL;
}

uint32_t hpx_wait_class_parked(JNIEnv *env, jthread thread)
{
    return hpx_vm_fields.blocker != NULL ? class_of(env, (*env)->GetObjectField(env, thread, hpx_vm_fields.blocker)) : 0;
}

uint32_t hpx_wait_class(JNIEnv *env, const struct hpx_held *h, uint32_t state, struct hpx_hash128 stack, uint64_t *asking_ns)
{
    if (state == HPX_WALL_PARKED) {
        return hpx_wait_class_parked(env, h->ref);
    }
    if (state != HPX_WALL_BLOCKED && state != HPX_WALL_WAITING) {
        return 0;
    }
    if (!classes.contended || (state == HPX_WALL_WAITING && !classes.waits)) {
        return read_monitor(env, h);
    }
    return classes.single ? ask(env, h->ref, asking_ns) : ask_once(env, h->ref, state, stack, asking_ns);
}
