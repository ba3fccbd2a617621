/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_sites.h: writes allocation sites in both formats: SITES, or ALLOC SITES and HEAP SUMMARY.
 *
 * Both functions run on the writer's thread and sort s->rows: descending by live bytes, or by allocated bytes if s->flags say so or live
 * bytes are unknown; ties by allocated bytes, trace serial, class name. The list ends at the first row whose share is below the cutoff, a
 * fraction (NaN: all rows). The share is of live bytes, or of allocated bytes if live bytes are unknown.
 *
 * Source of the format: measured output of HPROF; its manual for flags and the cutoff (a float). */
#ifndef HPX_HPROF_SITES_H
#define HPX_HPROF_SITES_H

#include "hprof_ascii.h"
#include "hprof_binary.h"

/* Writes the TRACEs of listed rows that are not in the file yet, then SITES. With HPX_SITES_SUMMARY it writes nothing: text has no such
 * record. A row whose trace cannot be written is left out. */
void hpx_ascii_sites(struct hpx_ascii *w, struct hpx_site_snapshot *s, double cutoff, time_t now);
/* Writes the classes and traces that listed rows need, then ALLOC SITES. With HPX_SITES_SUMMARY it writes only HEAP SUMMARY.
 * w->unplaced_sites counts rows left out for lack of memory. */
void hpx_binary_sites(struct hpx_binary *w, struct hpx_site_snapshot *s, double cutoff);

#endif
