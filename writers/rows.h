/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.h: which rows of a snapshot a table shows, and in which order: the same in every format. */
#ifndef HPX_ROWS_H
#define HPX_ROWS_H

#include "snapshot.h"

/* Sorts s->rows, count descending, then by trace serial; returns how many the table has: it ends before the first row whose share of the
 * total is below the cutoff (0, nan: all; a fraction). */
uint32_t hpx_rows_rank(struct hpx_snapshot *s, double cutoff);

/* In a loop over the first n rows, at row i: the traces lie anywhere, so the first `lines` cache lines of the one `ahead` rows on are
 * fetched. */
static inline void hpx_rows_ahead(const struct hpx_row *rows, uint32_t n, uint32_t i, uint32_t ahead, unsigned lines)
{
    for (unsigned k = 0; ahead < n - i && k < lines; k++) {
        __builtin_prefetch((const char *)rows[i + ahead].trace + (size_t)HPX_CACHE_LINE * k);
    }
}
#define HPX_ROWS_DEEP 6u, 8u  /* whole traces are looked at, which takes long */
#define HPX_ROWS_FLAT 24u, 1u /* their heads */

#endif
