/* SPDX-License-Identifier: BSD-2-Clause */
/* wait_class.h: of which class the monitor or blocker is that a thread waits for.
 *
 * A parked thread's blocker is the field Thread.parkBlocker: 0.1 us on every JDK. GetCurrentContendedMonitor tells a monitor: 0.2 to 0.7 us
 * from JDK 16 on; before, it stops all threads, and one answer serves all threads that have the same stack in a round. It does not tell the
 * monitor of Object.wait from JDK 22 on, and it tells an attached agent none: these monitors are read from the VM's own words
 * (hotspot/waited_monitor.h).
 *
 * Classes have numbers by their names. All functions but those of load, hpx_wait_class_parked() and hpx_wait_class_of(): the looking thread
 * of watch.h, attached; no lock is held while the VM is called. */
#ifndef HPX_WAIT_CLASS_H
#define HPX_WAIT_CLASS_H

#include "hash.h"
#include "vm.h"
#include "watched.h"

/* At load (hpx_vm_mode.optional): adds the capability, which HotSpot refuses to an agent that is loaded while the program runs. */
void hpx_wait_class_load(jvmtiEnv *jvmti);
/* The looking thread is attached. single: a question costs the threads that are not asked about nothing. */
void hpx_wait_class_begin(JNIEnv *env, bool single);
/* A round of looks begins: what threads waited for in earlier ones is forgotten. */
void hpx_wait_class_round(void);
/* The number of the class for which the thread of this job waits; 0: for none, or it is not known. state: enum hpx_wall_state. stack: of
 * its frames. Adds what the questions took to *asking_ns. It holds only if the thread's CPU clock stands until the job is delivered. */
uint32_t hpx_wait_class(JNIEnv *env, const struct hpx_held *h, uint32_t state, struct hpx_hash128 stack, uint64_t *asking_ns);
/* The same of a parked thread that cannot go on meanwhile. Any attached thread, inside the gate. Takes no lock and no memory but for the
 * first object of a class, and beyond 64 classes that are loaded. */
uint32_t hpx_wait_class_parked(JNIEnv *env, jthread thread);
/* Likewise, of this object. */
uint32_t hpx_wait_class_of(JNIEnv *env, jobject object);
/* After that: whether the clock stood. Else its answer is of no use to other threads with the same stack either. */
void hpx_wait_class_delivered(bool holds);
/* Why monitors are not read, where JVMTI does not tell them; NULL: they are, or JVMTI does, or no thread looks yet. Constant text. Any
 * thread. */
const char *hpx_wait_class_unread(void);
/* The session is over: deletes references to classes. Who ends it. */
void hpx_wait_class_forget(JNIEnv *env);
/* hpx_session_end(). */
void hpx_wait_class_fini(void);

#endif
