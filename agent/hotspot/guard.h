/* SPDX-License-Identifier: BSD-2-Clause */
/* guard.h: turns a fault (SIGSEGV, SIGBUS) while this thread walks a stack or reads the VM's structures into an answer instead of a crash.
 *
 * Touches the VM's handlers of these signals, which are replaced from VMInit to VMDeath. The same on every release of HotSpot.
 *
 * These handlers run before the VM's, with its flags and mask. Every fault outside hpx_guard_run_sig() of the same thread goes to the
 * VM's handler unchanged: implicit null checks, stack banging, safepoint polls. So does a fault of the VM's SafeFetch below
 * AsyncGetCallTrace, which probes memory that may be unmapped; it is recognised by its instructions, a load and a return, so a fault in
 * any such function of libjvm goes to the VM, too. Whatever AsyncGetCallTrace held at the fault stays held: the thread's "walking" flag,
 * memory of its arena and, inside malloc, that lock; so the caller must not allow many faults. On a processor that processor.h
 * does not know nothing is installed. */
#ifndef HPX_GUARD_H
#define HPX_GUARD_H

#include "compiler.h"

/* Why no handler may be installed: with -Xcheck:jni the VM prints a warning to the program's stdout for every handler that is not its own.
 * NULL: one may; a constant. Any thread. */
const char *hpx_guard_forbidden(void);
/* VMInit, before the first clock starts, if stacks are walked in a signal handler: the VM has installed its handlers by then. If the
 * VM's handlers cannot be replaced (libjsig hides them), walks are not guarded. Several users may install it. A body
 * must not call AsyncGetCallTrace on the Zero VM, whose SafeFetch is ordinary compiled code. false: not all faults are caught, perhaps
 * because none may be. */
bool hpx_guard_install(void);
/* VMDeath, after the last walk, once for every install: the last one removes the handlers, but leaves those that others installed since. */
void hpx_guard_remove(void);

/* Runs body(arg) on the calling thread: in its signal handler, with signals blocked. true: *answer has its value; false: it faulted, and
 * whatever it held then is never released. Async-signal-safe if body is. A handler of hprofx that interrupts a body may run another one. */
bool hpx_guard_run_sig(int (*body)(void *arg), void *arg, int *answer);
/* The same of a body that only reads the VM's structures, in code of hprofx: a fault elsewhere is not its own, and none is SafeFetch's. */
bool hpx_guard_read_sig(int (*body)(void *arg), void *arg, int *answer);
/* The same outside handlers, without signals: a body does not nest, and would take the fault of a handler of the program for its own. */
bool hpx_guard_read(int (*body)(void *arg), void *arg);

#endif
