/* SPDX-License-Identifier: BSD-2-Clause */
/* waits.h: the objects of Object.wait. GetCurrentContendedMonitor of newer VMs (25, not 21) does not tell them, so MONITOR DUMP keeps them
 * from the events. No effect before JDK 22.
 *
 * The first three are called by events of the thread that waits; not for virtual threads, which change their carriers while they wait. They
 * take no lock while a thread waits a second time. */
#ifndef HPX_WAITS_H
#define HPX_WAITS_H

#include "vm.h"

/* Constant from load on; hpx_monitor_take_capabilities() sets it. */
extern bool hpx_waits_wanted;

/* MonitorWait. Keeps a reference until the end of the wait. */
void hpx_waits_begin(JNIEnv *env, jthread self, jobject object);
/* MonitorWaited. */
void hpx_waits_end(JNIEnv *env);
/* The calling thread ends. */
void hpx_waits_gone(JNIEnv *env);

struct hpx_wait_ref {
    uint64_t tid;   /* Thread.tid */
    jobject object; /* a local reference of the caller */
};
/* The waits that go on; the caller deletes the references and frees *to. One thread at a time. Returns their number; 0 also without memory.
 */
uint32_t hpx_waits_list(JNIEnv *env, struct hpx_wait_ref **to);
/* At the end of a session; the VM is gone, and with it the references. */
void hpx_waits_fini(void);

/* The end of a session in a JVM that runs on: deletes all references; fini follows. */
void hpx_waits_forget(JNIEnv *env);

#endif
