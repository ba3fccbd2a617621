/* SPDX-License-Identifier: BSD-2-Clause */
/* tracker.c: the natives and the downcalls of the classes of tracker.h. */
#include "tracker.h"
#include "clock.h"
#include "downcall.h"
#include "hprofx_bci.h"
#include "threads.h"
#include "tracker_class.h"
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

/* Of deep.h. The thread is asked about by its reference: with NULL the VM (21 on) waits until no carrier mounts or unmounts a virtual
 * thread, and so for ever where the caller does, in the methods that run between the event of the unmount and that of the next mount. */
static int32_t count_frames(void *ctx)
{
    struct hpx_agent_thread *t = ctx;
    jthread self = NULL;
    jint n;
    if ((t->carries && t->calls.key == 0) || (*hpx_agent.jvmti)->GetCurrentThread(hpx_agent.jvmti, &self) != JVMTI_ERROR_NONE) {
        return -1;
    }
    bool told = (*hpx_agent.jvmti)->GetFrameCount(hpx_agent.jvmti, self, &n) == JVMTI_ERROR_NONE;
    (*t->env)->DeleteLocalRef(t->env, self);
    return told ? n : -1;
}

/* What a probe leaves: a thread's first call, a clock that has to ask the kernel, a full ring, the end of the stack. Its tail call. */
static __attribute__((noinline)) void slow(JNIEnv *env, enum hpx_ev_kind kind, uint32_t method)
{
    struct hpx_agent_thread *t = hpx_tracker_go_in(env);
    if (t == NULL) {
        return;
    }
    uint64_t now = hpx_tracker_now(t);
    uintptr_t at = (uintptr_t)__builtin_frame_address(0);
    if (at < t->deep.limit) {
        hpx_deep_event(&t->deep, &t->calls, kind, method, now, at, count_frames, t);
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

/* false: nothing was said. Calls nothing, so that the probe is a leaf; measured: docs/calls.md. timed: a constant. */
static inline __attribute__((always_inline)) bool probe(enum hpx_ev_kind kind, uint32_t method, bool timed)
{
    struct hpx_agent_thread *t = hpx_self;
    uint64_t now = 0;
    if (hpx_unlikely(t == NULL || stack_now() < t->deep.limit || !go_in(t) || (timed && !hpx_cpuclock_try(&t->cpuclock, &now))) ||
        hpx_unlikely(
            !(kind == HPX_EV_ENTER ? hpx_calls_try_enter(&t->calls, method, now) : hpx_calls_try_leave(&t->calls, kind, method, now)))) {
        return false;
    }
    go_out(t);
    return true;
}

static inline __attribute__((always_inline)) void native(JNIEnv *env, enum hpx_ev_kind kind, jint method, bool timed)
{
    if (hpx_unlikely(!probe(kind, (uint32_t)method, timed))) {
        slow(env, kind, (uint32_t)method);
    }
}

/* A downcall: in the state Java, where a thread cannot be stopped, so without slow(): Java calls the native for it. 0: done. */
static inline __attribute__((always_inline)) int32_t down(enum hpx_ev_kind kind, int32_t method, bool timed)
{
    /* Has the function begin with its frame: on JDK 28 the VM finds the way from C to the caller by that alone, when a sampler asks. */
    __asm__ volatile("" : : "r"(__builtin_frame_address(0)));
    if (hpx_likely(probe(kind, (uint32_t)method, timed))) {
        return 0;
    }
    /* The thread may be stopped, or run out of stack, before it is in the native. */
    if (hpx_self != NULL) {
        go_out(hpx_self);
    }
    return atomic_load_explicit(&probing, memory_order_relaxed);
}

/* A probe's functions: natives and downcalls, with a clock and (times=sampled) without. */
#define PROBE(name, kind)                                                                                                                  \
    static void JNICALL name(JNIEnv *env, jclass tracker, jint method)                                                                     \
    {                                                                                                                                      \
        (void)tracker;                                                                                                                     \
        native(env, kind, method, true);                                                                                                   \
    }                                                                                                                                      \
    static void JNICALL name##_untimed(JNIEnv *env, jclass tracker, jint method)                                                           \
    {                                                                                                                                      \
        (void)tracker;                                                                                                                     \
        native(env, kind, method, false);                                                                                                  \
    }                                                                                                                                      \
    static int32_t down_##name(int32_t method)                                                                                             \
    {                                                                                                                                      \
        return down(kind, method, true);                                                                                                   \
    }                                                                                                                                      \
    static int32_t down_##name##_untimed(int32_t method)                                                                                   \
    {                                                                                                                                      \
        return down(kind, method, false);                                                                                                  \
    }

PROBE(enter, HPX_EV_ENTER)
PROBE(leave, HPX_EV_EXIT)
PROBE(thrown, HPX_EV_THROWN)

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

const char *hpx_tracker_name(void)
{
    return hpx_downcall_class() != NULL ? HPX_TRACKER_DOWN : HPROFX_BCI_TRACKER;
}

bool hpx_tracker_is(const char *name)
{
    return !strcmp(name, HPROFX_BCI_TRACKER) || !strcmp(name, HPX_TRACKER_DOWN);
}

bool hpx_tracker_defined(void)
{
    return atomic_load_explicit(&defined, memory_order_acquire);
}

int hpx_tracker_define(JNIEnv *env, struct hpx_err *err)
{
    bool timed = hpx_tracker_reads_clock();
    const JNINativeMethod natives[] = {
        {(char *)(uintptr_t) "enter", (char *)(uintptr_t) "(I)V", (void *)(uintptr_t)(timed ? enter : enter_untimed)},
        {(char *)(uintptr_t) "exit", (char *)(uintptr_t) "(I)V", (void *)(uintptr_t)(timed ? leave : leave_untimed)},
        {(char *)(uintptr_t) "thrown", (char *)(uintptr_t) "(I)V", (void *)(uintptr_t)(timed ? thrown : thrown_untimed)},
    };
    const struct hpx_tracker_targets targets = {.enter = (uint64_t)(uintptr_t)(timed ? down_enter : down_enter_untimed),
                                                .exit = (uint64_t)(uintptr_t)(timed ? down_leave : down_leave_untimed),
                                                .thrown = (uint64_t)(uintptr_t)(timed ? down_thrown : down_thrown_untimed)};
    uint8_t bytes[HPX_TRACKER_CLASS_MAX];
    size_t n = hpx_tracker_class_natives(bytes);
    jclass tracker = (*env)->DefineClass(env, HPROFX_BCI_TRACKER, NULL, (const jbyte *)bytes, (jsize)n);
    if (tracker == NULL || (*env)->RegisterNatives(env, tracker, natives, (jint)HPX_ARRAY_LEN(natives)) != 0) {
        (*env)->ExceptionClear(env);
        return hpx_err_set(err, HPX_E_VM, "the VM does not take the class %s", HPROFX_BCI_TRACKER);
    }
    class_ref = (*env)->NewGlobalRef(env, tracker);
    (*env)->DeleteLocalRef(env, tracker);
    hpx_downcall_define(hpx_agent.jvmti, env, &targets);         /* where not, the natives are called directly */
    atomic_store_explicit(&defined, true, memory_order_release); /* partner: hpx_tracker_defined() */
    return 0;
}

#define ROUND        2000
#define CALIBRATE_NS (6ull * 1000 * 1000)

void hpx_tracker_calibrate(JNIEnv *env, struct hpx_agent_thread *scratch, uint32_t *inner_ns, uint32_t *outer_ns)
{
    struct hpx_agent_thread *self = hpx_self;
    jclass called = hpx_downcall_class() != NULL ? hpx_downcall_class() : class_ref;
    jmethodID m = called != NULL ? (*env)->GetStaticMethodID(env, called, HPX_TRACKER_CALIBRATE, "(I)V") : NULL;
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
        (*env)->CallStaticVoidMethod(env, called, m, (jint)ROUND);
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
    (*env)->ExceptionClear(env); /* VMInit's thread goes on to run the program */
    hpx_tracker_pause();
    hpx_self = self;
    if (pair < 1e9 && pair >= inner) {
        *inner_ns = (uint32_t)inner;
        *outer_ns = (uint32_t)(pair - inner);
    }
}
