/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_heap.h: the records of the binary format that are about the heap: ALLOC SITES, HEAP SUMMARY, HEAP DUMP SEGMENT, HEAP DUMP END.
 *
 * The writer's thread only. What a record names (classes, traces, strings) must be in the file: hpx_binary_class_load(),
 * hpx_binary_trace(), hpx_binary_string(). Figures that do not fit their field are the largest that do.
 *
 * Where records can be refused (out.h) each is one of its own, a segment of a heap dump too: the sub-records of one that was refused are
 * not in the file. */
#ifndef HPX_HPROF_HEAP_H
#define HPX_HPROF_HEAP_H

#include "hprof_binary.h"

enum hpx_heap_type {
    HPX_HEAP_OBJECT = 2,
    HPX_HEAP_BOOLEAN = 4,
    HPX_HEAP_CHAR,
    HPX_HEAP_FLOAT,
    HPX_HEAP_DOUBLE,
    HPX_HEAP_BYTE,
    HPX_HEAP_SHORT,
    HPX_HEAP_INT,
    HPX_HEAP_LONG
};

struct hpx_heap_figures {
    uint64_t live_bytes, live_objects, bytes, objects; /* the last two: allocated */
};

struct hpx_heap_site {
    uint8_t array;         /* 0, or for an array enum hpx_heap_type of its elements */
    uint32_t klass, trace; /* serials */
    struct hpx_heap_figures figures;
};

#define HPX_SITES_INCREMENTAL  1u
#define HPX_SITES_BY_ALLOCATED 2u
/* Rows as they are, of which the caller has cut those below the cutoff; all: of those too. false: refused. */
bool hpx_binary_alloc_sites(struct hpx_binary *w, uint16_t flags, double cutoff, const struct hpx_heap_figures *all, uint32_t n,
                            const struct hpx_heap_site *sites);
bool hpx_binary_heap_summary(struct hpx_binary *w, const struct hpx_heap_figures *all); /* false: refused */

/* ---- a heap dump: begin, sub-records, end ---- */

#define HPX_HEAP_SEGMENT ((size_t)1 << 20) /* a larger sub-record is a segment by itself */

struct hpx_heap {
    struct hpx_binary *w;
    uint8_t *buffer;
    size_t used;
    uint32_t direct;  /* bytes to come of a sub-record that is a segment by itself; 0: none is being put */
    uint64_t refused; /* segments that are not in the file */
};

enum hpx_heap_root {
    HPX_ROOT_JNI_GLOBAL = 0x01,   /* a: id of the reference */
    HPX_ROOT_JNI_LOCAL = 0x02,    /* a: thread serial, b: frame, UINT32_MAX: none */
    HPX_ROOT_JAVA_FRAME = 0x03,   /* the same */
    HPX_ROOT_NATIVE_STACK = 0x04, /* a: thread serial */
    HPX_ROOT_STICKY_CLASS = 0x05,
    HPX_ROOT_THREAD_BLOCK = 0x06, /* a: thread serial */
    HPX_ROOT_MONITOR_USED = 0x07,
    HPX_ROOT_THREAD_OBJECT = 0x08, /* a: thread serial, b: trace serial */
    HPX_ROOT_UNKNOWN = 0xFF
};

struct hpx_heap_value {
    uint64_t name; /* id of the string; in the constant pool the index */
    uint8_t type;
    uint64_t value; /* in the low bits as many as the type has; not looked at for instance fields */
};

struct hpx_heap_class {
    uint64_t object, super, loader, signers, domain; /* 0: none */
    uint32_t trace, instance_size;
    uint16_t nconstants, nstatics, nfields;
    const struct hpx_heap_value *constants, *statics, *fields;
};

int hpx_heap_begin(struct hpx_heap *h, struct hpx_binary *w); /* 0, -HPX_E_NOMEM: nothing was written */
void hpx_heap_root(struct hpx_heap *h, enum hpx_heap_root kind, uint64_t object, uint64_t a, uint32_t b);
void hpx_heap_class(struct hpx_heap *h, const struct hpx_heap_class *c);
/* values: n bytes as they stand in the file. */
void hpx_heap_instance(struct hpx_heap *h, uint64_t object, uint32_t trace, uint64_t klass, const void *values, uint32_t n);
/* Both return how many elements are in the file: fewer than n where the record could not say its length. */
uint32_t hpx_heap_objects(struct hpx_heap *h, uint64_t object, uint32_t trace, uint64_t klass, const uint64_t *elements, uint32_t n);
/* elements: as they stand in the file. */
uint32_t hpx_heap_primitives(struct hpx_heap *h, uint64_t object, uint32_t trace, enum hpx_heap_type type, const void *elements,
                             uint32_t n);
/* The last segment, HEAP DUMP END. */
void hpx_heap_end(struct hpx_heap *h);

#endif
