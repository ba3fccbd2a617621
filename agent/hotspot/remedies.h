/* SPDX-License-Identifier: BSD-2-Clause */
/* remedies.h: stacks of threads in Java code that AsyncGetCallTrace cannot parse (unknown_Java, not_walkable_Java).
 *
 * Touches nothing of the VM but what code_owner.h reads: changes the registers that AsyncGetCallTrace is shown, and reads the thread's own
 * stack. The same on JDK 8 to 28; x86-64 only. */
#ifndef HPX_REMEDIES_H
#define HPX_REMEDIES_H

#include "asgct.h"
#include <ucontext.h>

/* In the handler, under its guard, after AsyncGetCallTrace answered `first` with one of these causes. frames: room for w->depth + 1.
 * Returns the number of frames, or `first`. The registers of u are as they were, but after a fault. Async-signal-safe. */
int hpx_remedies_ask_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, ucontext_t *u, int first);

#endif
