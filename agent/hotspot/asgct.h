/* SPDX-License-Identifier: BSD-2-Clause */
/* asgct.h: AsyncGetCallTrace, as it is: the Java stack of an interrupted thread.
 *
 * Touches this function of libjvm, which has no header: its arguments are those of HotSpot's forte.cpp, the same on JDK 8 to 28. It gives
 * back nothing unless an agent enables ClassLoad. async_stack.h asks it under a guard and with remedies. */
#ifndef HPX_ASGCT_H
#define HPX_ASGCT_H

#include "err.h"
#include "event.h"

/* One question. */
struct hpx_asgct {
    void *env;           /* JNIEnv of the thread */
    uintptr_t stack_low; /* the thread's stack; 0, 0: unknown, and then not read */
    uintptr_t stack_end;
    uint32_t depth;  /* most frames, 1..HPX_MAX_DEPTH */
    uint64_t weight; /* intervals that the stack stands for */
};

/* Finds AsyncGetCallTrace in the libjvm of this process. astray: whether the VM went wrong with this stack; async-signal-safe. 0,
 * -HPX_E_VM. At load. */
int hpx_asgct_init(bool (*astray)(const struct hpx_ev_frame *frames, int n), struct hpx_err *err);
/* What `astray` says of these frames. After init; async-signal-safe. */
bool hpx_asgct_astray_sig(const struct hpx_ev_frame *frames, int n);

/* One call, in the signal handler of the thread itself: as async-signal-safe as AsyncGetCallTrace; takes no lock, allocates nothing, makes
 * no system call. Returns the number of frames, leaf first, at most w->depth, or -enum hpx_unknown, which may be one that hprofx does not
 * know. */
int hpx_asgct_ask_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, void *context);

#endif
