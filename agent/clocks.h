/* SPDX-License-Identifier: BSD-2-Clause */
/* clocks.h: a clock a thread that raises our signal on it when it has used another interval of CPU time.
 *
 * A POSIX timer on the thread's own CPU clock. It expires at scheduler ticks only, so a signal may stand for several intervals: a sample
 * weighs 1 + overruns. For an interval shorter than a tick the kernel's software cpu-clock event is used where the system permits it. */
#ifndef HPX_CLOCKS_H
#define HPX_CLOCKS_H

#include "agent.h"

/* At load, after the options. */
void hpx_clocks_init(void);
/* Whether the system gives the calling thread a timer: 0, or errno. At load. */
int hpx_clocks_try(void);
/* Starts t's clock: the owner, or VMInit for threads that were there before (t->adopted is set then). 0, or errno: t has no clock. */
int hpx_clocks_start(struct hpx_agent_thread *t);
/* The owner at its end; the aggregator, at the same time even. Stops it once. */
void hpx_clocks_stop(struct hpx_agent_thread *t);
/* The same in two steps: no handler that begins from now on uses the clock; what it holds is closed. */
int hpx_clocks_cease(struct hpx_agent_thread *t);
void hpx_clocks_close(struct hpx_agent_thread *t, int clock);

/* ---- the handler on t; async-signal-safe ---- */

/* A clock of ours raised it. */
bool hpx_clocks_own_sig(const siginfo_t *si);
/* Intervals that the signal stands for; 0: it was on its way when the clock was stopped. */
uint64_t hpx_clocks_weight_sig(struct hpx_agent_thread *t, const siginfo_t *si);
/* The handler is done: the next signal may come. */
void hpx_clocks_go_on_sig(struct hpx_agent_thread *t);

/* The owner at its end, after stop: intervals of its CPU time that no signal stood for; 0 where the timer counts on the whole. */
uint64_t hpx_clocks_due(struct hpx_agent_thread *t);

/* ---- without signals: the sampling thread under its lock, then the owner (handshake.h) ---- */

/* t's CPU time counts from now on, or from its beginning if it has just begun. Before the others. */
void hpx_clocks_poll(struct hpx_agent_thread *t);
/* CPU time that t lacks to its next interval; 0: it is due. */
uint64_t hpx_clocks_poll_left(const struct hpx_agent_thread *t);
/* Intervals that are due; takes them. */
uint64_t hpx_clocks_poll_take(struct hpx_agent_thread *t);

/* In the child of a fork: closes its copies of the perf events. Async-signal-safe. */
void hpx_clocks_forget(void);
/* "thread CPU timer" or "perf cpu-clock": what new threads get. For the report. */
const char *hpx_clocks_name(void);

#endif
