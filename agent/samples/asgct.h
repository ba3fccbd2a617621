/* SPDX-License-Identifier: BSD-2-Clause */
/* asgct.h: takes the Java stack of the interrupted thread by AsyncGetCallTrace, with workarounds for stacks that it cannot walk.
 *
 * Only in the signal handler of the thread itself; as async-signal-safe as AsyncGetCallTrace: takes no lock, allocates nothing, makes no
 * system call. Reads the thread's own stack above the interrupted stack pointer, and the VM's structures (owners.h). */
#ifndef HPX_ASGCT_H
#define HPX_ASGCT_H

#include "guard.h"
#include "sample_thread.h"

struct hpx_asgct {
    void *env;           /* JNIEnv of the thread */
    uintptr_t stack_low; /* the thread's stack; 0, 0: unknown, and then not read */
    uintptr_t stack_end;
    uint32_t depth;  /* most frames, 1..HPX_MAX_DEPTH */
    uint64_t weight; /* intervals that the stack stands for */
};

/* Where a frame is: its pc, the stack pointer there, the frame pointer. */
struct hpx_registers {
    uintptr_t pc, sp, fp;
};

/* The caller of the stub that `at` is in, in the middle of the stub: its frame has a fixed size. false: no stub, or no code called it
 * that stays (owners.h). In the handler, under its guard. */
bool hpx_asgct_stub_caller_sig(const struct hpx_asgct *w, const struct hpx_registers *at, struct hpx_registers *up);

/* Finds AsyncGetCallTrace in the libjvm of this process. 0, -HPX_E_VM. At load. */
int hpx_asgct_init(struct hpx_err *err);

/* One call of AsyncGetCallTrace without workarounds, for the self-test: returns its result, at most `depth` frames. */
int hpx_asgct_ask_sig(void *env, struct hpx_ev_frame *frames, uint32_t depth, void *context);

/* t: the calling thread. frames: room for depth + 1. Returns the number of frames, leaf first, `pad` cleared; or -enum hpx_unknown.
 * *retried says whether a workaround was needed; a frame that it had to skip is put back on top, without a line, if the owner of its pc
 * is known. context: the handler's ucontext, unchanged on return. *end: if it is not HPX_GUARD_PASSED, the walk faulted:
 * -HPX_UNKNOWN_FAULT. */
int hpx_asgct_walk_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, struct hpx_ev_frame *frames, void *context, bool *retried,
                       enum hpx_guard *end);

#endif
