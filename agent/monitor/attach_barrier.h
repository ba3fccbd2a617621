/* SPDX-License-Identifier: BSD-2-Clause */
/* attach_barrier.h: GetObjectMonitorUsage, on a VM that it can end.
 *
 * From JDK 23 on the function looks at the Java object of every thread, and a thread that attaches has none for a moment: the VM crashes.
 * So there the three functions of the JavaVM that attach threads are wrapped, and nobody asks while a thread attaches. A thread that
 * attaches waits for a question that has begun, microseconds, at most 2 s; who asks never waits. */
#ifndef HPX_ATTACH_BARRIER_H
#define HPX_ATTACH_BARRIER_H

#include <jvmti.h>

/* At load, before anybody asks. release: of the JDK. */
void hpx_attach_barrier_load(JavaVM *vm, jint release);
enum hpx_usage_answer {
    HPX_USAGE_TOLD,
    HPX_USAGE_REFUSED,   /* an error of JVMTI */
    HPX_USAGE_ATTACHING, /* not asked: a thread attaches now */
    HPX_USAGE_REPLACED,  /* not asked, nor will it be: another agent replaced the functions that attach */
    HPX_USAGE_ANSWERS
};
/* GetObjectMonitorUsage; HPX_USAGE_TOLD: the caller frees the two lists. Any attached thread. */
enum hpx_usage_answer hpx_attach_barrier_ask(jvmtiEnv *jvmti, jobject object, jvmtiMonitorUsage *usage);

#endif
