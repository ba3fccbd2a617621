/* SPDX-License-Identifier: BSD-2-Clause */
/* outside.h: stacks of threads that are in the VM, where AsyncGetCallTrace does not know the last Java frame.
 *
 * Touches JavaThread._anchor (frame_anchor.h): writes it for the time of one question, on JDK 8 to 28 where the checks of checks.h have
 * passed; x86-64 only.
 *
 * The pc of the last frame is not stored yet (unknown_not_Java). For one question the anchor gets the pc that the VM itself would store; if
 * that lies in a stub that the VM calls never safe to walk (not_walkable_not_Java), it stands one frame further out, since the stub has no
 * Java frame. Then it is put back. Only while nobody else may walk it (hpx_frame_anchor_alone_sig()), so an anchor that has a pc stays as
 * it is, and the sample without a stack. */
#ifndef HPX_OUTSIDE_H
#define HPX_OUTSIDE_H

#include "asgct.h"
#include "frame_anchor.h"
#include "report.h"

/* In the handler, under its guard, after AsyncGetCallTrace answered `first` with one of these causes: asks again if a remedy is known.
 * *moved: its sp is 0. Returns the number of frames, or the last answer. Async-signal-safe. */
int hpx_outside_ask_sig(const struct hpx_asgct *w, struct hpx_frame_anchor *moved, struct hpx_ev_frame *frames, void *context, int first);
/* After a fault in it: puts a moved anchor back. */
void hpx_outside_restore_sig(const struct hpx_asgct *w, struct hpx_frame_anchor *moved);

/* What the threads did whose stack was not found. */
void hpx_outside_lines(struct hpx_lines *to);

#endif
