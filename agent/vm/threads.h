/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.h: the life of a thread's states, from its start to its end. JVM threads, inside the gate. */
#ifndef HPX_THREADS_H
#define HPX_THREADS_H

#include "mode.h"
#include "mode_thread.h"

struct hpx_lines;

/* The calling thread starts: posts its START, creates and registers its states, starts its clock. Without memory for them the thread is
 * not sampled, which is counted. With arm = false, hpx_threads_arm_self() starts the clock later. */
void hpx_threads_begin(jvmtiEnv *jvmti, JNIEnv *env, bool arm);
void hpx_threads_arm_self(void);
/* Before it attaches: the calling thread of hprofx begins a session. From hpx_threads_begin() to hpx_threads_leave() it has states, because
 * the engine of cpu=samples is tested with them, but it is never announced. */
void hpx_threads_begins(void);
/* Such a thread has no states any more, and what it does is not counted. false: the calling thread is none. */
bool hpx_threads_leave(JNIEnv *env);
/* Completes the states of the calling thread, which started before VMInit, and calls hpx_vm_mode.adopted for each. false: it has none,
 * or the session ends. For threads whose thread-local pointer of a mode is NULL, or of an earlier session. Enters the session's gate. */
bool hpx_threads_find_self(JNIEnv *env);
/* The same for a caller inside the session's gate: what it does counts, although the gate may be closed meanwhile. */
bool hpx_threads_find_self_inside(JNIEnv *env);
/* The calling thread has looked for its states in this session and has none, for lack of memory. The caller counts what it does as lost. */
bool hpx_threads_stateless(void);
/* Attaches the calling thread, one of hprofx (spawn.h), as a daemon thread; `name` begins with HPX_OURS. NULL: the VM refused it. */
JNIEnv *hpx_threads_attach(const char *name);
/* Announces a virtual thread, which has no states. Returns its serial. Once for a thread; any attached thread. */
uint32_t hpx_threads_announce_virtual(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
/* The calling thread has ended in this session, as hpx_threads_end() noted, or is of hprofx: whatever it still does is not counted.
 * Async-signal-safe. */
bool hpx_threads_left(void);
/* The calling thread ends. */
void hpx_threads_end(jvmtiEnv *jvmti, JNIEnv *env);
/* VMInit, before the events of threads are enabled: threads may start while adopt_others() lists them. */
void hpx_threads_expect_others(void);
/* VMInit: adopts the Java threads that already run. Posts their START and starts their clocks. Where the VM's structures do not tell the
 * kernel ids (thread_id.h), threads whose name the kernel has not, or has twice, are not sampled, which is counted. */
void hpx_threads_adopt_others(jvmtiEnv *jvmti, JNIEnv *env);
/* The report: a line if the kernel's names were needed for that. The writer's thread. */
void hpx_threads_lines(struct hpx_lines *to);

#endif
