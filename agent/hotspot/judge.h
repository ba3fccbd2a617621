/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.h: compares some of the stacks that are walked with another answer, and says when walks are not trusted any more.
 *
 * The caller, who has walked a stack, asks whether to compare it, gets the other answer, and tells how the two compare. They are the same
 * if they have the same frames, no more and no less. A walk that has found a part of the stack must have found that part of the answer.
 * Only an answer that is known to be a part of the stack, or of another moment, cannot be compared.
 *
 * Old comparisons lose weight, so that a change late in a long session counts as much as one at its begin. Any thread, handlers: relaxed
 * atomic adds; the sums may be off by what other threads add meanwhile. */
#ifndef HPX_JUDGE_H
#define HPX_JUDGE_H

#include "raw_walk.h"
#include "report.h"

enum hpx_judged {
    HPX_JUDGED_KNOWN, /* samples that were recognised by hash: with the frames of a second walk */
    HPX_JUDGED_NAMED, /* samples: with AsyncGetCallTrace, with HPROFX_VERIFY=1 alone; its faults with sampler=asgct, too */
    HPX_JUDGED_EVENT, /* stacks of threads outside Java: with GetStackTrace */
    HPX_JUDGED
};

enum hpx_judged_as { HPX_JUDGED_SAME, HPX_JUDGED_DIFFERENT, HPX_JUDGED_ALONE /* could not be compared */ };

/* With HPROFX_VERIFY=1 all are compared. Before the first question of a session. */
void hpx_judge_begin(void);
/* Whether to compare this stack, number `seen` of its thread. */
bool hpx_judge_asks_sig(enum hpx_judged what, uint32_t seen);
/* What a walk has found, when its frames are gone. */
struct hpx_judged_walk {
    int n, above; /* frames; those above where AsyncGetCallTrace breaks off */
    uint64_t all, part;
    bool whole, lower; /* lower: what is not there is on top */
    bool left;         /* HPX_FRAME_IS_LEFT */
    bool carrier;      /* behind those above the answer has the carrier's */
};
/* frames: struct hpx_ev_frame or jvmtiFrameInfo, and then the same in the answer. end, broken: as of hpx_raw_walk_frames_sig(). */
struct hpx_judged_walk hpx_judge_walked_sig(const void *frames, int n, enum hpx_raw_end end, uint32_t broken);
/* told: what the VM has answered, n of at most `depth` frames; n <= 0: nothing. */
enum hpx_judged_as hpx_judge_compare_sig(const struct hpx_judged_walk *w, const void *told, int n, uint32_t depth);
/* After every comparison. true: of the last ones more than a few differ, and more than one in 64: such walks are not to be trusted. */
bool hpx_judge_told_sig(enum hpx_judged what, enum hpx_judged_as as);

/* More walks of this kind, of which `ended` could not go on although the thread has Java frames. NULL, or why walks are not to be trusted:
 * constant. */
const char *hpx_judge_walks_sig(enum hpx_judged what, uint32_t walks, uint32_t ended);
/* Such a walk has faulted, or the other answer to it. NULL, or why such walks are not to be trusted: it was the third fault in some 8,192
 * of the walks that were told; with HPX_JUDGED_NAMED, of which none are, in the session. */
const char *hpx_judge_fault_sig(enum hpx_judged what);

/* The report: what was compared, and the share that could not be. */
void hpx_judge_lines(struct hpx_lines *to, enum hpx_judged what);

#endif
