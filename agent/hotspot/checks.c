/* SPDX-License-Identifier: BSD-2-Clause */
/* checks.c: the checks of checks.h. */
#include "checks.h"
#include "boot_class.h"
#include "code_cache.h"
#include "frame_anchor.h"
#include "frame_names.h"
#include "guard.h"
#include "heap_objects.h"
#include "internals.h"
#include "oops.h"
#include "raw_frames.h"
#include "releases.h"
#include "scopes.h"
#include "stack_chunk.h"
#include "structures.h"
#include "thread_id.h"
#include "vm_flags.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RANGES 256u /* announced stubs that are compared */
#define TRIES  4    /* a collection may run between two looks */

static HPX_OF_SESSION struct {
    atomic_bool compared;     /* relaxed: an anchor with Java frames was compared */
    atomic_bool two_threads;  /* relaxed: a second thread was compared */
    _Atomic uint32_t nranges; /* relaxed: read when VMInit has begun; later ranges may be missing */
    struct {
        _Atomic uintptr_t start; /* release: announce; acquire: compare_ranges(). 0: not written yet */
        uintptr_t end;
        bool interpreter;
    } ranges[RANGES];
} checks;

static const char *raw_names(void)
{
    const char *env = getenv("HPROFX_RAW_WALK");
    return env != NULL && !strcmp(env, "n") ? "HPROFX_RAW_WALK=n" : hpx_frames_init();
}

const char *hpx_checks_names(void)
{
    const char *why = hpx_code_cache_init();
    if (why == NULL) {
        const char *of_raw = raw_names();
        hpx_internals_leave_sig(HPX_INTERNALS_ANCHORS, hpx_frame_anchor_init());
        hpx_internals_leave_sig(HPX_INTERNALS_RAW, of_raw);
        hpx_internals_leave_sig(HPX_INTERNALS_NAMES, of_raw == NULL ? hpx_frame_names_init() : NULL);
    }
    return why;
}

void hpx_checks_announce(const char *name, const void *code, size_t size)
{
    uint32_t i = size > 0 ? atomic_load_explicit(&checks.nranges, memory_order_relaxed) : RANGES;
    if (i >= RANGES || hpx_internals_on_sig(HPX_INTERNALS_CODE)) {
        return;
    }
    i = atomic_fetch_add_explicit(&checks.nranges, 1, memory_order_relaxed);
    if (i < RANGES) {
        checks.ranges[i].end = (uintptr_t)code + size;
        checks.ranges[i].interpreter = name != NULL && !strcmp(name, "Interpreter");
        atomic_store_explicit(&checks.ranges[i].start, (uintptr_t)code, memory_order_release); /* partner: compare_ranges() */
    }
}

/* Every range of code that the VM announced is within one blob, and the interpreter is no method. A few ranges may be gone: the VM frees
 * the buffers of a compiler whose thread has ended. */
static const char *compare_ranges(void)
{
    uint32_t n = atomic_load_explicit(&checks.nranges, memory_order_relaxed), written = 0, wrong = 0;
    for (uint32_t i = 0; i < n && i < RANGES; i++) {
        uintptr_t start = atomic_load_explicit(&checks.ranges[i].start, memory_order_acquire); /* partner: hpx_checks_announce() */
        if (start == 0) {
            continue;
        }
        struct hpx_code_frame first = hpx_code_cache_frame_sig(start), last = hpx_code_cache_frame_sig(checks.ranges[i].end - 1);
        bool interpreter = checks.ranges[i].interpreter, in_one = first.kind != HPX_BLOB_NONE && first.start == last.start;
        written++;
        wrong += interpreter && (!in_one || first.kind != HPX_BLOB_OTHER) ? RANGES : !in_one;
    }
    return written == 0 ? "the VM announced no code" : wrong > written / 8 ? "the VM's code cache is not where it announced code" : NULL;
}

/* A check that runs under the guard, because the tables may describe the VM wrongly. It calls neither JNI nor JVMTI: a fault there is the
 * VM's. */
struct check {
    enum { CODE, RAW, NAMES, CHUNKS, THREAD, FRAMES } what;
    struct hpx_stack_chunk_layout *layout;
    jclass chunk; /* the class that `layout` is of */
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
    return why == NULL && c->frames && hpx_code_cache_frame_sig(a.pc).kind == HPX_BLOB_NONE ? "the VM's frame anchors are not in its code"
                                                                                            : why;
}

static const char *check_chunks(struct check *c)
{
    uintptr_t mirror = hpx_oops_handle(c->chunk);
    c->layout->chunk = hpx_vm_is_address(mirror) ? hpx_object_mirrored_sig(mirror) : 0;
    return hpx_stack_chunk_init(c->layout);
}

static int run_check(void *arg)
{
    struct check *c = arg;
    switch (c->what) {
    case CODE:
        c->why = hpx_code_cache_live();
        c->why = c->why != NULL ? c->why : compare_ranges();
        break;
    case RAW:
        c->why = hpx_frames_live();
        break;
    case NAMES:
        c->why = hpx_scopes_live();
        break;
    case CHUNKS:
        c->why = check_chunks(c);
        break;
    case THREAD:
        c->why = hpx_frame_anchor_check(c->env, c->thread);
        break;
    case FRAMES:
        c->why = check_frames(c);
        break;
    }
    return 0;
}

static const char *guarded(struct hpx_counters *counters, struct check *c)
{
    if (hpx_guard_read(run_check, c)) {
        return c->why;
    }
    hpx_internals_leave_sig(HPX_INTERNALS_CODE, HPX_INTERNALS_MISREAD);
    hpx_count(counters, HPX_C_FAULTS, 1);
    return HPX_INTERNALS_MISREAD;
}

static const char *compare_thread(JNIEnv *env, jthread thread, struct hpx_counters *counters)
{
    return guarded(counters, &(struct check){.what = THREAD, .env = env, .thread = hpx_thread_id_word(env, thread)});
}

static const char *compare_code(struct hpx_counters *counters, bool guard)
{
    if (!guard) {
        const char *why = hpx_guard_forbidden();
        return why != NULL ? why : "faults cannot be caught in this process";
    }
    return counters != NULL ? guarded(counters, &(struct check){.what = CODE}) : "no memory for the thread that checks them";
}

/* Where the anchor of the calling thread is; NULL, or why that is not learned. */
static const char *learn_anchors(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_counters *counters)
{
    jthread self = NULL;
    const char *why = hpx_internals_without(HPX_INTERNALS_ANCHORS);
    why = why != NULL ? why : hpx_thread_id_find_word(env);
    if (why == NULL) {
        bool told = (*jvmti)->GetCurrentThread(jvmti, &self) == JVMTI_ERROR_NONE;
        why = told ? compare_thread(env, self, counters) : "the VM does not name the thread that checks them";
    }
    (*env)->DeleteLocalRef(env, self);
    return why;
}

static void learn_raw(struct hpx_counters *counters)
{
    if (hpx_internals_without(HPX_INTERNALS_RAW) != NULL) {
        return; /* the tables lack a name that raw walks need */
    }
    const char *why = guarded(counters, &(struct check){.what = RAW});
    if (why != NULL) {
        hpx_internals_leave_sig(HPX_INTERNALS_RAW, why);
        return;
    }
    hpx_internals_turn_on(HPX_INTERNALS_RAW);
    if (hpx_internals_without(HPX_INTERNALS_NAMES) == NULL) {
        hpx_internals_leave_sig(HPX_INTERNALS_NAMES, guarded(counters, &(struct check){.what = NAMES}));
        hpx_internals_turn_on(HPX_INTERNALS_NAMES);
    }
}

static uint32_t field_shift(JNIEnv *env)
{
    jclass longs = hpx_boot_class(env, "java/lang/Long");
    uint32_t shift = hpx_oops_field_shift(env, longs, hpx_vm_flag("UseCompactObjectHeaders", false));
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, longs);
    return shift;
}

/* 0: not known. */
static uint32_t offset_of(JNIEnv *env, const struct hpx_oops *o, jclass klass, const char *name, const char *type)
{
    jfieldID id = (*env)->GetFieldID(env, klass, name, type);
    (*env)->ExceptionClear(env);
    return id != NULL && o->field_shift != 0 ? hpx_oops_field_at(o, (uint32_t)(uintptr_t)id) : 0;
}

static uint64_t id_of(JNIEnv *env, jclass klass, const char *name, const char *type)
{
    jmethodID id = (*env)->GetStaticMethodID(env, klass, name, type);
    (*env)->ExceptionClear(env);
    return (uint64_t)(uintptr_t)id;
}

/* Frames of virtual threads in the heap. What is not found is not read: nobody else needs to know. The names of objects are found outside
 * of the guard, because they are found once: a fault would leave that half done. */
static void learn_chunks(jvmtiEnv *jvmti, JNIEnv *env)
{
    jint version = 0;
    bool has_virtual = (*jvmti)->GetVersionNumber(jvmti, &version) == JVMTI_ERROR_NONE && hpx_release_of(version) >= HPX_RELEASE_VIRTUAL;
    if (!has_virtual || hpx_heap_objects_init() != NULL) {
        return;
    }
    jclass of[2] = {hpx_boot_class(env, "jdk/internal/vm/StackChunk"), hpx_boot_class(env, "jdk/internal/vm/Continuation")};
    if (of[0] != NULL && of[1] != NULL) {
        const struct hpx_oops o = {.field_shift = field_shift(env)};
        struct hpx_stack_chunk_layout layout = {.size = offset_of(env, &o, of[0], "size", "I"),
                                                .sp = offset_of(env, &o, of[0], "sp", "I"),
                                                .bottom = offset_of(env, &o, of[0], "bottom", "I"),
                                                .parent = offset_of(env, &o, of[0], "parent", "Ljdk/internal/vm/StackChunk;"),
                                                .tail = offset_of(env, &o, of[1], "tail", "Ljdk/internal/vm/StackChunk;"),
                                                .enters = id_of(env, of[1], "enterSpecial", "(Ljdk/internal/vm/Continuation;ZZ)V"),
                                                .yields = id_of(env, of[1], "doYield", "()I")};
        struct check c = {.what = CHUNKS, .layout = &layout, .chunk = of[0], .why = ""};
        for (int i = 0; i < TRIES && c.why != NULL; i++) {
            (void)hpx_guard_read(run_check, &c); /* a fault is a collection's, which moves the class */
        }
    }
    (*env)->DeleteLocalRef(env, of[1]);
    (*env)->DeleteLocalRef(env, of[0]);
}

bool hpx_checks_live(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_counters *counters, bool guard)
{
    const char *why = hpx_internals_without(HPX_INTERNALS_CODE); /* they stay off if the check of another mode has left them */
    why = why != NULL ? why : compare_code(counters, guard);
    if (why != NULL) {
        hpx_internals_leave_sig(HPX_INTERNALS_CODE, why);
        return false;
    }
    hpx_internals_turn_on(HPX_INTERNALS_CODE);
    learn_raw(counters);
    learn_chunks(jvmti, env);
    why = learn_anchors(jvmti, env, counters);
    hpx_internals_leave_sig(HPX_INTERNALS_ANCHORS, why);
    if (why == NULL) {
        hpx_internals_turn_on(HPX_INTERNALS_ANCHORS);
    }
    return true;
}

void hpx_checks_thread(JNIEnv *env, jthread thread, struct hpx_counters *counters)
{
    if (hpx_internals_on_sig(HPX_INTERNALS_ANCHORS) && !atomic_exchange_explicit(&checks.two_threads, true, memory_order_relaxed)) {
        hpx_internals_leave_sig(HPX_INTERNALS_ANCHORS, compare_thread(env, thread, counters));
    }
}

bool hpx_checks_compared(void)
{
    return atomic_load_explicit(&checks.compared, memory_order_relaxed);
}

void hpx_checks_anchor(JNIEnv *env, uintptr_t stack_low, uintptr_t stack_end, struct hpx_counters *counters)
{
    if (hpx_checks_compared() || !hpx_internals_on_sig(HPX_INTERNALS_ANCHORS)) {
        return;
    }
    struct check c = {.what = FRAMES, .env = env, .stack_low = stack_low, .stack_end = stack_end};
    const char *why = guarded(counters, &c);
    hpx_internals_leave_sig(HPX_INTERNALS_ANCHORS, why);
    if (why == NULL && c.frames) {
        atomic_store_explicit(&checks.compared, true, memory_order_relaxed);
    }
}
