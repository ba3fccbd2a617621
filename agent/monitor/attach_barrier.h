/* SPDX-License-Identifier: BSD-2-Clause */
/* attach_barrier.h: GetObjectMonitorUsage, on a VM that it can end.
 *
 * Before JDK 10 the function takes a lock of the thread that owns the monitor, or waits to enter it, without keeping that thread alive: if
 * it has ended and is freed, the VM crashes or hangs. So there a thread that ends waits in its ThreadEnd for the questions that have begun.
 * It owns no monitor then, so it passes later ones by; but that of its own Thread is entered behind ThreadEnd, so about one that has gone
 * through Thread.exit() nobody asks. (What else a thread owns that detaches with monitors entered by JNI is not excluded.)
 *
 * From JDK 23 on the function looks at the Java object of every thread, and a thread that attaches has none for a moment: the VM crashes.
 * So there the three functions of the JavaVM that attach threads are wrapped, and nobody asks while a thread attaches. A thread that
 * attaches waits for a question that has begun, microseconds, at most 2 s, as one that ends; who asks never waits. */
#ifndef HPX_ATTACH_BARRIER_H
#define HPX_ATTACH_BARRIER_H

#include <jvmti.h>

/* At load, before anybody asks. release: of the JDK. */
void hpx_attach_barrier_load(JavaVM *vm, jint release);
/* Nobody asks any more: threads end as without hprofx. The functions that attach stay. */
void hpx_attach_barrier_unload(void);
enum hpx_usage_answer {
    HPX_USAGE_TOLD,
    HPX_USAGE_REFUSED,   /* an error of JVMTI */
    HPX_USAGE_ATTACHING, /* not asked: a thread attaches now */
    HPX_USAGE_ENDING,    /* not asked: the object is a thread that ends, or too many ask, or a thread that ends would not wait */
    HPX_USAGE_REPLACED,  /* not asked, nor will it be: another agent replaced the functions that attach */
    HPX_USAGE_ANSWERS
};
/* GetObjectMonitorUsage; HPX_USAGE_TOLD: the caller frees the two lists. Any attached thread. */
enum hpx_usage_answer hpx_attach_barrier_ask(jvmtiEnv *jvmti, jobject object, jvmtiMonitorUsage *usage);

#endif
