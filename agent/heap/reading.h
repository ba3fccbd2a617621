/* SPDX-License-Identifier: BSD-2-Clause */
/* reading.h: one reading of the heap for an image (take.h): in the JVM, while the program stands still, or in a copy of the process.
 *
 * There is one reading at a time. The functions are those of the thread that takes the image, unless stated otherwise. */
#ifndef HPX_READING_H
#define HPX_READING_H

#include "child.h"
#include "copying.h"
#include "session.h"
#include "take.h"
#include "walk.h"

/* What the VM tells of its heap, in bytes; measured once. */
struct hpx_heap_sizes {
    uint32_t array_base, reference, alignment;
    bool flattened; /* it flattens objects of value classes */
};

/* Objects have allocation sites. */
static inline bool hpx_reading_sited(void)
{
    return hpx_session.in_effect.sites != HPX_SITES_OFF && hpx_session.in_effect.sites != HPX_SITES_COUNTS;
}

/* Lists classes and threads, opens the spool and checks addresses; `t` gets the layout. The caller has pushed a local frame that stays
 * until the walk has begun. false: t->course.why. */
bool hpx_reading_prepare(struct hpx_heap_take *t, jvmtiEnv *jvmti, JNIEnv *env, const struct hpx_heap_sizes *sizes);
/* Walks in the JVM. */
void hpx_reading_here(struct hpx_heap_take *t, jvmtiEnv *jvmti);
/* What was prepared needs of a copy of the process. used: bytes of the heap. */
struct hpx_copying_how hpx_reading_needs(const struct hpx_heap_take *t, uint64_t used);
/* Walks in a copy of the process, from the return on; it may cost that much memory (hpx_fork_answer.need). false: there is none, and
 * t->course.why tells the cause; *memory: the system has no memory for it. */
bool hpx_reading_fork(struct hpx_heap_take *t, jvmtiEnv *jvmti, JNIEnv *env, uint64_t allowed_bytes, bool *memory);
/* Waits for the copy and reaps it. Any one thread. */
void hpx_reading_await(void);
/* hpx_reading_await() ends the copy. Any thread. */
void hpx_reading_cancel(void);
/* After a walk here, or after hpx_reading_await(): the result; `t` gets the figures. *child: how the copy ended; HPX_CHILD_ENDED after a
 * walk here. */
enum hpx_walk_end hpx_reading_end(struct hpx_heap_take *t, enum hpx_child_end *child);
/* The same for a reading that was prepared and is not walked. */
void hpx_reading_abandon(void);
/* One clause about how a walk failed; constant. */
const char *hpx_reading_text(enum hpx_walk_end end);
/* VMInit, when the heap is small: checks addresses, for a reading in a full heap and for JDK 8 to 17 (oops.h). */
void hpx_reading_learn(jvmtiEnv *jvmti, JNIEnv *env);

#endif
