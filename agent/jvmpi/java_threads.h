/* SPDX-License-Identifier: BSD-2-Clause */
/* java_threads.h: what is kept about a platform thread while it lives: threads.c, functions.c and ids.c know it. */
#ifndef HPX_JVMPI_JAVA_THREADS_H
#define HPX_JVMPI_JAVA_THREADS_H

#include "shim.h"

struct hpx_jvmpi_thread {
    JNIEnv *env;                   /* constant */
    jweak thread;                  /* constant; deleted when the thread has ended and pins is 0 */
    struct hpx_jvmpi_thread *next; /* of threads.c, under its lock, as pins, ended and announcing */
    int pins;
    bool ended, announcing;
    atomic_bool announced; /* THREAD_START was sent, or is off; relaxed: the thread itself asks, or it may miss an event */
    _Atomic(void *) tls;   /* the agent's; relaxed: the agent orders what lies behind it */
    /* Of functions.c, under the lock of ids: suspensions counts SuspendThread(); seen: those that the thread has waited out (ids.c). */
    unsigned suspensions, seen;
    bool suspended;
    jlong ran; /* ns of CPU time when it was resumed last */
};

/* The record of a living thread, kept until unpin; NULL: no such thread. An attached thread, or one with a record. */
struct hpx_jvmpi_thread *hpx_jvmpi_pin(JNIEnv *env);
void hpx_jvmpi_unpin(struct hpx_jvmpi_thread *t);
/* Was THREAD_START of the calling thread sent, if it is on? Before that and after THREAD_END the agent does not know the thread. Any
 * thread. */
bool hpx_jvmpi_self_is_announced(void);
/* The calling thread's; NULL: it has none (yet, or any more). Valid until its THREAD_END was sent. */
struct hpx_jvmpi_thread *hpx_jvmpi_self(void);

#endif
