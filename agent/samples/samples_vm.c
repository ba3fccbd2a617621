/* SPDX-License-Identifier: BSD-2-Clause */
/* samples_vm.c: cpu=samples in the JVM: its events, its threads' states. */
#include "c_frames.h"
#include "code_source.h"
#include "engine.h"
#include "event_stacks.h"
#include "inlines.h"
#include "jfr_watch.h"
#include "probe_frames.h"
#include "quiet_stack.h"
#include "sampler.h"
#include "samples.h"
#include "shared_stacks.h"
#include "stack_thread.h"
#include "vm_mode.h"
#include <string.h>

__thread struct hpx_sample_thread *hpx_sample_self;

static struct hpx_sample_thread *state(struct hpx_mode_thread *s)
{
    return (struct hpx_sample_thread *)(void *)s;
}

static struct hpx_ticker *ticker(struct hpx_mode_thread *s)
{
    return &state(s)->tick;
}

static void found_sig(struct hpx_mode_thread *s)
{
    s->session = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
    hpx_sample_self = state(s);
}

static const struct hpx_ticks_user user = {&hpx_samples,    "cpu=samples",       ticker,   hpx_sampler_tick_sig,
                                           hpx_sampler_due, hpx_sampler_untimed, found_sig};

/* ---- events: the table of inlined methods alone, outside the gate: they may come with VM locks held ---- */

/* AsyncGetCallTrace returns nothing unless an agent enables this event. */
static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass klass)
{
    (void)jvmti, (void)env, (void)thread, (void)klass;
}

/* Both probes and methods of the program call C through this code (MethodHandle.linkToNative, by signature). Its pc does not tell whose
 * sample it is; the stack does. */
static bool is_shared(jvmtiEnv *jvmti, jmethodID method)
{
    char *name = NULL;
    if (!hpx_inlines_enabled() || hpx_probe_frames_most() == 0 ||
        (*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE) {
        return false;
    }
    bool is = strcmp(name, "linkToNative") == 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    return is;
}

static void JNICALL on_compiled_method_load(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code, jint n,
                                            const jvmtiAddrLocationMap *map, const void *info)
{
    (void)n, (void)map;
    if (!is_shared(jvmti, method) && !hpx_inlines_add(method, code, (size_t)size, info)) {
        hpx_count(&hpx_session.counters, HPX_C_INLINES_MISSED, 1);
    }
}

static void JNICALL on_compiled_method_unload(jvmtiEnv *jvmti, jmethodID method, const void *code)
{
    (void)jvmti;
    hpx_inlines_remove(method, code);
}

static void callbacks(union hpx_event_callbacks *all)
{
    all->known.ClassLoad = on_class_load;
    all->known.CompiledMethodLoad = on_compiled_method_load;
    all->known.CompiledMethodUnload = on_compiled_method_unload;
    hpx_quiet_stack_callbacks(&all->known);
}

/* Even if its event is not enabled: hprofx may need it later (code_source.h). */
static void capabilities(jvmtiCapabilities *want)
{
    want->can_generate_compiled_method_load_events = 1;
}

/* The thread is below Java code, so GetStackTrace gives the same stack. */
static void prepared(jvmtiEnv *jvmti)
{
    struct hpx_sample_thread *t = hpx_sample_self;
    if (t != NULL && hpx_session_is(t->s.session) && hpx_engine_now() == HPX_ENGINE_ASYNC && hpx_quiet_stack_compares(++t->prepared)) {
        hpx_event_stacks_compare(&t->s, jvmti);
    }
}

/* ---- life ---- */

static int load(struct hpx_err *err)
{
    (void)err;
    hpx_sampler_init();
    if (hpx_engine_now() != HPX_ENGINE_POLL) {
        hpx_ticks_use(&user);
    }
    return 0;
}

static void close_events(jvmtiEnv *jvmti)
{
    hpx_code_source_close(jvmti);
    hpx_sampler_close();
}

static void restore(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti, (void)env;
    hpx_code_source_disable();
}

static void loaded(void)
{
    if (hpx_engine_takes_stacks() && hpx_engine_now() == HPX_ENGINE_ASYNC) {
        hpx_c_frames_start();
    }
}

static void disable(void)
{
    hpx_code_source_disable();
    if (hpx_c_frames_left(0)) { /* else the next begin waits for the thread (left), and then disables again */
        hpx_c_frames_end(hpx_samples_inside());
    }
    hpx_inlines_fini();
}

static void unload(JNIEnv *env)
{
    (void)env;
    hpx_c_frames_end(hpx_samples_inside());
    hpx_shared_stacks_end(hpx_samples_inside());
    hpx_inlines_fini();
}

static void leave(void)
{
    hpx_looker_stop(&hpx_sampling_thread);
}

/* ---- threads ---- */

static void made(struct hpx_mode_thread *s)
{
    ticker(s)->clock.perf_fd = -1;
}

static void adopt(struct hpx_mode_thread *s)
{
    hpx_ticker_init(ticker(s), s);
    state(s)->handed_over = hpx_engine_now() == HPX_ENGINE_WALK; /* its handler never wrote the ring */
}

static void begin(struct hpx_mode_thread *s, JNIEnv *env, jthread self)
{
    adopt(s);
    hpx_sample_self = state(s);
    hpx_quiet_stack_thread(env, self, &s->base.counters);
}

static void adopted(struct hpx_mode_thread *s)
{
    ticker(s)->clock.tid = s->tid;
    hpx_ticks_forget_own();
    hpx_sample_self = state(s);
}

static void arm(struct hpx_mode_thread *s)
{
    hpx_sampler_arm(state(s));
}

static void disarm(struct hpx_mode_thread *s)
{
    hpx_ticks_disarm(ticker(s));
}

static void ended(void)
{
    hpx_ticks_leave_own();
    hpx_sample_self = NULL;
}

static void end(struct hpx_mode_thread *s, JNIEnv *env)
{
    (void)env;
    if (hpx_ticks_leads(&hpx_samples)) {
        hpx_ticks_settle(ticker(s));
    } else {
        hpx_sampler_due(s, 0);
    }
}

static bool abandon(struct hpx_mode_thread *s)
{
    bool left = hpx_ticks_abandon(ticker(s));
    if (left) {
        hpx_sampler_due(s, 0);
    }
    return left;
}

static bool left(uint64_t until_ns)
{
    return hpx_c_frames_left(until_ns) && hpx_ticks_left(until_ns) && hpx_looker_left(&hpx_sampling_thread, until_ns);
}

const struct hpx_vm_mode hpx_samples_vm = {
    .names = true,
    .lists = true,
    .capabilities = capabilities,
    .callbacks = callbacks,
    .load = load,
    .loaded = loaded,
    .disable = disable,
    .ready = hpx_sampler_live,
    .prepared = prepared,
    .leave = leave,
    .close = close_events,
    .over = hpx_sampler_over,
    .left = left,
    .recheck = hpx_jfr_watch_recheck,
    .restore = restore,
    .unload = unload,
    .forget = hpx_clocks_forget,
    .state_bytes = sizeof(struct hpx_sample_thread),
    .ring_bytes = hpx_sampler_ring_size,
    .made = made,
    .begin = begin,
    .adopt = adopt,
    .adopted = adopted,
    .arm = arm,
    .disarm = disarm,
    .ended = ended,
    .end = end,
    .abandon = abandon,
};
