/* SPDX-License-Identifier: BSD-2-Clause */
/* async_stack.h: takes the Java stack of the interrupted thread by AsyncGetCallTrace, with remedies for stacks that it cannot walk.
 *
 * Touches what asgct.h, remedies.h and outside.h touch, under guard.h. Only in the signal handler of the thread itself; as
 * async-signal-safe as AsyncGetCallTrace: takes no lock, allocates nothing, makes no system call. Reads the thread's own stack above the
 * interrupted stack pointer, and the VM's structures (code_owner.h). */
#ifndef HPX_ASYNC_STACK_H
#define HPX_ASYNC_STACK_H

#include "asgct.h"
#include "guard.h"

struct hpx_async_stack {
    bool retried;       /* a remedy found it */
    enum hpx_guard end; /* if the walk faulted, the answer is -HPX_UNKNOWN_FAULT */
};

/* frames: room for w->depth + 1. Returns the number of frames, leaf first, `pad` cleared; or -enum hpx_unknown. A frame that a remedy had
 * to skip is put back on top, without a line, if the owner of its pc is known. context: the handler's ucontext, unchanged on return. */
int hpx_async_stack_take_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, void *context, struct hpx_async_stack *how);

#endif
