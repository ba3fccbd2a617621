/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_walk.h: walks over the heap, or looks at one object, by FollowReferences() in our environment, and writes the records of the manual
 * ("JVMPI Dump Formats").
 *
 * An object's id is its tag: one without gets it in the callback. Callbacks run at a safepoint: no malloc, no lock, no call of the VM;
 * memory is mapped. HotSpot calls them in this order (agent/heap/walk.h relies on it too): all roots; then, for one object after the other,
 * the reference to its class, and its fields or elements. So an object's record begins at the reference to its class. Class objects have
 * no such reference: the walk stores what the VM tells of them, and writes their records at the end. Class objects whose class the VM does
 * not list, int.class for example, are written as instances of java.lang.Class with values of 0: JVMTI does not tell their fields.
 *
 * An instance of a class that is not linked when the dump begins has no values, because JVMTI does not tell the fields of such a class. The
 * JDK's archive (CDS) has some. */
#ifndef HPX_JVMPI_DUMP_WALK_H
#define HPX_JVMPI_DUMP_WALK_H

#include "dump_bytes.h"
#include "dump_layout.h"
#include "dump_stacks.h"

struct hpx_jvmpi_walk {
    /* set by the caller */
    jint level;
    struct hpx_jvmpi_layout *layout;
    const struct hpx_jvmpi_stacks *stacks; /* NULL: one object */
    bool *rooted;                          /* by place in `stacks`: a root lies in that thread's trace */
    struct hpx_address_map threads;        /* tag of a thread object -> 1 + its place in `stacks` */
    jlong self;                            /* tag of the calling thread */
    struct hpx_address_map lengths;        /* tag of an array -> its length */

    /* the result */
    struct hpx_jvmpi_bytes out;
    uint64_t unknown; /* objects of classes that the layout does not know: loaded meanwhile */
    bool failed;      /* no memory, or the VM calls in another order */

    /* of the callbacks */
    struct hpx_jvmpi_bytes constants, mirrors; /* struct constant of dump_walk.c; tags */
    struct hpx_address_map mirrored;
    jlong current;                 /* tag of the open object; 0: none */
    struct hpx_jvmpi_klass *klass; /* its class; NULL: not known, or the record is complete */
    size_t values;                 /* where its values are in `out` */
};

/* Walks from the roots; object: looks at this one alone. Holds the lock of ids meanwhile. The error of JVMTI. */
jvmtiError hpx_jvmpi_walk_follow(struct hpx_jvmpi_walk *w, jobject object);
/* Behind follow(): the record of a class. */
void hpx_jvmpi_walk_class(struct hpx_jvmpi_walk *w, const struct hpx_jvmpi_klass *c);
/* Behind follow(), or alone: the record of a class object that is no class of the VM's list. */
void hpx_jvmpi_walk_mirror(struct hpx_jvmpi_walk *w, jobjectID id);
/* Behind follow(): records of all class objects. */
void hpx_jvmpi_walk_classes(struct hpx_jvmpi_walk *w);
void hpx_jvmpi_walk_fini(struct hpx_jvmpi_walk *w);

/* A dump that is requested begins: its thread works for us until it ends, has a local frame, and no exception, which `pending` keeps. */
bool hpx_jvmpi_dump_begin(JNIEnv *env, jthrowable *pending);
void hpx_jvmpi_dump_end(JNIEnv *env, jthrowable pending);

#endif
