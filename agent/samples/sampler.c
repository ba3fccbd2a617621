/* SPDX-License-Identifier: BSD-2-Clause */
/* sampler.c: chooses and changes the engine that takes the stacks. */
#include "sampler.h"
#include "async_stack.h"
#include "code_source.h"
#include "engine.h"
#include "inlines.h"
#include "internals.h"
#include "known_stacks.h"
#include "log.h"
#include "naming.h"
#include "outside.h"
#include "probe_frames.h"
#include "registers.h"
#include "signal_watch.h"
#include "stack_thread.h"
#include "stacks.h"
#include "vm.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A ring holds the whole stacks of so much CPU time, within these bounds: the aggregator may be kept from its CPU for a while. */
#define RING_HOLDS_NS (100ull * 1000 * 1000)
#define RING_LEAST    16384u
#define RING_MOST     (256u << 10)

static HPX_OF_SESSION struct {
    atomic_bool said_timer, said_polled;
    struct {
        void *env;
        volatile bool passed; /* the handler's answer to the same thread */
    } test;
} sampler;

/* The guard has caught a fault of t, or none: whom to trust no longer. */
static void judge_sig(struct hpx_sample_thread *t, enum hpx_guard end)
{
    if (end == HPX_GUARD_FAULTED) {
        hpx_engine_fault_sig();
    }
    if (end != HPX_GUARD_PASSED) {
        hpx_count(&t->s.base.counters, HPX_C_FAULTS, 1);
    }
}

static int walk_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, struct hpx_ev_frame *frames, void *context, bool *retried)
{
    struct hpx_async_stack how;
    *retried = false;
    if (hpx_engine_tripped_sig()) {
        return -(int)HPX_UNKNOWN_FAULT;
    }
    int n = hpx_async_stack_take_sig(w, frames, context, &how);
    judge_sig(t, how.end);
    *retried = how.retried;
    return n;
}

/* The stack is taken by its names; one that was recognised is compared only. */
static int named_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, const struct hpx_known_look *look, int n)
{
    hpx_count(&t->s.base.counters, HPX_C_NAMED, look->known ? 0 : w->weight);
    return n;
}

/* By a raw walk, if that has found the stack whole; or AsyncGetCallTrace, or both. */
static int take_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, struct hpx_ev_frame *frames, void *context,
                    struct hpx_known_look *look)
{
    struct hpx_naming named = {.n = 0};
    look->retried = look->alone = false;
    if (look->whole) {
        hpx_naming_take_sig(t, w, frames, context, look->known, &named);
    }
    if (named.n > 0 && !named.compare) {
        return named_sig(t, w, look, named.n);
    }
    int n = walk_sig(t, w, frames, context, &look->retried);
    if (!named.compare) {
        return n;
    }
    bool usable = n > 0 && !look->retried;
    named.n = hpx_naming_compare_sig(t, w, frames, context, n, &usable);
    look->alone = !usable;
    if (named.n > 0) {
        look->retried = false;
        return named_sig(t, w, look, named.n);
    }
    return walk_sig(t, w, frames, context, &look->retried);
}

static bool lacks_name(const struct hpx_ev_frame *frames, int n)
{
    bool lacks = false;
    for (int i = 0; i < n; i++) {
        lacks |= frames[i].method == 0;
    }
    return lacks;
}

static void sample_async(struct hpx_sample_thread *t, void *context, uint64_t weight)
{
    uint32_t depth = hpx_stacks_depth(t), extra = hpx_stacks_extra();
    struct hpx_asgct w = {hpx_mode_thread_env(&t->s), t->s.stack_low, t->s.stack_end, depth + extra - 1, weight};
    struct hpx_known_look look;
    if (depth == 0 || hpx_known_stacks_push_sig(t, &w, context, &look)) {
        return;
    }
    struct hpx_ev_frame *frames = hpx_stacks_reserve(t, depth + extra, weight);
    if (frames == NULL) {
        return;
    }
    int n = take_sig(t, &w, frames, context, &look);
    uint32_t slot;
    look.answer = n;
    look.probe = hpx_probe_frames(frames, n) > 0;
    look.nameless = lacks_name(frames, n);
    if (hpx_known_stacks_instead_sig(t, &look, weight, &slot)) {
        hpx_stacks_commit_known(t, frames, slot, weight);
        return;
    }
    n = hpx_stacks_without_probe(t, frames, n, depth, weight);
    hpx_stacks_commit(t, frames, n, weight);
    if (n > 0) { /* else the thread's last slot is that of an earlier sample */
        hpx_count(&t->s.base.counters, HPX_C_RETRIED, look.retried);
        hpx_known_stacks_learn_sig(t, &w, &look);
    } else {
        hpx_outside_note_sig(&w, n);
    }
}

void hpx_sampler_tick_sig(struct hpx_mode_thread *s, void *context, uint64_t weight)
{
    struct hpx_sample_thread *t = (struct hpx_sample_thread *)(void *)s;
    if (!hpx_engine_takes_stacks()) {
        return;
    }
    if (!hpx_engine_async_sig()) {
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
        sample_async(t, context, weight - stalled);
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
    enum hpx_guard end = HPX_GUARD_PASSED;
    sampler.test.passed = hpx_async_stack_test_sig(sampler.test.env, context, t != NULL ? &end : NULL);
    judge_sig(t, end);
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
    hpx_known_stacks_end(t);
    atomic_store_explicit(&t->polled, false, memory_order_relaxed); /* its kernel id may be another thread's before the state is freed */
}

void hpx_sampler_flush(struct hpx_sample_thread *t)
{
    if (hpx_engine_now() != HPX_ENGINE_ASYNC || atomic_load_explicit(&t->polled, memory_order_relaxed)) {
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
    bool perf = strcmp(hpx_ticks_clock(), "perf cpu-clock") == 0;
    switch (hpx_engine_now()) {
    case HPX_ENGINE_WALK:
        return perf ? "walk, JVMTI stacks by perf cpu-clock" : "walk, JVMTI stacks by thread CPU timer";
    case HPX_ENGINE_POLL:
        return "poll, JVMTI stacks by polled thread CPU clocks";
    default:
        if (hpx_internals_names_sig()) {
            return perf ? "raw walks and AsyncGetCallTrace by perf cpu-clock" : "raw walks and AsyncGetCallTrace by thread CPU timer";
        }
        return perf ? "AsyncGetCallTrace by perf cpu-clock" : "AsyncGetCallTrace by thread CPU timer";
    }
}

static void walk_from_now(const char *why)
{
    struct hpx_err err = {0};
    hpx_warn("cpu=samples: %s; using sampler=walk instead", why);
    hpx_inlines_enable();
    if (hpx_stack_thread_start(&err) != 0) {
        hpx_warn("cpu=samples: %s; samples will have no stacks", err.msg);
        return;
    }
    hpx_stack_thread_take_over();
}

static void distrust(const char *why)
{
    if (hpx_engine_leave_async()) {
        walk_from_now(why);
    }
}

void hpx_sampler_look(void)
{
    hpx_code_source_look();
    const char *why = hpx_engine_distrusted();
    if (why != NULL) {
        walk_from_now(why);
    }
}

/* Calls AsyncGetCallTrace as the sampler will: in the handler, on a thread that is in native code. NULL: it answered, or the signal is
 * not ours to send here. */
static const char *self_test(JNIEnv *env)
{
    sampler.test.env = env;
    return !hpx_ticks_test(test_sig) || sampler.test.passed ? NULL : "AsyncGetCallTrace failed its self-test";
}

void hpx_sampler_live(JNIEnv *env)
{
    struct hpx_err err = {0};
    if (!hpx_engine_takes_stacks()) {
        return;
    }
    if (hpx_engine_now() == HPX_ENGINE_ASYNC) {
        const char *verify = getenv("HPROFX_VERIFY");
        bool all = verify != NULL && !strcmp(verify, "1");
        hpx_known_stacks_begin(all);
        hpx_naming_begin(all);
        hpx_code_source_live(env, hpx_sample_self, hpx_async_stack_begin());
        const char *why = self_test(env);
        if (why != NULL) {
            hpx_async_stack_end();
            distrust(why);
        }
    } else if (hpx_stack_thread_start(&err) != 0) {
        hpx_warn("cpu=samples: %s; samples will have no stacks", err.msg);
    }
}

void hpx_sampler_init(void)
{
    struct hpx_err err = {0};
    enum hpx_engine engine = hpx_session.opt->sampler;
    if (engine == HPX_ENGINE_ASGCT) {
        engine = HPX_ENGINE_ASYNC;
        hpx_internals_leave_part_sig(HPX_INTERNALS_RAW, "sampler=asgct");
    }
    if (engine == HPX_ENGINE_ASYNC && hpx_async_stack_init(hpx_vm.jvmti, hpx_probe_frames_astray, &err) != 0) {
        hpx_warn("cpu=samples: %s; using sampler=walk instead", err.msg);
        engine = HPX_ENGINE_WALK;
    }
    if (engine == HPX_ENGINE_WALK) {
        hpx_inlines_enable();
    }
    hpx_engine_begin(engine);
}
