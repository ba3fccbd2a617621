/* SPDX-License-Identifier: BSD-2-Clause */
/* allocation.h: the callbacks of heap=sites: an object was allocated, an object was freed.
 *
 * An allocation writes one record to the ring of its thread. It also tags the object if live objects are counted or probes report
 * allocations, or follows it if live objects are estimated. The stack's hash leads to the site: first in a cache of the thread, then in the
 * table that all threads share (pipeline/site_ids.h). A free adds to the counters of the site in the tag. Neither takes a lock of hprofx.
 * Only the first object of a class looks up a name. */
#ifndef HPX_ALLOCATION_H
#define HPX_ALLOCATION_H

#include "class_ids.h"
#include "session.h"
#include "vm_mode.h"

/* relaxed: a peer of net= has turned recording off. */
extern atomic_bool hpx_allocation_off;
/* Callbacks and probes record nothing now. Any thread. */
static inline bool hpx_allocation_is_off(void)
{
    return atomic_load_explicit(&hpx_allocation_off, memory_order_relaxed);
}

/* Mean number of bytes between two sampled objects; 0: every object is recorded. Any thread; constant from load on. */
static inline uint64_t hpx_allocation_interval(void)
{
    return hpx_session.in_effect.sites == HPX_SITES_EXACT ? 0 : hpx_session.opt->sample_bytes;
}

/* tag: recorded objects get tags. follow: they are followed (survivors.h). At load, before the first event. */
void hpx_allocation_use(bool tag, bool follow);
/* Recording begins: all threads of the program have states. Once, before the events are enabled. */
void hpx_allocation_open(void);
/* Allocates on the calling thread, which records nothing of it, until the VM reports the next object, too: it takes the interval for a TLAB
 * only when it gets it, or when an object has no room in it. The interval is 0. once: allocates only that next object. false: it was not
 * reported, or the thread has no state. VMInit, inside the session's gate. */
bool hpx_allocation_reach(JNIEnv *env, bool once);
/* Turns recording on or off. The aggregator. */
void hpx_allocation_switch(bool on);
/* Sites get new ids, and frees of older objects are ignored. The aggregator. */
void hpx_allocation_clear(void);

/* SampledObjectAlloc: records the object. On the allocating thread; enters the session's gate. size: bytes. Losses are counted; no
 * error. */
void JNICALL hpx_allocation_event(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jclass klass, jlong size);
/* VMObjectAlloc: the same, but skips an object that already has a tag: a probe has recorded it. */
void JNICALL hpx_allocation_vm_event(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jclass klass, jlong size);
/* Native of java.lang.HprofxTracker.object(Object): records an object that has no tag yet. On the allocating thread; an exception may be
 * pending and stays pending. */
void JNICALL hpx_allocation_probe(JNIEnv *env, jclass tracker, jobject object);
/* Native of java.lang.HprofxTracker.multi(Object, int): records the array and, if it holds arrays, those too. On the allocating thread;
 * site is ignored. */
void JNICALL hpx_allocation_multi_probe(JNIEnv *env, jclass tracker, jobject array, jint site);
/* The number of a class, which the table of sites knows (hpx_class_announce()). Any attached thread, inside the session's gate. */
struct hpx_class_number hpx_allocation_class(jvmtiEnv *jvmti, jclass klass);
/* ObjectFree, up to JDK 15: adds the freed object to the counters of its site. In a collection, on the VM's thread, outside the session's
 * gate: touches only the counters. */
void JNICALL hpx_allocation_freed(jvmtiEnv *jvmti, jlong tag);
/* Looks up what the probes compare with. release: of the JDK. VMInit, before probes record anything. A failed lookup is not an error: inner
 * arrays are then not recorded, and Object.<init> stays in the stacks. */
void hpx_allocation_live(JNIEnv *env, jint release);

#endif
