/* SPDX-License-Identifier: BSD-2-Clause */
/* usage.h: GetObjectMonitorUsage, on a VM that it can end.
 *
 * From JDK 23 on the function looks at the Java object of every thread, and a thread that attaches has none for a moment: the VM crashes.
 * So there the three functions of the JavaVM that attach threads are wrapped, and nobody asks while a thread attaches. A thread that
 * attaches waits for a question that has begun, microseconds and at most seconds; who asks never waits. */
#ifndef HPX_USAGE_H
#define HPX_USAGE_H

#include "vm.h"

/* At load. release: of the JDK. */
void hpx_usage_load(jint release);
/* As GetObjectMonitorUsage; the caller frees the two lists. JVMTI_ERROR_NOT_AVAILABLE: a thread attaches now. Any attached thread. */
jvmtiError hpx_usage_ask(jvmtiEnv *jvmti, jobject object, jvmtiMonitorUsage *usage);

#endif
