/* SPDX-License-Identifier: BSD-2-Clause */
/* tracker.c: the natives and the downcalls of the classes of tracker.h. */
#include "tracker.h"
#include "classes.h"
#include "clock.h"
#include "downcall.h"
#include "machine.h"
#include "patterns.h"
#include "threads.h"
#include <string.h>

static HPX_OF_SESSION struct hpx_gate_own probing;

/* --- the natives: on the program's own thread, in native state; they allocate nothing, take no lock, enter neither Java nor the VM but for
 * a thread's first call and the count of frames near the end of a stack. An exception may be pending: nothing here looks at it. */

/* The state of a thread older than VMInit that calls for the first time; NULL: it has none, or has ended. */
static struct hpx_calls_thread *find_self(JNIEnv *env)
{
    if (!hpx_gate_own_is_open(&probing) || !hpx_threads_find_self(env)) {
        return NULL;
    }
    struct hpx_calls_thread *t = hpx_calls_thread_self;
    return t != NULL && hpx_session_is(t->s.session) ? t : NULL;
}

/* The probe of a thread that has a state, as long as probes count. */
static inline bool enter_probe(struct hpx_calls_thread *t)
{
    return hpx_gate_own_enter(&probing, &t->in_probe);
}

static inline void leave_probe(struct hpx_calls_thread *t)
{
    hpx_gate_own_leave(&t->in_probe);
}

struct hpx_calls_thread *hpx_tracker_enter(JNIEnv *env)
{
    struct hpx_calls_thread *t = hpx_calls_thread_self;
    if (hpx_unlikely(t == NULL || !hpx_session_is(t->s.session)) && (t = find_self(env)) == NULL) {
        return NULL;
    }
    if (enter_probe(t)) {
        return t;
    }
    leave_probe(t);
    return NULL;
}

void hpx_tracker_leave(struct hpx_calls_thread *t)
{
    leave_probe(t);
}

/* Of stack_limit.h. The thread is asked about by its reference: with NULL the VM (21 on) waits until no carrier mounts or unmounts a
 * virtual thread, and so for ever where the caller does, in the methods that run between the event of the unmount and that of the next
 * mount. */
static int32_t frames_of(const struct hpx_calls_thread *t)
{
    jthread self = NULL;
    jint n;
    if ((*hpx_vm.jvmti)->GetCurrentThread(hpx_vm.jvmti, &self) != JVMTI_ERROR_NONE) {
        return -1;
    }
    bool counted = (*hpx_vm.jvmti)->GetFrameCount(hpx_vm.jvmti, self, &n) == JVMTI_ERROR_NONE;
    JNIEnv *env = hpx_mode_thread_env(&t->s);
    (*env)->DeleteLocalRef(env, self);
    return counted ? n : -1;
}

/* Inside the session's gate: the end of a session waits for probes a short time only, and then disposes of the environment. */
static int32_t count_frames(void *ctx)
{
    const struct hpx_calls_thread *t = ctx;
    if ((t->carries && t->calls.key == 0) || !hpx_gate_enter(&hpx_session.gate)) {
        return -1;
    }
    int32_t n = frames_of(t);
    hpx_gate_leave(&hpx_session.gate);
    return n;
}

/* What a probe leaves: a thread's first call, a clock that has to ask the kernel, a full ring, the end of the stack. Its tail call. */
static __attribute__((noinline)) void slow(JNIEnv *env, enum hpx_ev_kind kind, uint32_t method)
{
    struct hpx_calls_thread *t = hpx_tracker_enter(env);
    if (t == NULL) {
        if (kind == HPX_EV_ENTER && hpx_threads_stateless() && hpx_gate_own_is_open(&probing)) {
            hpx_count(&hpx_session.counters, HPX_C_CALLS_UNCOUNTED, 1);
        }
        return;
    }
    uint64_t now = hpx_tracker_now(t);
    uintptr_t at = (uintptr_t)__builtin_frame_address(0);
    if (at < t->stack_limit.limit) {
        hpx_stack_limit_event(&t->stack_limit, &t->calls, kind, method, now, at, count_frames, t);
    } else if (!(kind == HPX_EV_ENTER ? hpx_calls_try_enter(&t->calls, method, now) : hpx_calls_try_leave(&t->calls, kind, method, now))) {
        hpx_calls_slow(&t->calls, kind, method, now);
    }
    leave_probe(t);
}

/* false: nothing was recorded. Calls nothing, so that the probe is a leaf: see hpx_calls_try_enter(). timed: a constant. */
static inline __attribute__((always_inline)) bool probe(enum hpx_ev_kind kind, uint32_t method, bool timed)
{
    struct hpx_calls_thread *t = hpx_calls_thread_self;
    uint64_t now = 0;
    if (hpx_unlikely(t == NULL || hpx_stack_pointer() < t->stack_limit.limit || !enter_probe(t) ||
                     (timed && !hpx_cpuclock_try(&t->cpuclock, &now))) ||
        hpx_unlikely(
            !(kind == HPX_EV_ENTER ? hpx_calls_try_enter(&t->calls, method, now) : hpx_calls_try_leave(&t->calls, kind, method, now)))) {
        return false;
    }
    leave_probe(t);
    return true;
}

static inline __attribute__((always_inline)) void native(JNIEnv *env, enum hpx_ev_kind kind, jint method, bool timed)
{
    if (hpx_unlikely(!probe(kind, (uint32_t)method, timed))) {
        slow(env, kind, (uint32_t)method);
    }
}

/* A downcall: in the state Java, where a thread cannot be stopped, so without slow(): Java calls the native for it. 0: done. */
static inline __attribute__((always_inline)) int32_t down(enum hpx_ev_kind kind, int64_t method, bool timed)
{
    hpx_downcall_frame();
    if (hpx_likely(probe(kind, (uint32_t)method, timed))) {
        return 0;
    }
    /* The thread may be stopped, or run out of stack, before it is in the native. */
    if (hpx_calls_thread_self != NULL) {
        leave_probe(hpx_calls_thread_self);
    }
    return hpx_gate_own_is_open(&probing);
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
    static int32_t down_##name(int64_t method)                                                                                             \
    {                                                                                                                                      \
        return down(kind, method, true);                                                                                                   \
    }                                                                                                                                      \
    static int32_t down_##name##_untimed(int64_t method)                                                                                   \
    {                                                                                                                                      \
        return down(kind, method, false);                                                                                                  \
    }

PROBE(enter, HPX_EV_ENTER)
PROBE(leave, HPX_EV_EXIT)
PROBE(thrown, HPX_EV_THROWN)

void hpx_tracker_open(void)
{
    hpx_gate_own_open(&probing);
}

void hpx_tracker_prepare(void)
{
    hpx_gate_own_prepare();
}

void hpx_tracker_close(void)
{
    hpx_gate_own_close_fenced(&probing);
}

bool hpx_tracker_quiesce(struct hpx_calls_thread *t, uint64_t until_ns)
{
    return hpx_gate_own_wait(&t->in_probe, until_ns);
}

/* Calls of these begin on one call stack and end on another: they mount and unmount virtual threads (virtual.h). */
static bool moves_stacks(const char *name, size_t n)
{
    static const char *const all[] = {"java/lang/VirtualThread", "jdk/internal/vm/Continuation"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        size_t len = strlen(all[i]);
        if (n >= len && !strncmp(name, all[i], len) && (n == len || name[len] == '$')) {
            return true;
        }
    }
    return false;
}

bool hpx_tracker_wants(const char *name, size_t n)
{
    return !moves_stacks(name, n) && hpx_patterns_want(hpx_session.opt->include, hpx_session.opt->exclude, name, n);
}

static bool note(JNIEnv *env, uint16_t kind, uint32_t place, uint64_t stamp)
{
    struct hpx_calls_thread *t = hpx_tracker_enter(env);
    bool noted = t != NULL && hpx_calls_note(&t->calls, (enum hpx_ev_kind)kind, place, stamp);
    if (t != NULL) {
        hpx_tracker_leave(t);
    }
    return noted;
}

#define NATIVE(name, fn)                                                                                                                   \
    {                                                                                                                                      \
        (char *)(uintptr_t)(name), (char *)(uintptr_t) "(I)V", (void *)(uintptr_t)(fn)                                                     \
    }

void hpx_tracker_use(void)
{
    static HPX_OF_SESSION JNINativeMethod natives[3];
    static HPX_OF_SESSION struct hpx_tracker_targets targets;
    static const struct hpx_class_user user = {
        .probes = HPROFX_BCI_CALLS, .wants = hpx_tracker_wants, .natives = natives, .nnatives = 3, .targets = &targets};
    bool timed = hpx_tracker_reads_clock();
    natives[0] = (JNINativeMethod)NATIVE("enter", timed ? enter : enter_untimed);
    natives[1] = (JNINativeMethod)NATIVE("exit", timed ? leave : leave_untimed);
    natives[2] = (JNINativeMethod)NATIVE("thrown", timed ? thrown : thrown_untimed);
    targets = (struct hpx_tracker_targets){.enter = (uint64_t)(uintptr_t)(timed ? down_enter : down_enter_untimed),
                                           .exit = (uint64_t)(uintptr_t)(timed ? down_leave : down_leave_untimed),
                                           .thrown = (uint64_t)(uintptr_t)(timed ? down_thrown : down_thrown_untimed)};
    hpx_classes_use(&user);
    hpx_classes_set_note(note);
}

#define ROUND        2000
#define CALIBRATE_NS (6ull * 1000 * 1000)

void hpx_tracker_calibrate(JNIEnv *env, struct hpx_calls_thread *scratch, uint32_t *inner_ns, uint32_t *outer_ns)
{
    struct hpx_calls_thread *self = hpx_calls_thread_self;
    jclass called = hpx_classes_tracker();
    jmethodID m = called != NULL ? (*env)->GetStaticMethodID(env, called, HPX_TRACKER_CALIBRATE, "(I)V") : NULL;
    struct hpx_calls_pending before = {.ns = 0}, after;
    double inner = 1e9, pair = 1e9;
    *inner_ns = *outer_ns = 0;
    if (m == NULL) {
        (*env)->ExceptionClear(env);
        return;
    }
    hpx_calls_thread_self = scratch;
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
    (*env)->ExceptionClear(env);  /* VMInit's thread runs the program afterwards */
    hpx_gate_own_close(&probing); /* only the calling thread can be in a probe */
    hpx_calls_thread_self = self;
    if (pair < 1e9 && pair >= inner) {
        *inner_ns = (uint32_t)inner;
        *outer_ns = (uint32_t)(pair - inner);
    }
}
