/* SPDX-License-Identifier: BSD-2-Clause */
/* stacks.h: a stack into a thread's ring: whole the first time, 16 bytes from then on (event.h).
 *
 * The producer of t's ring alone: its owner, its owner's signal handler under t->base.busy, or the sampling thread under its lock
 * (handshake.h). Async-signal-safe. */
#ifndef HPX_STACKS_H
#define HPX_STACKS_H

#include "agent.h"

/* Frames that a stack of t may have now; 0: none is taken. Async-signal-safe. */
uint32_t hpx_stacks_depth(const struct hpx_agent_thread *t);
/* Room for so many frames, inside the ring; NULL: full, `weight` counted as lost. To be followed by commit. */
struct hpx_ev_frame *hpx_stacks_reserve(struct hpx_agent_thread *t, uint32_t frames, uint64_t weight);
/* n > 0: that many frames at `frames`, leaf first, `pad` 0. n <= 0: -enum hpx_unknown, no stack. */
void hpx_stacks_commit(struct hpx_agent_thread *t, struct hpx_ev_frame *frames, int n, uint64_t weight);
/* Intervals that are due and had no sample: to the thread's last stack, or to the cause thread_ended. 0: nothing. */
void hpx_stacks_again(struct hpx_agent_thread *t, uint64_t weight);

#endif
