/* SPDX-License-Identifier: BSD-2-Clause */
/* downcall.h: probes that call C by critical downcalls of java.lang.foreign instead of JNI natives: the thread stays in the state Java.
 * docs/calls.md explains how, and what this relies on inside the JDK.
 *
 * The C functions must not block, wait or call the VM: the VM cannot stop a thread that is inside one. */
#ifndef HPX_DOWNCALL_H
#define HPX_DOWNCALL_H

#include "tracker_class.h"
#include <jvmti.h>
#include <stdbool.h>

/* Has a target begin with its frame: on JDK 28 the VM finds the way from C to the caller by that alone, when a sampler asks. First
 * statement of every target. */
static inline __attribute__((always_inline)) void hpx_downcall_frame(void)
{
    __asm__ volatile("" : : "r"(__builtin_frame_address(0)));
}

/* Defines HPX_TRACKER_DOWN. Its probes call the natives of java/lang/HprofxTracker until hpx_downcall_link(). targets: the caller's; `test`
 * is ignored. false: not available here (hpx_downcall_reason()); methods call java/lang/HprofxTracker. VMStart, after the natives are
 * registered. No exception stays pending. */
bool hpx_downcall_define(jvmtiEnv *jvmti, JNIEnv *env, const struct hpx_tracker_targets *targets);
/* Makes the entry point, tests it and switches the probes to it. false: probes keep calling the natives (hpx_downcall_reason()). VMInit's
 * thread, once. No exception stays pending. */
bool hpx_downcall_link(jvmtiEnv *jvmti, JNIEnv *env);

/* The class HPX_TRACKER_DOWN: a global reference; NULL: not defined. Acquire: sees the defined class. From VMStart on; any thread. */
jclass hpx_downcall_class(void);
/* Why probes do not use downcalls: static text; NULL: they do. Acquire. After VMInit; any thread. */
const char *hpx_downcall_reason(void);

#endif
