/* SPDX-License-Identifier: BSD-2-Clause */
/* shared_stacks.h: stacks that some thread of the session has named, by the hash of their raw walk (raw_walk.h).
 *
 * A table of a constant size: a new stack replaces the one of its set that was used longest ago. Its readers and writers are handlers of
 * all threads, and none waits: a stack that is being written is not found, and of two that are written to one place at the same time the
 * second is left out. */
#ifndef HPX_SHARED_STACKS_H
#define HPX_SHARED_STACKS_H

#include "raw_walk.h"

#define HPX_SHARED_BYTES (1u << 20) /* a page that no stack is in uses no memory */

/* Once in a session; handlers may run already. Stacks have at most `depth` frames; those of more than 128 are not kept. Without memory no
 * stack is kept. */
void hpx_shared_stacks_begin(size_t bytes, uint32_t depth);
/* When no handler will begin any more. inside: a handler is stopped in the middle and may go on, so the memory is never freed. */
void hpx_shared_stacks_end(bool inside);

/* ---- any thread's handler; async-signal-safe ---- */

/* Copies the stack to `frames`, which has room for `room`. Returns the number of frames; 0: it is not there. *flags: as it was put. */
int hpx_shared_stacks_find_sig(const struct hpx_raw_stack *key, struct hpx_ev_frame *frames, uint32_t room, uint16_t *flags);
void hpx_shared_stacks_put_sig(const struct hpx_raw_stack *key, const struct hpx_ev_frame *frames, int n, uint16_t flags);

#endif
