/* SPDX-License-Identifier: BSD-2-Clause */
/* async_stack.h: the raw walk (raw_walk.h) of the interrupted thread, under the guard.
 *
 * Touches what raw_walk.h touches. Only in the signal handler of the thread itself, while internals.h allows names: reads the thread's own
 * stack above the interrupted stack pointer, and the VM's structures; takes no lock, allocates nothing, makes no system call. */
#ifndef HPX_ASYNC_STACK_H
#define HPX_ASYNC_STACK_H

#include "raw_walk.h"

/* true: *to has the stack. A walk that faults has none; *faulted says so. */
bool hpx_async_stack_hash_sig(const struct hpx_raw_thread *t, struct hpx_raw_stack *to, bool *faulted);
/* As hpx_raw_walk_frames_sig(), or, with `broken`, as hpx_raw_walk_frames_behind_sig(); none and HPX_END_FAULT if a read faulted. */
int hpx_async_stack_names_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *frames, enum hpx_raw_end *end, uint32_t *broken);
/* Why a walk without frames has none, as the row of the sample says it. */
enum hpx_unknown hpx_async_stack_unknown_sig(const struct hpx_raw_thread *t, enum hpx_raw_end end);

#endif
