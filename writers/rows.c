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
    uint32_t serial; /* the trace's, so that no pass goes to its memory */
};

#define BITS   11u /* of a digit */
#define DIGITS (1u << BITS)
#define SERIAL 3u /* digits of a serial; a count has 6 behind them */
#define COUNT  6u

static uint32_t digit(uint32_t serial, uint64_t count, unsigned i)
{
    return (uint32_t)(i < SERIAL ? serial >> BITS * i : count >> BITS * (i - SERIAL)) & (DIGITS - 1);
}

/* From `from` to `to` by one digit, stable. */
static void pass(const struct key *from, struct key *to, uint32_t n, unsigned i)
{
    uint32_t place[DIGITS] = {0}, sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        place[digit(from[k].serial, from[k].count, i)]++;
    }
    for (unsigned d = 0; d < DIGITS; d++) {
        uint32_t here = place[d];
        place[d] = sum;
        sum += here;
    }
    for (uint32_t k = 0; k < n; k++) {
        to[place[digit(from[k].serial, from[k].count, i)]++] = from[k];
    }
}

#define FEW 256u /* below, qsort is as fast */

/* false without memory: nothing was done. */
static bool sort_by_digits(struct hpx_row *rows, uint32_t n)
{
    struct key *keys = malloc(2 * (size_t)n * sizeof(*keys)), *from = keys;
    if (keys == NULL) {
        return false;
    }
    struct key *to = keys + n;
    uint64_t counts = 0; /* the bits in which they differ */
    uint32_t serials = 0;
    bool sorted = true; /* by serial, as the model mostly gives them */
    for (uint32_t i = 0; i < n; i++) {
        hpx_rows_ahead(rows, n, i, HPX_ROWS_FLAT);
        keys[i] = (struct key){~rows[i].count, rows[i].trace, rows[i].trace->serial};
        counts |= keys[i].count ^ keys[0].count;
        serials |= keys[i].serial ^ keys[0].serial;
        sorted = sorted && (i == 0 || keys[i - 1].serial <= keys[i].serial);
    }
    serials = sorted ? 0 : serials;
    for (unsigned i = 0; i < SERIAL + COUNT; i++) {
        if (digit(serials, counts, i) != 0) {
            pass(from, to, n, i);
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
    if (s->nrows > 1 && (s->nrows < FEW || !sort_by_digits(s->rows, s->nrows))) {
        qsort(s->rows, s->nrows, sizeof(s->rows[0]), by_count);
    }
    while (shown < s->nrows && s->rows[shown].count > 0 && !((double)s->rows[shown].count / (double)s->total < cutoff)) {
        shown++;
    }
    return shown;
}
