/* SPDX-License-Identifier: BSD-2-Clause */
/* async_stack.h: the raw walk (raw_walk.h) under the guard: of the interrupted thread, or of one outside Java (quiet_stack.h).
 *
 * Touches what raw_walk.h touches: reads the thread's stack, of the interrupted one above its stack pointer, and the VM's structures, while
 * internals.h allows it; takes no lock, allocates nothing, makes no system call. */
#ifndef HPX_ASYNC_STACK_H
#define HPX_ASYNC_STACK_H

#include "raw_walk.h"

/* true: *to has the stack. false: the walk faulted, and *faulted is set; or it faulted among objects that move while the program runs
 * (hpx_stack_chunk_reading_sig()); or the thread is in a state that `states` does not have; or the walk could not go on. */
bool hpx_async_stack_hash_sig(const struct hpx_raw_thread *t, struct hpx_raw_stack *to, bool *faulted);
/* As hpx_raw_walk_frames_sig(). There are no frames, and *hash is as it was, if a read faulted (HPX_END_FAULT; HPX_END_HEAP among objects
 * that move), or in another state (HPX_END_NO_JAVA). */
int hpx_async_stack_names_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *frames, enum hpx_raw_end *end, uint32_t *broken,
                              struct hpx_raw_stack *hash);
/* Walks of this session that faulted among objects that move. */
uint64_t hpx_async_stack_moved(void);
/* Why a walk without frames has none, as the row of the sample says it. */
enum hpx_unknown hpx_async_stack_unknown_sig(const struct hpx_raw_thread *t, enum hpx_raw_end end);

#endif
