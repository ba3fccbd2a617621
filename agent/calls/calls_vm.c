/* SPDX-License-Identifier: BSD-2-Clause */
/* calls_vm.c: cpu=times and cpu=old in the JVM: the class hook, the threads' states. */
#include "calls_mode.h"
#include "calls_thread.h"
#include "classes.h"
#include "kept_states.h"
#include "log.h"
#include "signal_watch.h"
#include "threads.h"
#include "tracker.h"
#include "virtual.h"
#include <errno.h>
#include <string.h>

#define CALLS_RING (256u << 10) /* bytes: 16,384 records, some hundreds of microseconds of calls that do not fold */

__thread struct hpx_calls_thread *hpx_calls_thread_self;

static struct hpx_calls_thread *state(struct hpx_mode_thread *s)
{
    return (struct hpx_calls_thread *)(void *)s;
}

/* ---- ticks ---- */

static struct hpx_ticker *ticker(struct hpx_mode_thread *s)
{
    return &state(s)->tick;
}

/* What cannot be recorded now is recorded with the next tick. */
void hpx_calls_thread_tick(struct hpx_calls_thread *t, uint64_t weight)
{
    t->owed += weight * hpx_session.opt->interval_ns;
    if (t->owed > 0 && hpx_calls_tick_sig(&t->calls, t->owed)) {
        t->owed = 0;
    }
}

/* Without weight the clock is stopped: somebody else may have the ring. */
static void tick_sig(struct hpx_mode_thread *s, void *context, uint64_t weight)
{
    (void)context;
    if (weight > 0) {
        hpx_calls_thread_tick(state(s), weight);
    }
}

static void due(struct hpx_mode_thread *s, uint64_t weight)
{
    hpx_calls_thread_tick(state(s), weight);
}

static void untimed(struct hpx_mode_thread *s, int why)
{
    static HPX_OF_SESSION atomic_bool said;
    (void)s;
    hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, 1);
    hpx_warn_once(&said, "times=sampled: cannot create a timer for a thread (%s); its CPU time is missing%s", strerror(why),
                  why == EAGAIN ? "; raise the limit of pending signals (ulimit -i)" : "");
}

static const struct hpx_ticks_user users[] = {{&hpx_calls_mode, "times=sampled", ticker, tick_sig, due, untimed, NULL},
                                              {&hpx_calls_mode_old, "times=sampled", ticker, tick_sig, due, untimed, NULL}};

/* ---- events ---- */

static void JNICALL on_virtual_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    hpx_virtual_start(jvmti, env, thread);
}

static void JNICALL on_virtual_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    hpx_virtual_end(jvmti, env, thread);
}

static void callbacks(union hpx_event_callbacks *all)
{
    hpx_classes_callbacks(all);
    all->of[HPX_EVENT_VIRTUAL_THREAD_START - JVMTI_MIN_EVENT_TYPE_VAL] = on_virtual_thread_start;
    all->of[HPX_EVENT_VIRTUAL_THREAD_END - JVMTI_MIN_EVENT_TYPE_VAL] = on_virtual_thread_end;
}

/* ---- life ---- */

static void options(void)
{
    if (!hpx_calls_timed_by_samples()) {
        return;
    }
    bool poll = hpx_session.opt->sampler == HPX_ENGINE_POLL;
    int why = poll ? 0 : hpx_clocks_try();
    if (poll || why != 0) {
        hpx_warn("times=sampled: %s%s; using times=cpu instead",
                 why != 0 ? "cannot create a timer for a thread: " : "sampler=poll sends no signals", why != 0 ? strerror(why) : "");
        hpx_session.in_effect.times = HPX_TIMES_CPU;
    }
}

static int load(struct hpx_err *err)
{
    (void)err;
    hpx_tracker_use();
    if (hpx_calls_timed_by_samples()) {
        hpx_ticks_use(hpx_calls_mode_active() == &hpx_calls_mode ? &users[0] : &users[1]);
    } else {
        hpx_cpuclock_setup(hpx_session.in_effect.times == HPX_TIMES_WALL ? HPX_CPUCLOCK_WALL : HPX_CPUCLOCK_CPU, NULL);
    }
    return 0;
}

static uint32_t ring_bytes(void)
{
    return CALLS_RING;
}

static void made(struct hpx_mode_thread *s)
{
    state(s)->stack_limit.limit = UINTPTR_MAX; /* until the thread begins: probes take their slow way */
    hpx_calls_init(&state(s)->calls, &hpx_session.aggregator, &hpx_session.gate, &s->base);
}

/* Before the first call counts, and with a scratch state, because signals do not look for that one yet. */
static void calibrate(JNIEnv *env)
{
    uint32_t inner, outer;
    struct hpx_mode_thread *scratch = hpx_kept_states_make(hpx_calls_mode_active(), NULL);
    if (scratch != NULL) {
        hpx_cpuclock_enter(&state(scratch)->cpuclock);
        hpx_tracker_calibrate(env, state(scratch), &inner, &outer);
        hpx_call_rows_probes(hpx_calls_rows(), inner, outer);
        hpx_kept_states_drop(scratch);
    }
}

static void live(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti;
    if (hpx_tracker_reads_clock()) {
        calibrate(env);
    }
}

static void open(jvmtiEnv *jvmti)
{
    hpx_tracker_open();
    hpx_virtual_enable(jvmti, true);
}

static void close_hook(jvmtiEnv *jvmti)
{
    hpx_classes_close();
    hpx_virtual_enable(jvmti, false);
}

static bool left(uint64_t until_ns)
{
    return hpx_classes_left(until_ns) && hpx_ticks_left(until_ns);
}

/* A machine may be moved to another host while the program runs. */
static void recheck(void)
{
    if (!hpx_cpuclock_recheck()) {
        hpx_warn("%s: fast CPU clock disabled; every probe now makes a system call: %s", hpx_session_modes(), hpx_cpuclock_reason());
    }
}

static void forget(void)
{
    hpx_classes_close();
    hpx_clocks_forget();
}

/* ---- threads ---- */

static void begin_self(struct hpx_mode_thread *s)
{
    struct hpx_calls_thread *t = state(s);
    if (hpx_tracker_reads_clock()) {
        hpx_cpuclock_enter(&t->cpuclock);
    }
    hpx_calls_thread_self = t;
    hpx_stack_limit_init(&t->stack_limit, s->stack_low, s->stack_end - s->stack_low);
}

static void begin(struct hpx_mode_thread *s, JNIEnv *env, jthread self)
{
    (void)env, (void)self;
    hpx_ticker_init(ticker(s), s);
    begin_self(s);
}

static void unload(JNIEnv *env)
{
    (void)env;
    hpx_virtual_forget();
}

static void adopt(struct hpx_mode_thread *s)
{
    hpx_ticker_init(ticker(s), s);
}

static void adopted(struct hpx_mode_thread *s)
{
    ticker(s)->clock.tid = s->tid;
    hpx_ticks_forget_own();
    begin_self(s);
}

static void arm(struct hpx_mode_thread *s)
{
    if (hpx_ticks_leads(hpx_calls_mode_active())) {
        hpx_ticks_arm(ticker(s));
    }
}

static void disarm(struct hpx_mode_thread *s)
{
    if (hpx_ticks_leads(hpx_calls_mode_active())) {
        hpx_ticks_disarm(ticker(s));
    }
}

static void ended(void)
{
    hpx_ticks_leave_own();
    hpx_calls_thread_self = NULL;
}

static void end(struct hpx_mode_thread *s, JNIEnv *env)
{
    struct hpx_calls_thread *t = state(s);
    (void)env;
    if (hpx_ticks_leads(hpx_calls_mode_active())) {
        hpx_ticks_settle(ticker(s));
    }
    hpx_calls_flush(&t->calls, hpx_tracker_now(t));
    if (hpx_tracker_reads_clock()) {
        hpx_cpuclock_leave(&t->cpuclock);
    }
}

static bool abandon(struct hpx_mode_thread *s)
{
    return !hpx_ticks_leads(hpx_calls_mode_active()) || hpx_ticks_abandon(ticker(s));
}

const struct hpx_vm_mode hpx_calls_vm_mode = {
    .finds_itself = true,
    .on_load = {HPX_CLASSES_EVENTS, 0},
    .capabilities = hpx_classes_capabilities,
    .optional = hpx_virtual_init,
    .callbacks = callbacks,
    .options = options,
    .load = load,
    .classes = hpx_classes_loaded,
    .live = live,
    .open = open,
    .close = close_hook,
    .disable = hpx_classes_close,
    .left = left,
    .restore = hpx_classes_restore,
    .unload = unload,
    .recheck = recheck,
    .forget = forget,
    .state_bytes = sizeof(struct hpx_calls_thread),
    .ring_bytes = ring_bytes,
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
