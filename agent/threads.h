/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.h: the life of a thread's state, from its start to its end. JVM threads, inside the gate. */
#ifndef HPX_THREADS_H
#define HPX_THREADS_H

#include "agent.h"

/* The calling thread begins: its START is posted, its state made and registered, its clock started. Without memory for the state it goes
 * unsampled: counted. With arm = false the clock is left to hpx_threads_arm_self(). */
void hpx_threads_begin(jvmtiEnv *jvmti, JNIEnv *env, bool arm);
void hpx_threads_arm_self(void);
/* The calling thread's state, if it was there before VMInit and has not asked before; NULL: none. For a thread that has no hpx_self. */
struct hpx_agent_thread *hpx_threads_find_self(JNIEnv *env);
/* A state that no thread has and nobody drains, with the caller's clock; NULL: no memory. The caller gives it to release_scratch(). */
struct hpx_agent_thread *hpx_threads_scratch(void);
void hpx_threads_release_scratch(struct hpx_agent_thread *t);
/* The calling thread ends. */
void hpx_threads_end(jvmtiEnv *jvmti, JNIEnv *env);
/* VMInit, before the events of threads are enabled: threads may start while adopt_others() lists them. */
void hpx_threads_expect_others(void);
/* VMInit: the Java threads that were there before. Their START is posted; their clock is started where their kernel id can be told by their
 * name, else they go unsampled: counted. */
void hpx_threads_adopt_others(jvmtiEnv *jvmti, JNIEnv *env);

#endif
