/* SPDX-License-Identifier: BSD-2-Clause */
/* sampler.h: cpu=samples: a signal when a thread has used another interval of CPU time (clocks.h), a stack into its ring (stacks.h).
 *
 * Order: hpx_sampler_arm() after the thread's state is complete and registered; hpx_sampler_disarm() before it is retired. */
#ifndef HPX_SAMPLER_H
#define HPX_SAMPLER_H

#include "agent.h"

/* Finds the stack walker and installs the signal handler. At load. 0, -HPX_E_VM, -HPX_E_SYS. */
int hpx_sampler_init(struct hpx_err *err);
/* The ring that a thread needs for the configured depth, in bytes. */
uint32_t hpx_sampler_ring_size(void);

/* Starts t's clock. The owner, or VMInit for threads that were there before (then `adopt`: the owner's first signal completes the state).
 * Without a clock the thread goes unsampled: counted, said once. */
void hpx_sampler_arm(struct hpx_agent_thread *t, bool adopt);
/* Stops t's clock. The owner at its end; the aggregator after the gate was closed, or when sampling has ended (company.h). */
void hpx_sampler_disarm(struct hpx_agent_thread *t);
/* The owner at its end, after disarm: intervals that are due and had no sample (they ended in the kernel) go to the thread's last stack, or
 * to the cause thread_ended. */
void hpx_sampler_settle(struct hpx_agent_thread *t);
/* Aggregator, after the gate was closed: waits until t's handler is not inside, at most until then (hpx_clock_mono()); false: it still is.
 */
bool hpx_sampler_quiesce(struct hpx_agent_thread *t, uint64_t until_ns);

#endif
