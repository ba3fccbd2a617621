/* SPDX-License-Identifier: BSD-2-Clause */
/* park.h: locks=y and pinned=y: the time in Unsafe.park, under every lock of java.util.concurrent.
 *
 * A session registers a function of ours as the native method, which JNI allows also where the VM has bound and compiled it long ago, and
 * the one that was there before at its end. No class of the JDK is changed. Ours calls the one before it: the VM's, or another agent's.
 * It stays callable: threads are parked in it when a session ends, and another agent may have put its own before it. In that case it stays
 * where it is, and the next session finds that parks come to it. A build without structures of the VM (native_word.h) cannot see another
 * agent's, and calls the VM's. */
#ifndef HPX_PARK_H
#define HPX_PARK_H

#include "vm.h"

/* VMInit, or a session begins: parks are recorded from now on. hpx_virtuals_load() came before. NULL, or why they are not; constant. */
const char *hpx_park_live(JNIEnv *env);
/* The end of a session in a JVM that runs on, after its gate was closed. The thread that ends it. */
void hpx_park_close(JNIEnv *env);

#endif
