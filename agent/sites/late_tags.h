/* SPDX-License-Identifier: BSD-2-Clause */
/* late_tags.h: the tags of objects that Object.clone() makes.
 *
 * The VM tells of such an object before it copies the original over it, with the header: from JDK 20 on a hash there leads to the tag. So
 * the object gets its tag at the next allocation of its thread. Until then the thread keeps a weak reference. A look at what lives
 * (looking.h) takes these, counts the objects, and gives them back. */
#ifndef HPX_LATE_TAGS_H
#define HPX_LATE_TAGS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct hpx_late_slot; /* of a thread; it has at most one such object. Freed with the session */
struct hpx_late_tag;

/* The object gets this tag later. *slot: the thread's, made at its first call; an object that a look has put back there gets its tag now.
 * false: no memory. The thread itself, in a callback, after hpx_late_tag_set(). */
bool hpx_late_tag_put(struct hpx_late_slot **slot, jvmtiEnv *jvmti, JNIEnv *env, jobject object, uint64_t tag);
/* Sets the tag of the object that the slot holds, if any. The thread itself, not while it clones. */
void hpx_late_tag_set(struct hpx_late_slot *slot, jvmtiEnv *jvmti, JNIEnv *env);
/* The same; the slot is another thread's then. The thread that ends. */
void hpx_late_tag_leave(struct hpx_late_slot **slot, jvmtiEnv *jvmti, JNIEnv *env);

/* Takes what all slots hold, so that none of it gets its tag meanwhile. The thread that looks; it gives it back. */
struct hpx_late_tag *hpx_late_tags_take(void);
/* Calls fn for the tag of every object in the list that is alive, and gives the list back. */
void hpx_late_tags_give(struct hpx_late_tag *list, jvmtiEnv *jvmti, JNIEnv *env, void (*fn)(uint64_t tag));
/* At the end of a session, when no thread is inside. env NULL: there is no JVM any more. */
void hpx_late_tags_fini(JNIEnv *env);

#endif
