/* SPDX-License-Identifier: BSD-2-Clause */
/* outside.h: stacks of threads that are in the VM, where AsyncGetCallTrace does not know the last Java frame.
 *
 * The pc of the last frame is not stored yet (unknown_not_Java). For one question the anchor gets the pc that the VM itself would store; if
 * that lies in a stub that the VM calls never safe to walk (not_walkable_not_Java), it stands one frame further out, since the stub has no
 * Java frame. Then it is put back. Only while nobody else may walk it (hpx_frame_anchor_alone_sig()), so an anchor that has a pc stays as
 * it is, and the sample without a stack. x86-64 only. */
#ifndef HPX_OUTSIDE_H
#define HPX_OUTSIDE_H

#include "asgct.h"
#include "report.h"

/* In the handler on t, under its guard, after AsyncGetCallTrace answered `first` with one of these causes: asks again if a remedy is
 * known. Returns the number of frames, or the last answer. Async-signal-safe. */
int hpx_outside_ask_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, struct hpx_ev_frame *frames, void *context, int first);
/* After a fault in it: puts a moved anchor back. */
void hpx_outside_restore_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w);

/* What the threads did whose stack was not found. */
void hpx_outside_lines(struct hpx_lines *to);

#endif
