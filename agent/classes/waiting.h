/* SPDX-License-Identifier: BSD-2-Clause */
/* waiting.h: classes that are loaded but not linked when a session begins in a running JVM. No code of theirs can run yet.
 *
 * To retransform one the VM has to link it, which fails for classes that refer to a library that is missing (servers have hundreds), and
 * with it fails every class of the same call. So they get their probes when they are linked: in ClassPrepare, before anything of them runs.
 * The thread that links has the service thread retransform the class and waits for that, WAIT_MS at most: it holds the class's lock, for
 * which another agent that retransforms the same class may wait, while the VM lets nobody else retransform it. Once it has waited in vain,
 * no thread waits until the service thread serves again. What comes too late is counted: calls of that class are missing until it has its
 * probes. */
#ifndef HPX_WAITING_H
#define HPX_WAITING_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Retransforms one class. What fails is tried once more: the cause may be another agent that retransformed it meanwhile. */
jvmtiError hpx_retransform_one(jvmtiEnv *jvmti, jclass klass);
/* Before any class is looked at. false: the VM raises no ClassPrepare for us, so no class can wait. The thread that begins the session. */
bool hpx_waiting_begin(void);
/* A loaded class; has_none: it was loaded before the class hook opened, so it has no probes. true: it is not linked yet, and gets its
 * probes when it is. false: it is linked, or cannot wait. After begin; the thread that retransforms. */
bool hpx_waiting_add(jvmtiEnv *jvmti, jclass klass, bool has_none);
/* The session takes no class any more: no thread begins to wait. Before or after begin. Async-signal-safe. */
void hpx_waiting_close(void);
/* No class waits for probes any longer. The service thread has left. */
void hpx_waiting_end(JNIEnv *env);

/* Of this session: classes that were not linked when it began; those of them that were linked and had their probes in time, or late, or not
 * at all. Any thread. */
struct hpx_waiting_figures {
    uint64_t waited, linked, late;
};
struct hpx_waiting_figures hpx_waiting_figures(void);

#endif
