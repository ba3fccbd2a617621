/* SPDX-License-Identifier: BSD-2-Clause */
/* async_stack.h: takes the Java stack of the interrupted thread by AsyncGetCallTrace, with remedies for stacks that it cannot walk.
 *
 * Touches what asgct.h, remedies.h and raw_walk.h touch, under guard.h. Only in the signal handler of the thread itself; as
 * async-signal-safe as AsyncGetCallTrace: takes no lock, allocates nothing, makes no system call. Reads the thread's own stack above the
 * interrupted stack pointer, and the VM's structures (code_owner.h). */
#ifndef HPX_ASYNC_STACK_H
#define HPX_ASYNC_STACK_H

#include "asgct.h"
#include "guard.h"
#include "raw_walk.h"
#include <jvmti.h>

/* At load: finds AsyncGetCallTrace, if it is known to work on this VM. astray: as of hpx_asgct_init(). 0, -HPX_E_VM. */
int hpx_async_stack_init(jvmtiEnv *jvmti, bool (*astray)(const struct hpx_ev_frame *frames, int n), struct hpx_err *err);
/* VMInit, before the first clock, after init: installs the guard. false: not all faults are caught. */
bool hpx_async_stack_begin(void);
/* After the last walk: removes the guard, if it is there. */
void hpx_async_stack_end(void);

struct hpx_async_stack {
    bool retried;       /* a remedy found it */
    enum hpx_guard end; /* if the walk faulted, the answer is -HPX_UNKNOWN_FAULT; after a misread the structures are left (internals.h) */
};

/* The raw walk of the interrupted thread (raw_walk.h), where internals.h allows it. *faulted: a read of it faulted, and
 * nothing is known. false: the stack has no hash. */
bool hpx_async_stack_raw_sig(const struct hpx_asgct *w, const void *context, struct hpx_raw_stack *to, bool *faulted);

/* The frames of the same stack by a raw walk, where internals.h allows names. frames: room for w->depth. Their number, leaf first; 0: not
 * all have names, or `astray` of hpx_async_stack_init() is true of them. *faulted: as above. broken: NULL: as of hpx_raw_walk_frames_sig(),
 * else as of hpx_raw_walk_frames_behind_sig(). */
int hpx_async_stack_names_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, const void *context, uint32_t *broken, bool *faulted);

/* The self-test: asks as a sample does, without remedies, on a thread in native code. end NULL: without the guard. true: the answer is one
 * that AsyncGetCallTrace gives. */
bool hpx_async_stack_test_sig(void *env, void *context, enum hpx_guard *end);

/* frames: room for w->depth + 1. Returns the number of frames, leaf first, `pad` cleared; or -enum hpx_unknown. A frame that a remedy had
 * to skip is put back on top, without a line, if the owner of its pc is known. context: the handler's ucontext, unchanged on return. */
int hpx_async_stack_take_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, void *context, struct hpx_async_stack *how);

#endif
