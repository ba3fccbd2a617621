/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_heap.h: heap dumps: HEAP DUMP SEGMENT and HEAP DUMP END of the binary format, HEAP DUMP of the text format (hprof_heap_ascii.c).
 *
 * The writer's thread only. Classes, traces and strings that a record names must be in the file: hpx_binary_class_load(),
 * hpx_binary_trace(), hpx_binary_string(). Values too large for their field become the largest that fits.
 *
 * If the output can refuse records (out.h), every record is separate, also a segment of a heap dump; the sub-records of a refused
 * segment are not in the file. */
#ifndef HPX_HPROF_HEAP_H
#define HPX_HPROF_HEAP_H

#include "heap_image.h"
#include "hprof_ascii.h"
#include "hprof_binary.h"

/* ---- a heap dump: begin, sub-records, end ---- */

struct hpx_heap {
    struct hpx_binary *w;
    uint8_t *buffer;
    size_t used;
    uint32_t direct;  /* bytes left of a sub-record that is its own segment; 0: none */
    uint64_t refused; /* refused segments */
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
void hpx_heap_root(struct hpx_heap *h, enum hpx_root kind, uint64_t object, uint64_t a, uint32_t b);
void hpx_heap_class(struct hpx_heap *h, const struct hpx_heap_class *c);
/* Writes the last segment and HEAP DUMP END. */
void hpx_heap_end(struct hpx_heap *h);

/* ---- a whole image; the writer's thread, which reads the spool ---- */

/* The classes, strings, threads and traces that the dump names, then the dump. 0; -HPX_E_NOMEM: nothing was written; -HPX_E_IO: the
 * spool could not be read: the names are written, the dump is not, or, in an output without points (out.h), lacks objects. */
int hpx_heap_binary(struct hpx_binary *w, const struct hpx_heap_image *i);
/* The TRACEs, then HEAP DUMP. Results as hpx_heap_binary(). */
int hpx_heap_ascii(struct hpx_ascii *w, const struct hpx_heap_image *i, time_t now);

#endif
