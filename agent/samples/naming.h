/* SPDX-License-Identifier: BSD-2-Clause */
/* naming.h: names a stack that is new to its thread by a raw walk (raw_walk.h) instead of AsyncGetCallTrace.
 *
 * The first 256 named stacks of a session are compared with what AsyncGetCallTrace answers, and one in 64 after that; with HPROFX_VERIFY=1
 * all. If more than a few differ, nothing is named any more (internals.h), and the answer that differs is AsyncGetCallTrace's. What a
 * remedy found is not compared, because it leaves frames out and guesses where a caller is, nor an answer that ends where the VM is
 * deoptimizing a frame. Any other answer with fewer or more frames differs. */
#ifndef HPX_NAMING_H
#define HPX_NAMING_H

#include "async_stack.h"
#include "report.h"
#include "sample_thread.h"

/* What take has found, for compare. */
struct hpx_naming {
    int n;        /* frames; 0: none */
    bool compare; /* AsyncGetCallTrace shall be asked, too */
};

/* VMInit, before the first clock. verify: all are compared. */
void hpx_naming_begin(bool verify);

/* ---- t's handler, with t->s.base.busy ---- */

/* A stack that a raw walk has found whole; compare: in any case. frames: room for w->depth. */
void hpx_naming_take_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, struct hpx_ev_frame *frames, const void *context,
                         bool compare, struct hpx_naming *to);
/* Then, if AsyncGetCallTrace was asked, too: `answer` frames, or the cause. *usable: there are some, and no remedy's; then whether they are
 * all. Names the stack again, since the answer is in its place. Returns the number of frames; 0: the answer differs, and must be asked for
 * again. */
int hpx_naming_compare_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, struct hpx_ev_frame *frames, const void *context,
                           int answer, bool *usable);

/* The report. samples: all that were counted. */
void hpx_naming_lines(struct hpx_lines *to, const struct hpx_counters *total, uint64_t samples);

#endif
