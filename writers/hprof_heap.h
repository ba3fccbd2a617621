/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_heap.h: the records of the binary format of a heap dump: HEAP DUMP SEGMENT, HEAP DUMP END.
 * No mode writes them yet; tests do.
 *
 * The writer's thread only. Classes, traces and strings that a record names must be in the file: hpx_binary_class_load(),
 * hpx_binary_trace(), hpx_binary_string(). Values too large for their field become the largest that fits.
 *
 * If the output can refuse records (out.h), every record is separate, also a segment of a heap dump; the sub-records of a refused
 * segment are not in the file. */
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

/* ---- a heap dump: begin, sub-records, end ---- */

#define HPX_HEAP_SEGMENT ((size_t)1 << 20) /* a larger sub-record is its own segment */

struct hpx_heap {
    struct hpx_binary *w;
    uint8_t *buffer;
    size_t used;
    uint32_t direct;  /* bytes left of a sub-record that is its own segment; 0: none */
    uint64_t refused; /* refused segments */
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
    uint64_t value; /* in as many low bits as the type has; ignored for instance fields */
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
/* values: n bytes in file format. */
void hpx_heap_instance(struct hpx_heap *h, uint64_t object, uint32_t trace, uint64_t klass, const void *values, uint32_t n);
/* Both return the number of elements in the file: less than n if the record would be too long. */
uint32_t hpx_heap_objects(struct hpx_heap *h, uint64_t object, uint32_t trace, uint64_t klass, const uint64_t *elements, uint32_t n);
/* elements: in file format. */
uint32_t hpx_heap_primitives(struct hpx_heap *h, uint64_t object, uint32_t trace, enum hpx_heap_type type, const void *elements,
                             uint32_t n);
/* Writes the last segment and HEAP DUMP END. */
void hpx_heap_end(struct hpx_heap *h);

#endif
