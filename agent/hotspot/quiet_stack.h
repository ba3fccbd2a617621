/* SPDX-License-Identifier: BSD-2-Clause */
/* quiet_stack.h: the stack of a thread that is outside Java and does not move: the calling thread in a JVMTI callback or a JNI function, or
 * another one that waits.
 *
 * Touches what raw_walk.h touches, from the thread's anchor, under guard.h; reads only. A hash of the stack costs a fraction of
 * GetStackTrace; a caller remembers what it has made of the stack with that hash, and asks GetStackTrace for the others.
 *
 * The VM walks such a thread at any moment from the same anchor, so the calling thread's words are frames, and none of these reads can
 * fault if the layout is as the checks of checks.h have it, but those of objects that ZGC or Shenandoah moves meanwhile, whose faults end
 * one walk. The guard is for these, and for what the checks do not see. */
#ifndef HPX_QUIET_STACK_H
#define HPX_QUIET_STACK_H

#include "counters.h"
#include "event.h"
#include "judge.h"
#include "raw_walk.h"
#include "report.h"
#include <jvmti.h>

/* ---- having it: a mode that wants it calls all of these; several modes may ---- */

/* At load (hpx_vm_mode.load). mode: a constant that tells it from others. */
void hpx_quiet_stack_load(const void *mode);
/* At load: sets the callback for code that the VM announces, once for all modes. */
void hpx_quiet_stack_callbacks(jvmtiEventCallbacks *all);
/* VMInit (hpx_vm_mode.ready): installs the guard, checks the structures. counters: of the calling thread; NULL: it has no state. */
void hpx_quiet_stack_ready(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_counters *counters);
/* A thread begins, on the thread. */
void hpx_quiet_stack_thread(JNIEnv *env, jthread self, struct hpx_counters *counters);
/* After the last walk (hpx_vm_mode.over). */
void hpx_quiet_stack_over(void);
/* The report: lines in the part of the first mode that loaded it, else none. total: of all threads. */
void hpx_quiet_stack_lines(const void *mode, struct hpx_lines *to, const struct hpx_counters *total);

/* ---- a stack ---- */

struct hpx_quiet_thread {
    const void *env;                /* JNIEnv of the thread */
    uintptr_t stack_low, stack_end; /* its stack; 0: not known, then there is no answer */
    uint32_t depth;                 /* most frames of methods that matter */
    struct hpx_counters *counters;  /* of the calling thread */
    bool other;                     /* it is not the calling thread */
};

/* false: no hash, because the layer is off, the thread is not in native code or blocked, or the stack cannot be walked. true: *to is the
 * stack: equal lo and hi mean that GetStackTrace gives the same first `depth` frames. Another thread: only if the caller finds that it
 * has not run from before the call until after it, as by its CPU clock; else *to says nothing. Not in a signal handler. Signals need not be
 * blocked. */
bool hpx_quiet_stack_hash(const struct hpx_quiet_thread *t, struct hpx_raw_stack *to);

/* The same stack with names, leaf first, at most `depth` frames, as GetStackTrace gives them, those of a probe too. 0: not to be had; then
 * `frames` is undefined. Another thread, where there are virtual threads: only if the whole stack has less than `depth` frames. When and
 * where: as hpx_quiet_stack_hash(). */
int hpx_quiet_stack_frames(const struct hpx_quiet_thread *t, struct hpx_ev_frame *frames);

/* ---- comparing ---- */

/* Whether the caller, who recognises a stack or has it named, asks GetStackTrace nevertheless; it then calls hpx_quiet_stack_compared().
 * seen: stacks of this kind that the thread has had. Any thread. */
bool hpx_quiet_stack_compares(uint32_t seen);
/* Tells the judge, and turns the layer off if that does not trust it. ALONE: the VM had no stack, or that of another moment. */
void hpx_quiet_stack_compared(enum hpx_judged_as as);

#endif
