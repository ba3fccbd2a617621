/* SPDX-License-Identifier: BSD-2-Clause */
/* stack_thread.h: the sampling thread: attached, takes the stacks of other threads by JVMTI.
 *
 * It serves the engines sampler=walk (a signal asks for a stack) and sampler=poll (it reads the threads' CPU clocks itself), and threads
 * that have no timer. From JDK 16 on, JVMTI takes a stack by a handshake with that thread; before, by a safepoint of all threads, so
 * there one call takes all stacks that are due.
 *
 * Who writes a thread's ring in these engines: the sampling thread, under the lock of thread_list.h; the owner from the end of its place
 * there on; the aggregator after the gate was closed (the sampling thread writes inside the gate alone). */
#ifndef HPX_STACK_THREAD_H
#define HPX_STACK_THREAD_H

#include "looker.h"
#include "sample_thread.h"

extern struct hpx_looker hpx_sampling_thread;

/* Starts the sampling thread, once. VMInit or later, any thread, not in handlers. 0, -HPX_E_SYS: also in every call after a first
 * failure. */
int hpx_stack_thread_start(struct hpx_err *err);
/* The sampling thread takes over the rings of all threads from the handlers, and makes the VM replay its compilation events.
 * After hpx_stack_thread_start(). */
void hpx_stack_thread_take_over(void);
/* The sampling thread starts reading t's CPU clock. false: t is not listed. */
bool hpx_stack_thread_poll(struct hpx_sample_thread *t);

/* true if any thread is or was polled. */
bool hpx_stack_thread_polls(void);

/* The handler on t requests a stack: t used `weight` intervals, `stalled` of them are a stall, and was at pc.
 * Async-signal-safe. */
void hpx_stack_thread_ask_sig(struct hpx_sample_thread *t, uintptr_t pc, uint64_t weight, uint64_t stalled);
/* Called by whoever may write t's ring, when no more stacks of t will be taken: turns waiting signals into samples of their pc alone.
 * Takes and returns the intervals of a polled clock that have no sample. */
uint64_t hpx_stack_thread_flush(struct hpx_sample_thread *t);

#endif
