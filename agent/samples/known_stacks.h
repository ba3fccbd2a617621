/* SPDX-License-Identifier: BSD-2-Clause */
/* known_stacks.h: a cache in front of AsyncGetCallTrace, for stacks that a raw walk (raw_walk.h) recognises.
 *
 * Every thread remembers which hash of a raw walk came with which answer, as the slot that the answer has in its ring (stacks.h).
 * AsyncGetCallTrace is also called for one in 64 recognised stacks and for the first ones of a session; with HPROFX_VERIFY=1 for all. If
 * more than a few of the last 4,096 differ or fault, raw walks are left (internals.h). */
#ifndef HPX_KNOWN_STACKS_H
#define HPX_KNOWN_STACKS_H

#include "async_stack.h"
#include "report.h"
#include "sample_thread.h"

/* What push has found out, for learn. */
struct hpx_known_look {
    struct hpx_raw_stack raw;
    bool whole; /* raw is a stack */
    bool known; /* it was recognised, as `was`, but AsyncGetCallTrace shall be asked to compare */
    struct hpx_known was;
    /* the caller's */
    int answer;    /* frames that AsyncGetCallTrace gave, or naming.h; 0 or less: none */
    bool probe;    /* the first of them are a probe's */
    bool retried;  /* a remedy found them */
    bool nameless; /* of one of them AsyncGetCallTrace had no jmethodID */
    bool alone;    /* AsyncGetCallTrace was asked, and had none, a part, or a remedy's: they are named (naming.h) */
};

/* VMInit, before the first clock. verify: all are compared. */
void hpx_known_stacks_begin(bool verify);

/* ---- t's handler, with t->s.base.busy ---- */

/* true: the stack was recognised, and the sample is pushed, or lost in a full ring. w: as for hpx_async_stack_take_sig(). */
bool hpx_known_stacks_push_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, void *context, struct hpx_known_look *look);
/* A read of a raw walk faulted outside of push: too many of them end it. */
void hpx_known_stacks_fault_sig(void);
/* After push returned false and AsyncGetCallTrace was asked. true: the stack is known, *slot has it, and the sample counts as known. That
 * is so if the stack was recognised, and AsyncGetCallTrace has no answer or a remedy's; or if it has no answer, and the stack differs from
 * a known one only in the kind of stub on top. */
bool hpx_known_stacks_instead_sig(struct hpx_sample_thread *t, const struct hpx_known_look *look, uint64_t weight, uint32_t *slot);
/* After the answer was committed: the thread's last slot has it. */
void hpx_known_stacks_learn_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, const struct hpx_known_look *look);
/* At the end of t, when no handler can run: its last walks count in the share of faults, too. */
void hpx_known_stacks_end(struct hpx_sample_thread *t);

/* The report. samples: all that were counted. */
void hpx_known_stacks_lines(struct hpx_lines *to, const struct hpx_counters *total, uint64_t samples);

#endif
