/* SPDX-License-Identifier: BSD-2-Clause */
/* clocks.h: one clock per thread, which signals the thread after every interval of its CPU time.
 *
 * A POSIX timer on the thread's own CPU clock. It expires at scheduler ticks only, so a signal may stand for several intervals: a sample
 * weighs 1 + overruns. For an interval shorter than a tick the kernel's software cpu-clock event is used where the system permits it. */
#ifndef HPX_CLOCKS_H
#define HPX_CLOCKS_H

#include "phase.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

enum hpx_clock_kind { HPX_CLOCK_NONE, HPX_CLOCK_TIMER, HPX_CLOCK_PERF };

struct hpx_counters;

/* A thread's clock. Zero, with perf_fd -1, is its beginning. */
struct hpx_thread_clock {
    pid_t tid;                     /* of the thread; set before start or poll */
    bool adopted;                  /* the thread is older than VMInit: its first signal completes its state, so it uses the timer */
    struct hpx_counters *counters; /* of its thread */
    timer_t timer;
    int perf_fd; /* -1: a timer */
    /* release: the start; seq_cst: hpx_clocks_detach(), whose exchange decides which of two callers stops the clock. Covers timer,
     * perf_fd */
    _Atomic int clock;
    uint64_t kernel_ns; /* the handler's: time in the kernel when it looked last */
    uint32_t light;     /* the handler's: signals that were no stall */
    bool first_done;
    bool settle;            /* perf: intervals due at the end of the thread are counted then */
    uint64_t began;         /* of the thread's CPU clock, when it was started; ns */
    struct hpx_phase phase; /* perf, polled; a timer uses only the origin, which holds the random phase */
};

/* At load, after the options. */
void hpx_clocks_init(void);
/* Tries to create a timer for the calling thread: 0, or errno. At load. */
int hpx_clocks_try(void);
/* Starts t's clock. The owner, or VMInit for threads older than it. 0, or errno: t has no clock. */
int hpx_clocks_start(struct hpx_thread_clock *t);
/* Stops the clock, once. The owner at its end and the aggregator, also concurrently. */
void hpx_clocks_stop(struct hpx_thread_clock *t);
/* The same in two steps: after detach no new handler uses the clock; close frees it. */
int hpx_clocks_detach(struct hpx_thread_clock *t);
void hpx_clocks_close(struct hpx_thread_clock *t, int clock);

/* true if the thread, whose clock is a timer, has used so much CPU time that a signal must have come. Any thread. */
bool hpx_clocks_overdue(const struct hpx_thread_clock *t);
/* How many clocks exist in the process. Once one is deleted it raises no signal any more, but one may be pending. Any thread. */
uint32_t hpx_clocks_running(void);

/* ---- the handler on t; async-signal-safe ---- */

/* true if one of these clocks raised the signal. */
bool hpx_clocks_own_sig(const siginfo_t *si);
/* Intervals that the signal stands for; 0: the clock was stopped after it had fired. */
uint64_t hpx_clocks_weight_sig(struct hpx_thread_clock *t, const siginfo_t *si);
/* Part of a signal's weight, or of what is due at the thread's end, that is a stall: CPU time in which the clock could not signal. The
 * handler on t, or the owner when no handler can run. */
uint64_t hpx_clocks_stalled_sig(struct hpx_thread_clock *t, uint64_t weight);
/* CPU time of a stall, in ns, of which `stalled` intervals are beyond the limit. Any thread. */
uint64_t hpx_clocks_stall_ns(uint64_t stalled);
/* The handler is done: allows the next signal. */
void hpx_clocks_go_on_sig(struct hpx_thread_clock *t);

/* The owner at its end, after stop: intervals of its CPU time without a signal; 0 for timers, which are right on average. */
uint64_t hpx_clocks_due(struct hpx_thread_clock *t);
/* Of the `weight` intervals that this returned, those that ended before the clock was started. The same caller. */
uint64_t hpx_clocks_before_start(const struct hpx_thread_clock *t, uint64_t weight);

/* ---- without signals: the sampling thread under the lock of thread_list.h, then the owner ---- */

/* Starts counting t's CPU time; a thread that has just started is counted from its start. Before the calls below. */
void hpx_clocks_poll(struct hpx_thread_clock *t);
/* CPU time until t's next interval ends; 0: a sample is due. */
uint64_t hpx_clocks_poll_left(const struct hpx_thread_clock *t);
/* Takes and returns the intervals that are due. */
uint64_t hpx_clocks_poll_take(struct hpx_thread_clock *t);

/* In the child of a fork: closes its copies of the perf events. Async-signal-safe. */
void hpx_clocks_forget(void);
/* "thread CPU timer" or "perf cpu-clock": the clock of new threads. For the report. */
const char *hpx_clocks_name(void);

#endif
