/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_heap.h: heap dumps: HEAP DUMP SEGMENT and HEAP DUMP END of the binary format, HEAP DUMP of the text format (hprof_heap_ascii.c).
 *
 * The writer's thread only.
 *
 * If the output can refuse records (out.h), every record is separate, also a segment of a heap dump; the sub-records of a refused
 * segment are not in the file. */
#ifndef HPX_HPROF_HEAP_H
#define HPX_HPROF_HEAP_H

#include "heap_image.h"
#include "hprof_ascii.h"
#include "hprof_binary.h"

/* The classes, strings, threads and traces that the dump names, then the dump. 0; -HPX_E_NOMEM: nothing was written; -HPX_E_IO: the
 * spool could not be read: the names may be written, the dump is not, or, in an output without points (out.h), lacks objects. */
int hpx_heap_binary(struct hpx_binary *w, const struct hpx_heap_image *i);
/* The TRACEs, then HEAP DUMP. Results as hpx_heap_binary(). */
int hpx_heap_ascii(struct hpx_ascii *w, const struct hpx_heap_image *i, time_t now);

#endif
