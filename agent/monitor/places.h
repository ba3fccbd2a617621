/* SPDX-License-Identifier: BSD-2-Clause */
/* places.h: from a blocked thread to a record: the class, the stack, the id of the place (block_table.h).
 *
 * The calling thread's ring only; inside the gate. No function calls Java; all but hpx_places_put() enter the JVM. */
#ifndef HPX_PLACES_H
#define HPX_PLACES_H

#include "block_thread.h"
#include "snapshot.h"

/* The number of the class of an object, announced to the table of blocked time. 0: unknown. Takes a lock for a class without a number
 * (class_number.h). */
uint32_t hpx_places_class(jvmtiEnv *jvmti, JNIEnv *env, jobject object);

/* Whose stack, and what else tells a place from others. */
struct hpx_place_of {
    jthread thread;  /* the blocked one, which is the caller; NULL is not permitted on a VM with virtual threads */
    jthread owner;   /* its stack belongs to the place, too; NULL: none */
    uint32_t klass;  /* hpx_places_class() */
    uint32_t serial; /* of a virtual thread, with thread=y; 0: not known */
    enum hpx_block_part part;
};

/* The id of the place, defined in the ring if it is new; skip: leaves out the frames of the lock itself (park.h). 0: there is none, because
 * the ring stayed full or all ids are given. */
uint32_t hpx_places_take(struct hpx_block_thread *t, jvmtiEnv *jvmti, const struct hpx_place_of *of, bool skip);

/* The block is over: records it. id: of a place, or 0; with stacks=sampled the place is taken here if chance wants it. */
void hpx_places_blocked(struct hpx_block_thread *t, jvmtiEnv *jvmti, const struct hpx_place_of *of, uint32_t id, uint64_t ns, bool skip);

/* A record without frames; serial: of a virtual thread, 0: the ring's thread. */
void hpx_places_put(struct hpx_block_thread *t, uint16_t kind, uint32_t id, uint64_t stamp, uint32_t serial);

#endif
