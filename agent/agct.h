/* SPDX-License-Identifier: BSD-2-Clause */
/* agct.h: the Java stack of the interrupted thread, by AsyncGetCallTrace, with remedies for what it cannot walk.
 *
 * Signal handler of the thread itself only; async-signal-safe as far as AsyncGetCallTrace is: no lock, no allocation, no system call of
 * ours. It reads the thread's own stack above the interrupted stack pointer and nothing else. */
#ifndef HPX_AGCT_H
#define HPX_AGCT_H

#include "agent.h"

struct hpx_agct {
    void *env;           /* JNIEnv of the thread */
    uintptr_t stack_low; /* the thread's stack; 0, 0: not known, then nothing is read there */
    uintptr_t stack_end;
    uint32_t depth; /* most frames, 1..HPX_MAX_DEPTH */
};

/* Finds AsyncGetCallTrace in the libjvm of this process. 0, -HPX_E_VM. At load. */
int hpx_agct_init(struct hpx_err *err);

/* One call of AsyncGetCallTrace without remedies, for the self-test: its own answer, at most `depth` frames. */
int hpx_agct_ask_sig(void *env, struct hpx_ev_frame *frames, uint32_t depth, void *context);

/* t: the calling thread. frames: room for depth + 1. Returns the number of frames, leaf first, `pad` cleared; or -enum hpx_unknown. Then
 * *retried tells whether a remedy was needed; a frame that a remedy had to skip is put back on top, without a line, when its pc's owner is
 * known. context: the handler's ucontext, unchanged on return. */
int hpx_agct_walk_sig(struct hpx_agent_thread *t, const struct hpx_agct *w, struct hpx_ev_frame *frames, void *context, bool *retried);

#endif
