/* SPDX-License-Identifier: BSD-2-Clause */
/* virtual_waits.c: see virtual_waits.h. */
#include "virtual_waits.h"
#include "archive.h"
#include "boot_class.h"
#include "carrier.h"
#include "clock.h"
#include "event_stacks.h"
#include "hash.h"
#include "hprofx_bci.h"
#include "log.h"
#include "method_kinds.h"
#include "probe_frames.h"
#include "registrar.h"
#include "releases.h"
#include "service.h"
#include "session.h"
#include "spawn.h"
#include "tracker_class.h"
#include "wait_class.h"
#include "watched.h"
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

/* The first release on which the first rewriting in a JVM that runs throws away only compiled code that depends on the class. */
#define RELEASE_DEPENDENT 25
#define CLASS_NAME        "java/lang/VirtualThread"
#define PERMIT            "blockPermit" /* its field: runContinuation() clears it for threads that a monitor has made unmount */
#define REFUSED           "the VM refuses to rewrite java.lang.VirtualThread"
#define MORE              8u                      /* frames that tell the state, whatever the depth is */
#define PER_SECOND        3000.0                  /* records: more make the interval longer */
#define STEP              64.0                    /* a record makes it longer by this part */
#define PATIENCE_NS       UINT64_C(500000000)     /* what carriers wait for the probe */
#define LONGEST_NS        UINT64_C(3600000000000) /* the longest interval */

/* What stays in the JVM. */
static struct {
    jclass klass;   /* of the probe: a global reference; set once */
    jfieldID tick;  /* its field */
    bool rewritten; /* VirtualThread has the probe. The service thread's, then of who ends the session */
} probe;

static HPX_OF_SESSION struct {
    jvmtiEnv *env;                    /* NULL: there is none. Constant from load on */
    atomic_bool defined;              /* seq_cst: the class of the probe can be called, and `done` is there */
    _Atomic uint64_t asked;           /* relaxed: the service thread rewrites the class; until when carriers wait for it. 0: nobody asked */
    sem_t done;                       /* it has done so */
    atomic_bool live;                 /* release: rewrite(); acquire: waited(). Covers what that has set */
    uint64_t since;                   /* the first tick */
    jmethodID yield, sleep;           /* of VirtualThread */
    _Atomic uint64_t interval;        /* relaxed: what two threads change at the same time counts once */
    _Atomic uint64_t records, longer; /* relaxed */
    _Atomic(const char *) why_not;    /* relaxed */
    _Atomic uint64_t ticked;          /* relaxed: the last tick: of rewrite(), then of the looking thread */
    _Atomic(const char *) no_monitors; /* relaxed: waits for monitors are not seen */
    bool takes;                        /* the class hook puts the probe in, and has done so if it is false then; its thread's */
    bool unmounts;                     /* likewise: also that of runContinuation() */
} waits;

/* Methods that park threads, and their callers. */
enum { PARKS = 1, POLLER };
static const char *const kinds[] = {"Ljava/util/concurrent/locks/LockSupport;", "Lsun/nio/ch/Poller;", NULL};
static HPX_OF_SESSION _Atomic uint64_t methods[HPX_METHOD_KINDS]; /* relaxed: method_kinds.c */

/* Of a carrier: it has mounted a thread that had unmounted for a monitor, and no event of a monitor has come since. */
static __thread bool unblocked;

/* ---- a wait is over ---- */

/* SplitMix64: a number from 0 to 1. */
static double draw(void)
{
    static __thread uint64_t state;
    state = state != 0 ? state : (uint64_t)(uintptr_t)&state ^ hpx_clock_mono();
    uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* The frames from the method on that waits, one of VirtualThread. What calls the probe is yieldContinuation(), perhaps in a version that an
 * earlier session made, which has another id. */
static uint32_t inner_frames(const struct hpx_ev_frame *frames, uint32_t n)
{
    uint32_t inner = hpx_probe_frames(frames, (int)n);
    return inner > 0 && inner < n ? inner + 1 : inner;
}

/* The frames begin with that of the method that waits. Sockets park a thread through one class. */
static uint32_t state_of(const struct hpx_ev_frame *frames, uint32_t n)
{
    const uint64_t yield = (uint64_t)(uintptr_t)waits.yield, sleep = (uint64_t)(uintptr_t)waits.sleep;
    bool parks = false;
    if (n > 0 && frames[0].method == yield) {
        return HPX_WALL_RUNNABLE;
    }
    if (n > 1 && frames[1].method == sleep) {
        return HPX_WALL_SLEEPING;
    }
    for (uint32_t i = 1; i < n && i <= MORE; i++) {
        const uint32_t kind = hpx_method_kind(methods, kinds, frames[i].method);
        if (parks && kind != PARKS) {
            return kind == POLLER ? HPX_WALL_IO : HPX_WALL_PARKED;
        }
        parks = kind == PARKS;
    }
    return HPX_WALL_PARKED;
}

/* A wait that is over. */
struct wait {
    uint64_t from, to;        /* ticks */
    enum hpx_wall_state what; /* PARKED: the stack says */
    jobject monitor;          /* NULL: it was for none */
};

/* The thread's own words, without a lock or memory, except for an object of a class that is not recognised (wait_class.h). false: lost, and
 * counted. */
static bool record(JNIEnv *env, const struct wait *w, uint64_t ns)
{
    jvmtiEnv *jvmti = hpx_vm.jvmti;
    uint32_t depth = hpx_watch_depth(), most = depth + hpx_probe_frames_most() + 1 + MORE, state = w->what, klass = 0;
    struct hpx_ev_head *ev = hpx_carrier_reserve(most, ns);
    jthread self = NULL;
    if (ev == NULL) {
        return false;
    }
    struct hpx_ev_hash *hash = (struct hpx_ev_hash *)(ev + 1);
    struct hpx_ev_wall *wall = (struct hpx_ev_wall *)(hash + 1);
    struct hpx_ev_frame *frames = (struct hpx_ev_frame *)(wall + 1);
    uint32_t n = 0;
    if ((*jvmti)->GetCurrentThread(jvmti, &self) == JVMTI_ERROR_NONE) {
        n = hpx_event_stacks_ask(jvmti, self, frames, most);
        uint32_t inner = inner_frames(frames, n);
        n -= inner;
        memmove(frames, frames + inner, n * sizeof *frames);
        klass = w->monitor != NULL ? hpx_wait_class_of(env, w->monitor) : hpx_wait_class_parked(env, self);
        state = w->monitor != NULL || klass != 0 ? state : state_of(frames, n);
        n = n < depth ? n : depth;
        (*env)->DeleteLocalRef(env, self);
    }
    struct hpx_hash128 h = hpx_hash128(frames, n * sizeof *frames);
    *hash = (struct hpx_ev_hash){h.lo, h.hi};
    *wall = (struct hpx_ev_wall){HPX_SERIAL_THREAD, state, HPX_UNKNOWN_OTHER, klass};
    ev->kind = HPX_EV_WALL_VIRTUAL;
    ev->id = 0;
    ev->stamp = ns;
    hpx_carrier_commit(ev, n);
    return true;
}

/* Every record makes the interval longer, and ticks make it shorter as time goes on: both are the same at PER_SECOND. */
static void count_record(uint64_t interval, bool recorded, bool longer)
{
    uint64_t more = interval + (uint64_t)((double)interval / STEP);
    atomic_store_explicit(&waits.interval, more < LONGEST_NS ? more : LONGEST_NS, memory_order_relaxed);
    atomic_fetch_add_explicit(&waits.records, recorded, memory_order_relaxed);
    atomic_fetch_add_explicit(&waits.longer, recorded && longer, memory_order_relaxed);
}

/* The calling virtual thread is mounted again. Inside the gate. */
static void over(JNIEnv *env, const struct wait *w)
{
    uint64_t since = w->from > waits.since ? w->from : waits.since; /* it may have begun in an earlier session */
    uint64_t ns = w->to > since ? w->to - since : 0, interval = atomic_load_explicit(&waits.interval, memory_order_relaxed);
    bool longer = ns >= interval;
    if (ns > 0 && (longer || draw() * (double)interval < (double)ns)) {
        bool recorded = record(env, w, longer ? ns : interval);
        count_record(interval, recorded, longer);
    }
}

static void JNICALL waited(JNIEnv *env, jclass klass, jlong from, jlong to)
{
    (void)klass;
    if (!hpx_gate_enter(&hpx_session.gate)) {
        return;
    }
    if (atomic_load_explicit(&waits.live, memory_order_acquire)) { /* partner: rewrite() */
        over(env, &(struct wait){(uint64_t)from, (uint64_t)to, HPX_WALL_PARKED, NULL});
    }
    hpx_gate_leave(&hpx_session.gate);
}

/* ---- monitors ---- */

/* A carrier, before it mounts the virtual thread. */
static void JNICALL stored(JNIEnv *env, jclass klass)
{
    (void)env, (void)klass;
    unblocked = true;
}

/* The tick is kept with the Java thread, which may go on on another carrier. */
static void keep(jvmtiEnv *jvmti, jthread self)
{
    uint64_t tick = atomic_load_explicit(&waits.ticked, memory_order_relaxed);
    (void)(*jvmti)->SetThreadLocalStorage(jvmti, self, (void *)(uintptr_t)tick);
}

/* It may unmount now, or keep its carrier, whose wait it is then. A carrier, too, may wait for itself. */
static void blocks(jvmtiEnv *jvmti, JNIEnv *env, jthread self)
{
    unblocked = false;
    if (!hpx_vm_enter_for(&hpx_session.gate, jvmti, &waits.env)) {
        return;
    }
    if (hpx_vm_is_virtual(env, self)) {
        keep(jvmti, self);
    }
    hpx_gate_leave(&hpx_session.gate);
}

/* If `unblocked`, it did unmount. Behind Object.wait another wait may follow, for the monitor, without an event of its beginning; that of
 * its end comes even if there was none, but then not `unblocked`. */
static void goes_on(jvmtiEnv *jvmti, JNIEnv *env, jthread self, jobject monitor, enum hpx_wall_state what)
{
    void *from = NULL;
    if (!unblocked || !hpx_vm_enter_for(&hpx_session.gate, jvmti, &waits.env)) {
        return;
    }
    if ((*jvmti)->GetThreadLocalStorage(jvmti, self, &from) == JVMTI_ERROR_NONE && from != NULL) { /* else it began before the events */
        over(env, &(struct wait){(uint64_t)(uintptr_t)from, atomic_load_explicit(&waits.ticked, memory_order_relaxed), what, monitor});
    }
    unblocked = false;
    keep(jvmti, self);
    hpx_gate_leave(&hpx_session.gate);
}

static void JNICALL on_enter(jvmtiEnv *jvmti, JNIEnv *env, jthread self, jobject monitor)
{
    (void)monitor;
    blocks(jvmti, env, self);
}

static void JNICALL on_entered(jvmtiEnv *jvmti, JNIEnv *env, jthread self, jobject monitor)
{
    goes_on(jvmti, env, self, monitor, HPX_WALL_BLOCKED);
}

static void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *env, jthread self, jobject monitor, jlong timeout)
{
    (void)monitor, (void)timeout;
    blocks(jvmti, env, self);
}

static void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *env, jthread self, jobject monitor, jboolean timed_out)
{
    (void)timed_out;
    goes_on(jvmti, env, self, monitor, HPX_WALL_WAITING);
}

void hpx_virtual_waits_tick(JNIEnv *env, uint64_t now)
{
    if (!atomic_load_explicit(&waits.live, memory_order_acquire) ||
        now <= atomic_load_explicit(&waits.ticked, memory_order_relaxed)) { /* partner: rewrite() */
        return;
    }
    uint64_t interval = atomic_load_explicit(&waits.interval, memory_order_relaxed), least = hpx_session.opt->wall_ns;
    double passed = (double)(now - atomic_load_explicit(&waits.ticked, memory_order_relaxed)) * 1e-9,
           shorter = (double)interval / (1 + passed * PER_SECOND / STEP);
    atomic_store_explicit(&waits.interval, shorter > (double)least ? (uint64_t)shorter : least, memory_order_relaxed);
    atomic_store_explicit(&waits.ticked, now, memory_order_relaxed);
    (*env)->SetStaticLongField(env, probe.klass, probe.tick, (jlong)now);
}

/* ---- the class ---- */

static bool is(struct hprofx_bci_name name, const char *s)
{
    return name.len == strlen(s) && memcmp(name.at, s, name.len) == 0;
}

static unsigned want(void *ctx, const struct hprofx_bci_method *m)
{
    (void)ctx;
    return is(m->name, "yieldContinuation") && is(m->desc, "()Z") ? HPROFX_BCI_CALLS
           : is(m->name, "runContinuation") && is(m->desc, "()V") ? HPROFX_BCI_STORES
                                                                  : 0;
}

static void JNICALL on_class_file_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name, jobject domain,
                                       jint n, const unsigned char *data, jint *new_n, unsigned char **new_data)
{
    (void)env, (void)loader, (void)domain;
    if (redefined == NULL || name == NULL || strcmp(name, CLASS_NAME) != 0 || !waits.takes) {
        return;
    }
    struct hprofx_bci_result result;
    const struct hprofx_bci_opts opts = {.tracker = HPX_TRACKER_WAITS,
                                         .kept = HPX_TRACKER_TICK,
                                         .exit = {.name = HPX_TRACKER_RESUMED},
                                         .stores = PERMIT,
                                         .probes = HPROFX_BCI_CALLS | HPROFX_BCI_STORES,
                                         .no_handler = true,
                                         .want = want,
                                         .result = &result};
    uint8_t *out;
    size_t m;
    const char *why;
    unsigned char *copy = NULL;
    if (hprofx_bci_rewrite(&opts, data, (size_t)n, &out, &m, &why) == 0 && result.numbered > 0 &&
        (*jvmti)->Allocate(jvmti, (jlong)m, &copy) == JVMTI_ERROR_NONE) {
        memcpy(copy, out, m);
        *new_data = copy;
        *new_n = (jint)m;
        waits.takes = false;
        waits.unmounts = result.rewritten > result.numbered;
    }
    free(out);
}

/* Other agents' hooks are called, too. Their retransformation takes the probe out again. */
static bool retransform(JNIEnv *env, jclass klass, bool takes)
{
    jvmtiEnv *jvmti = waits.env;
    waits.takes = takes;
    bool done = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) == JVMTI_ERROR_NONE &&
                (*jvmti)->RetransformClasses(jvmti, 1, &klass) == JVMTI_ERROR_NONE && !waits.takes;
    (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
    (*env)->ExceptionClear(env);
    return done;
}

static jmethodID method(JNIEnv *env, jclass klass, const char *name, const char *type)
{
    jmethodID found = klass != NULL ? (*env)->GetMethodID(env, klass, name, type) : NULL;
    (*env)->ExceptionClear(env);
    return found;
}

static bool tell_of_monitors(void)
{
    static const jvmtiEvent events[] = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
                                        JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED};
    jvmtiEnv *jvmti = waits.env;
    bool all = true;
    for (size_t i = 0; i < HPX_ARRAY_LEN(events); i++) {
        all = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) == JVMTI_ERROR_NONE && all;
    }
    return all;
}

static jvmtiError rewrite(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti;
    if (env != NULL) {
        jclass klass = hpx_boot_class(env, CLASS_NAME);
        waits.yield = method(env, klass, "tryYield", "()V"); /* not before: it initializes the class, which makes the scheduler */
        waits.sleep = method(env, klass, "sleepNanos", "(J)V");
        waits.since = hpx_clock_mono();
        atomic_store_explicit(&waits.ticked, waits.since, memory_order_relaxed);
        atomic_store_explicit(&waits.interval, hpx_session.opt->wall_ns, memory_order_relaxed);
        (*env)->SetStaticLongField(env, probe.klass, probe.tick, (jlong)waits.since);
        atomic_store_explicit(&waits.live, true, memory_order_release); /* partner: waited() */
        probe.rewritten = klass != NULL && retransform(env, klass, true);
        atomic_store_explicit(&waits.no_monitors,
                              hpx_vm_release() < HPX_RELEASE_UNMOUNTS ? NULL
                              : !waits.unmounts                       ? "java.lang.VirtualThread is not as hprofx knows it"
                              : tell_of_monitors()                    ? NULL
                                                                      : "the VM refuses their events",
                              memory_order_relaxed);
        (*env)->DeleteLocalRef(env, klass);
    }
    atomic_store_explicit(&waits.why_not, probe.rewritten ? NULL : REFUSED, memory_order_relaxed);
    return probe.rewritten ? JVMTI_ERROR_NONE : JVMTI_ERROR_INTERNAL;
}

static void done(uint64_t unused)
{
    (void)unused;
    sem_post(&waits.done);
}

/* All carriers of a session wait until the same moment. */
void hpx_virtual_waits_carrier(void)
{
    static const struct hpx_service_task task = HPX_SERVICE_TASK(rewrite, "wall=: waits of virtual threads are not shown");
    if (!atomic_load(&waits.defined)) { /* partner: hpx_virtual_waits_live() */
        return;
    }
    uint64_t until = 0, mine = hpx_clock_mono() + PATIENCE_NS;
    if (atomic_compare_exchange_strong_explicit(&waits.asked, &until, mine, memory_order_relaxed, memory_order_relaxed)) {
        until = mine;
        if (!hpx_service_ask(&task, done, 0)) {
            done(0);
        }
    }
    if (hpx_spawn_wait(&waits.done, until)) {
        sem_post(&waits.done); /* for the next one */
    }
}

void hpx_virtual_waits_restore(JNIEnv *env)
{
    if (probe.rewritten && waits.env != NULL) {
        probe.rewritten = false;
        jclass klass = hpx_boot_class(env, CLASS_NAME);
        if (klass == NULL || !retransform(env, klass, false)) {
            hpx_warn("wall=: the VM refuses to take the probe out of java.lang.VirtualThread; it does nothing until the next session");
        }
        (*env)->DeleteLocalRef(env, klass);
    }
    hpx_virtual_waits_unload();
}

void hpx_virtual_waits_unload(void)
{
    if (waits.env != NULL) {
        (void)(*waits.env)->DisposeEnvironment(waits.env);
        waits.env = NULL;
    }
}

/* ---- life ---- */

void hpx_virtual_waits_load(void)
{
    const jvmtiCapabilities capabilities = {.can_retransform_classes = 1,
                                            .can_generate_monitor_events = hpx_vm_release() >= HPX_RELEASE_UNMOUNTS};
    const jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = on_class_file_load,
                                           .MonitorContendedEnter = on_enter,
                                           .MonitorContendedEntered = on_entered,
                                           .MonitorWait = on_wait,
                                           .MonitorWaited = on_waited};
    const char *option;
    if (hpx_vm_release() < HPX_RELEASE_VIRTUAL) {
        return;
    }
    const char *why_not = hpx_archive(&option) != HPX_ARCHIVE_NONE              ? "the VM records classes for an archive"
                          : hpx_vm.late && hpx_vm_release() < RELEASE_DEPENDENT ? "JDK 21 to 24 would throw away all compiled code; load "
                                                                                  "hprofx when the program starts"
                                                                                : NULL;
    waits.env = why_not == NULL ? hpx_vm_environment(&capabilities) : NULL;
    atomic_store_explicit(&waits.why_not,
                          why_not != NULL     ? why_not
                          : waits.env == NULL ? REFUSED
                                              : "java.lang.VirtualThread is not rewritten yet",
                          memory_order_relaxed);
    if (waits.env != NULL) {
        (void)(*waits.env)->SetEventCallbacks(waits.env, &callbacks, sizeof callbacks);
    }
}

static bool define(JNIEnv *env)
{
    uint8_t bytes[HPX_TRACKER_CLASS_MAX];
    size_t n = hpx_tracker_class_waits(bytes);
    jclass klass = (*env)->DefineClass(env, HPX_TRACKER_WAITS, NULL, (const jbyte *)bytes, (jsize)n);
    /* the look-up of the field links the class */
    probe.tick = klass != NULL ? (*env)->GetStaticFieldID(env, klass, HPX_TRACKER_TICK, "J") : NULL;
    bool known = probe.tick != NULL && hpx_probe_frames_add(hpx_vm.jvmti, klass);
    (*env)->ExceptionClear(env);
    probe.klass = known ? (*env)->NewGlobalRef(env, klass) : NULL;
    (*env)->DeleteLocalRef(env, klass);
    return probe.klass != NULL;
}

void hpx_virtual_waits_live(JNIEnv *env)
{
    const JNINativeMethod natives[] = {{(char *)(uintptr_t)HPX_TRACKER_WAITED, (char *)(uintptr_t) "(JJ)V", (void *)(uintptr_t)waited},
                                       {(char *)(uintptr_t)HPX_TRACKER_STORED, (char *)(uintptr_t) "()V", (void *)(uintptr_t)stored}};
    if (waits.env == NULL) {
        return;
    }
    if ((probe.klass == NULL && !define(env)) ||
        !hpx_registrar_natives(env, HPX_TRACKER_REGISTRAR, probe.klass, natives, HPX_ARRAY_LEN(natives))) {
        atomic_store_explicit(&waits.why_not, "the VM refuses the class of the probe", memory_order_relaxed);
        return;
    }
    sem_init(&waits.done, 0, 0);
    atomic_store(&waits.defined, true); /* partner: came() of wall_vm.c, which adds the carrier and then looks here */
    if (hpx_watched_figures().carriers > 0) {
        hpx_virtual_waits_carrier(); /* one has begun before the class of the probe was there */
    }
}

struct hpx_virtual_waits_figures hpx_virtual_waits_figures(void)
{
    return (struct hpx_virtual_waits_figures){
        atomic_load_explicit(&waits.records, memory_order_relaxed), atomic_load_explicit(&waits.longer, memory_order_relaxed),
        atomic_load_explicit(&waits.interval, memory_order_relaxed), atomic_load_explicit(&waits.why_not, memory_order_relaxed),
        atomic_load_explicit(&waits.no_monitors, memory_order_relaxed)};
}
