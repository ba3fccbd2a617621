/* SPDX-License-Identifier: BSD-2-Clause */
/* checks.h: compares the VM's structures with what JVMTI and JNI say, before and while they are used.
 *
 * Touches the code cache (code_cache.h), and of the calling thread JavaThread._anchor and _thread_state (frame_anchor.h), found by
 * java.lang.Thread.eetop: reads only, under guard.h, on every release from JDK 8 on. What fails is left for good (internals.h).
 *
 * counters: of the calling thread; a check that faults is counted there. */
#ifndef HPX_CHECKS_H
#define HPX_CHECKS_H

#include "counters.h"
#include <jvmti.h>

/* At load: the tables have all names. NULL, or the constant text why the structures are not read. */
const char *hpx_checks_names(void);
/* DynamicCodeGenerated: code that hpx_checks_live() must find. Any JVM thread. */
void hpx_checks_announce(const char *name, const void *code, size_t size);
/* VMInit, before the first clock, after hpx_checks_names() was content: compares the structures with the code that the VM announced, then
 * turns them on. counters NULL: the caller has no state. guard: faults are caught; without it nothing is read. false: they are off. */
bool hpx_checks_live(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_counters *counters, bool guard);
/* A thread starts, on the thread: the second one is compared with the first. */
void hpx_checks_thread(JNIEnv *env, jthread thread, struct hpx_counters *counters);
/* Whether an anchor below Java code was compared. Any thread. */
bool hpx_checks_compared(void);
/* On a thread that is outside Java, perhaps below Java code: compares the first such anchor. The bounds of the stack are 0 if unknown. */
void hpx_checks_anchor(JNIEnv *env, uintptr_t stack_low, uintptr_t stack_end, struct hpx_counters *counters);

#endif
