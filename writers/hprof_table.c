/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_table.c: see hprof_table.h. */
#include "hprof_table.h"
#include "hprof_format.h"
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hpx_trace_rec empty_trace = {.serial = HPX_SERIAL_TRACE};

static const struct hpx_trace_rec *trace_at(const char *row, size_t at)
{
    const struct hpx_trace_rec *const *trace = (const void *)(row + at);
    return *trace != NULL ? *trace : &empty_trace;
}

static uint64_t value_of(const struct hpx_table *t, const char *row)
{
    return *(const uint64_t *)(const void *)(row + t->value);
}

static bool belongs(const struct hpx_table *t, const char *row, uint64_t total, double cutoff)
{
    uint64_t value = value_of(t, row);
    return !((double)value / (double)total < cutoff) && (value > 0 || !t->positive);
}

struct hpx_ranked hpx_table_rank(const struct hpx_table *t, void *rows, uint32_t n, uint64_t total, double cutoff)
{
    struct hpx_ranked r = {rows, 0, total};
    if (n > 1) {
        qsort(rows, n, t->row, t->order);
    }
    while (r.ranked < n && belongs(t, (char *)rows + r.ranked * t->row, total, cutoff)) {
        r.ranked++;
    }
    return r;
}

/* ---- rows that are summed ---- */

static const struct hpx_method_rec summed_method = {.class_name = {"hprofx.summed", 13}, .name = {"rows_below_the_cutoff", 21}};
static const struct {
    uint32_t serial, thread, nframes;
    struct hpx_frame_rec frame;
} summed = {HPX_SERIAL_SUMMED, 0, 1, {&summed_method, HPX_LINE_UNKNOWN, 0}}; /* a struct hpx_trace_rec with its frame */
static_assert(offsetof(struct hpx_trace_rec, frames) == sizeof(summed) - sizeof(struct hpx_frame_rec), "the frame is where traces have it");
const struct hpx_trace_rec *const hpx_trace_summed = (const void *)&summed;

static void add(const struct hpx_table *t, char *to, const char *row)
{
    for (uint32_t i = 0; i < HPX_TABLE_SUMS && t->sums[i] != 0; i++) {
        *(uint64_t *)(void *)(to + t->sums[i]) += *(const uint64_t *)(const void *)(row + t->sums[i]);
    }
}

/* The first of its kind, as it will be shown. */
static void begin_sum(const struct hpx_table *t, char *to, const char *row)
{
    memcpy(to, row, t->row);
    *(const struct hpx_trace_rec **)(void *)to = hpx_trace_summed;
    if (t->owner != 0) {
        *(const struct hpx_trace_rec **)(void *)(to + t->owner) = hpx_trace_summed;
    }
    if (t->name != 0) {
        *(struct hpx_text *)(void *)(to + t->name) = t->kind == NULL ? HPX_CLASS_SUMMED : (struct hpx_text){NULL, 0};
    }
}

uint32_t hpx_table_sum(const struct hpx_table *t, const struct hpx_ranked *r, uint32_t left, uint32_t from, struct hpx_bound *b)
{
    _Alignas(max_align_t) char sums[HPX_TABLE_KINDS][HPX_TABLE_ROW];
    bool some[HPX_TABLE_KINDS] = {false};
    char *rows = r->rows;
    if (from >= r->ranked) {
        return left;
    }
    assert(t->row <= HPX_TABLE_ROW);
    double below = r->total > 0 ? (double)value_of(t, rows + from * t->row) / (double)r->total : 0;
    b->summed += r->ranked - from;
    b->below = below > b->below ? below : b->below;
    for (uint32_t i = from; i < r->ranked; i++) {
        const char *row = rows + i * t->row;
        uint32_t kind = t->kind != NULL ? t->kind(row) : 0;
        (some[kind] ? add : begin_sum)(t, sums[kind], row);
        some[kind] = true;
    }
    for (uint32_t kind = 0; kind < HPX_TABLE_KINDS; kind++) {
        if (some[kind]) {
            memcpy(rows + left++ * t->row, sums[kind], t->row);
        }
    }
    qsort(rows, left, t->row, t->order);
    return left;
}

/* In ns, if the table has no counts. */
static uint64_t amount_of(const struct hpx_table *t, const char *rows, uint32_t n)
{
    uint64_t sum = 0;
    for (const char *row = rows; n > 0; n--, row += t->row) {
        sum += t->count != 0 ? *(const uint64_t *)(const void *)(row + t->count) : value_of(t, row);
    }
    return sum;
}

static uint64_t counts_of(const struct hpx_table *t, uint64_t amount)
{
    return t->count != 0 ? amount : hpx_whole_ms(amount);
}

uint64_t hpx_table_counts(const struct hpx_table *t, const void *rows, uint32_t n)
{
    return counts_of(t, amount_of(t, rows, n));
}

/* ---- text ---- */

/* About the bytes of its line, and of its exact time. */
static uint64_t cost_of(const struct hpx_table *t, const char *row)
{
    const struct hpx_trace_rec *trace = trace_at(row, 0);
    const struct hpx_method_rec *m = trace->nframes > 0 ? trace->frames[0].method : NULL;
    uint64_t name = t->name != 0 ? ((const struct hpx_text *)(const void *)(row + t->name))->len : 0;
    return 38 + name + (m != NULL ? m->class_name.len + m->name.len : 0) + (t->exact ? 12 : 0);
}

static bool place_one(struct hpx_ascii *w, const struct hpx_table *t, const char *row)
{
    return hpx_ascii_trace(w, trace_at(row, 0)) && (t->owner == 0 || hpx_ascii_trace(w, trace_at(row, t->owner)));
}

/* The traces of the rows are in the output afterwards; returns how many rows are left, at the front. Those beyond the bound are summed. */
static uint32_t place(struct hpx_ascii *w, const struct hpx_table *t, const struct hpx_ranked *r)
{
    char *row = r->rows, *left = row;
    uint64_t cost = HPX_ROW_ROOM, lost = 0; /* of them all: times are rounded once */
    uint32_t i = 0;
    for (uint32_t k = 0; k < r->ranked; k++, row += t->row) {
        (void)hpx_ascii_thread(w, trace_at(row, 0)->thread);
        (void)hpx_ascii_thread(w, t->owner != 0 ? trace_at(row, t->owner)->thread : 0);
    }
    for (row = r->rows; i < r->ranked && !hpx_bound_reached(w->bound, w->out, cost + cost_of(t, row)); i++, row += t->row) {
        uint64_t before = w->unplaced;
        if (place_one(w, t, row)) {
            cost += cost_of(t, row);
            memmove(left, row, t->row);
            left += t->row;
        } else if (w->unplaced > before) { /* without memory, which its traces have counted */
            lost += amount_of(t, row, 1);
        }
    }
    uint32_t n = (uint32_t)((size_t)(left - (char *)r->rows) / t->row);
    bool sums = i < r->ranked && hpx_ascii_trace(w, hpx_trace_summed);
    if (!sums) {
        w->unplaced += r->ranked - i;
        lost += amount_of(t, row, r->ranked - i);
    }
    w->unwritten += counts_of(t, lost);
    return sums ? hpx_table_sum(t, r, n, i, w->bound) : n;
}

static size_t room_of(const struct hpx_table *t, const char *row, uint32_t n)
{
    size_t room = HPX_SECTION_ROOM + (size_t)n * HPX_ROW_ROOM;
    for (uint32_t i = 0; i < n && t->name != 0; i++, row += t->row) {
        room += ((const struct hpx_text *)(const void *)(row + t->name))->len;
    }
    return room;
}

/* Small: a row has some 60 bytes and a trace of its own, its time five to ten. */
static void put_exact(struct hpx_ascii *w, const struct hpx_table *t, const struct hpx_ranked *r, uint32_t shown)
{
    const char *row = r->rows;
    char line[HPX_TEXT_EXACT_LINE + 24];
    size_t n = 0;
    (void)hpx_out_record(w->out); /* of its own: the end of the table stays whatever is refused here */
    hpx_out_room_parts(w->out, HPX_SECTION_ROOM + (size_t)shown * 21);
    hpx_out_printf(w->out, HPX_TEXT_EXACT_TOTAL "%" PRIu64 "\n", r->total);
    for (uint32_t i = 0; i < shown; i++, row += t->row) {
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%" PRIu64, n == 0 ? HPX_TEXT_EXACT_ROWS : " ", value_of(t, row));
        if (n > HPX_TEXT_EXACT_LINE - 22 || i + 1 == shown) {
            line[n++] = '\n';
            hpx_out_bytes(w->out, line, n);
            hpx_out_part(w->out, i + 1 == shown);
            n = 0;
        }
    }
}

void hpx_ascii_table(struct hpx_ascii *w, const struct hpx_table *t, struct hpx_ranked r, time_t now, const char *total, ...)
{
    char text[64];
    va_list args;
    va_start(args, total);
    (void)vsnprintf(text, sizeof(text), total, args);
    va_end(args);
    (void)hpx_out_record(w->out); /* a section before it */
    uint32_t shown = place(w, t, &r);
    const char *row = r.rows;
    uint64_t sum = 0;
    hpx_out_room_parts(w->out, room_of(t, row, shown));
    hpx_out_printf(w->out, "%s BEGIN (%s) ", t->title, text);
    hpx_ascii_date(w->out, now);
    hpx_out_str(w->out, shown > 0 || t->titled ? t->columns : "");
    for (uint32_t i = 0; i < shown; i++, row += t->row) {
        /* accum does not come from rounded shares, so it ends at 100.00 when nothing is cut off */
        uint64_t part = value_of(t, row);
        sum += part;
        hpx_out_printf(w->out, "%*" PRIu32 " %5.2f%% %5.2f%% ", t->digits, i + 1, t->percent(part, r.total), t->percent(sum, r.total));
        t->put(w, row);
        hpx_out_part(w->out, i + 1 == shown);
    }
    hpx_out_printf(w->out, "%s END\n", t->title);
    if (t->exact && r.total > 0) {
        put_exact(w, t, &r, shown);
    }
}
