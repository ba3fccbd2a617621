/* SPDX-License-Identifier: BSD-2-Clause */
/* virtual.h: virtual threads (from JDK 21 on) in cpu=times: their calls stay on their own stacks when they change carriers.
 *
 * HotSpot reports every mount and unmount by extension events, and the carrier's records then name the next call stack. A VM without
 * these events has no virtual threads, or their calls count on their carriers' stacks, with one message. */
#ifndef HPX_VIRTUAL_H
#define HPX_VIRTUAL_H

#include "calls_thread.h"
#include "threads.h"
#include "vm_mode.h"

/* Adds the capability if the VM offers it. At load. */
void hpx_virtual_init(jvmtiEnv *jvmti);
/* Enables or disables the events. VMInit; VMDeath. */
void hpx_virtual_enable(jvmtiEnv *jvmti, bool on);

/* The session has ended, and its environment is gone: frees what belongs to virtual threads that live. */
void hpx_virtual_forget(void);

/* A virtual thread starts or ends on its carrier: the first mount and the last unmount, which have no extension event. */
void hpx_virtual_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void hpx_virtual_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);

#endif
