/* SPDX-License-Identifier: BSD-2-Clause */
/* handshake.h: the sampling thread: an attached thread of ours that takes the stacks of other threads by JVMTI.
 *
 * It serves the engines sampler=walk (a signal asks for a stack) and sampler=poll (it reads the threads' CPU clocks itself), and threads
 * that have no timer. From JDK 16 on JVMTI takes a stack by a handshake with the one thread; before, by a safepoint of all: there the
 * stacks that are due are asked for in one call.
 *
 * It keeps a list of the threads. One lock guards it: taken at a thread's start and end and by the sampling thread, never in a handler and
 * never while the JVM is called. A listed thread has a global reference; while the sampling thread uses one, the thread may end: then the
 * sampling thread deletes the reference.
 *
 * Who writes a listed thread's ring in these engines: the sampling thread, under the lock; the owner after hpx_handshake_unlist(); the
 * aggregator after the gate was closed (the sampling thread writes inside the gate alone). */
#ifndef HPX_HANDSHAKE_H
#define HPX_HANDSHAKE_H

#include "agent.h"

#define HPX_HANDSHAKE_NAME "hprofx sampler" /* as the program sees it among its threads */

/* Starts the sampling thread, the first time. VMInit or later, any thread but in handlers. 0, -HPX_E_SYS: also each time after a first
 * failure. */
int hpx_handshake_start(struct hpx_err *err);
/* The threads that are listed are sampled by us from now on, where a handler wrote their rings before: the sampling thread has the VM tell
 * once more what is compiled. After hpx_handshake_start(). */
void hpx_handshake_take_over(void);
/* Takes a last round, leaves the JVM; waits for it at most `ns`. VMDeath, before the gate is shut. */
void hpx_handshake_stop(uint64_t ns);

/* Lists t. The owner at its start, or VMInit; before its clock starts. Without memory or place t is not listed: its samples are counted as
 * lost. */
void hpx_handshake_list(JNIEnv *env, struct hpx_agent_thread *t, jthread thread);
/* The owner at its end. Then nobody but the caller writes its ring. */
void hpx_handshake_unlist(JNIEnv *env, struct hpx_agent_thread *t);
/* t's CPU clock is read by the sampling thread from now on. After hpx_handshake_list(); false: t is not listed. */
bool hpx_handshake_poll(struct hpx_agent_thread *t);

/* Some thread is polled, or was. */
bool hpx_handshake_polls(void);

/* The handler on t: it used `weight` intervals and was at pc. Async-signal-safe. */
void hpx_handshake_ask_sig(struct hpx_agent_thread *t, uintptr_t pc, uint64_t weight);
/* Who may write t's ring, when no stack of t will be taken any more: makes samples of the signals that wait, known by their pc alone.
 * Returns the intervals of a polled clock that have no sample; takes them. */
uint64_t hpx_handshake_rest(struct hpx_agent_thread *t);

/* Its CPU time so far. */
uint64_t hpx_handshake_cpu(void);

#endif
