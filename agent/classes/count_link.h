/* SPDX-License-Identifier: BSD-2-Clause */
/* count_link.h: links the probe that counts (tracker_class.h) to this JVM: where a thread of Java has the address of the VM's thread, and
 * the Unsafe that reads it. Until then, and without, the probe calls the native for every call. */
#ifndef HPX_COUNT_LINK_H
#define HPX_COUNT_LINK_H

#include <jvmti.h>
#include <stdint.h>

/* The internal name of Unsafe in this release. Any attached thread. */
const char *hpx_count_unsafe(void);
/* Links the probe of this class, java.lang.HprofxTracker, to a table; once in a process. NULL, or why not: static text. VMInit, or later,
 * on the thread that begins the session. No exception stays pending. */
const char *hpx_count_link(jvmtiEnv *jvmti, JNIEnv *env, jclass tracker, uint64_t table);
/* Why the probe is not linked; NULL: it is. After the link; any thread. */
const char *hpx_count_reason(void);
/* The address of the VM's thread, if the probe has passed it; else 0: in doubt a thread is in no table. On the calling thread. */
uint64_t hpx_count_thread(JNIEnv *env, uint64_t passed);

#endif
