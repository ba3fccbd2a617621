/* SPDX-License-Identifier: BSD-2-Clause */
/* sampler.h: a signal when a thread has used another interval of CPU time (clocks.h): for cpu=samples a stack into its ring (stacks.h), for
 * times=sampled a tick among its calls (calls.h), for both together one signal.
 *
 * The states named t here are the sampling ones (agent.h).
 *
 * Order: hpx_sampler_arm() after the thread's state is complete and registered; hpx_sampler_disarm() before it is retired. */
#ifndef HPX_SAMPLER_H
#define HPX_SAMPLER_H

#include "agent.h"

/* times=sampled becomes times=cpu, said, where there are no signals. At load, before times= is looked at. */
void hpx_sampler_need_timers(void);
/* Chooses the engine and installs the signal handler. At load. 0, -HPX_E_SYS. */
int hpx_sampler_init(struct hpx_err *err);
/* Gives the signal back; no clock has been started. */
void hpx_sampler_stay_out(void);
/* VMInit, on its thread, with the events on: tests AsyncGetCallTrace, starts the sampling thread where the engine needs it. */
void hpx_sampler_live(JNIEnv *env);
/* The engine in use: it turns from async to walk once, or before the first clock to poll. Any thread, handlers too. */
enum hpx_engine hpx_sampler_engine(void);
/* The engine and its clock, for the report; the clock of the ticks. */
const char *hpx_sampler_name(void);
const char *hpx_sampler_tick_name(void);
/* AsyncGetCallTrace is called no more: sampler=walk from now on, said with the reason. Any thread but in handlers; the first call
 * counts. */
void hpx_sampler_distrust(const char *why);
/* The same from a handler; `why` is a constant. The aggregator says it and starts the sampling thread at its next pass. */
void hpx_sampler_distrust_sig(const char *why);
/* Aggregator, each pass: what distrust_sig() left to do. */
void hpx_sampler_look(void);
/* The ring that a thread needs for the configured depth, in bytes. */
uint32_t hpx_sampler_ring_size(void);

/* Starts t's clock. The owner, or VMInit for threads that were there before (then `adopt`: the owner's first signal completes the state).
 * Without a timer the thread is polled; without a sampling thread it goes unsampled: counted. Each is said once. */
void hpx_sampler_arm(struct hpx_agent_thread *t, bool adopt);
/* Stops t's clock. The owner at its end; the aggregator after the gate was closed, or when sampling has ended (company.h). */
void hpx_sampler_disarm(struct hpx_agent_thread *t);
/* The owner at its end, after disarm: signals that wait for a stack are known by their pc; intervals that are due and had no sample (they
 * ended in the kernel) go to the thread's last stack, or to the cause thread_ended. */
void hpx_sampler_settle(struct hpx_agent_thread *t);
/* Aggregator, after the gate was closed, no probe is inside and t's clock stopped: intervals that were asked for and have no stack, as
 * settle; and what is owed. t: a state of either kind. */
void hpx_sampler_rest(struct hpx_agent_thread *t);
/* Aggregator, after the gate was closed: waits until t's handler is not inside, at most until then (hpx_clock_mono()); false: it still is.
 */
bool hpx_sampler_quiesce(struct hpx_agent_thread *t, uint64_t until_ns);

#endif
