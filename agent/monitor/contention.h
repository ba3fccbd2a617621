/* SPDX-License-Identifier: BSD-2-Clause */
/* contention.h: the events of monitors, from the JVM to records. They come on the blocked thread, and only if it blocks: a monitor that is
 * won by spinning has no event. What takes a lock or memory: a class that is new, the first wait of a thread (waits.h), a virtual thread
 * that is announced (virtuals.h). */
#ifndef HPX_CONTENTION_H
#define HPX_CONTENTION_H

#include "vm_mode.h"

void JNICALL hpx_contention_enter(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object);
void JNICALL hpx_contention_entered(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object);
void JNICALL hpx_contention_wait(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jlong timeout);
void JNICALL hpx_contention_waited(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jboolean timed_out);

#endif
