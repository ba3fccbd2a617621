/* SPDX-License-Identifier: BSD-2-Clause */
/* census.h: all virtual threads at one moment, counted by stack, state, and what they wait for.
 *
 * A copy of the process (child.h) reads them, while the program goes on: from the sets of threads that the JDK keeps (jdk.internal.vm.
 * ThreadContainers, ThreadFlock) it goes from thread to thread, not through the heap. What it finds it writes to memory that both have.
 * Where a copy is refused, the threads are asked one by one (census_ask.h). */
#ifndef HPX_CENSUS_H
#define HPX_CENSUS_H

#include "census_image.h"
#include <jni.h>

/* At load. */
void hpx_census_load(void);
/* When a session begins. */
void hpx_census_live(JNIEnv *env);
/* NULL: *why, constant until the next call, or NULL: the program has no virtual threads. depth: frames of a stack. late() ends the copy.
 * A thread that may wait. */
struct hpx_census *hpx_census_take(JNIEnv *env, uint32_t depth, hpx_census_late *late, const char **why);
void hpx_census_drop(struct hpx_census *c);
/* Whether the JDK knows virtual threads that no executor or scope has started. */
bool hpx_census_any(JNIEnv *env);

#endif
