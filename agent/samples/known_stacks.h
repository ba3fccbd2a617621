/* SPDX-License-Identifier: BSD-2-Clause */
/* known_stacks.h: a thread's cache of stacks that a raw walk (raw_walk.h) recognises by hash.
 *
 * Every thread remembers which hash came with which frames, as the slot that these have in its ring (stacks.h). Some recognised stacks are
 * named nevertheless, and compared (judge.h). A stack that the thread does not know may be one that another has named (shared_stacks.h). */
#ifndef HPX_KNOWN_STACKS_H
#define HPX_KNOWN_STACKS_H

#include "async_stack.h"
#include "sample_thread.h"

/* What push has found out, for learn. */
struct hpx_known_look {
    struct hpx_raw_stack raw;
    bool whole;   /* raw is a stack */
    bool faulted; /* the walk did */
    bool known;   /* it was recognised, as `was`, but is to be compared */
    struct hpx_known was;
};

/* ---- t's handler, with t->s.base.busy ---- */

/* true: the stack was recognised, and the sample is pushed, or lost in a full ring. w: of the interrupted thread; weight: intervals. */
bool hpx_known_stacks_push_sig(struct hpx_sample_thread *t, const struct hpx_raw_thread *w, uint64_t weight, struct hpx_known_look *look);
/* Next, with a reservation. true: another thread has named the stack, and the sample is committed. depth: frames that there is room for. */
bool hpx_known_stacks_commit_shared_sig(struct hpx_sample_thread *t, struct hpx_ev_frame *frames, uint32_t depth, uint64_t weight,
                                        struct hpx_known_look *look);
/* Else, after the caller has named the stack and committed the frames, which are in the thread's last slot. flags: HPX_KNOWN_PROBE,
 * HPX_KNOWN_HEAP. true: too many stacks differ from what was remembered. */
bool hpx_known_stacks_learn_sig(struct hpx_sample_thread *t, const struct hpx_known_look *look, uint16_t flags);
/* Or after a walk whose frames are not to be remembered. Counts the stack if it was to be compared. */
void hpx_known_stacks_alone_sig(const struct hpx_known_look *look);

#endif
