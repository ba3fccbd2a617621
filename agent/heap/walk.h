/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.h: one walk over everything reachable: the callbacks of FollowReferences, which turn what they are told into records of a spool
 * (writers/heap_spool.h), facts of classes and roots (writers/heap_image.h).
 *
 * Callbacks run in a VM operation: in the VM at a safepoint, or in a child that has a copy of it. They take no lock, call neither malloc
 * nor JVM, and map what memory they need. HotSpot calls them in this order: all roots; then, for one object after the other, the reference
 * to its class, and its fields or elements by ascending index. */
#ifndef HPX_WALK_H
#define HPX_WALK_H

#include "heap_image.h"
#include "heap_spool.h"
#include "site_ids.h"
#include <jvmti.h>

/* A list in mapped memory. */
struct hpx_walk_list {
    void *at;
    uint64_t len, room; /* elements */
};

struct hpx_walk {
    /* set by the caller */
    struct hpx_walk_tags *tags;                                 /* the first nthreads ordinals are the threads */
    const struct hpx_heap_klass *const *classes;                /* by number */
    uint32_t nclasses, class_class, object_class, string_class; /* numbers of java.lang.Class, Object, String */
    const uint64_t *thread_ids;                                 /* object ids of the threads */
    uint64_t nthreads;
    bool fields, arrays, strings, primitive_fields, primitive_arrays; /* redact=: zeros; primfields=, primarrays= */
    bool keeps;                                                       /* some class is kept readable */
    /* At the first callback, with that callback's frame: JVMTI_VISIT_ABORT, or JVMTI_VISIT_OBJECTS to walk here; may be NULL. */
    jint (*first)(struct hpx_walk *w, const void *frame);
    _Atomic uint64_t *progress; /* relaxed: objects so far; may be NULL */
    struct hpx_heap_spool spool;
    uint32_t *vm_size; /* by class number, cleared */

    /* the result */
    struct hpx_walk_list facts, roots;
    uint64_t objects, bytes, unknown; /* records; VM bytes; objects of classes that were loaded meanwhile */
    uint64_t cut;                     /* arrays that are longer than a record can be */
    uint64_t heads;                   /* the part of the bytes that is not contents of primitive arrays, but in these */
    uint64_t objects_end, facts_at, roots_at;
    const char *failed; /* NULL: complete so far */

    /* the callbacks' */
    bool begun;
    struct hpx_walk_list mirrors; /* ordinals of class objects that are no class of the dump */
    uint64_t current;             /* tag of the open object; 0: none */
    const struct hpx_heap_klass *klass;
    uint8_t *values; /* of an open instance */
};

/* Calls FollowReferences. The result is complete unless w->failed, or first() has aborted. */
jvmtiError hpx_walk_follow(jvmtiEnv *jvmti, struct hpx_walk *w);
/* Writes what is left: the last object, facts and roots. false: w->failed. */
bool hpx_walk_finish(struct hpx_walk *w);
/* Frees lists, spool buffer and vm_size; the descriptor is the caller's. */
void hpx_walk_fini(struct hpx_walk *w);

#endif
