/* SPDX-License-Identifier: BSD-2-Clause */
/* tracker.c: the bytes and the natives of the class of tracker.h. */
#include "tracker.h"
#include "clock.h"
#include "hprofx_bci.h"
#include "threads.h"
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static jclass class_ref;    /* VMStart's and VMInit's */
static atomic_bool defined; /* release: define; acquire: hpx_tracker_defined() */
static atomic_bool probing; /* relaxed: the closer's membarrier orders it against `in_probe` of all threads */

/* --- the natives: on the program's own thread, in native state; they allocate nothing, take no lock, enter neither Java nor the VM but for
 * a thread's first call. An exception may be pending: nothing here looks at it. */

/* The state of a thread that was there before us and calls for the first time; NULL: it has none, or has ended. */
static struct hpx_agent_thread *find_self(JNIEnv *env)
{
    return atomic_load_explicit(&probing, memory_order_relaxed) ? hpx_threads_find_self(env) : NULL;
}

/* The probe of a thread that has a state, as long as probes count. */
static inline bool go_in(struct hpx_agent_thread *t)
{
    atomic_store_explicit(&t->in_probe, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the closer's membarrier makes a fence of it: partner hpx_tracker_close() */
    return hpx_likely(atomic_load_explicit(&probing, memory_order_relaxed));
}

static inline void go_out(struct hpx_agent_thread *t)
{
    atomic_store_explicit(&t->in_probe, 0, memory_order_release); /* partner: hpx_tracker_quiesce() */
}

struct hpx_agent_thread *hpx_tracker_go_in(JNIEnv *env)
{
    struct hpx_agent_thread *t = hpx_self;
    if (hpx_unlikely(t == NULL) && (t = find_self(env)) == NULL) {
        return NULL;
    }
    if (go_in(t)) {
        return t;
    }
    go_out(t);
    return NULL;
}

void hpx_tracker_go_out(struct hpx_agent_thread *t)
{
    go_out(t);
}

/* Of deep.h. */
static int32_t count_frames(void *unused)
{
    (void)unused;
    jint n;
    return (*hpx_agent.jvmti)->GetFrameCount(hpx_agent.jvmti, NULL, &n) == JVMTI_ERROR_NONE ? n : -1;
}

/* What a probe leaves: a thread's first call, a clock that has to ask the kernel, a full ring, the end of the stack. Its tail call. */
static __attribute__((noinline)) void slow(JNIEnv *env, enum hpx_ev_kind kind, uint32_t method)
{
    struct hpx_agent_thread *t = hpx_tracker_go_in(env);
    if (t == NULL) {
        return;
    }
    uint64_t now = hpx_cpuclock_now(&t->cpuclock);
    uintptr_t at = (uintptr_t)__builtin_frame_address(0);
    if (at < t->deep.limit) {
        hpx_deep_event(&t->deep, &t->calls, kind, method, now, at, count_frames, NULL);
    } else if (!(kind == HPX_EV_ENTER ? hpx_calls_try_enter(&t->calls, method, now) : hpx_calls_try_leave(&t->calls, kind, method, now))) {
        hpx_calls_slow(&t->calls, kind, method, now);
    }
    go_out(t);
}

static inline uintptr_t stack_now(void)
{
#if defined(__x86_64__)
    uintptr_t sp;
    __asm__("mov %%rsp, %0" : "=r"(sp)); /* the address of a frame would need a frame */
    return sp;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

/* false: nothing was said. Calls nothing, so that the probe is a leaf; measured: docs/calls.md. */
static inline __attribute__((always_inline)) bool probe(enum hpx_ev_kind kind, uint32_t method)
{
    struct hpx_agent_thread *t = hpx_self;
    uint64_t now;
    if (hpx_unlikely(t == NULL || stack_now() < t->deep.limit || !go_in(t) || !hpx_cpuclock_try(&t->cpuclock, &now)) ||
        hpx_unlikely(
            !(kind == HPX_EV_ENTER ? hpx_calls_try_enter(&t->calls, method, now) : hpx_calls_try_leave(&t->calls, kind, method, now)))) {
        return false;
    }
    go_out(t);
    return true;
}

static void JNICALL enter(JNIEnv *env, jclass tracker, jint method)
{
    (void)tracker;
    if (hpx_unlikely(!probe(HPX_EV_ENTER, (uint32_t)method))) {
        slow(env, HPX_EV_ENTER, (uint32_t)method);
    }
}

static void JNICALL leave(JNIEnv *env, jclass tracker, jint method)
{
    (void)tracker;
    if (hpx_unlikely(!probe(HPX_EV_EXIT, (uint32_t)method))) {
        slow(env, HPX_EV_EXIT, (uint32_t)method);
    }
}

static void JNICALL thrown(JNIEnv *env, jclass tracker, jint method)
{
    (void)tracker;
    if (hpx_unlikely(!probe(HPX_EV_THROWN, (uint32_t)method))) {
        slow(env, HPX_EV_THROWN, (uint32_t)method);
    }
}

void hpx_tracker_open(void)
{
    atomic_store_explicit(&probing, true, memory_order_relaxed);
}

void hpx_tracker_pause(void)
{
    atomic_store_explicit(&probing, false, memory_order_relaxed);
}

void hpx_tracker_close(void)
{
    atomic_store_explicit(&probing, false, memory_order_relaxed);
    /* liburcu-bp has registered the process for it */
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
        nanosleep(&(struct timespec){0, 10000000}, NULL); /* where it is refused: no store waits so long in a processor */
    }
}

bool hpx_tracker_quiesce(struct hpx_agent_thread *t, uint64_t until_ns)
{
    while (atomic_load_explicit(&t->in_probe, memory_order_acquire)) { /* partner: hpx_tracker_go_out() */
        if (hpx_clock_mono() > until_ns) {
            return false;
        }
        nanosleep(&(struct timespec){0, 50000}, NULL);
    }
    return true;
}

bool hpx_tracker_defined(void)
{
    return atomic_load_explicit(&defined, memory_order_acquire);
}

/* --- the class file */

struct bytes {
    uint8_t at[512];
    size_t n;
};

static void u2(struct bytes *b, unsigned v)
{
    b->at[b->n++] = (uint8_t)(v >> 8);
    b->at[b->n++] = (uint8_t)v;
}

static void utf8(struct bytes *b, const char *s)
{
    size_t n = strlen(s);
    b->at[b->n++] = 1; /* CONSTANT_Utf8 */
    u2(b, (unsigned)n);
    memcpy(b->at + b->n, s, n);
    b->n += n;
}

static void refer(struct bytes *b, unsigned tag, unsigned to)
{
    b->at[b->n++] = (uint8_t)tag;
    u2(b, to);
}

/* public final synthetic class Tracker {
 *     public static native void enter(int), exit(int), thrown(int);
 *     static void calibrate(int n) { for (; n > 0; n--) { enter(1); exit(1); } }
 * } of version 49: no frames. */
static void build(struct bytes *b)
{
    enum {
        NAME = 1,
        SELF,
        OBJECT_NAME,
        OBJECT,
        ENTER,
        EXIT,
        THROWN,
        DESC,
        CALIBRATE,
        CODE,
        ENTER_TYPE,
        EXIT_TYPE,
        ENTER_REF,
        EXIT_REF,
        COUNT
    };
    static const unsigned names[] = {ENTER, EXIT, THROWN};
    static const uint8_t code[] = {0x1a, 0x9e,     0,    17, 0x04, 0xb8, 0,    ENTER_REF, 0x04, 0xb8,
                                   0,    EXIT_REF, 0x84, 0,  0xff, 0xa7, 0xff, 0xf1,      0xb1};
    b->n = 0;
    u2(b, 0xcafe), u2(b, 0xbabe), u2(b, 0), u2(b, 49);
    u2(b, COUNT);
    utf8(b, HPROFX_BCI_TRACKER);
    refer(b, 7, NAME);
    utf8(b, "java/lang/Object");
    refer(b, 7, OBJECT_NAME);
    utf8(b, "enter");
    utf8(b, "exit");
    utf8(b, "thrown");
    utf8(b, "(I)V");
    utf8(b, "calibrate");
    utf8(b, "Code");
    refer(b, 12, ENTER), u2(b, DESC); /* CONSTANT_NameAndType */
    refer(b, 12, EXIT), u2(b, DESC);
    refer(b, 10, SELF), u2(b, ENTER_TYPE); /* CONSTANT_Methodref */
    refer(b, 10, SELF), u2(b, EXIT_TYPE);
    u2(b, 0x1031), u2(b, SELF), u2(b, OBJECT), u2(b, 0), u2(b, 0);
    u2(b, (unsigned)HPX_ARRAY_LEN(names) + 1);
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        u2(b, 0x0109), u2(b, names[i]), u2(b, DESC), u2(b, 0);
    }
    u2(b, 0x0008), u2(b, CALIBRATE), u2(b, DESC), u2(b, 1);
    u2(b, CODE), u2(b, 0), u2(b, 12 + sizeof code), u2(b, 1), u2(b, 1), u2(b, 0), u2(b, sizeof code);
    memcpy(b->at + b->n, code, sizeof code);
    b->n += sizeof code;
    u2(b, 0), u2(b, 0);
    u2(b, 0);
}

int hpx_tracker_define(JNIEnv *env, struct hpx_err *err)
{
    static const JNINativeMethod natives[] = {
        {(char *)(uintptr_t) "enter", (char *)(uintptr_t) "(I)V", (void *)(uintptr_t)enter},
        {(char *)(uintptr_t) "exit", (char *)(uintptr_t) "(I)V", (void *)(uintptr_t)leave},
        {(char *)(uintptr_t) "thrown", (char *)(uintptr_t) "(I)V", (void *)(uintptr_t)thrown},
    };
    struct bytes b;
    build(&b);
    jclass tracker = (*env)->DefineClass(env, HPROFX_BCI_TRACKER, NULL, (const jbyte *)b.at, (jsize)b.n);
    if (tracker == NULL || (*env)->RegisterNatives(env, tracker, natives, (jint)HPX_ARRAY_LEN(natives)) != 0) {
        (*env)->ExceptionClear(env);
        return hpx_err_set(err, HPX_E_VM, "the VM does not take the class %s", HPROFX_BCI_TRACKER);
    }
    class_ref = (*env)->NewGlobalRef(env, tracker);
    (*env)->DeleteLocalRef(env, tracker);
    atomic_store_explicit(&defined, true, memory_order_release); /* partner: hpx_tracker_defined() */
    return 0;
}

#define ROUND        2000
#define CALIBRATE_NS (6ull * 1000 * 1000)

void hpx_tracker_calibrate(JNIEnv *env, struct hpx_agent_thread *scratch, uint32_t *inner_ns, uint32_t *outer_ns)
{
    struct hpx_agent_thread *self = hpx_self;
    jmethodID m = class_ref != NULL ? (*env)->GetStaticMethodID(env, class_ref, "calibrate", "(I)V") : NULL;
    struct hpx_calls_pending before = {.ns = 0}, after;
    double inner = 1e9, pair = 1e9;
    *inner_ns = *outer_ns = 0;
    if (m == NULL) {
        (*env)->ExceptionClear(env);
        return;
    }
    hpx_self = scratch;
    hpx_tracker_open();
    for (uint64_t begin = hpx_clock_mono(), end = begin; end - begin < CALIBRATE_NS; end = hpx_clock_mono()) {
        uint64_t cpu = hpx_cpuclock_now(&scratch->cpuclock);
        (*env)->CallStaticVoidMethod(env, class_ref, m, (jint)ROUND);
        cpu = hpx_cpuclock_now(&scratch->cpuclock) - cpu;
        if ((*env)->ExceptionCheck(env) || !hpx_calls_peek(&scratch->calls, 1, &after)) {
            break;
        }
        /* the least: what the program's compiled code pays, without what a preemption adds */
        double this_inner = (double)(after.ns - before.ns) / ROUND, this_pair = (double)cpu / ROUND;
        if (after.calls > before.calls && after.ns >= before.ns && this_pair < pair) {
            inner = this_inner;
            pair = this_pair;
        }
        before = after;
    }
    hpx_tracker_pause();
    hpx_self = self;
    if (pair < 1e9 && pair >= inner) {
        *inner_ns = (uint32_t)inner;
        *outer_ns = (uint32_t)(pair - inner);
    }
}
