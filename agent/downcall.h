/* SPDX-License-Identifier: BSD-2-Clause */
/* downcall.h: probes by critical downcalls of java.lang.foreign instead of JNI natives: calls of C without leaving the thread state Java.
 * docs/probes.md says how, and what it relies on inside the JDK.
 *
 * The C functions called so must not block, not call the VM and not wait: a thread in them cannot be stopped. */
#ifndef HPX_DOWNCALL_H
#define HPX_DOWNCALL_H

#include "tracker_class.h"
#include <jvmti.h>
#include <stdbool.h>

/* Defines HPX_TRACKER_DOWN, whose probes call the natives of hprofx/Tracker until hpx_downcall_link(). targets but test are the caller's.
 * false: not on this JDK; the natives are called directly. VMStart, when those are registered. No exception stays pending. */
bool hpx_downcall_define(jvmtiEnv *jvmti, JNIEnv *env, const struct hpx_tracker_targets *targets);
/* Makes the entry point, tests it and has the probes use it. false: they go on as they are. VMInit's thread. No exception stays pending. */
bool hpx_downcall_link(jvmtiEnv *jvmti, JNIEnv *env);

/* HPX_TRACKER_DOWN, or NULL: not defined. A global reference, from VMStart on; any thread. */
jclass hpx_downcall_class(void);
/* Why probes are no downcalls; static. NULL: they are. After VMInit; any thread. */
const char *hpx_downcall_reason(void);

#endif
