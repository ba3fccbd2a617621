/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_blocks.h: the tables of blocked time as text (monitor=y has no binary form). docs/formats.md has the format. The writer's
 * thread only. */
#ifndef HPX_HPROF_BLOCKS_H
#define HPX_HPROF_BLOCKS_H

#include "hprof_ascii.h"

/* The traces that are not in the file yet, then the table of this part; nothing if it has no rows. Sorts the rows: time, then count,
 * descending, then serial. The list stops at the first row whose share of the time is below cutoff (nan: everything; a total of 0 ns: no
 * row is below). The total is in whole ms, shares are computed from ns. */
void hpx_ascii_block_table(struct hpx_ascii *w, enum hpx_block_part part, struct hpx_block_table *t, double cutoff, time_t now);

#endif
