/* SPDX-License-Identifier: BSD-2-Clause */
/* owners.c: chooses between structures and event, and checks the structures. Contract: owners.h. */
#include "owners.h"
#include "codemap.h"
#include "engine.h"
#include "frame_anchor.h"
#include "guard.h"
#include "log.h"
#include "service.h"
#include "session.h"
#include "sigmask.h"
#include "vm_flags.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLAG     "DebugNonSafepoints"
#define RANGES   256u /* announced stubs that are compared */
#define CONFIRMS 256  /* answers of AsyncGetCallTrace that are compared */

static struct {
    atomic_bool on;                    /* release: live; acquire: handlers. Only then structures are read */
    atomic_bool learned;               /* release: live; acquire: hpx_owners_thread(), hpx_owners_class(). Where a thread's anchor is */
    atomic_bool anchors;               /* release: hpx_owners_class(); acquire: handlers. An anchor with Java frames was compared */
    atomic_bool two_threads;           /* relaxed: a second thread was compared */
    _Atomic int confirms;              /* relaxed: answers still to be compared */
    _Atomic(const char *) why;         /* release: whoever turns them off; acquire: look(), report. NULL: on */
    atomic_bool left_to_do;            /* relaxed: look() turns to the event */
    _Atomic(const char *) anchors_why; /* seq_cst: why anchors are not read; the first reason stays */
    bool unread;                       /* load's: they are switched off, so the flag was not read either */
    bool refused;                      /* load's: the command line has -XX:-DebugNonSafepoints */
    enum hpx_flag_set flag;            /* load's */
    bool event;                        /* load's: the event is on from the start */
    bool names;                        /* load's: the structures have all names */
    jfieldID eetop;                    /* Thread's word for its JavaThread; constant after live */
    _Atomic uint32_t nranges;          /* relaxed: read when VMInit has begun; later ranges may be missing */
    struct {
        _Atomic uintptr_t start; /* release: add_stub(); acquire: compare_ranges(). 0: not written yet */
        uintptr_t end;
        bool interpreter;
    } ranges[RANGES];
} owners;

#ifdef HPX_COMPARE_OWNERS
static struct {
    _Atomic uint64_t same, late, dead, stale, outdated, wrong;
} compared;
#endif

/* Unload first: a method that the VM unloads meanwhile must not stay in the code map. */
static jvmtiError set_event(jvmtiEnv *jvmti, jvmtiEventMode mode)
{
    jvmtiError e = (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_COMPILED_METHOD_UNLOAD, NULL);
    return e != JVMTI_ERROR_NONE ? e : (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
}

jvmtiError hpx_owners_use_event(jvmtiEnv *jvmti)
{
    jvmtiError e = set_event(jvmti, JVMTI_ENABLE);
    return e != JVMTI_ERROR_NONE ? e : (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
}

static void say_refused(jvmtiError e)
{
    if (e != JVMTI_ERROR_NONE) {
        hpx_warn("cpu=samples: samples may lack the methods of compiled code: %s", hpx_jvmti_error(e));
    }
}

static void use_event_from_load(void)
{
    owners.event = true;
    say_refused(set_event(hpx_vm.jvmti, JVMTI_ENABLE));
}

void hpx_owners_close(jvmtiEnv *jvmti)
{
    (void)set_event(jvmti, JVMTI_DISABLE);
#ifdef HPX_COMPARE_OWNERS
    dprintf(STDERR_FILENO,
            "owners: %" PRIu64 " same, %" PRIu64 " late, %" PRIu64 " dead, %" PRIu64 " stale, %" PRIu64 " outdated, %" PRIu64 " wrong\n",
            compared.same, compared.late, compared.dead, compared.stale, compared.outdated, compared.wrong);
#endif
}

static void turn_off(const char *why)
{
    const char *none = NULL;
    atomic_store_explicit(&owners.on, false, memory_order_relaxed);
    /* partner: hpx_owners_off(); the first reason stays */
    (void)atomic_compare_exchange_strong_explicit(&owners.why, &none, why, memory_order_release, memory_order_relaxed);
}

static void leave_anchors(const char *why)
{
    const char *none = NULL;
    (void)atomic_compare_exchange_strong(&owners.anchors_why, &none, why);
}

/* A reason of the tables is valid until the next question. */
static const char *keep(char to[128], const char *why)
{
    snprintf(to, 128, "%s", why);
    return to;
}

/* NULL: the structures may be used. */
static const char *prepare(void)
{
    static char text[128];
    const char *why = hpx_code_cache_init();
    if (why != NULL) {
        return why;
    }
    why = hpx_frame_anchor_init();
    if (why != NULL) {
        leave_anchors(keep(text, why));
    }
    owners.flag = hpx_vm_flag_set(FLAG, &why);
    return owners.flag == HPX_FLAG_UNREADABLE ? why : NULL;
}

void hpx_owners_load(void)
{
    static char text[128];
    const char *why = hpx_vm_closed(); /* first: then nothing is read */
    owners.unread = why != NULL;
    owners.refused = why == NULL && hpx_vm_flag_refused(FLAG);
    if (!hpx_engine_takes_stacks()) {
        why = "depth=0";
    } else if (why == NULL) {
        why = hpx_engine_now() != HPX_ENGINE_ASYNC ? "sampler=async alone uses them" : prepare();
    }
    owners.names = why == NULL;
    if (why != NULL) {
        turn_off(keep(text, why));
    }
    if (!owners.names && hpx_engine_now() != HPX_ENGINE_POLL && hpx_engine_takes_stacks()) {
        use_event_from_load();
    }
#ifdef HPX_COMPARE_OWNERS
    use_event_from_load();
#endif
}

void hpx_owners_disable(void)
{
    if (owners.flag == HPX_FLAG_SET) {
        hpx_vm_flag_reset(FLAG);
    }
    if (hpx_vm.jvmti != NULL) {
        (void)set_event(hpx_vm.jvmti, JVMTI_DISABLE);
    }
}

/* Each piece of code that the VM announced is within one blob, and the interpreter is no method. */
static const char *compare_ranges(void)
{
    uint32_t n = atomic_load_explicit(&owners.nranges, memory_order_relaxed);
    for (uint32_t i = 0; i < n && i < RANGES; i++) {
        uintptr_t start = atomic_load_explicit(&owners.ranges[i].start, memory_order_acquire); /* partner: hpx_owners_add_stub() */
        if (start == 0) {
            continue;
        }
        struct hpx_blob first = hpx_code_cache_find_sig(start), last = hpx_code_cache_find_sig(owners.ranges[i].end - 1);
        if (first.kind == HPX_BLOB_NONE || first.start != last.start || (owners.ranges[i].interpreter && first.kind != HPX_BLOB_OTHER)) {
            return "the VM's code cache is not where it announced code";
        }
    }
    return n > 0 ? NULL : "the VM announced no code";
}

#define FAULTED "a read of the VM's structures faulted"

/* A check that runs under the guard, because what it reads may not be what its name says. Calls neither JNI nor JVMTI, whose faults are
 * the VM's. */
struct check {
    enum { CODE, THREAD, FRAMES } what;
    const void *env;
    uint64_t thread;
    uintptr_t stack_low, stack_end;
    bool frames; /* receives: the anchor has Java frames */
    const char *why;
};

static const char *check_frames(struct check *c)
{
    struct hpx_frame_anchor a = hpx_frame_anchor_read_sig(c->env);
    const char *why = hpx_frame_anchor_check_frames(&a, c->stack_low, c->stack_end);
    c->frames = a.sp != 0;
    return why == NULL && c->frames && hpx_code_cache_find_sig(a.pc).kind == HPX_BLOB_NONE ? "the VM's frame anchors are not in its code"
                                                                                           : why;
}

static int run_check(void *arg)
{
    struct check *c = arg;
    hpx_guard_begin_read_sig();
    switch (c->what) {
    case CODE:
        c->why = hpx_code_cache_live();
        c->why = c->why != NULL ? c->why : compare_ranges();
        break;
    case THREAD:
        c->why = hpx_frame_anchor_check(c->env, c->thread);
        break;
    case FRAMES:
        c->why = check_frames(c);
        break;
    }
    hpx_guard_end_read_sig();
    return 0;
}

/* Not in a handler, so without signals: the guard does not nest, and it would take the fault of a handler of the program for ours. */
static const char *guarded(struct hpx_sample_thread *t, struct check *c)
{
    sigset_t all, was;
    hpx_sigmask_ours(&all);
    pthread_sigmask(SIG_BLOCK, &all, &was);
    bool faulted = hpx_guard_run_sig(run_check, c, &(int){0}) != HPX_GUARD_PASSED;
    if (faulted) {
        hpx_owners_misread_sig();
        hpx_count(&t->s.base.counters, HPX_C_FAULTS, 1);
    }
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return faulted ? FAULTED : c->why;
}

static const char *compare_thread(JNIEnv *env, jthread thread, struct hpx_sample_thread *t)
{
    return guarded(t, &(struct check){.what = THREAD, .env = env, .thread = (uint64_t)(*env)->GetLongField(env, thread, owners.eetop)});
}

static jfieldID find_eetop(JNIEnv *env)
{
    jclass klass = (*env)->FindClass(env, "java/lang/Thread");
    jfieldID field = klass != NULL ? (*env)->GetFieldID(env, klass, "eetop", "J") : NULL;
    if (field == NULL) {
        (*env)->ExceptionClear(env);
    }
    (*env)->DeleteLocalRef(env, klass);
    return field;
}

static const char *compare_code(struct hpx_sample_thread *t, bool guard)
{
    if (!guard) {
        return "faults cannot be caught in this process";
    }
    return t != NULL ? guarded(t, &(struct check){.what = CODE}) : "no memory for the thread that checks them";
}

void hpx_owners_live(JNIEnv *env, struct hpx_sample_thread *t, bool guard)
{
    if (!owners.names) {
        return;
    }
    jthread self = NULL;
    const char *why = compare_code(t, guard);
    if (why != NULL) {
        turn_off(why);
        atomic_store_explicit(&owners.left_to_do, false, memory_order_relaxed); /* a fault asked for what is done here */
        say_refused(hpx_owners_use_event(hpx_vm.jvmti));
        return;
    }
    atomic_store_explicit(&owners.confirms, CONFIRMS, memory_order_relaxed);
    atomic_store_explicit(&owners.on, true, memory_order_release); /* partner: is_on() */
    owners.eetop = hpx_owners_without_anchors() == NULL ? find_eetop(env) : NULL;
    if (owners.eetop == NULL || (*hpx_vm.jvmti)->GetCurrentThread(hpx_vm.jvmti, &self) != JVMTI_ERROR_NONE) {
        leave_anchors("Thread has no field eetop");
        return;
    }
    why = compare_thread(env, self, t);
    (*env)->DeleteLocalRef(env, self);
    if (why != NULL) {
        leave_anchors(why);
        return;
    }
    atomic_store_explicit(&owners.learned, true, memory_order_release); /* partner: hpx_owners_thread(), hpx_owners_class() */
}

void hpx_owners_thread(JNIEnv *env, jthread thread, struct hpx_sample_thread *t)
{
    /* partner: hpx_owners_live() */
    if (!atomic_load_explicit(&owners.learned, memory_order_acquire) ||
        atomic_exchange_explicit(&owners.two_threads, true, memory_order_relaxed)) {
        return;
    }
    const char *why = compare_thread(env, thread, t);
    if (why != NULL) {
        leave_anchors(why);
    }
}

void hpx_owners_class(JNIEnv *env, struct hpx_sample_thread *t)
{
    /* partner: hpx_owners_live() */
    if (atomic_load_explicit(&owners.anchors, memory_order_relaxed) || !atomic_load_explicit(&owners.learned, memory_order_acquire) ||
        t == NULL || hpx_owners_without_anchors() != NULL) {
        return;
    }
    struct check c = {.what = FRAMES, .env = env, .stack_low = t->s.stack_low, .stack_end = t->s.stack_end};
    const char *why = guarded(t, &c);
    if (why != NULL) {
        leave_anchors(why);
    } else if (c.frames) {
        atomic_store_explicit(&owners.anchors, true, memory_order_release); /* partner: hpx_owners_anchors_sig() */
    }
}

static jvmtiError replay(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)env;
    return hpx_owners_use_event(jvmti);
}

void hpx_owners_look(void)
{
    static struct hpx_service_work work = HPX_SERVICE_WORK(replay, "cpu=samples: samples may lack the methods of compiled code");
    if (atomic_load_explicit(&owners.left_to_do, memory_order_relaxed) && hpx_service_prepare(&work)) {
        atomic_store_explicit(&owners.left_to_do, false, memory_order_relaxed);
    }
}

/* ---- code ---- */

void hpx_owners_add_method(jmethodID method, const void *code, size_t size)
{
    hpx_codemap_add(code, size, (uint64_t)(uintptr_t)method);
}

void hpx_owners_remove_method(jmethodID method, const void *code)
{
    hpx_codemap_remove(code, (uint64_t)(uintptr_t)method);
}

void hpx_owners_add_stub(const char *name, const void *code, size_t size)
{
    hpx_codemap_add(code, size, 0);
    uint32_t i = size > 0 ? atomic_load_explicit(&owners.nranges, memory_order_relaxed) : RANGES;
    if (i >= RANGES || atomic_load_explicit(&owners.on, memory_order_relaxed)) {
        return;
    }
    i = atomic_fetch_add_explicit(&owners.nranges, 1, memory_order_relaxed);
    if (i < RANGES) {
        owners.ranges[i].end = (uintptr_t)code + size;
        owners.ranges[i].interpreter = name != NULL && !strcmp(name, "Interpreter");
        atomic_store_explicit(&owners.ranges[i].start, (uintptr_t)code, memory_order_release); /* partner: compare_ranges() */
    }
}

static bool is_on(void)
{
    return atomic_load_explicit(&owners.on, memory_order_acquire);
}

static struct hpx_blob blob_at(uintptr_t pc)
{
    hpx_guard_begin_read_sig();
    struct hpx_blob b = hpx_code_cache_find_sig(pc);
    hpx_guard_end_read_sig();
    return b;
}

static uint64_t id_of(const struct hpx_blob *b)
{
    if (b->kind != HPX_BLOB_METHOD) {
        return 0;
    }
    hpx_guard_begin_read_sig();
    uint64_t id = hpx_code_cache_id_sig(b->method);
    hpx_guard_end_read_sig();
    return id;
}

static void leave_sig(const char *why)
{
    turn_off(why);
    atomic_store_explicit(&owners.left_to_do, true, memory_order_relaxed);
    hpx_aggregator_wake(&hpx_session.aggregator);
}

void hpx_owners_misread_sig(void)
{
    leave_sig(FAULTED);
}

#ifdef HPX_COMPARE_OWNERS
static bool among(uint64_t id, const struct hpx_ev_frame *frames, int n)
{
    while (n > 0 && frames[n - 1].method != id) {
        n--;
    }
    return n > 0;
}

/* Where the two differ, AsyncGetCallTrace decides: events are posted late, so the code may be another method's already. */
static void compare(uintptr_t pc, const struct hpx_blob *b, const struct hpx_ev_frame *frames, int n)
{
    uint64_t by_event = hpx_codemap_owner(pc), id = id_of(b);
    if (by_event == 0 && id == 0) {
        return;
    }
    _Atomic uint64_t *count = by_event == id                                        ? &compared.same
                              : by_event == 0                                       ? &compared.late
                              : b->kind == HPX_BLOB_DEAD                            ? &compared.dead
                              : b->kind != HPX_BLOB_METHOD                          ? &compared.stale
                              : among(id, frames, n) && !among(by_event, frames, n) ? &compared.outdated
                                                                                    : &compared.wrong;
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}
#endif

uint64_t hpx_owners_find_sig(uintptr_t pc)
{
    if (!is_on()) {
        return hpx_codemap_owner(pc);
    }
    struct hpx_blob b = blob_at(pc);
    return id_of(&b);
}

bool hpx_owners_known_sig(uintptr_t pc)
{
    if (!is_on()) {
        return hpx_codemap_known(pc);
    }
    struct hpx_blob b = blob_at(pc);
    return b.kind == HPX_BLOB_METHOD || (b.kind == HPX_BLOB_OTHER && hpx_codemap_known(pc));
}

bool hpx_owners_stays_sig(uintptr_t pc)
{
    if (!is_on()) {
        return hpx_codemap_known(pc);
    }
    struct hpx_blob b = blob_at(pc);
    return b.kind == HPX_BLOB_METHOD ? b.in_use : b.kind == HPX_BLOB_OTHER && hpx_codemap_known(pc);
}

enum hpx_blob_kind hpx_owners_kind_sig(uintptr_t pc)
{
    return is_on() ? blob_at(pc).kind : HPX_BLOB_NONE;
}

int32_t hpx_owners_stub_frame_sig(uintptr_t pc)
{
    struct hpx_blob b = is_on() ? blob_at(pc) : (struct hpx_blob){.kind = HPX_BLOB_NONE};
    return b.kind == HPX_BLOB_OTHER ? b.frame_size : 0;
}

/* partner: hpx_owners_class() */
bool hpx_owners_anchors_sig(void)
{
    return is_on() && atomic_load_explicit(&owners.anchors, memory_order_acquire) && owners.anchors_why == NULL;
}

void hpx_owners_confirm_sig(uintptr_t pc, const struct hpx_ev_frame *frames, int n, bool whole)
{
#ifdef HPX_COMPARE_OWNERS
    struct hpx_blob seen = is_on() ? blob_at(pc) : (struct hpx_blob){.kind = HPX_BLOB_NONE};
    compare(pc, &seen, frames, n);
#endif
    if (n <= 0 || !whole || atomic_load_explicit(&owners.confirms, memory_order_relaxed) <= 0 || !is_on()) {
        return;
    }
    struct hpx_blob b = blob_at(pc);
    if (b.kind != HPX_BLOB_METHOD && b.kind != HPX_BLOB_DEAD) {
        return;
    }
    uint64_t id = id_of(&b);
    for (int i = 0; i < n && b.kind == HPX_BLOB_METHOD; i++) {
        if (frames[i].method == id) {
            atomic_fetch_sub_explicit(&owners.confirms, 1, memory_order_relaxed);
            return;
        }
    }
    leave_sig("the VM's code cache names another method than AsyncGetCallTrace");
}

const char *hpx_owners_off(void)
{
    return atomic_load_explicit(&owners.why, memory_order_acquire); /* partner: turn_off() */
}

const char *hpx_owners_without_anchors(void)
{
    return owners.anchors_why;
}

const char *hpx_owners_debug_information(void)
{
    if (owners.unread) {
        return "by events, unless -XX:-" FLAG " turns it off";
    }
    if (owners.refused) {
        return "off by -XX:-" FLAG ": inlined methods may be charged to their callers";
    }
    return owners.event ? "by events" : "by " FLAG;
}
