/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_wall.c: order, text and binary form of WALL CLOCK. Contract: hprof_wall.h. */
#include "hprof_wall.h"
#include "log.h"
#include "shares.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ROW_ROOM     256u               /* bytes: usual upper bound of a row of text */
#define SECTION_ROOM ((size_t)20 << 10) /* bytes: rest of a section, and its report */

static int by_time(const void *a, const void *b)
{
    const struct hpx_wall_row *x = a, *y = b;
    if (x->ns != y->ns) {
        return x->ns > y->ns ? -1 : 1;
    }
    if (x->trace->serial != y->trace->serial) {
        return x->trace->serial < y->trace->serial ? -1 : 1;
    }
    return (x->state > y->state) - (x->state < y->state);
}

/* How many rows the table has. */
static uint32_t rank_rows(struct hpx_wall_snapshot *s, double cutoff)
{
    uint32_t ranked = 0;
    if (s->nrows > 1) {
        qsort(s->rows, s->nrows, sizeof(s->rows[0]), by_time);
    }
    while (ranked < s->nrows && !hpx_below(s->rows[ranked].ns, s->ns, cutoff)) {
        ranked++;
    }
    return ranked;
}

/* ---- text ---- */

/* The traces of the first rows are in the output afterwards; returns how many rows are left, at the front. */
static uint32_t place_rows(struct hpx_ascii *w, struct hpx_wall_snapshot *s, uint32_t ranked)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < ranked; i++) {
        (void)hpx_ascii_thread(w, s->rows[i].trace->thread);
    }
    for (uint32_t i = 0; i < ranked; i++) {
        if (hpx_ascii_trace(w, s->rows[i].trace)) {
            s->rows[shown++] = s->rows[i];
        }
    }
    return shown;
}

void hpx_ascii_wall_clock(struct hpx_ascii *w, struct hpx_wall_snapshot *s, double cutoff, time_t now)
{
    uint64_t sum = 0;
    (void)hpx_out_record(w->out); /* a section before it */
    uint32_t shown = place_rows(w, s, rank_rows(s, cutoff));
    hpx_out_room_parts(w->out, SECTION_ROOM + (size_t)shown * ROW_ROOM);
    hpx_out_printf(w->out, "WALL CLOCK (ms) BEGIN (total = %" PRIu64 ") ", hpx_whole_ms(s->ns));
    hpx_ascii_date(w->out, now);
    if (shown > 0) {
        hpx_out_str(w->out, "rank   self  accum        ms trace state    method\n");
    }
    for (uint32_t i = 0; i < shown; i++) {
        const struct hpx_wall_row *r = &s->rows[i];
        sum += r->ns;
        hpx_out_printf(w->out, "%4" PRIu32 " %5.2f%% %5.2f%% %9" PRIu64 " %5" PRIu32 " %-8s ", i + 1, hpx_percent(r->ns, s->ns),
                       hpx_percent(sum, s->ns), hpx_whole_ms(r->ns), r->trace->serial, hpx_wall_state_name(r->state));
        hpx_ascii_method(w, r->trace);
        hpx_out_part(w->out, i + 1 == shown);
    }
    hpx_out_str(w->out, "WALL CLOCK (ms) END\n");
}

/* ---- binary ---- */

/* ms per count, so that the total of a record fits its four bytes. */
static uint64_t unit_of(uint64_t ns)
{
    uint64_t unit = 1;
    while (ns / 1000000 / unit >= UINT32_MAX) {
        unit *= 10;
    }
    return unit;
}

static void put_state(struct hpx_binary *w, const struct hpx_wall_snapshot *s, enum hpx_wall_state state, struct hpx_snapshot *to)
{
    uint64_t ns = 0;
    char text[96];
    for (uint32_t i = 0; i < s->nrows; i++) {
        ns += s->rows[i].state == state ? s->rows[i].ns : 0;
    }
    uint64_t unit = unit_of(ns), half = unit * 500000, sum = 0;
    to->total = (ns + half) / (2 * half);
    to->nrows = 0;
    for (uint32_t i = 0; i < s->nrows; i++) {
        if (s->rows[i].state == state) {
            to->rows[to->nrows++] = (struct hpx_row){s->rows[i].trace, (s->rows[i].ns + half) / (2 * half)};
            sum += to->rows[to->nrows - 1].count;
        }
    }
    to->total = to->total > sum ? to->total : sum; /* rounded rows may be more than the rounded total, which no table has */
    int n = snprintf(text, sizeof(text), "hprofx: WALL CLOCK %s, total %" PRIu64 " ms, %" PRIu64 " ms per count",
                     hpx_wall_state_name(state), hpx_whole_ms(ns), unit);
    hpx_binary_note(w, (struct hpx_text){text, (uint32_t)n});
}

void hpx_binary_wall_clock(struct hpx_binary *w, struct hpx_wall_snapshot *s, double cutoff)
{
    struct hpx_snapshot to = {.rows = malloc(s->nrows * sizeof(to.rows[0]) + 1)};
    uint32_t all = s->nrows;
    if (to.rows == NULL) {
        hpx_warn("format=b: no memory for WALL CLOCK; this dump lacks it; raise the memory limit of the process");
        return;
    }
    s->nrows = rank_rows(s, cutoff); /* the shares that the cutoff means are of all states */
    for (uint32_t state = 0; state < HPX_WALL_STATES; state++) {
        bool any = false;
        for (uint32_t i = 0; i < s->nrows && !any; i++) {
            any = s->rows[i].state == (enum hpx_wall_state)state;
        }
        if (any) {
            put_state(w, s, (enum hpx_wall_state)state, &to);
            hpx_binary_cpu_samples(w, &to, 0);
        }
    }
    s->nrows = all;
    free(to.rows);
}
