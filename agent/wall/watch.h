/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.h: the thread that looks at all Java threads (wall=): hprofx-wall, attached to the JVM.
 *
 * It reads CPU clocks, and asks the VM for state and stack only of threads that have run. No signal is sent. From JDK 16 on a stack costs a
 * handshake, which the VM does without the thread if that waits; before, a safepoint of all threads.
 *
 * It keeps a list of the threads. One lock guards the list, and the ring into which all records go: taken at a thread's start and end and
 * by the looking thread, never while the JVM is called. A listed thread has a global reference; while the looking thread uses one, the
 * thread may end: then the looking thread deletes the reference. */
#ifndef HPX_WATCH_H
#define HPX_WATCH_H

#include "err.h"
#include "mode_thread.h"

/* At load, before the aggregator runs: makes the ring. 0, -HPX_E_NOMEM. */
int hpx_watch_begin(const void *mode);
/* The ring's thread is gone (hpx_mode.gone). */
void hpx_watch_gone(struct hpx_thread *t);
/* VMInit: starts the looking thread. 0, -HPX_E_SYS. */
int hpx_watch_start(struct hpx_err *err);
/* Last looks; the looking thread leaves the JVM. Waits for that at most `ns`. VMDeath, before the gate is closed. */
void hpx_watch_stop(uint64_t ns);
/* The end of a session in a JVM that runs on: waits until `until_ns` for the thread; false: it uses the environment. */
bool hpx_watch_left(uint64_t until_ns);
/* After that: deletes the references. */
void hpx_watch_unload(JNIEnv *env);
/* hpx_session_end(): frees the list. */
void hpx_watch_fini(void);

/* A thread with these states is announced. The thread, or VMInit. Without memory it is not watched, which is counted. */
void hpx_watch_add(struct hpx_mode_thread *first, JNIEnv *env, jthread thread);
/* It ends, and its states will retire. The thread, or VMInit. */
void hpx_watch_remove(struct hpx_mode_thread *first, JNIEnv *env);

/* Asks for a round whose records are complete up to now. look: looks at all threads, also those that are not due. Returns its number. The
 * aggregator. */
uint64_t hpx_watch_ask(bool look);
/* The number of the last such round that is done; UINT64_MAX: no thread looks. Any thread. */
uint64_t hpx_watch_done(void);

struct hpx_watch_figures {
    uint64_t threads, rounds, looks, stacks, moved; /* moved: stacks thrown away, because the thread had run meanwhile */
    uint64_t mean_ns;                               /* between two rounds */
    uint64_t cpu_ns, bytes;
};
/* Any thread; each value for itself. */
struct hpx_watch_figures hpx_watch_figures(void);

#endif
