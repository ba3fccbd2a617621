/* SPDX-License-Identifier: BSD-2-Clause */
/* sampler.c: the signal handler, ticks, and the engines' common side. */
#include "sampler.h"
#include "agct.h"
#include "clock.h"
#include "clocks.h"
#include "company.h"
#include "guard.h"
#include "handshake.h"
#include "inlines.h"
#include "log.h"
#include "stacks.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ADOPTED 16
#define TESTED  16 /* frames of the self-test */
#define FAULTED INT_MIN
#define STOP_NS (20ull * 1000 * 1000)

/* A ring holds the whole stacks of so much CPU time, within these bounds: the aggregator may be kept from its CPU for a while. */
#define RING_HOLDS_NS (100ull * 1000 * 1000)
#define RING_LEAST    16384u
#define RING_MOST     (256u << 10)

__thread struct hpx_agent_thread *hpx_self __attribute__((tls_model("initial-exec")));
struct hpx_agent_thread hpx_ours = {.calls = HPX_CALLS_NOBODY}; /* the VM runs Java code when a thread attaches or leaves */

static struct {
    struct sigaction before; /* whose signals are not ours; constant after init */
    bool installed;          /* the handler; constant after init */
    bool zero;               /* its SafeFetch cannot be told from a fault; constant after init */
    /* threads that were there before us: their handler finds the state by kernel id, once */
    _Atomic(struct hpx_agent_thread *) adopted[ADOPTED]; /* release: arm; acquire: adopt_sig */
    atomic_bool said_timer, said_blocked, said_polled, said_untimed;
    atomic_bool armed;  /* relaxed: a timer was made */
    _Atomic int engine; /* enum hpx_engine; seq_cst: distrust; seq_cst: on_signal() inside in_handler. Who may write a ring */
    _Atomic(const char *) left_to_say; /* release: distrust_sig(); acquire: look() */
    struct {
        void *env;
        struct hpx_ev_frame frames[TESTED + 1];
        volatile int code; /* the handler's answer to the same thread */
    } test;
} sampler = {.test.code = 0};

/* The original takes none at a depth of 0. */
static bool takes_stacks(void)
{
    return hpx_agent_samples() && hpx_agent.opt.depth > 0;
}

static void pass_on(int sig, siginfo_t *si, void *context)
{
    hpx_count(&hpx_agent.counters, HPX_C_SIGNALS_FOREIGN, 1);
    if (sampler.before.sa_handler == SIG_DFL || sampler.before.sa_handler == SIG_IGN) {
        return;
    }
    if (sampler.before.sa_flags & SA_SIGINFO) {
        sampler.before.sa_sigaction(sig, si, context);
    } else {
        sampler.before.sa_handler(sig);
    }
}

static struct hpx_agent_thread *adopt_sig(void)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < ADOPTED; i++) {
        struct hpx_agent_thread *t = atomic_load_explicit(&sampler.adopted[i], memory_order_acquire);
        if (t != NULL && t->tid == tid) {
            void *env = NULL;
            if ((*hpx_agent.vm)->GetEnv(hpx_agent.vm, &env, JNI_VERSION_1_6) != JNI_OK) {
                return NULL;
            }
            t->env = env;
            if (t->counting == t) {
                hpx_self = t; /* else its first probe does that: the probes' clock begins there */
            }
            return t;
        }
    }
    return NULL;
}

static void sample_async(struct hpx_agent_thread *t, void *context, uint64_t weight)
{
    uint32_t depth = hpx_stacks_depth(t);
    struct hpx_ev_frame *frames = depth > 0 ? hpx_stacks_reserve(t, depth + 1, weight) : NULL;
    if (frames == NULL) {
        return;
    }
    struct hpx_agct w = {t->env, t->stack_low, t->stack_end, depth};
    bool retried;
    int n = hpx_agct_walk_sig(t, &w, frames, context, &retried);
    if (retried) {
        hpx_count(&t->base.counters, HPX_C_RETRIED, 1);
    }
    hpx_stacks_commit(t, frames, n, weight);
}

static uintptr_t pc_of(const void *context)
{
    const ucontext_t *u = context;
#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)u->uc_mcontext.pc;
#else
    (void)u;
    return 0; /* the leaf stays as the sampling thread finds it */
#endif
}

static void sample(struct hpx_agent_thread *t, void *context, uint64_t weight)
{
    if (atomic_load_explicit(&sampler.engine, memory_order_seq_cst) != HPX_ENGINE_ASYNC) { /* partner: hpx_sampler_distrust() */
        if (weight > 0) {
            hpx_handshake_ask_sig(t, pc_of(context), weight);
        }
    } else if (atomic_load_explicit(&t->base.busy, memory_order_relaxed)) {
        hpx_count(&t->base.counters, HPX_C_LOST_NESTED, weight);
    } else if (weight > 0) {
        atomic_store_explicit(&t->base.busy, 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        sample_async(t, context, weight);
        atomic_signal_fence(memory_order_seq_cst);
        atomic_store_explicit(&t->base.busy, 0, memory_order_relaxed);
    }
}

/* t: a counting state. What cannot be told now is told with the next tick. */
static void tick(struct hpx_agent_thread *t, uint64_t weight)
{
    t->owed += weight * hpx_agent.opt.interval_ns;
    if (t->owed > 0 && hpx_calls_tick_sig(&t->calls, t->owed)) {
        t->owed = 0;
    }
}

static void take_signal(struct hpx_agent_thread *t, siginfo_t *si, void *context)
{
    uint64_t weight = hpx_clocks_weight_sig(t, si);
    hpx_count(&t->base.counters, HPX_C_SIGNALS, 1);
    if (hpx_agent_sampled()) {
        tick(t->counting, weight);
    }
    if (takes_stacks()) {
        sample(t, context, weight);
    }
    hpx_clocks_go_on_sig(t);
}

static int test_sig(void *context)
{
    return hpx_agct_ask_sig(sampler.test.env, sampler.test.frames, TESTED, context);
}

/* Async-signal-safe: no lock, no allocation; reads its own clock, walks its own stack, writes its own ring. errno is kept. */
static void on_signal(int sig, siginfo_t *si, void *context)
{
    int saved = errno;
    struct hpx_agent_thread *t = hpx_self;
    if (si->si_code == SI_QUEUE && si->si_value.sival_ptr == (void *)&sampler.test) {
        sampler.test.code = t != NULL ? hpx_guard_run_sig(t, test_sig, context, FAULTED) : test_sig(context);
        errno = saved;
        return;
    }
    if (!hpx_clocks_own_sig(si)) {
        pass_on(sig, si, context);
        errno = saved;
        return;
    }
    t = t == NULL ? adopt_sig() : t == &hpx_ours ? NULL : t->sampling;
    if (t == NULL) {
        hpx_count(&hpx_agent.counters, HPX_C_SIGNALS_LATE, 1);
        errno = saved;
        return;
    }
    bool measured = ++t->signals % 8 == 0; /* the clock costs a tenth of a walk */
    uint64_t begin = measured ? hpx_clock_thread_cpu() : 0;
    atomic_store_explicit(&t->in_handler, 1, memory_order_seq_cst); /* partner: hpx_sampler_quiesce() */
    if (atomic_load_explicit(&hpx_agent.gate.open, memory_order_seq_cst)) {
        take_signal(t, si, context);
    }
    atomic_store_explicit(&t->in_handler, 0, memory_order_release); /* partner: hpx_sampler_quiesce() */
    if (measured) {
        hpx_count(&t->base.counters, HPX_C_HANDLER_NS, hpx_clock_thread_cpu() - begin);
        hpx_count(&t->base.counters, HPX_C_HANDLER_MEASURED, 1);
    }
    errno = saved;
}

/* A place for the handler to find t by; false: all are taken. */
static bool expect_adopted(struct hpx_agent_thread *t)
{
    for (int i = 0; i < ADOPTED; i++) {
        struct hpx_agent_thread *none = NULL;
        /* partner: adopt_sig() */
        if (atomic_compare_exchange_strong_explicit(&sampler.adopted[i], &none, t, memory_order_release, memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

static void poll_instead(struct hpx_agent_thread *t)
{
    struct hpx_err err = {0};
    if (hpx_handshake_start(&err) != 0 || !hpx_handshake_poll(t)) {
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNSAMPLED, 1);
        hpx_warn_once(&sampler.said_polled, "cpu=samples: a thread goes unsampled: %s", err.msg[0] ? err.msg : "no memory");
    }
}

static void say_if_blocked(pid_t tid)
{
    if (hpx_company_blocked(tid)) {
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_BLOCKED, 1); /* its clock starts nevertheless: it may unblock the signal */
        hpx_warn_once(&sampler.said_blocked,
                      "%s: a thread blocks the signal of sampling (signal %d): its CPU time is missing while it "
                      "does; choose another signal, as signal=RTMIN+1 (or sampler=poll)",
                      hpx_agent_signalled(), hpx_agent.opt.signal);
    }
}

void hpx_sampler_arm(struct hpx_agent_thread *t, bool adopt)
{
    bool samples = takes_stacks();
    if (!samples && !hpx_agent_sampled()) {
        return;
    }
    if (hpx_sampler_engine() != HPX_ENGINE_POLL && (!adopt || expect_adopted(t))) {
        if (hpx_company_took_signal()) {
            hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNSAMPLED, 1);
            return;
        }
        say_if_blocked(adopt ? t->tid : 0);
        int why = hpx_clocks_start(t);
        if (why == 0) {
            atomic_store_explicit(&sampler.armed, true, memory_order_relaxed);
            return;
        }
        if (hpx_agent_sampled()) {
            hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNSAMPLED, 1);
            hpx_warn_once(&sampler.said_untimed, "times=sampled: no timer for a thread (%s): its CPU time is missing%s", strerror(why),
                          why == EAGAIN ? "; raise the limit of pending signals (ulimit -i)" : "");
        }
        if (!samples) {
            return;
        }
        if (!atomic_load_explicit(&sampler.armed, memory_order_relaxed)) {
            atomic_store_explicit(&sampler.engine, HPX_ENGINE_POLL, memory_order_seq_cst); /* no handler has anything to do: no partner */
        }
        hpx_warn_once(&sampler.said_timer, "cpu=samples: no timer for a thread (%s): its CPU clock is polled (sampler=poll)%s",
                      strerror(why), why == EAGAIN ? "; raise the limit of pending signals (ulimit -i)" : "");
    }
    if (samples) {
        poll_instead(t);
    } else {
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNSAMPLED, 1); /* more were there before us than have a place */
    }
}

void hpx_sampler_disarm(struct hpx_agent_thread *t)
{
    int clock = hpx_clocks_cease(t);
    if (hpx_self != t && clock == HPX_CLOCK_PERF) {
        hpx_sampler_quiesce(t, hpx_clock_mono() + STOP_NS); /* its handler may be about to use the descriptor; none uses a timer */
    }
    hpx_clocks_close(t, clock);
    for (int i = 0; i < ADOPTED; i++) {
        struct hpx_agent_thread *mine = t;
        atomic_compare_exchange_strong_explicit(&sampler.adopted[i], &mine, NULL, memory_order_relaxed, memory_order_relaxed);
    }
}

void hpx_sampler_settle(struct hpx_agent_thread *t)
{
    uint64_t due = hpx_company_ended() ? 0 : hpx_clocks_due(t);
    if (hpx_agent_sampled()) {
        tick(t->counting, due);
    }
    if (hpx_agent_samples()) {
        hpx_stacks_again(t, hpx_handshake_rest(t) + due);
    }
    atomic_store_explicit(&t->polled, false, memory_order_relaxed); /* its kernel id may be another thread's before the state is freed */
}

void hpx_sampler_rest(struct hpx_agent_thread *t)
{
    tick(t, 0);
    if (hpx_sampler_engine() != HPX_ENGINE_ASYNC || atomic_load_explicit(&t->polled, memory_order_relaxed)) {
        hpx_stacks_again(t, hpx_handshake_rest(t));
    }
}

bool hpx_sampler_quiesce(struct hpx_agent_thread *t, uint64_t until_ns)
{
    /* seq_cst: partner of the handler's store: either it sees the gate closed, or we see it inside; acquire: what it wrote */
    while (atomic_load_explicit(&t->in_handler, memory_order_seq_cst)) {
        if (hpx_clock_mono() > until_ns) {
            return false;
        }
        nanosleep(&(struct timespec){0, 50000}, NULL);
    }
    return true;
}

uint32_t hpx_sampler_ring_size(void)
{
    size_t one = HPX_EV_SAMPLE_BYTES(atomic_load_explicit(&hpx_agent.depth, memory_order_relaxed) + 1);
    size_t want = one * (size_t)(RING_HOLDS_NS / hpx_agent.opt.interval_ns), least = 4 * one, size = RING_LEAST;
    want = want < RING_MOST ? want : RING_MOST;
    while (size < want || size < least) {
        size *= 2;
    }
    return (uint32_t)size;
}

enum hpx_engine hpx_sampler_engine(void)
{
    return (enum hpx_engine)atomic_load_explicit(&sampler.engine, memory_order_relaxed);
}

const char *hpx_sampler_name(void)
{
    bool perf = strcmp(hpx_clocks_name(), "perf cpu-clock") == 0;
    switch (hpx_sampler_engine()) {
    case HPX_ENGINE_WALK:
        return perf ? "walk, JVMTI stacks by perf cpu-clock" : "walk, JVMTI stacks by thread CPU timer";
    case HPX_ENGINE_POLL:
        return "poll, JVMTI stacks by polled thread CPU clocks";
    default:
        return perf ? "AsyncGetCallTrace by perf cpu-clock" : "AsyncGetCallTrace by thread CPU timer";
    }
}

const char *hpx_sampler_tick_name(void)
{
    return hpx_clocks_name();
}

/* Who turned the engine: nobody but the first. */
static bool turn_to_walk(void)
{
    int async = HPX_ENGINE_ASYNC; /* seq_cst, partner: sample(), hpx_sampler_quiesce() */
    return atomic_compare_exchange_strong_explicit(&sampler.engine, &async, HPX_ENGINE_WALK, memory_order_seq_cst, memory_order_relaxed);
}

static void walk_from_now(const char *why)
{
    struct hpx_err err = {0};
    hpx_warn("cpu=samples: %s: stacks are taken by sampler=walk", why);
    hpx_inlines_enable();
    if (hpx_handshake_start(&err) != 0) {
        hpx_warn("cpu=samples: %s: the samples have no stacks", err.msg);
        return;
    }
    hpx_handshake_take_over();
}

void hpx_sampler_distrust(const char *why)
{
    if (turn_to_walk()) {
        walk_from_now(why);
    }
}

void hpx_sampler_distrust_sig(const char *why)
{
    if (turn_to_walk()) {
        atomic_store_explicit(&sampler.left_to_say, why, memory_order_release); /* partner: hpx_sampler_look() */
        hpx_aggregator_wake(&hpx_agent.aggregator);
    }
}

void hpx_sampler_look(void)
{
    if (atomic_load_explicit(&sampler.left_to_say, memory_order_relaxed) != NULL) {
        walk_from_now(atomic_exchange_explicit(&sampler.left_to_say, NULL, memory_order_acquire)); /* partner: hpx_sampler_distrust_sig() */
    }
}

/* Calls AsyncGetCallTrace as the sampler will: in the handler, on a thread that is in native code. NULL: it answered, or the signal is
 * not ours to send here: blocked, or handled by somebody else. */
static const char *self_test(JNIEnv *env)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    sampler.test.env = env;
    if (hpx_company_took_signal() || sigismember(&blocked, hpx_agent.opt.signal) == 1 ||
        pthread_sigqueue(pthread_self(), hpx_agent.opt.signal, (union sigval){.sival_ptr = &sampler.test}) != 0) {
        return NULL;
    }
    int code = sampler.test.code; /* a signal to the thread itself has been handled when the call returns */
    return code == -(int)HPX_UNKNOWN_NO_CLASS_LOAD || code < -(int)HPX_UNKNOWN_SAFEPOINT || code > TESTED
               ? "AsyncGetCallTrace failed its self-test"
               : NULL;
}

void hpx_sampler_live(JNIEnv *env)
{
    struct hpx_err err = {0};
    if (!takes_stacks()) {
        return;
    }
    if (hpx_sampler_engine() == HPX_ENGINE_ASYNC) {
        if (!sampler.zero) {
            hpx_guard_install();
        }
        const char *why = self_test(env);
        if (why != NULL) {
            hpx_guard_remove();
            hpx_sampler_distrust(why);
        }
    } else if (hpx_handshake_start(&err) != 0) {
        hpx_warn("cpu=samples: %s: the samples have no stacks", err.msg);
    }
}

/* Why AsyncGetCallTrace is not called on this VM; NULL: it is. At load. */
static const char *foreign_vm(struct hpx_err *err)
{
    char *name = NULL;
    const char *why = NULL;
    if ((*hpx_agent.jvmti)->GetSystemProperty(hpx_agent.jvmti, "java.vm.name", &name) != JVMTI_ERROR_NONE) {
        name = NULL;
    }
    if (name == NULL || (strstr(name, "OpenJDK") == NULL && strstr(name, "HotSpot") == NULL)) {
        why = "AsyncGetCallTrace is not known to work on this VM";
    } else if (hpx_agct_init(err) != 0) {
        why = err->msg;
    }
    sampler.zero = name != NULL && strstr(name, "Zero") != NULL;
    (*hpx_agent.jvmti)->Deallocate(hpx_agent.jvmti, (unsigned char *)name);
    return why;
}

void hpx_sampler_need_timers(void)
{
    if (!hpx_agent_sampled()) {
        return;
    }
    int why = hpx_agent.opt.sampler == HPX_ENGINE_POLL ? 0 : hpx_clocks_try();
    if (hpx_agent.opt.sampler == HPX_ENGINE_POLL || why != 0) {
        hpx_warn("times=sampled: %s%s: times are taken by times=cpu", why != 0 ? "no timer for a thread: " : "sampler=poll has no signals",
                 why != 0 ? strerror(why) : "");
        hpx_agent.opt.times = HPX_TIMES_CPU;
    }
}

static void choose_engine(struct hpx_err *err)
{
    int engine = hpx_agent.opt.sampler;
    if (!hpx_agent_samples()) {
        return; /* signals without stacks: as ASYNC */
    }
    const char *why = engine == HPX_ENGINE_ASYNC ? foreign_vm(err) : NULL;
    if (why != NULL) {
        hpx_warn("cpu=samples: %s: stacks are taken by sampler=walk", why);
        engine = HPX_ENGINE_WALK;
    }
    if (engine == HPX_ENGINE_WALK) {
        hpx_inlines_enable();
    }
    atomic_store_explicit(&sampler.engine, engine, memory_order_relaxed); /* before there are handlers and threads of ours */
}

void hpx_sampler_stay_out(void)
{
    struct sigaction now;
    if (sampler.installed && sigaction(hpx_agent.opt.signal, NULL, &now) == 0 && now.sa_sigaction == on_signal) {
        sigaction(hpx_agent.opt.signal, &sampler.before, NULL);
    }
}

int hpx_sampler_init(struct hpx_err *err)
{
    static const int vms[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    choose_engine(err);
    hpx_clocks_init();
    if (hpx_sampler_engine() == HPX_ENGINE_POLL || (!hpx_agent_samples() && !hpx_agent_sampled())) {
        return 0; /* no signal at all */
    }
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = on_signal;
    sa.sa_flags = SA_SIGINFO | SA_RESTART;
    /* A handler of the program's that came inside would be abandoned with a walk that faults. The VM needs its own signals. */
    sigfillset(&sa.sa_mask);
    for (size_t i = 0; i < HPX_ARRAY_LEN(vms); i++) {
        sigdelset(&sa.sa_mask, vms[i]);
    }
    if (sigaction(hpx_agent.opt.signal, &sa, &sampler.before) != 0) {
        return hpx_err_set(err, HPX_E_SYS, "%s: cannot install a handler for signal %d: %s", hpx_agent_signalled(), hpx_agent.opt.signal,
                           strerror(errno));
    }
    sampler.installed = true;
    hpx_company_expect(&sampler.before, on_signal);
    return 0;
}
