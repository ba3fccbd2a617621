/* SPDX-License-Identifier: BSD-2-Clause */
/* quiet_stack.c: see quiet_stack.h. */
#include "quiet_stack.h"
#include "async_stack.h"
#include "checks.h"
#include "frame_anchor.h"
#include "guard.h"
#include "internals.h"
#include "releases.h"
#include "session.h"
#include "stack_chunk.h"
#include "zgc_references.h"
#include <inttypes.h>

#define NATIVE          (-3) /* AsyncGetCallTrace's place in a native method */
#define NATIVE_OF_JVMTI (-1)

#define BATCH 64u /* walks that a thread counts before it tells the judge */

static HPX_OF_SESSION struct {
    const void *mode;        /* the first one that loaded it; NULL: none */
    bool ready, guard;       /* VMInit's; the guard is installed for this session */
    bool has_virtual;        /* the VM may have virtual threads. Constant after ready */
    atomic_bool on;          /* release: ready; acquire: is_on(). Covers has_virtual */
    _Atomic uint64_t faults; /* relaxed */
} quiet;

static __thread uint32_t walks; /* of the calling thread, of its own stack, that the judge does not know of */

/* ---- having it ---- */

void hpx_quiet_stack_load(const void *mode)
{
    if (quiet.mode != NULL) {
        return;
    }
    quiet.mode = mode;
    const char *why = hpx_internals_closed(); /* asked first: if it is closed, nothing is read */
    hpx_internals_leave_sig(HPX_INTERNALS_EVENTS, why != NULL ? why : hpx_checks_names());
}

static void JNICALL on_dynamic_code(jvmtiEnv *jvmti, const char *name, const void *code, jint size)
{
    (void)jvmti;
    hpx_checks_announce(name, code, (size_t)size);
}

void hpx_quiet_stack_callbacks(jvmtiEventCallbacks *all)
{
    all->DynamicCodeGenerated = on_dynamic_code;
}

/* Code that checks.h compares. */
static void announce(jvmtiEnv *jvmti)
{
    (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED, NULL);
    (void)(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
    (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED, NULL);
}

static bool may_have_virtual(jvmtiEnv *jvmti)
{
    jint version = 0;
    return (*jvmti)->GetVersionNumber(jvmti, &version) == JVMTI_ERROR_NONE && hpx_release_of(version) >= HPX_RELEASE_PREVIEW;
}

void hpx_quiet_stack_ready(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_counters *counters)
{
    if (quiet.ready) {
        return;
    }
    quiet.ready = true;
    hpx_judge_begin();
    if (hpx_internals_without(HPX_INTERNALS_CODE) != NULL || hpx_internals_without(HPX_INTERNALS_EVENTS) != NULL) {
        return;
    }
    quiet.guard = true;
    bool caught = hpx_guard_install();
    announce(jvmti);
    if (hpx_checks_live(jvmti, env, counters, caught)) {
        quiet.has_virtual = may_have_virtual(jvmti);
        atomic_store_explicit(&quiet.on, true, memory_order_release); /* partner: is_on() */
    }
}

void hpx_quiet_stack_thread(JNIEnv *env, jthread self, struct hpx_counters *counters)
{
    hpx_checks_thread(env, self, counters);
}

void hpx_quiet_stack_over(void)
{
    atomic_store_explicit(&quiet.on, false, memory_order_relaxed); /* before the guard goes: nothing is walked without it */
    if (quiet.guard) {
        quiet.guard = false;
        hpx_guard_remove();
    }
}

/* ---- a stack ---- */

static bool is_on(const struct hpx_quiet_thread *t)
{
    if (!atomic_load_explicit(&quiet.on, memory_order_acquire) || /* partner: hpx_quiet_stack_ready() */
        hpx_internals_without(HPX_INTERNALS_EVENTS) != NULL || t->stack_end == 0 || t->depth == 0) {
        return false;
    }
    if (hpx_unlikely(!t->other && !hpx_checks_compared())) {
        hpx_checks_anchor((JNIEnv *)(uintptr_t)t->env, t->stack_low, t->stack_end, t->counters);
    }
    return hpx_internals_on_sig(HPX_INTERNALS_RAW);
}

static struct hpx_raw_thread raw_of(const struct hpx_quiet_thread *t)
{
    return (struct hpx_raw_thread){.env = t->env,
                                   .stack_low = t->stack_low,
                                   .stack_end = t->stack_end,
                                   .depth = t->depth,
                                   .whole = true,
                                   .platform = t->other, /* GetStackTrace shows it without the virtual thread that it carries */
                                   .states = 1u << HPX_VM_STATE_IN_NATIVE | (t->other ? 1u << HPX_VM_STATE_BLOCKED : 0)};
}

/* Another thread may have started to run: then any word may be wrong, which the judge does not hear of. */
static void count_walk(const struct hpx_quiet_thread *t, bool faulted)
{
    if (!t->other && ++walks >= BATCH) {
        (void)hpx_judge_walks_sig(HPX_JUDGED_EVENT, walks, 0); /* one that ends early has GetStackTrace's answer */
        walks = 0;
    }
    if (faulted) {
        atomic_fetch_add_explicit(&quiet.faults, 1, memory_order_relaxed);
        hpx_internals_leave_sig(HPX_INTERNALS_EVENTS, t->other ? NULL : hpx_judge_fault_sig(HPX_JUDGED_EVENT));
    }
}

bool hpx_quiet_stack_hash(const struct hpx_quiet_thread *t, struct hpx_raw_stack *to)
{
    const struct hpx_raw_thread raw = raw_of(t);
    bool faulted = false;
    if (!is_on(t)) {
        return false;
    }
    const bool whole = hpx_async_stack_hash_sig(&raw, to, &faulted);
    count_walk(t, faulted);
    return whole;
}

/* GetStackTrace names every method. Where the lower end of a virtual thread's frames is not known they have those of its carrier behind
 * them. */
static bool as_the_vm(struct hpx_ev_frame *frames, int n)
{
    if (quiet.has_virtual && !hpx_stack_chunk_known_sig()) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        int32_t bci = frames[i].bci;
        frames[i].bci = bci == NATIVE ? NATIVE_OF_JVMTI : bci < 0 ? 0 : bci; /* less than 0: at the entry */
        if (frames[i].method == 0) {
            return false;
        }
    }
    return true;
}

int hpx_quiet_stack_frames(const struct hpx_quiet_thread *t, struct hpx_ev_frame *frames)
{
    const struct hpx_raw_thread raw = raw_of(t);
    enum hpx_raw_end end;
    if (!hpx_internals_on_sig(HPX_INTERNALS_NAMES) || !is_on(t)) {
        return 0;
    }
    const int n = hpx_async_stack_names_sig(&raw, frames, &end, NULL, NULL);
    const bool cut = t->other && quiet.has_virtual && (uint32_t)n == t->depth; /* it may carry a virtual thread */
    count_walk(t, end == HPX_END_FAULT);
    return end == HPX_END_WHOLE && !cut && as_the_vm(frames, n) ? n : 0;
}

/* ---- comparing ---- */

bool hpx_quiet_stack_compares(uint32_t seen)
{
    return hpx_judge_asks_sig(HPX_JUDGED_EVENT, seen);
}

void hpx_quiet_stack_compared(enum hpx_judged_as as)
{
    if (hpx_judge_told_sig(HPX_JUDGED_EVENT, as)) {
        hpx_internals_leave_sig(HPX_INTERNALS_EVENTS, "stacks that were walked are not those of GetStackTrace");
    }
}

/* ---- the report ---- */

void hpx_quiet_stack_lines(const void *mode, struct hpx_lines *to, const struct hpx_counters *total)
{
    const char *why = hpx_internals_why(HPX_INTERNALS_EVENTS);
    const char *heap = hpx_stack_chunk_known_sig() ? hpx_zgc_references_unfollowed() : NULL;
    uint64_t known = hpx_counter_get(total, HPX_C_EVENTS_KNOWN), named = hpx_counter_get(total, HPX_C_EVENTS_NAMED);
    uint64_t asked = hpx_counter_get(total, HPX_C_EVENTS_ASKED), faults = atomic_load_explicit(&quiet.faults, memory_order_relaxed);
    uint64_t moved = hpx_async_stack_moved();
    if (mode != quiet.mode) {
        return;
    }
    if (why != NULL) {
        hpx_lines_add(to, "hprofx: stacks of events not walked: %s\n", why);
    }
    if (heap != NULL) {
        hpx_lines_add(to, "hprofx: frames in the heap: %s\n", heap);
    }
    if (known + named + asked > 0) {
        hpx_lines_add(to, "hprofx: stacks of events: %" PRIu64 " known, %" PRIu64 " named, %" PRIu64 " by the VM\n", known, named, asked);
    }
    hpx_judge_lines(to, HPX_JUDGED_EVENT);
    if (faults > 0) {
        hpx_lines_add(to, "hprofx: stacks of events faulted: %" PRIu64 "\n", faults);
    }
    if (moved > 0) {
        hpx_lines_add(to, "hprofx: reads of moved objects faulted: %" PRIu64 "\n", moved);
    }
}
