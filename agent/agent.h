/* SPDX-License-Identifier: BSD-2-Clause */
/* agent.h: the one state of the agent and the state of a profiled thread; what the files of this folder share.
 *
 * Life: zero at load; set up by Agent_OnLoad (one thread) and VMInit; from then on constant but for what says otherwise; never freed, since
 * a signal may come on any thread until the process ends (the library is linked with -z nodelete). */
#ifndef HPX_AGENT_H
#define HPX_AGENT_H

#include "aggregator.h"
#include "call_shard.h"
#include "calls.h"
#include "cpuclock.h"
#include "deep.h"
#include "model.h"
#include "options.h"
#include "phase.h"
#include <jvmti.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>

struct hpx_agent {
    JavaVM *vm;
    jvmtiEnv *jvmti;
    struct hpx_options opt;
    _Atomic uint32_t depth; /* relaxed: frames of the stacks that are sampled from now on: opt.depth, until a peer says otherwise */
    struct hpx_gate gate;
    struct hpx_aggregator aggregator;
    struct hpx_shard shard;       /* the aggregator's: drainers beside it; cpu=times, cpu=old */
    struct hpx_model *model;      /* the aggregator's */
    struct hpx_counters counters; /* losses and figures that belong to no thread */
    time_t start;                 /* wall clock, for headers and names */
    uint64_t start_cpu;           /* CPU time of the process at VMInit */
    bool prepared;                /* loaded without an error */
    bool live;                    /* VMInit has been: threads of ours run */
    bool finished;                /* VMDeath has been, and all is written */
};

extern struct hpx_agent hpx_agent;

/* cpu=samples; cpu=times or cpu=old; both; whether the calls' times are those of ticks. Constant from Agent_OnLoad on. */
static inline bool hpx_agent_samples(void)
{
    return hpx_agent.opt.cpu & HPX_CPU_SAMPLES;
}
static inline bool hpx_agent_calls(void)
{
    return hpx_agent.opt.cpu & (HPX_CPU_TIMES | HPX_CPU_OLD);
}
static inline bool hpx_agent_sampled(void)
{
    return hpx_agent_calls() && hpx_agent.opt.times == HPX_TIMES_SAMPLED;
}

enum hpx_clock_kind { HPX_CLOCK_NONE, HPX_CLOCK_TIMER, HPX_CLOCK_PERF };

#define HPX_ASKS 16u /* signals of a thread that may wait for its stack */

/* A thread's state in one of the two modes. A thread that is sampled while its calls are counted has two, each with a ring of its own: the
 * rings have other producers (handshake.h), and other readers. Both begin, end and are retired together. hpx_self is the counting one. */
struct hpx_agent_thread {
    struct hpx_thread base; /* first: the pipeline's view */
    /* the two, in both; the state itself where there is one. Constant; the owner's and its handler's, since the aggregator frees each alone
     */
    struct hpx_agent_thread *sampling, *counting;
    JNIEnv *env; /* set by the owner, by its handler if adopted */
    pid_t tid;
    uintptr_t stack_low; /* lowest word of the stack; 0: not known */
    uintptr_t stack_end; /* above the highest word of the stack; 0: not known */
    /* clocks.c */
    timer_t timer;
    int perf_fd; /* -1: a timer */
    /* release: the start; seq_cst: hpx_clocks_cease(), whose exchange tells which of two that stop it stops it. Covers timer, perf_fd */
    _Atomic int clock;
    bool first_done;
    bool settle;            /* perf: what is due at the end is counted then */
    struct hpx_phase phase; /* perf, polled; a timer uses the origin only, which holds the drawn phase */
    /* handshake.c */
    int32_t slot;           /* in its list; -1: not listed. Constant once listed */
    bool handed_over;       /* its lock's: the handler is out of the ring for good */
    atomic_bool polled;     /* release: hpx_handshake_poll(); acquire: poll_due(), hpx_handshake_rest(). Covers phase */
    _Atomic uint32_t asked; /* release: the handler; acquire: whoever may write the ring. Signals noted in `asks` so far */
    _Atomic uint32_t taken; /* release: whoever may write the ring; acquire: the handler. Those of them that are samples */
    struct hpx_ask {
        uintptr_t pc;
        uint64_t weight;
    } asks[HPX_ASKS];
    _Atomic uint64_t pending; /* relaxed: intervals whose signals found no room there */
    /* sampler.c */
    uint32_t signals;            /* the handler's */
    bool adopted;                /* was there before us; its state is never freed: other threads' handlers look at it */
    _Atomic int in_handler;      /* seq_cst with gate.open: the end waits until no handler is inside */
    _Atomic(sigjmp_buf *) guard; /* guard.c: relaxed, the owner and its handlers: where a fault goes on; NULL: no walk */
    /* tracker.c: cpu=times */
    _Atomic int in_probe; /* release: the probe's end; acquire: hpx_tracker_quiesce() */
    struct hpx_calls calls;
    struct hpx_calls_pending kept; /* what it kept back when a dump on request read its tail. The aggregator's */
    uint64_t owed;                 /* times=sampled: ns of signals that could not be told yet. The handler's; then who may write the ring */
    struct hpx_cpuclock cpuclock;
    struct hpx_deep deep;
    bool carries; /* the owner's: virtual threads have been on it */
    /* stacks.c: the ring's producer's */
    uint32_t last_slot;                  /* slot of the last stack + 1; 0: none yet */
    struct hpx_ev_hash slots[HPX_SLOTS]; /* which stack each slot means (event.h) */
};

/* The calling thread's state: NULL (none), &hpx_ours (a thread of the agent), or its own. The only thread-local variable: glibc's surplus
 * of static TLS for libraries that are loaded late is small. */
extern __thread struct hpx_agent_thread *hpx_self __attribute__((tls_model("initial-exec")));
extern struct hpx_agent_thread hpx_ours;

/* "cpu=samples", "cpu=times", "cpu=old", or two of them, for messages. */
const char *hpx_agent_mode(void);
/* What the signals are for: "cpu=samples" or "times=sampled". */
const char *hpx_agent_signalled(void);
/* The name of a JVMTI error for a message; constant. */
const char *hpx_jvmti_error(jvmtiError e);

#endif
