/* SPDX-License-Identifier: BSD-2-Clause */
/* allocation.h: the callbacks of heap=sites: an object was allocated, an object was freed.
 *
 * An allocation writes one record to the ring of its thread. It also tags the object if live objects are counted or probes report
 * allocations. The stack's hash leads to the site: first in a cache of the thread, then in the table that all threads share
 * (pipeline/site_ids.h). A free adds to the counters of the site in the tag. Neither takes a lock of hprofx. Only the first object of a
 * class looks up a name. */
#ifndef HPX_ALLOCATION_H
#define HPX_ALLOCATION_H

#include "vm_mode.h"

/* SampledObjectAlloc: records the object. On the allocating thread; enters the session's gate. size: bytes. Losses are counted; no
 * error. */
void JNICALL hpx_allocation_event(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jclass klass, jlong size);
/* VMObjectAlloc: the same, but skips an object that already has a tag: a probe has recorded it. */
void JNICALL hpx_allocation_vm_event(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jclass klass, jlong size);
/* Native of hprofx.Tracker.object(Object): records an object that has no tag yet. On the allocating thread; an exception may be pending and
 * stays pending. */
void JNICALL hpx_allocation_probe(JNIEnv *env, jclass tracker, jobject object);
/* Native of hprofx.Tracker.multi(Object, int): records the array and, if it holds arrays, those too. On the allocating thread; site is
 * ignored. */
void JNICALL hpx_allocation_multi_probe(JNIEnv *env, jclass tracker, jobject array, jint site);
/* ObjectFree: adds the freed object to the counters of its site. During or after a collection, on any thread of the VM, one thread at a
 * time. Outside the session's gate: touches only the counters. */
void JNICALL hpx_allocation_freed(jvmtiEnv *jvmti, jlong tag);
/* Starts counting frees. At VMInit, before ObjectFree is enabled. */
void hpx_allocation_open_frees(void);
/* No free is counted any more, also none that the VM is posting; false: until_ns (hpx_clock_mono()) came first. Takes about 10 ms without
 * CPU time if no other gate was prepared. The thread that ends the VM. */
bool hpx_allocation_close_frees(uint64_t until_ns);
/* Looks up what the probes compare with. release: of the JDK. VMInit, before probes record anything. A failed lookup is not an error: inner
 * arrays are then not recorded, and Object.<init> stays in the stacks. */
void hpx_allocation_live(JNIEnv *env, jint release);

#endif
