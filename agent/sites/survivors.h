/* SPDX-License-Identifier: BSD-2-Clause */
/* survivors.h: which sampled objects are alive, for estimates of live objects (sites=sampled, sites=counts).
 *
 * Every sampled object has a weak global reference. From time to time, and for every dump, those that the VM has cleared count as freed.
 * That stops no program, whatever the size of its heap, and there are few samples. */
#ifndef HPX_SURVIVORS_H
#define HPX_SURVIVORS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* A weak reference; NULL: no memory. No exception stays pending that was not before. A thread in the JVM. */
jweak hpx_survivors_reference(JNIEnv *env, jobject object);
/* Follows the object; tag: hpx_site_tag(). NULL, a value object, counts as freed at the next look. false: no memory, and it never counts as
 * freed. The allocating thread, in a callback. */
bool hpx_survivors_add(JNIEnv *env, jobject object, uint64_t tag);
/* Enough were added since the last look for the next one: it keeps the memory for those that are dead small. Any thread. */
bool hpx_survivors_due(void);
/* Counts those that have died since (hpx_site_ids_freed()), and forgets them. One thread at a time; may wait for it. */
void hpx_survivors_look(JNIEnv *env);
/* The session ends, and nothing is added any more: deletes all references. */
void hpx_survivors_forget(JNIEnv *env);
/* Frees what is left, without the VM. */
void hpx_survivors_fini(void);

#endif
