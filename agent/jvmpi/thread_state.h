/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_state.h: whether a thread of Java can run code of the agent while the world is stopped.
 *
 * Touches JavaThread._thread_state, by the tables of hotspot/structures.h; reads only. On JDK 8 to 28. A build without these
 * (-Dhotspot=false) knows no state (thread_state_none.c). */
#ifndef HPX_JVMPI_THREAD_STATE_H
#define HPX_JVMPI_THREAD_STATE_H

#include "shim.h"

/* VMInit, once. offset: of every thread's JNIEnv in the VM's own thread; 0: unknown. */
void hpx_jvmpi_state_learn(long offset);
/* The VM shows states. Any thread. */
bool hpx_jvmpi_state_known(void);
/* The thread stands in the VM until the world goes on. The world is stopped; the thread has this JNIEnv and has not ended. false also if
 * states are unknown. Any thread; no lock, no call of the VM. */
bool hpx_jvmpi_stands_still(JNIEnv *env);

#endif
