/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_image.h: a heap as one walk found it: classes, roots, and objects in a spool file. Made by agent/heap, written by hprof_heap.h and
 * hprof_heap_ascii.c.
 *
 * Ids: a class object is HPX_CLASS_OBJECT_FIRST and the class number, a thread object is that of THREAD START, any other object is
 * HPX_HEAP_OBJECT_FIRST and a number that follows from its address (idsize=4: 32 bits in all). The spool has the objects as HEAP DUMP
 * SEGMENT records of the binary format: whole sub-records in up to HPX_HEAP_SEGMENT bytes, or one longer sub-record. In place of the TIME:
 * 1 if a sub-record names a site, else 0. In place of the trace of an object with a site: HPX_HEAP_SITE and the site's id. Then, at the
 * offsets below, facts and roots. */
#ifndef HPX_HEAP_IMAGE_H
#define HPX_HEAP_IMAGE_H

#include "hprof_format.h"
#include "snapshot.h"
#include <sys/types.h>

#define HPX_HEAP_OBJECT_FIRST UINT64_C(0x60000000)

#define HPX_HEAP_SEGMENT ((size_t)1024 << 10) /* bytes of a segment with its head; it and a copy fit into the processor's cache */
#define HPX_HEAP_SITE    (UINT32_C(1) << 31)

enum hpx_heap_kind { HPX_HEAP_INSTANCES, HPX_HEAP_OBJECTS, HPX_HEAP_PRIMITIVES };

struct hpx_heap_field {
    struct hpx_text name;
    uint8_t type;
    bool is_static;
    uint32_t offset; /* in the part of an instance that this class declares; of a static field 0 */
    uint32_t id;     /* of JVMTI, the lower half; of a static field 0 */
};

/* A field in an instance of some class: its place among the values of the record, and its type. */
#define HPX_HEAP_SLOT(offset, type) ((uint64_t)(offset) << 8 | (type))
#define HPX_HEAP_SLOT_OFFSET(slot)  ((slot) >> 8)
#define HPX_HEAP_SLOT_TYPE(slot)    ((uint8_t)(slot))

/* A class. Constant, and kept until the end of the session, once an image has it. */
struct hpx_heap_klass {
    struct hpx_class_number number;
    uint8_t kind; /* enum hpx_heap_kind */
    uint8_t type; /* of the elements of HPX_HEAP_PRIMITIVES */
    bool linked;  /* its fields are known; without them it has no instances */
    bool keeps;   /* redact=: its fields, and what they refer to, stay readable */
    bool thread;  /* java.lang.Thread or a subclass */
    bool virtual_thread;
    bool referents;         /* of a Reference, whose referent the collector may clear */
    uint32_t words;         /* the id of the field that tells how many words lie behind the fields: of stacks of virtual threads; else 0 */
    struct hpx_text name;   /* in Java form */
    uint32_t instance_size; /* bytes of all fields, with those of the superclasses */
    /* JVMTI numbers the fields: those of all interfaces, of the superclasses from java.lang.Object on, of the class */
    uint32_t first, inherited;          /* of all interfaces; of all superclasses */
    const struct hpx_heap_klass *above; /* the superclass; NULL: none */
    /* HPX_HEAP_SLOT of the fields of all superclasses and of the class, in that order; 0: static */
    const uint64_t *slots;
    const uint32_t *ids; /* of the same, those of JVMTI */
    uint32_t nslots;
    uint32_t nfields; /* declared here, in the order of the class file */
    struct hpx_heap_field fields[];
};

/* The id of the object of the class with this number. */
static inline uint64_t hpx_heap_class_id(struct hpx_class_number number)
{
    return HPX_CLASS_OBJECT_FIRST + (uint64_t)number.v;
}

/* What the walk tells of a class. */
enum hpx_heap_fact_kind {
    HPX_HEAP_LOADER,
    HPX_HEAP_SIGNERS,
    HPX_HEAP_DOMAIN,
    HPX_HEAP_CONSTANT, /* index: in the constant pool */
    HPX_HEAP_STATIC,   /* index: of `fields` */
    HPX_HEAP_VM_SIZE   /* value: bytes of an instance in the VM */
};
struct hpx_heap_fact {
    uint64_t value;
    struct hpx_class_number klass;
    uint32_t index;
    uint8_t kind, type; /* type: of a constant or static */
    uint8_t unused[6];
};

struct hpx_heap_root_fact {
    uint64_t object;
    uint64_t thread; /* object id of the thread; 0: none */
    uint64_t method; /* of the frame, as in hpx_heap_thread */
    int32_t depth;   /* of the frame in the stack at the walk, 0: the innermost; -1: none */
    uint32_t kind;   /* enum hpx_root */
};

/* A thread, and its stack shortly before the walk. */
struct hpx_heap_thread {
    uint64_t object;
    uint32_t serial;
    bool known; /* it was announced with this serial */
    const struct hpx_trace_rec *trace;
    uint32_t nframes;
    uint64_t *methods; /* of the frames; innermost first */
    uint32_t above;    /* frames above these that were left out: those of a probe */
    struct hpx_text name;
};

/* What a walk has found: figures alone, which a copy of the process passes on to the program. */
struct hpx_heap_found {
    uint64_t objects, bytes, unknown;                         /* records; VM bytes; objects of classes that were loaded meanwhile */
    uint64_t team;                                            /* the most workers that a trace had; 0: it was none, or one */
    uint64_t cut;                                             /* arrays that are longer than a record can be */
    uint64_t heads;                                           /* bytes of primitive arrays that are not contents: heads and padding */
    uint64_t objects_end, facts_at, nfacts, roots_at, nroots; /* offsets in the spool, and counts */
};

struct hpx_heap_image {
    int spool;     /* -1: there is none */
    uint64_t head; /* the spool's first bytes, free for what an output has before the objects; not 0: no object has a site */
    bool once;     /* one dump has it, which may take the spool, or free its disk space as it goes */
    uint32_t id_size;
    struct hpx_heap_found found;
    uint32_t array_base, reference_size;   /* VM: offset and size of the elements of an object array */
    const struct hpx_heap_klass **classes; /* by number, NULL: none; with every superclass */
    uint32_t nclasses;                     /* length of it */
    struct hpx_heap_thread *threads;
    uint32_t nthreads;
    const struct hpx_trace_rec **sites; /* by id; NULL: not known */
    uint32_t nsites;
};

#endif
