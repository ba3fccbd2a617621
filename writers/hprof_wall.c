/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_wall.c: order, text and binary form of WALL CLOCK. Contract: hprof_wall.h. */
#include "hprof_wall.h"
#include "hprof_table.h"
#include "log.h"
#include "text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CLASS_MOST 1000u /* bytes of a name in a binary file; readers need not keep longer ones */

static int by_time(const void *a, const void *b)
{
    const struct hpx_wall_row *x = a, *y = b;
    int order = hpx_order(y->ns, x->ns);
    order = order != 0 ? order : hpx_order(x->trace->serial, y->trace->serial);
    order = order != 0 ? order : hpx_order(x->state, y->state);
    return order != 0 ? order : hpx_text_order(x->class_name, y->class_name);
}

/* No name of a class or method has a semicolon. */
static void put(struct hpx_ascii *w, const void *row)
{
    const struct hpx_wall_row *r = row;
    hpx_out_printf(w->out, "%9" PRIu64 " %5" PRIu32 " %-*s ", hpx_whole_ms(r->ns), r->trace->serial, r->class_name.len == 0 ? 8 : 0,
                   hpx_wall_state_name(r->state));
    if (r->class_name.len > 0) {
        hpx_text_put(w->out, r->class_name, false);
        hpx_out_str(w->out, "; ");
    }
    hpx_ascii_method(w, r->trace);
}

static uint32_t state_of(const void *row)
{
    return ((const struct hpx_wall_row *)row)->state;
}
static_assert(HPX_WALL_STATES <= HPX_TABLE_KINDS, "states are kinds of summed rows");

static const struct hpx_table table = {.title = "WALL CLOCK (ms)",
                                       .columns = "rank   self  accum        ms trace state    method\n",
                                       .exact = true,
                                       .digits = 4,
                                       .row = sizeof(struct hpx_wall_row),
                                       .value = offsetof(struct hpx_wall_row, ns),
                                       .name = offsetof(struct hpx_wall_row, class_name),
                                       .order = by_time,
                                       .percent = hpx_percent,
                                       .put = put,
                                       .sums = {offsetof(struct hpx_wall_row, ns)},
                                       .kind = state_of};

void hpx_ascii_wall_clock(struct hpx_ascii *w, struct hpx_wall_snapshot *s, double cutoff, time_t now)
{
    hpx_ascii_table(w, &table, hpx_table_rank(&table, s->rows, s->nrows, s->ns, cutoff), now, "total = %" PRIu64, hpx_whole_ms(s->ns));
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

static struct hpx_text short_class(const struct hpx_wall_row *r)
{
    return r->class_name.len <= CLASS_MOST ? r->class_name : (struct hpx_text){"", 0};
}

static int by_kind(const struct hpx_wall_row *x, const struct hpx_wall_row *y)
{
    int order = hpx_order(x->state, y->state);
    return order != 0 ? order : hpx_text_order(short_class(x), short_class(y));
}

/* Rows of one state and class side by side, and of them those of one trace: long names are left out, so they may be several. */
static int by_kind_and_trace(const void *a, const void *b)
{
    const struct hpx_wall_row *x = a, *y = b;
    int order = by_kind(x, y);
    return order != 0 ? order : hpx_order(x->trace->serial, y->trace->serial);
}

/* "hprofx: WALL CLOCK STATE CLASS, total N ms, M ms per count". false: it is not in the file. */
static bool put_head(struct hpx_binary *w, const struct hpx_wall_row *r, uint64_t ns, uint64_t unit)
{
    char text[CLASS_MOST + 128];
    struct hpx_text name = short_class(r);
    int n = snprintf(text, sizeof(text), "hprofx: WALL CLOCK %s%s%.*s, total %" PRIu64 " ms, %" PRIu64 " ms per count",
                     hpx_wall_state_name(r->state), name.len > 0 ? " " : "", (int)name.len, name.bytes, hpx_whole_ms(ns), unit);
    return hpx_binary_note(w, (struct hpx_text){text, (uint32_t)n});
}

/* Rows of one state and class. to: has room for as many. Without its head the table would be one of CPU SAMPLES. Returns the time that is
 * not written for want of memory. */
static uint64_t put_kind(struct hpx_binary *w, const struct hpx_wall_row *rows, uint32_t n, struct hpx_snapshot *to)
{
    uint64_t ns = 0, sum = 0;
    to->nrows = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool new = i == 0 || rows[i].trace->serial != rows[i - 1].trace->serial;
        struct hpx_row *row = &to->rows[to->nrows += new] - 1;
        *row = (struct hpx_row){rows[i].trace, (new ? 0 : row->count) + rows[i].ns};
        ns += rows[i].ns;
    }
    uint64_t unit = unit_of(ns), half = unit * 500000;
    for (uint32_t i = 0; i < to->nrows; i++) {
        to->rows[i].count = (to->rows[i].count + half) / (2 * half);
        sum += to->rows[i].count;
    }
    to->total = (ns + half) / (2 * half);
    to->total = to->total > sum ? to->total : sum; /* rounded rows may be more than the rounded total, which no table has */
    if (put_head(w, rows, ns, unit)) {
        hpx_binary_cpu_samples(w, to, 0);
        return 0;
    }
    return w->out->record == NULL ? ns : 0; /* what an output refuses it counts itself */
}

/* The largest of all kinds, as far as the bound lets, with their traces; the others are summed by state. */
static uint32_t keep_rows(struct hpx_binary *w, const struct hpx_wall_snapshot *s, const struct hpx_ranked *r)
{
    uint32_t i = w->bound == NULL || w->bound->most == 0 ? r->ranked : 0;
    while (i < r->ranked && !hpx_binary_is_full(w, i, HPX_SAMPLES_ROW)) {
        (void)hpx_binary_trace(w, s->rows[i++].trace);
    }
    return i < r->ranked && hpx_binary_trace(w, hpx_trace_summed) ? hpx_table_sum(&table, r, i, i, w->bound) : r->ranked;
}

void hpx_binary_wall_clock(struct hpx_binary *w, struct hpx_wall_snapshot *s, double cutoff)
{
    struct hpx_bound *bound = w->bound;
    struct hpx_snapshot to = {.rows = malloc(s->nrows * sizeof(to.rows[0]) + 1)};
    if (to.rows == NULL) {
        hpx_warn("format=b: no memory for WALL CLOCK; this dump lacks it; raise the memory limit of the process");
        w->unwritten += hpx_table_counts(&table, s->rows, s->nrows);
        return;
    }
    struct hpx_ranked r = hpx_table_rank(&table, s->rows, s->nrows, s->ns, cutoff); /* the shares that the cutoff means are of all rows */
    uint32_t ranked = keep_rows(w, s, &r);
    if (ranked > 1) {
        qsort(s->rows, ranked, sizeof(s->rows[0]), by_kind_and_trace);
    }
    w->bound = NULL; /* it has been kept */
    uint64_t lost = 0;
    for (uint32_t from = 0, next; from < ranked; from = next) {
        for (next = from + 1; next < ranked && by_kind(&s->rows[from], &s->rows[next]) == 0; next++) {
        }
        lost += put_kind(w, s->rows + from, next - from, &to);
    }
    w->unwritten += hpx_whole_ms(lost);
    w->bound = bound;
    free(to.rows);
}
