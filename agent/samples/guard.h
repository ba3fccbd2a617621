/* SPDX-License-Identifier: BSD-2-Clause */
/* guard.h: turns a fault (SIGSEGV, SIGBUS) while this thread's handler walks a stack into a lost sample instead of a crash.
 *
 * These handlers run before the VM's, with its flags and mask. Every fault outside hpx_guard_run_sig() of the same thread goes to the
 * VM's handler unchanged: implicit null checks, stack banging, safepoint polls. So does a fault of the VM's SafeFetch below
 * AsyncGetCallTrace, which probes memory that may be unmapped; it is recognised by its instructions, a load and a return, so a fault in
 * any such function of libjvm goes to the VM, too. Whatever AsyncGetCallTrace held at the fault stays held: the thread's "walking" flag,
 * memory of its arena and, inside malloc, that lock; therefore only three faults are allowed. x86-64 only: elsewhere nothing is
 * installed, and run_sig is a plain call. */
#ifndef HPX_GUARD_H
#define HPX_GUARD_H

#include "sample_thread.h"

/* VMInit, before the first clock starts, if stacks are walked in a signal handler: the VM has installed its handlers by then. If the
 * VM's handlers cannot be replaced (libjsig hides them), walks are not guarded. Not on the Zero VM, whose SafeFetch is ordinary compiled
 * code. false: not all faults are caught. */
bool hpx_guard_install(void);
/* VMDeath, after the last walk. Leaves handlers that others installed since. */
void hpx_guard_remove(void);

/* Runs body(arg) on t, the calling thread, in its signal handler or with signals blocked. Returns its value, or `otherwise` after a fault,
 * which is counted in t; whatever body holds then is never released. Async-signal-safe if body is. Does not nest. */
int hpx_guard_run_sig(struct hpx_sample_thread *t, int (*body)(void *arg), void *arg, int otherwise);

/* true after three faults: the sampler no longer walks in signal handlers, and a handler that already runs must not either. */
bool hpx_guard_tripped(void);

#endif
