/* SPDX-License-Identifier: BSD-2-Clause */
/* guard.h: a fault (SIGSEGV, SIGBUS) while this thread's own handler walks a stack costs that sample, not the program.
 *
 * Our handlers stand before the VM's, with its flags and mask. Whatever is not a fault inside hpx_guard_run_sig() of the same thread goes
 * to the VM's handler unchanged: implicit null checks, stack banging, safepoint polls; and so does a fault of the VM's SafeFetch below
 * AsyncGetCallTrace, which probes memory that may not be there. It is known by its instructions, a load and a return, so a fault in another
 * function of libjvm that is no more than that is the VM's, too. What AsyncGetCallTrace held when it was left stays held: a flag of its
 * thread that says "walking", memory of its arena, and, were it inside malloc, that lock: hence three faults and no more. x86-64 only:
 * elsewhere nothing is installed, and run_sig is a call. */
#ifndef HPX_GUARD_H
#define HPX_GUARD_H

#include "agent.h"

/* VMInit, before the first clock starts, where stacks are walked from a signal: the VM's handlers are there. Without them to stand before
 * (libjsig answers for them) the walk goes unguarded. Not on the Zero VM: its SafeFetch is compiled code like any other. */
void hpx_guard_install(void);
/* VMDeath, after the last walk. Leaves what somebody else has installed since. */
void hpx_guard_remove(void);

/* body(arg) on t, the calling thread, in its signal handler; its value, or `otherwise` after a fault: counted in t, and what body holds
 * is never given back. Async-signal-safe if body is. Does not nest. */
int hpx_guard_run_sig(struct hpx_agent_thread *t, int (*body)(void *arg), void *arg, int otherwise);

/* Faults have come three times: the sampler was told to walk no more from a signal; a handler that was on its way must not either. */
bool hpx_guard_tripped(void);

#endif
