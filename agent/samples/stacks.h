/* SPDX-License-Identifier: BSD-2-Clause */
/* stacks.h: puts a stack into a thread's ring: whole the first time, 16 bytes from then on (event.h).
 *
 * Only the producer of t's ring calls: its owner, its owner's signal handler under t->s.base.busy, or the sampling thread under the lock
 * of thread_list.h. Async-signal-safe. */
#ifndef HPX_STACKS_H
#define HPX_STACKS_H

#include "sample_thread.h"

/* Frames that a stack has besides those of the depth: above those of the program, which are a probe's, of C, and one at its end that stands
 * for what is missing. */
uint32_t hpx_stacks_extra(void);
/* Current depth limit for stacks of t; 0: take none. Async-signal-safe. */
uint32_t hpx_stacks_depth(const struct hpx_sample_thread *t);
/* Reserves room for that many frames inside the ring; NULL: full, `weight` is counted as lost. Commit must follow. */
struct hpx_ev_frame *hpx_stacks_reserve(struct hpx_sample_thread *t, uint32_t frames, uint64_t weight);
/* Whether it is a frame of C, or stands for those that are left out behind some. */
bool hpx_stacks_is_c(const struct hpx_ev_frame *frames, int i);
/* Takes a probe's frames off the top, and counts the sample as inside a probe if there are some. above: frames of C on top. Returns the
 * number of frames left, down to the last of at most `depth` that are not of C; n <= 0 is returned as it is. */
int hpx_stacks_without_probe(struct hpx_sample_thread *t, struct hpx_ev_frame *frames, int n, uint32_t above, uint32_t depth,
                             uint64_t weight);
/* The slot of a stack with this half of its hash. */
uint32_t hpx_stacks_slot(uint64_t lo);
/* n > 0: that many frames at `frames`, leaf first, `pad` 0. n <= 0: -enum hpx_unknown, no stack. */
void hpx_stacks_commit(struct hpx_sample_thread *t, struct hpx_ev_frame *frames, int n, uint64_t weight);
/* A stack whose slot is known, without a reservation; false: the ring is full, `weight` is counted as lost. */
bool hpx_stacks_known(struct hpx_sample_thread *t, uint32_t slot, uint64_t weight);
/* Pushes intervals that are a stall (clocks.h) as a record without a stack. No effect for 0. */
void hpx_stacks_stall(struct hpx_sample_thread *t, uint64_t stalled);
/* Counts intervals that were due before the thread's clock started: it had no Java frame then. No effect for weight 0. */
void hpx_stacks_before_java(struct hpx_sample_thread *t, uint64_t weight);
/* Counts intervals that are due without a sample for the thread's last stack, or for the cause thread_ended. No effect for weight 0. */
void hpx_stacks_again(struct hpx_sample_thread *t, uint64_t weight);

#endif
