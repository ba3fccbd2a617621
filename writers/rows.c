/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.c: see rows.h. */
#include "rows.h"
#include <stdlib.h>

static int by_count(const void *a, const void *b)
{
    const struct hpx_row *x = a;
    const struct hpx_row *y = b;
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return (x->trace->serial > y->trace->serial) - (x->trace->serial < y->trace->serial);
}

uint32_t hpx_rows_rank(struct hpx_snapshot *s, double cutoff)
{
    uint32_t shown = 0;
    if (s->nrows > 1) {
        qsort(s->rows, s->nrows, sizeof(s->rows[0]), by_count);
    }
    while (shown < s->nrows && s->rows[shown].count > 0 && !((double)s->rows[shown].count / (double)s->total < cutoff)) {
        shown++;
    }
    return shown;
}
