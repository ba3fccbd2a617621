/* SPDX-License-Identifier: BSD-2-Clause */
/* virtual.h: virtual threads (JDK 21 on) in cpu=times: their calls follow them over their carriers.
 *
 * HotSpot tells of each mount and unmount by extension events; the carrier's records say whose call stack comes next. Where the VM has no
 * such events there are no virtual threads, or their calls count on their carriers' stacks, said once. */
#ifndef HPX_VIRTUAL_H
#define HPX_VIRTUAL_H

#include "agent.h"

#define HPX_VIRTUAL_MARK 8u /* added to its address, which is malloc's; a thread's state begins a cache line */

/* Adds the capability where the VM has it. At load. */
void hpx_virtual_init(jvmtiEnv *jvmti);
/* The events come from now on, or no more. VMInit; VMDeath. */
void hpx_virtual_enable(jvmtiEnv *jvmti, bool on);

/* A virtual thread begins, or ends, on its carrier: its first mount and its last unmount, of which the extension events do not tell. */
void hpx_virtual_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void hpx_virtual_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);

/* What lies in JVMTI's thread-local storage is a virtual thread's: a carrier without a state is asked for that of the one it carries. */
static inline bool hpx_virtual_is_mark(const void *mark)
{
    return (uintptr_t)mark % 16 == HPX_VIRTUAL_MARK;
}

/* Events that the header of an older JDK does not know. */
#define HPX_EVENT_VIRTUAL_THREAD_START 87
#define HPX_EVENT_VIRTUAL_THREAD_END   88
typedef void(JNICALL *hpx_virtual_event)(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);

/* The callbacks by number, as the VM reads them: where a header's struct ends depends on its release. */
union hpx_event_callbacks {
    jvmtiEventCallbacks known;
    hpx_virtual_event of[HPX_EVENT_VIRTUAL_THREAD_END - JVMTI_MIN_EVENT_TYPE_VAL + 1];
};
_Static_assert(offsetof(jvmtiEventCallbacks, VMObjectAlloc) ==
                   (JVMTI_EVENT_VM_OBJECT_ALLOC - JVMTI_MIN_EVENT_TYPE_VAL) * sizeof(hpx_virtual_event),
               "callbacks stand in the order of their events");

#endif
