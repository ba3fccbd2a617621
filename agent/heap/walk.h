/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.h: one walk over everything reachable: the callbacks of FollowReferences, which turn what they are told into records of a spool
 * (heap_spool.h), facts of classes and roots (heap_image.h).
 *
 * An object is known by its key. That is its address, which stands beside its tag (oops.h): no object is tagged. Its class is known by a
 * word in the object, whose meaning the first reference to the class teaches, and each further one confirms. Where something is in doubt
 * the walk is repeated by tags in a separate environment: there the key is an ordinal, and allocation sites are not told.
 *
 * Callbacks run in a VM operation: in the VM at a safepoint, or in a child that has a copy of it. They take no lock, call neither malloc
 * nor JVM, and map what memory they need. HotSpot calls them in this order: all roots, those of a thread behind the thread; then, for one
 * object after the other, the reference to its class, and its fields or elements by ascending index. So a record is complete when the
 * next one begins, and no object comes twice. The walk checks that order, and by addresses also: an object of a value is the one whose
 * record is open; an array holds the length that the VM tells; an object that a root names has its record at the end; the threads are
 * where their references say.
 *
 * A flattened object of a value class (value_classes.h) has no header. Its key is the address at which its fields lie, which is inside
 * another object, and above that a number of its class: a value class whose first field is flattened lies where that field does. The VM
 * visits it once for each place, so all of them are met as often as they have records. */
#ifndef HPX_WALK_H
#define HPX_WALK_H

#include "address_map.h"
#include "heap_image.h"
#include "heap_spool.h"
#include "layout.h"
#include "oops.h"
#include "trace.h"

/* Why a walk has failed. */
enum hpx_walk_end {
    HPX_WALK_WHOLE,
    HPX_WALK_NO_MEMORY,
    HPX_WALK_NO_SPACE, /* the spool cannot be written */
    HPX_WALK_TOO_MANY, /* ids do not fit idsize=4 */
    HPX_WALK_ORDER,    /* the VM calls back in another order */
    HPX_WALK_DOUBT,    /* addresses contradict what else is known: a walk by tags may succeed */
    HPX_WALK_LATE,     /* a trace met an object of a class that was loaded after the list of classes was made: try again */
    HPX_WALK_MOVED,    /* the VM moved an object that a trace had met, or clears references: try again */
    HPX_WALK_STRANGE,  /* a trace met what it cannot read, or had no memory: a walk that the VM makes whole may succeed */
    HPX_WALK_REFUSED   /* FollowReferences failed */
};

/* A class of which an object was met. */
struct hpx_walk_class {
    uint32_t word;                      /* class word; by tags 1 + the number of the class; 0: a free entry */
    uint32_t vm_size;                   /* of an instance; 0: none was referred to */
    uint64_t mirror;                    /* key of its class object; 0: not known yet */
    const struct hpx_heap_klass *klass; /* NULL: not known yet, or not in the dump */
    uint64_t flat;                      /* the number of this class of flattened objects; 0: it is none */
    bool special;                       /* its instances may have ids of their own: class objects, threads */
    /* of a trace */
    uint64_t first;     /* key of the instance that the VM tells of; 0: none */
    uint32_t told_size; /* bytes of an instance; 0: not told */
    uint32_t plan;      /* 1 + where its steps begin; 0: none was made */
    uint32_t nrefs, nvalues;
};

struct hpx_walk {
    /* set by the caller */
    bool by_tags;                                   /* the walking environment is a tagged one of hpx_layout_environment() */
    struct hpx_oops oops;                           /* unless by_tags */
    const struct hpx_layout *layout;                /* its references of threads are valid until the first callback is over */
    uint32_t array_base, reference_size, alignment; /* of the VM, in bytes */
    bool fields, arrays, strings, primitive_fields, primitive_arrays; /* redact=: zeros; primfields=, primarrays= */
    bool keeps;                                                       /* some class is kept readable */
    bool wide;                                                        /* ids are addresses; else they are small */
    bool flattened;   /* there may be flattened objects: not of a trace, nor by tags, nor where ids have 4 bytes */
    bool moves;       /* Shenandoah: objects may have been copied, and references may name the old copy */
    bool traces;      /* in a copy of the process: the VM tells of roots, classes and one object of each, and the rest is read (trace.h) */
    uint32_t workers; /* of a trace, at most; 0 and 1: one */
    uint32_t alone;   /* objects that one worker reads before it looks for others */
    bool verifies;    /* a trace: the VM visits all objects, and each is compared */
    /* At the first callback, with the end of that callback's frame: JVMTI_VISIT_ABORT, or JVMTI_VISIT_OBJECTS to walk here; may be NULL. */
    jint (*first)(struct hpx_walk *w, const void *frame);
    /* A trace is over, and the VM has nothing more to tell, or the trace has failed; need not return; may be NULL. */
    void (*last)(void);
    _Atomic uint64_t *progress; /* relaxed: objects so far; may be NULL */
    struct hpx_heap_spool spool;
    struct hpx_walk_class *classes; /* a hash table, cleared */
    uint32_t classes_room;          /* a power of two; at least twice as many as there are classes */

    /* the result */
    struct hpx_walk_list facts, roots;
    struct hpx_heap_found found;
    enum hpx_walk_end end; /* so far */

    /* the callbacks' */
    bool begun;
    uint32_t nclasses;                       /* entries of `classes` */
    struct hpx_walk_class *class_of_classes; /* java.lang.Class; NULL: not met */
    struct hpx_address_map known;   /* by addresses: key of a class object -> its tag, of a thread -> 1 + its place in the layout */
    struct hpx_address_map rooted;  /* by addresses: key of an object that a root names -> 1: it has its record */
    struct hpx_address_map mirrors; /* keys of class objects that are no class of the dump -> site */
    struct hpx_address_map kept;    /* redact=: keys of contents that stay readable */
    struct hpx_walk_list flat;      /* struct hpx_walk_class *: of flattened objects, by their number */
    uint64_t nflat;                 /* flattened objects that were referred to, without those that have their record */
    struct hpx_walk_list lengths;   /* by tags: of arrays, by ordinal */
    const struct hpx_heap_thread *root_thread; /* whose roots come; NULL: not known */
    uint64_t matched;                          /* threads whose root was where their reference says */
    uint64_t current;                          /* key of the open object; 0: none */
    const struct hpx_heap_klass *klass;        /* its class; NULL: shown as java.lang.Object */
    uint8_t *values;                           /* of an open instance */
    uint32_t site;                             /* of an open array of primitive values */
    uint64_t low, high;                        /* every address of an object lies in between */
    uint64_t mask, base, shift;                /* id = HPX_HEAP_OBJECT_FIRST + ((key & mask) - base) >> shift */
    struct hpx_trace trace;
};

/* Calls FollowReferences. The result is complete if w->end is HPX_WALK_WHOLE after hpx_walk_finish(), unless first() has aborted. */
void hpx_walk_follow(jvmtiEnv *jvmti, struct hpx_walk *w);
/* Writes what is left: the last object, facts and roots. In the child too. */
void hpx_walk_finish(struct hpx_walk *w);
/* Frees lists, maps, spool buffer and classes; the descriptor is the caller's. */
void hpx_walk_fini(struct hpx_walk *w);

#endif
