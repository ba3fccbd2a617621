/* SPDX-License-Identifier: BSD-2-Clause */
/* tick_context.h: the program's registers, where the signal interrupted another library's signal handler at its first instruction.
 *
 * CPU timers of several profilers expire at the same scheduler tick. The kernel delivers the lowest signal number first: it builds the
 * frame of that handler, and before its first instruction runs it builds ours on top. The context that we get is then inside a handler that
 * has not begun; the context below it is that of the program. Source of the shapes: the kernel's setup_rt_frame() (x86-64, aarch64).
 *
 * Async-signal-safe: one system call where the registers look so, none elsewhere. */
#ifndef HPX_TICK_CONTEXT_H
#define HPX_TICK_CONTEXT_H

#include "mode_thread.h"

/* The context below up to three such handlers, or `context` itself. s: of the calling thread; adds to its counters. */
void *hpx_tick_context_sig(struct hpx_mode_thread *s, void *context);

#endif
