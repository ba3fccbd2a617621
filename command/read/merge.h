/* SPDX-License-Identifier: BSD-2-Clause */
/* merge.h: the tables of a journal as one dump. */
#ifndef HPX_READ_MERGE_H
#define HPX_READ_MERGE_H

#include <stdint.h>

/* Writes the first `whole` bytes of the file `from`, which are sound, to `to`, without their tables, and behind them one table of each kind
 * with the sums by trace. The text format has self times as shares of whole milliseconds only: the sums of these are as close as each table
 * told them. 1: done; 0: there is nothing to sum, or it cannot be (tables of other kinds, a report, sums above 4 bytes in a binary file, no
 * memory): what `to` has then is of no use. -1: errno, `to` or `from` failed. */
int hpx_merge(int from, uint64_t whole, int to);

#endif
