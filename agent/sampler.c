/* SPDX-License-Identifier: BSD-2-Clause */
/* sampler.c: the signal handler and the engines' common side. */
#include "sampler.h"
#include "agct.h"
#include "clock.h"
#include "clocks.h"
#include "company.h"
#include "log.h"
#include "stacks.h"
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ADOPTED 16

/* A ring holds the whole stacks of so much CPU time, within these bounds: the aggregator may be kept from its CPU for a while. */
#define RING_HOLDS_NS (100ull * 1000 * 1000)
#define RING_LEAST    16384u
#define RING_MOST     (256u << 10)

__thread struct hpx_agent_thread *hpx_self __attribute__((tls_model("initial-exec")));
struct hpx_agent_thread hpx_ours;

static struct {
    struct sigaction before; /* whose signals are not ours; constant after init */
    /* threads that were there before us: their handler finds the state by kernel id, once */
    _Atomic(struct hpx_agent_thread *) adopted[ADOPTED]; /* release: arm; acquire: adopt_sig */
    atomic_bool said_timer, said_blocked;
} sampler;

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
            hpx_self = t;
            return t;
        }
    }
    return NULL;
}

static void sample_async(struct hpx_agent_thread *t, void *context, uint64_t weight)
{
    uint32_t depth = hpx_agent.opt.depth;
    struct hpx_ev_frame *frames = hpx_stacks_reserve(t, depth + 1, weight);
    if (frames == NULL) {
        return;
    }
    struct hpx_agct w = {t->env, t->stack_low, t->stack_end, depth};
    bool retried;
    int n = hpx_agct_walk_sig(&w, frames, context, &retried);
    if (retried) {
        hpx_count(&t->base.counters, HPX_C_RETRIED, 1);
    }
    hpx_stacks_commit(t, frames, n, weight);
}

static void sample(struct hpx_agent_thread *t, siginfo_t *si, void *context)
{
    uint64_t weight = hpx_clocks_weight_sig(t, si);
    hpx_count(&t->base.counters, HPX_C_SIGNALS, 1);
    if (atomic_load_explicit(&t->base.busy, memory_order_relaxed)) {
        hpx_count(&t->base.counters, HPX_C_LOST_NESTED, weight);
    } else if (weight > 0) {
        atomic_store_explicit(&t->base.busy, 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        sample_async(t, context, weight);
        atomic_signal_fence(memory_order_seq_cst);
        atomic_store_explicit(&t->base.busy, 0, memory_order_relaxed);
    }
    hpx_clocks_go_on_sig(t);
}

/* Async-signal-safe: no lock, no allocation; reads its own clock, walks its own stack, writes its own ring. errno is kept. */
static void on_signal(int sig, siginfo_t *si, void *context)
{
    int saved = errno;
    struct hpx_agent_thread *t = hpx_self;
    if (!hpx_clocks_own_sig(si)) {
        pass_on(sig, si, context);
        errno = saved;
        return;
    }
    t = t != NULL ? t : adopt_sig();
    if (t == NULL || t == &hpx_ours) {
        hpx_count(&hpx_agent.counters, HPX_C_SIGNALS_LATE, 1);
        errno = saved;
        return;
    }
    bool measured = ++t->signals % 8 == 0; /* the clock costs a tenth of a walk */
    uint64_t begin = measured ? hpx_clock_thread_cpu() : 0;
    atomic_store_explicit(&t->in_handler, 1, memory_order_seq_cst); /* partner: hpx_sampler_quiesce() */
    if (atomic_load_explicit(&hpx_agent.gate.open, memory_order_seq_cst)) {
        sample(t, si, context);
    }
    atomic_store_explicit(&t->in_handler, 0, memory_order_release); /* partner: hpx_sampler_quiesce() */
    if (measured) {
        hpx_count(&t->base.counters, HPX_C_HANDLER_NS, hpx_clock_thread_cpu() - begin);
        hpx_count(&t->base.counters, HPX_C_HANDLER_MEASURED, 1);
    }
    errno = saved;
}

void hpx_sampler_arm(struct hpx_agent_thread *t, bool adopt)
{
    if (hpx_agent.opt.depth == 0) {
        return; /* the original takes no samples then */
    }
    if (adopt) {
        int i = 0;
        while (i < ADOPTED && atomic_load_explicit(&sampler.adopted[i], memory_order_relaxed) != NULL) {
            i++;
        }
        if (i == ADOPTED) {
            hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNSAMPLED, 1);
            return;
        }
        atomic_store_explicit(&sampler.adopted[i], t, memory_order_release); /* partner: adopt_sig() */
    }
    if (hpx_company_took_signal()) {
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNSAMPLED, 1);
        return;
    }
    if (hpx_company_blocked(adopt ? t->tid : 0)) {
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_BLOCKED, 1); /* its clock starts nevertheless: it may unblock the signal */
        hpx_warn_once(&sampler.said_blocked,
                      "cpu=samples: a thread blocks the signal of sampling (signal %d): its CPU time is missing while it "
                      "does; choose another signal, as signal=RTMIN+1 (or sampler=poll)",
                      hpx_agent.opt.signal);
    }
    int why = hpx_clocks_start(t);
    if (why != 0) {
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNSAMPLED, 1);
        hpx_warn_once(&sampler.said_timer, "cpu=samples: no timer for a thread (%s): its CPU time is missing%s", strerror(why),
                      why == EAGAIN ? "; raise the limit of pending signals (ulimit -i)" : "");
    }
}

void hpx_sampler_disarm(struct hpx_agent_thread *t)
{
    hpx_clocks_stop(t);
    for (int i = 0; i < ADOPTED; i++) {
        struct hpx_agent_thread *mine = t;
        atomic_compare_exchange_strong_explicit(&sampler.adopted[i], &mine, NULL, memory_order_relaxed, memory_order_relaxed);
    }
}

void hpx_sampler_settle(struct hpx_agent_thread *t)
{
    if (!hpx_company_ended()) {
        hpx_stacks_again(t, hpx_clocks_due(t));
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
    size_t one = HPX_EV_SAMPLE_BYTES(hpx_agent.opt.depth + 1);
    size_t want = one * (size_t)(RING_HOLDS_NS / hpx_agent.opt.interval_ns), least = 4 * one, size = RING_LEAST;
    want = want < RING_MOST ? want : RING_MOST;
    while (size < want || size < least) {
        size *= 2;
    }
    return (uint32_t)size;
}

int hpx_sampler_init(struct hpx_err *err)
{
    int rc = hpx_agct_init(err);
    if (rc != 0) {
        return rc;
    }
    hpx_clocks_init();
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = on_signal;
    sa.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&sa.sa_mask);
    if (sigaction(hpx_agent.opt.signal, &sa, &sampler.before) != 0) {
        return hpx_err_set(err, HPX_E_SYS, "cpu=samples: cannot install a handler for signal %d: %s", hpx_agent.opt.signal,
                           strerror(errno));
    }
    hpx_company_expect(&sampler.before, on_signal);
    return 0;
}
