/* SPDX-License-Identifier: BSD-2-Clause */
/* callbacks.h: the events of the VM: which are enabled, and what VMInit and VMDeath do. */
#ifndef HPX_CALLBACKS_H
#define HPX_CALLBACKS_H

#include "err.h"
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Adds the capabilities of the chosen modes. A mode whose capabilities are refused is dropped with a message; the others continue. At
 * load, before the session begins. 0; -HPX_E_VM: no mode is left. */
int hpx_callbacks_capabilities(struct hpx_err *err);
/* Sets the callbacks and enables the events that are needed from load on. At load. 0, -HPX_E_VM. */
int hpx_callbacks_init(struct hpx_err *err);
/* PREPARING, in a JVM that runs: what the calling thread does from now on until the session runs is CPU time of the profiler. */
void hpx_callbacks_begin(void);
/* ns: of the threads that began the session, and that end it, whosever they are. Any thread, in a session. */
uint64_t hpx_callbacks_cpu(void);
/* In a JVM that runs: does what VMInit does. READY: RUNNING. false: a thread could not be started, which was said and is in err
 * (UNSTARTED), or VMDeath has the session, and err is empty. */
bool hpx_callbacks_go_live(JNIEnv *env, struct hpx_err *err);
/* UNDOING: waits for the threads that were started. NULL, or what does not move: then nothing may be freed; the next call waits again. */
const char *hpx_callbacks_undo(void);
/* ENDING: ends the session as VMDeath does, and lets its environment and its threads go. again: the end has been begun before. NULL, or
 * what does not move: then nothing may be freed; the next call waits for it again. */
const char *hpx_callbacks_end(JNIEnv *env, bool again);
/* VMDeath is over, and everything is written. */
bool hpx_callbacks_are_over(void);
/* A session that does not run: disables the events of its modes, and undoes what they have loaded. */
void hpx_callbacks_disable(void);
/* The same with a message; the program continues. VMDeath stays enabled, because the writer may not be done. */
void hpx_callbacks_give_up(const struct hpx_err *err);
/* In the child of a fork: its VMDeath writes nothing. Async-signal-safe. */
void hpx_callbacks_forget(void);

#endif
