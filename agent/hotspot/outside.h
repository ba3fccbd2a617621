/* SPDX-License-Identifier: BSD-2-Clause */
/* outside.h: what the threads did whose sample has no stack because they were outside Java code.
 *
 * Touches JavaThread._anchor and _thread_state (frame_anchor.h); reads only. On JDK 8 to 28 where the checks of checks.h have passed. */
#ifndef HPX_OUTSIDE_H
#define HPX_OUTSIDE_H

#include "asgct.h"
#include "report.h"

/* In the handler, for a sample that has no stack: counts where its thread is, if `answer` says that it is outside. Async-signal-safe. */
void hpx_outside_note_sig(const struct hpx_asgct *w, int answer);
/* The report. */
void hpx_outside_lines(struct hpx_lines *to);

#endif
