/* SPDX-License-Identifier: BSD-2-Clause */
/* sampler.c: chooses and changes the engine that takes the stacks. */
#include "sampler.h"
#include "asgct.h"
#include "async_stack.h"
#include "c_frames.h"
#include "code_source.h"
#include "engine.h"
#include "inlines.h"
#include "internals.h"
#include "judge.h"
#include "known_stacks.h"
#include "log.h"
#include "probe_frames.h"
#include "processor.h"
#include "quiet_stack.h"
#include "shared_stacks.h"
#include "stack_thread.h"
#include "stacks.h"
#include "vm.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A ring holds the whole stacks of RING_HOLDS_NS of CPU time, within these bounds, because the aggregator may wait that long for a CPU. */
#define RING_HOLDS_NS (100ull * 1000 * 1000)
#define RING_LEAST    16384u
#define RING_MOST     (256u << 10)

#define BATCH  64u /* walks that a thread counts before it tells the judge */
#define TESTED 16u /* frames of the self-test of AsyncGetCallTrace */

static HPX_OF_SESSION struct {
    atomic_bool said_timer, said_polled;
    bool guarded;                                       /* for asgct; VMInit's and VMDeath's */
    atomic_bool verifies;                               /* relaxed: AsyncGetCallTrace is asked, too */
    _Atomic uint64_t truncated[HPX_ENDS], of[HPX_ENDS]; /* relaxed: samples with and without frames, by why the walk ended */
    struct {
        void *env;
        volatile bool passed; /* the handler's answer to the same thread */
    } test;
} sampler;

/* ---- raw walks ---- */

static void judge_walks(struct hpx_sample_thread *t)
{
    const char *why = hpx_judge_walks_sig(HPX_JUDGED_KNOWN, t->walks, t->ended);
    t->walks = t->ended = 0;
    if (why != NULL) {
        hpx_engine_distrust_sig(why);
    }
}

static void judge_sig(struct hpx_sample_thread *t, bool ended, bool faulted)
{
    t->ended += ended;
    if (++t->walks >= BATCH) {
        judge_walks(t);
    }
    if (faulted) {
        const char *why = hpx_judge_fault_sig(HPX_JUDGED_KNOWN);
        hpx_count(&t->s.base.counters, HPX_C_FAULTS, 1);
        if (why != NULL) {
            hpx_engine_distrust_sig(why);
        }
    }
}

/* With HPROFX_VERIFY=1: compares the walk with AsyncGetCallTrace. */
static void verify_sig(struct hpx_sample_thread *t, const struct hpx_raw_thread *w, struct hpx_ev_frame *frames, void *context)
{
    uint32_t broken = UINT32_MAX;
    enum hpx_raw_end end;
    struct hpx_raw_thread java = *w; /* AsyncGetCallTrace knows nothing of C */
    java.c = (struct hpx_raw_c){0};
    int n = hpx_async_stack_names_sig(&java, frames, &end, &broken, NULL);
    const struct hpx_judged_walk walked = hpx_judge_walked_sig(frames, n, end, broken);
    n = hpx_asgct_take_sig((void *)(uintptr_t)w->env, frames, w->depth, context);
    if (n == -(int)HPX_UNKNOWN_FAULT) { /* whatever it held is never released */
        hpx_count(&t->s.base.counters, HPX_C_FAULTS, 1);
        if (hpx_judge_fault_sig(HPX_JUDGED_NAMED) != NULL) {
            atomic_store_explicit(&sampler.verifies, false, memory_order_relaxed);
        }
    }
    if (hpx_probe_frames_astray(frames, n)) {
        n = 0;
    }
    if (hpx_judge_told_sig(HPX_JUDGED_NAMED, hpx_judge_compare_sig(&walked, frames, n, w->depth))) {
        hpx_engine_distrust_sig("stacks that were walked are not those of AsyncGetCallTrace");
    }
}

/* Of the frames of a walk. */
struct found {
    int named, nameless, marks; /* methods with and without an id; frames that stand for others */
    int java;                   /* all that are not of C */
};

static struct found count(const struct hpx_ev_frame *frames, int n)
{
    struct found f = {0, 0, 0, 0};
    for (int i = 0; i < n; i++) {
        f.java += !hpx_stacks_is_c(frames, i);
        if (frames[i].method == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED)) {
            f.marks += !hpx_stacks_is_c(frames, i);
        } else {
            f.nameless += frames[i].method == 0;
            f.named += frames[i].method != 0;
        }
    }
    return f;
}

/* Whether two walks have seen the same. */
static bool is_same(const struct hpx_raw_stack *a, const struct hpx_raw_stack *b)
{
    return a->lo == b->lo && a->hi == b->hi && a->methods == b->methods;
}

/* Names the stack, and learns it if it is whole, every frame has a name, and it is the stack that the hash is of. */
static void name_sig(struct hpx_sample_thread *t, const struct hpx_raw_thread *w, struct hpx_ev_frame *frames, void *context,
                     uint64_t weight, const struct hpx_known_look *look)
{
    const uint32_t depth = w->depth - hpx_probe_frames_most();
    enum hpx_raw_end end;
    if (atomic_load_explicit(&sampler.verifies, memory_order_relaxed)) {
        verify_sig(t, w, frames, context);
    }
    struct hpx_raw_stack seen = {0, 0, 0};
    int n = hpx_async_stack_names_sig(w, frames, &end, NULL, &seen);
    if (hpx_probe_frames_astray(frames + w->c.nabove, n - (int)w->c.nabove)) {
        n = 0;
        end = HPX_END_STACK;
    }
    const uint32_t above = n > 0 ? w->c.nabove : 0;
    const bool whole = end == HPX_END_WHOLE || end == HPX_END_HEAP, gap = end == HPX_END_DEOPTIMIZATION || end == HPX_END_WAITING;
    const bool probes = hpx_probe_frames(frames + above, n - (int)above) > 0;
    n = hpx_stacks_without_probe(t, frames, n, above, depth, weight);
    const uint32_t c = probes ? 0 : above;
    const struct found found = count(frames + c, n - (int)c); /* of what is shown: whether a probe's frames have names does not matter */
    bool truncated = found.marks > 0;
    judge_sig(t, end > HPX_END_NO_JAVA || (found.nameless > 0 && found.named == 0), look->faulted || end == HPX_END_FAULT);
    if (found.named + found.nameless + (int)c == 0) { /* there was none, or it was a probe's, or is behind the depth */
        n = -(int)hpx_async_stack_unknown_sig(w, end);
        truncated = false;
        atomic_fetch_add_explicit(&sampler.of[end], weight, memory_order_relaxed);
    } else if (!whole && !gap && (uint32_t)found.java < depth) { /* nothing is missing behind a gap */
        frames[n++] = (struct hpx_ev_frame){-1, 0, HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED)};
        truncated = true;
    }
    if (truncated && end != HPX_END_HEAP) {
        atomic_fetch_add_explicit(&sampler.truncated[end], weight, memory_order_relaxed);
    }
    hpx_count(&t->s.base.counters, HPX_C_TRUNCATED, truncated ? weight : 0);
    hpx_count(&t->s.base.counters, HPX_C_NAMED, whole && n > 0 ? weight : 0);
    const uint16_t flags = (uint16_t)((probes ? HPX_KNOWN_PROBE : 0u) | (truncated ? HPX_KNOWN_HEAP : 0u));
    const bool learns = look->whole && is_same(&look->raw, &seen) && whole && n > 0 && found.nameless == 0;
    if (learns) {
        hpx_shared_stacks_put_sig(&look->raw, frames, n, flags);
    }
    hpx_stacks_commit(t, frames, n, weight);
    if (!learns) {
        hpx_known_stacks_alone_sig(look);
    } else if (hpx_known_stacks_learn_sig(t, look, flags)) {
        hpx_engine_distrust_sig("a stack that was recognised has other frames");
    }
}

/* ---- AsyncGetCallTrace ---- */

static int ask_sig(struct hpx_counters *counters, void *env, struct hpx_ev_frame *frames, uint32_t depth, void *context)
{
    if (hpx_engine_now() != HPX_ENGINE_ASGCT) { /* it was left, for its faults, since this handler began */
        return -(int)HPX_UNKNOWN_FAULT;
    }
    int n = hpx_asgct_take_sig(env, frames, depth, context);
    if (n == -(int)HPX_UNKNOWN_FAULT) {
        hpx_count(counters, HPX_C_FAULTS, 1);
        if (hpx_judge_fault_sig(HPX_JUDGED_NAMED) != NULL) {
            hpx_engine_distrust_sig("AsyncGetCallTrace faulted three times");
        }
    }
    return hpx_probe_frames_astray(frames, n) ? -(int)HPX_UNKNOWN_NOT_WALKABLE_JAVA : n;
}

/* w: with the frames of C. */
static void sample_async(struct hpx_sample_thread *t, const struct hpx_raw_thread *w, void *context, uint64_t weight)
{
    const uint32_t most = w->depth + 1 + w->c.room;
    struct hpx_known_look look;
    if (hpx_known_stacks_push_sig(t, w, weight, &look)) {
        judge_sig(t, false, false);
        return;
    }
    struct hpx_ev_frame *frames = hpx_stacks_reserve(t, most, weight);
    if (frames == NULL) {
        return;
    }
    if (hpx_known_stacks_commit_shared_sig(t, frames, most, weight, &look)) {
        judge_sig(t, false, false);
    } else {
        name_sig(t, w, frames, context, weight, &look);
    }
}

/* Apart: the frames of C take room on a stack that may be a small one. */
HPX_NOINLINE static void sample_with_c(struct hpx_sample_thread *t, struct hpx_raw_thread *w, void *context, uint64_t weight)
{
    struct hpx_c_frames above;
    hpx_c_frames_take_sig(w, context, weight, &above);
    w->c = (struct hpx_raw_c){above.methods, above.n, above.called, HPX_EV_C_MOST + 1, hpx_c_frames_between_sig};
    sample_async(t, w, context, weight);
}

/* engine: async or asgct, as it was when the handler began. */
static void sample(struct hpx_sample_thread *t, enum hpx_engine engine, void *context, uint64_t weight)
{
    const uint32_t depth = hpx_stacks_depth(t);
    const bool walks = engine == HPX_ENGINE_ASYNC;
    struct hpx_raw_thread w = {.env = hpx_mode_thread_env(&t->s),
                               .stack_low = t->s.stack_low,
                               .stack_end = t->s.stack_end,
                               .depth = depth + hpx_probe_frames_most(),
                               .at = hpx_registers_load(context),
                               .entering = hpx_registers_entering(context)};
    if (depth == 0) {
        return;
    }
    if (walks && hpx_internals_on_sig(HPX_INTERNALS_NAMES)) {
        if (hpx_c_frames_on_sig()) {
            sample_with_c(t, &w, context, weight);
        } else {
            sample_async(t, &w, context, weight);
        }
        return;
    }
    struct hpx_ev_frame *frames = hpx_stacks_reserve(t, depth + hpx_stacks_extra(), weight);
    if (frames == NULL) {
        return;
    }
    /* the aggregator is about to see that the structures were left (hpx_sampler_look()) */
    int n = walks ? -(int)HPX_UNKNOWN_OTHER : ask_sig(&t->s.base.counters, hpx_mode_thread_env(&t->s), frames, w.depth, context);
    hpx_stacks_commit(t, frames, hpx_stacks_without_probe(t, frames, n, 0, depth, weight), weight);
}

void hpx_sampler_tick_sig(struct hpx_mode_thread *s, void *context, uint64_t weight)
{
    struct hpx_sample_thread *t = (struct hpx_sample_thread *)(void *)s;
    if (!hpx_engine_takes_stacks()) {
        return;
    }
    enum hpx_engine engine = hpx_engine_sig();
    if (!hpx_engine_in_handler(engine)) {
        if (weight > 0) {
            uintptr_t pc = hpx_registers_pc(context); /* 0: the leaf stays as the sampling thread finds it */
            hpx_stack_thread_ask_sig(t, pc, weight, hpx_clocks_stalled_sig(&t->tick.clock, weight));
        }
    } else if (atomic_load_explicit(&t->s.base.busy, memory_order_relaxed)) {
        hpx_count(&t->s.base.counters, HPX_C_LOST_NESTED, weight);
    } else if (weight > 0) {
        atomic_store_explicit(&t->s.base.busy, 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        uint64_t stalled = hpx_clocks_stalled_sig(&t->tick.clock, weight);
        sample(t, engine, context, weight - stalled);
        if (hpx_stacks_depth(t) > 0) {
            hpx_stacks_stall(t, stalled);
        }
        atomic_signal_fence(memory_order_seq_cst);
        atomic_store_explicit(&t->s.base.busy, 0, memory_order_relaxed);
    }
}

static void test_sig(void *context)
{
    struct hpx_sample_thread *t = hpx_sample_self;
    struct hpx_ev_frame frames[TESTED];
    int n = ask_sig(t != NULL ? &t->s.base.counters : &hpx_session.counters, sampler.test.env, frames, TESTED, context);
    sampler.test.passed = n != -(int)HPX_UNKNOWN_NO_CLASS_LOAD && n >= -(int)HPX_UNKNOWN_SAFEPOINT && n <= (int)TESTED;
}

static void poll_instead(struct hpx_sample_thread *t)
{
    struct hpx_err err = {0};
    if (hpx_stack_thread_start(&err) != 0 || !hpx_stack_thread_poll(t)) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, 1);
        hpx_warn_once(&sampler.said_polled, "cpu=samples: a thread is not sampled: %s", err.msg[0] ? err.msg : "no memory");
    }
}

void hpx_sampler_untimed(struct hpx_mode_thread *state, int why)
{
    struct hpx_sample_thread *t = (struct hpx_sample_thread *)(void *)state;
    if (!hpx_engine_takes_stacks()) {
        return;
    }
    if (!hpx_ticks_armed()) {
        hpx_c_frames_left_out();
        hpx_engine_poll();
    }
    hpx_warn_once(&sampler.said_timer,
                  "cpu=samples: cannot create a timer for a thread (%s); polling its CPU clock instead (sampler=poll)%s", strerror(why),
                  why == EAGAIN ? "; raise the limit of pending signals (ulimit -i)" : "");
    poll_instead(t);
}

void hpx_sampler_arm(struct hpx_sample_thread *t)
{
    if (!hpx_engine_takes_stacks() && !hpx_ticks_shared()) {
        return;
    }
    if (hpx_engine_now() == HPX_ENGINE_POLL) {
        poll_instead(t);
    } else {
        hpx_ticks_arm(&t->tick);
    }
}

void hpx_sampler_due(struct hpx_mode_thread *state, uint64_t weight)
{
    struct hpx_sample_thread *t = (struct hpx_sample_thread *)(void *)state;
    uint64_t stalled = hpx_clocks_stalled_sig(&t->tick.clock, weight);
    uint64_t rest = weight - stalled, before = hpx_clocks_before_start(&t->tick.clock, weight);
    before = before < rest ? before : rest;
    hpx_stacks_before_java(t, before);
    hpx_stacks_again(t, hpx_stack_thread_flush(t) + rest - before);
    hpx_stacks_stall(t, stalled);
    judge_walks(t);
    atomic_store_explicit(&t->polled, false, memory_order_relaxed); /* the kernel may reuse its id before the state is freed */
}

void hpx_sampler_flush(struct hpx_sample_thread *t)
{
    if (!hpx_engine_in_handler(hpx_engine_now()) || atomic_load_explicit(&t->polled, memory_order_relaxed)) {
        hpx_stacks_again(t, hpx_stack_thread_flush(t));
    }
}

uint32_t hpx_sampler_ring_size(void)
{
    size_t one = HPX_EV_SAMPLE_BYTES(atomic_load_explicit(&hpx_session.depth, memory_order_relaxed) + hpx_stacks_extra());
    size_t want = one * (size_t)(RING_HOLDS_NS / hpx_session.opt->interval_ns), least = 4 * one;
    want = want < RING_MOST ? want : RING_MOST;
    return hpx_ring_bytes(RING_LEAST, want > least ? want : least);
}

const char *hpx_sampler_name(void)
{
    bool perf = strcmp(hpx_clocks_name(), "perf cpu-clock") == 0;
    switch (hpx_engine_now()) {
    case HPX_ENGINE_WALK:
        return perf ? "walk, JVMTI stacks by perf cpu-clock" : "walk, JVMTI stacks by thread CPU timer";
    case HPX_ENGINE_POLL:
        return "poll, JVMTI stacks by polled thread CPU clocks";
    case HPX_ENGINE_ASGCT:
        return perf ? "asgct, AsyncGetCallTrace by perf cpu-clock" : "asgct, AsyncGetCallTrace by thread CPU timer";
    default:
        return perf ? "async, raw walks by perf cpu-clock" : "async, raw walks by thread CPU timer";
    }
}

static const char *const ends[HPX_ENDS] = {
#define NAME(sym, name) name,
    HPX_RAW_ENDS(NAME)
#undef NAME
};

static void lines_of_ends(struct hpx_lines *to, uint64_t truncated)
{
    uint64_t heap = truncated; /* known stacks count no reason; theirs is always this one */
    for (int i = 0; i < HPX_ENDS; i++) {
        uint64_t n = atomic_load_explicit(&sampler.truncated[i], memory_order_relaxed);
        heap -= n;
        if (n > 0) {
            hpx_lines_add(to, "hprofx: truncated, %s: %" PRIu64 "\n", ends[i], n);
        }
    }
    if ((int64_t)heap > 0) {
        hpx_lines_add(to, "hprofx: truncated, %s: %" PRIu64 "\n", ends[HPX_END_HEAP], heap);
    }
    for (int i = 0; i < HPX_ENDS; i++) {
        uint64_t n = atomic_load_explicit(&sampler.of[i], memory_order_relaxed);
        if (n > 0) {
            hpx_lines_add(to, "hprofx: without a frame, %s: %" PRIu64 "\n", ends[i], n);
        }
    }
}

void hpx_sampler_lines(struct hpx_lines *to, const struct hpx_counters *total, uint64_t samples)
{
    uint64_t known = hpx_counter_get(total, HPX_C_KNOWN), named = hpx_counter_get(total, HPX_C_NAMED);
    uint64_t truncated = hpx_counter_get(total, HPX_C_TRUNCATED);
    const char *why = hpx_engine_why();
    if (hpx_session.opt->sampler != HPX_ENGINE_ASYNC) {
        return;
    }
    if (hpx_engine_now() == HPX_ENGINE_ASYNC) {
        hpx_lines_add(to, "hprofx: vm structures: on\n");
    } else if (why != NULL) {
        hpx_lines_add(to, "hprofx: vm structures: off, %s\n", why);
    }
    if (known + named > 0) {
        hpx_lines_add(to, "hprofx: known stacks: %" PRIu64 " (%.2f %%)\n", known, hpx_lines_percent(known, samples));
        hpx_lines_add(to, "hprofx: named stacks: %" PRIu64 " (%.2f %%)\n", named, hpx_lines_percent(named, samples));
    }
    hpx_judge_lines(to, HPX_JUDGED_KNOWN);
    hpx_judge_lines(to, HPX_JUDGED_NAMED);
    if (truncated > 0) {
        hpx_lines_add(to, "hprofx: truncated: %" PRIu64 " (%.2f %%)\n", truncated, hpx_lines_percent(truncated, samples));
    }
    lines_of_ends(to, truncated);
    hpx_c_frames_lines(to, samples);
    hpx_quiet_stack_lines(&hpx_samples, to, total);
}

/* ---- the engine ---- */

static void walk_from_now(const char *why)
{
    struct hpx_err err = {0};
    hpx_warn("cpu=samples: %s; using sampler=walk instead", why);
    hpx_c_frames_left_out();
    hpx_inlines_enable();
    if (hpx_stack_thread_start(&err) != 0) {
        hpx_warn("cpu=samples: %s; samples will have no stacks", err.msg);
        return;
    }
    hpx_stack_thread_take_over();
}

/* NULL: all that raw walks of samples need may be read. */
static const char *unread(void)
{
    const char *why = hpx_internals_why(HPX_INTERNALS_EVENTS);
    why = why != NULL ? why : hpx_internals_why(HPX_INTERNALS_NAMES);
    return why == NULL && hpx_vm.late ? hpx_internals_without(HPX_INTERNALS_IDS) : why; /* ids tell the stacks of older threads */
}

static void distrust(const char *why)
{
    if (hpx_engine_leave(why)) {
        walk_from_now(why);
    }
}

void hpx_sampler_look(void)
{
    const char *why = hpx_engine_distrusted();
    if (why != NULL) {
        walk_from_now(why);
    } else if (hpx_engine_takes_stacks() && hpx_engine_now() == HPX_ENGINE_ASYNC && (why = unread()) != NULL) {
        distrust(why);
    }
}

/* AsyncGetCallTrace gives nothing unless an agent enables this event. */
static void enable_class_load(jvmtiEventMode mode)
{
    (void)(*hpx_vm.jvmti)->SetEventNotificationMode(hpx_vm.jvmti, mode, JVMTI_EVENT_CLASS_LOAD, NULL);
}

static void begin_async(JNIEnv *env)
{
    hpx_quiet_stack_ready(hpx_vm.jvmti, env, hpx_sample_self != NULL ? &hpx_sample_self->s.base.counters : &hpx_session.counters);
    const char *why = unread();
    if (why != NULL) {
        distrust(why);
        return;
    }
    hpx_code_source_live();
    hpx_c_frames_live();
    hpx_shared_stacks_begin(HPX_SHARED_BYTES, atomic_load_explicit(&hpx_session.depth, memory_order_relaxed) + hpx_c_frames_room());
    if (hpx_judge_asks_sig(HPX_JUDGED_NAMED, 1) && hpx_asgct_init(hpx_vm.jvmti) == NULL) {
        enable_class_load(JVMTI_ENABLE);
        atomic_store_explicit(&sampler.verifies, true, memory_order_relaxed);
    }
}

/* Calls AsyncGetCallTrace as the sampler will: in the handler, on a thread in native code. If hprofx may not send the signal here, the test
 * counts as passed. */
static void begin_asgct(JNIEnv *env)
{
    enable_class_load(JVMTI_ENABLE);
    sampler.guarded = hpx_asgct_guardable();
    if (sampler.guarded) {
        (void)hpx_guard_install();
    }
    sampler.test.env = env;
    if (hpx_ticks_test(test_sig) && !sampler.test.passed) {
        distrust("AsyncGetCallTrace failed its self-test");
    }
}

void hpx_sampler_live(JNIEnv *env)
{
    struct hpx_err err = {0};
    if (!hpx_engine_takes_stacks()) {
        return;
    }
    if (hpx_engine_now() == HPX_ENGINE_ASYNC) {
        begin_async(env);
    } else if (hpx_engine_now() == HPX_ENGINE_ASGCT) {
        begin_asgct(env);
    } else if (hpx_stack_thread_start(&err) != 0) {
        hpx_warn("cpu=samples: %s; samples will have no stacks", err.msg);
    }
}

void hpx_sampler_close(void)
{
    enable_class_load(JVMTI_DISABLE);
}

void hpx_sampler_over(void)
{
    hpx_code_source_over();
    hpx_quiet_stack_over();
    hpx_c_frames_over();
    if (sampler.guarded) {
        sampler.guarded = false;
        hpx_guard_remove();
    }
}

/* Prepares raw walks. NULL, or why they cannot be used. */
static const char *prepare_async(void)
{
    const char *why = hpx_internals_closed();
    hpx_quiet_stack_load(&hpx_samples);
    why = why != NULL ? why : unread();
    why = why != NULL ? why : hpx_guard_forbidden();
    return why != NULL ? why : hpx_code_source_set_flag();
}

void hpx_sampler_init(void)
{
    enum hpx_engine engine = hpx_session.opt->sampler;
    const char *why = NULL;
    if (!hpx_engine_takes_stacks()) {
        hpx_engine_begin(engine, NULL);
        return;
    }
    if (engine == HPX_ENGINE_ASYNC) {
        why = prepare_async();
    } else if (engine == HPX_ENGINE_ASGCT) {
        why = hpx_asgct_init(hpx_vm.jvmti);
    }
    if (why != NULL && engine == HPX_ENGINE_ASYNC && hpx_asgct_init(hpx_vm.jvmti) == NULL && !hpx_asgct_guardable()) {
        engine = HPX_ENGINE_ASGCT; /* loops of the Zero VM check for no safepoint: walk would charge their time to what follows */
    } else if (why != NULL) {
        if (engine == HPX_ENGINE_ASGCT || hpx_internals_closed() == NULL) { /* if the structures are closed, the user wanted this */
            hpx_warn("cpu=samples: %s; using sampler=walk instead", why);
        }
        engine = HPX_ENGINE_WALK;
    }
    hpx_engine_begin(engine, why);
    if (engine != HPX_ENGINE_ASYNC) {
        hpx_c_frames_left_out();
    }
    if (engine == HPX_ENGINE_WALK) {
        hpx_inlines_enable();
    }
    if (engine == HPX_ENGINE_WALK || (engine == HPX_ENGINE_ASGCT && hpx_code_source_set_flag() != NULL)) {
        hpx_code_source_use_event_from_load();
    }
}
