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

struct key {
    uint64_t count; /* inverted: ascending is what was descending */
    const struct hpx_trace_rec *trace;
    uint32_t serial; /* the trace's, so that no pass but the first goes to its memory */
};

/* The figure that a key is sorted by in the pass of this byte: first the serial's 4, then the count's 8. */
static unsigned digit(const struct key *k, unsigned byte)
{
    return byte < 4 ? k->serial >> 8 * byte & 255 : (unsigned)(k->count >> 8 * (byte - 4)) & 255;
}

/* From `from` to `to` by one byte, stable. false: it is the same in all of them, and nothing was done. */
static bool pass(const struct key *from, struct key *to, uint32_t n, unsigned byte)
{
    uint32_t place[256] = {0}, sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        place[digit(&from[i], byte)]++;
    }
    if (place[digit(&from[0], byte)] == n) {
        return false;
    }
    for (unsigned d = 0; d < 256; d++) {
        uint32_t here = place[d];
        place[d] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < n; i++) {
        to[place[digit(&from[i], byte)]++] = from[i];
    }
    return true;
}

#define FEW 64u /* below, qsort is as fast */

/* false without memory: nothing was done. */
static bool sort_by_bytes(struct hpx_row *rows, uint32_t n)
{
    struct key *keys = malloc(2 * (size_t)n * sizeof(*keys)), *from = keys;
    if (keys == NULL) {
        return false;
    }
    struct key *to = keys + n;
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = (struct key){~rows[i].count, rows[i].trace, rows[i].trace->serial};
    }
    for (unsigned byte = 0; byte < 12; byte++) {
        if (pass(from, to, n, byte)) {
            struct key *done = to;
            to = from;
            from = done;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        rows[i] = (struct hpx_row){from[i].trace, ~from[i].count};
    }
    free(keys);
    return true;
}

uint32_t hpx_rows_rank(struct hpx_snapshot *s, double cutoff)
{
    uint32_t shown = 0;
    if (s->nrows > 1 && (s->nrows < FEW || !sort_by_bytes(s->rows, s->nrows))) {
        qsort(s->rows, s->nrows, sizeof(s->rows[0]), by_count);
    }
    while (shown < s->nrows && s->rows[shown].count > 0 && !((double)s->rows[shown].count / (double)s->total < cutoff)) {
        shown++;
    }
    return shown;
}
