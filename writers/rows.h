/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.h: selects and sorts the rows of a snapshot of samples, for both formats. Rows of exact calls are sorted in hprof_ascii.c, those
 * of sites in hprof_sites.c. The writer's thread only. */
#ifndef HPX_ROWS_H
#define HPX_ROWS_H

#include "snapshot.h"

/* Sorts s->rows, count descending, then by trace serial; returns how many the table has: it ends before the first row whose share of the
 * total is below the cutoff (0, nan: all; a fraction). */
uint32_t hpx_rows_rank(struct hpx_snapshot *s, double cutoff);

#endif
