/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_sites.c: order, text and binary form of allocation sites. Contract: hprof_sites.h. */
#include "hprof_sites.h"
#include "hprof_table.h"
#include "text.h"
#include <inttypes.h>
#include <string.h>

/* ---- which rows, in which order ---- */

static int by_allocated(const void *a, const void *b)
{
    const struct hpx_site_row *x = a, *y = b;
    int order = hpx_order(y->bytes, x->bytes);
    order = order != 0 ? order : hpx_order(x->trace->serial, y->trace->serial);
    return order != 0 ? order : hpx_text_order(x->class_name, y->class_name);
}

static int by_live(const void *a, const void *b)
{
    const struct hpx_site_row *x = a, *y = b;
    int order = hpx_order(y->live_bytes, x->live_bytes);
    return order != 0 ? order : by_allocated(a, b);
}

/* Whether percentages and cutoff refer to live bytes. With sites=counts they refer to allocated bytes: live bytes are estimates there, and
 * a cutoff would drop places without a sample. */
static bool shares_are_live(const struct hpx_site_snapshot *s)
{
    return s->live && !s->counts;
}

static bool is_by_allocated(const struct hpx_site_snapshot *s)
{
    return !shares_are_live(s) || (s->flags & HPX_SITES_BY_ALLOCATED) != 0;
}

/* As the original computes it: the last digit differs from hpx_percent(). */
static double percent(uint64_t part, uint64_t total)
{
    return total > 0 ? 100 * ((double)part / (double)total) : 0;
}

static void put(struct hpx_ascii *w, const void *row)
{
    const struct hpx_site_row *r = row;
    hpx_out_printf(w->out, "%9" PRIu64 " %4" PRIu64 " %9" PRIu64 " %5" PRIu64 " %5" PRIu32 " ", r->live_bytes, r->live_objects, r->bytes,
                   r->objects, r->trace->serial);
    hpx_text_put(w->out, r->class_name, false);
    hpx_out_char(w->out, '\n');
}

static struct hpx_table table_of(const struct hpx_site_snapshot *s)
{
    return (struct hpx_table){.title = "SITES",
                              .columns = "          percent          live          alloc'ed  stack class\n"
                                         " rank   self  accum     bytes objs     bytes  objs trace name\n",
                              .titled = true,
                              .digits = 5,
                              .row = sizeof(struct hpx_site_row),
                              .value =
                                  shares_are_live(s) ? offsetof(struct hpx_site_row, live_bytes) : offsetof(struct hpx_site_row, bytes),
                              .count = offsetof(struct hpx_site_row, objects),
                              .name = offsetof(struct hpx_site_row, class_name),
                              .order = is_by_allocated(s) ? by_allocated : by_live,
                              .percent = percent,
                              .put = put,
                              .sums = {offsetof(struct hpx_site_row, live_bytes), offsetof(struct hpx_site_row, live_objects),
                                       offsetof(struct hpx_site_row, bytes), offsetof(struct hpx_site_row, objects)}};
}

static struct hpx_ranked rank(struct hpx_site_snapshot *s, const struct hpx_table *t, double cutoff)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nrows; i++) {
        if ((s->flags & HPX_SITES_CHANGED) == 0 || s->rows[i].changed) {
            s->rows[n++] = s->rows[i];
        }
    }
    struct hpx_ranked r = hpx_table_rank(t, s->rows, n, shares_are_live(s) ? s->live_bytes : s->bytes, cutoff);
    r.ranked = r.total == 0 && cutoff > 0 ? 0 : r.ranked; /* shares of nothing are below it */
    return r;
}

/* ---- text ---- */

void hpx_ascii_sites(struct hpx_ascii *w, struct hpx_site_snapshot *s, double cutoff, time_t now)
{
    const struct hpx_table t = table_of(s);
    if ((s->flags & (HPX_SITES_SUMMARY | HPX_SITES_NOTHING)) == 0) {
        hpx_ascii_table(w, &t, rank(s, &t, cutoff), now, "ordered by %s bytes", is_by_allocated(s) ? "allocated" : "live");
    }
}

/* ---- binary ---- */

static uint8_t *piece(struct hpx_binary *w)
{
    return (uint8_t *)hpx_out_piece(w->out);
}

static void summary(struct hpx_binary *w, const struct hpx_site_snapshot *s)
{
    uint8_t *at = hpx_binary_head(w, piece(w), HPX_TAG_SUMMARY, 24);
    at = hpx_put_be4(hpx_put_be4(at, hpx_fit4(s->live_bytes)), hpx_fit4(s->live_objects));
    hpx_out_filled(w->out, hpx_put_be8(hpx_put_be8(at, s->bytes), s->objects));
    (void)hpx_binary_end_record(w);
}

/* For want of memory. What an output refuses it counts itself. */
static void leave_out(struct hpx_binary *w, const struct hpx_table *t, const struct hpx_site_row *rows, uint32_t n)
{
    if (w->out->record == NULL) {
        w->unplaced_sites += n;
        w->unwritten += hpx_table_counts(t, rows, n);
    }
}

/* A row that sums others has no class: the one of methods without a class, which every reader finds in the file. */
static uint32_t sum_rest(struct hpx_binary *w, const struct hpx_table *t, const struct hpx_ranked *r, uint32_t left, uint32_t from)
{
    static const struct hpx_class_serial none = {HPX_SERIAL_CLASS};
    struct hpx_site_row *rows = r->rows;
    if (!hpx_binary_class(w, none, (struct hpx_text){"hprofx.unknown", 14}) || !hpx_binary_trace(w, hpx_trace_summed)) {
        leave_out(w, t, rows + from, r->ranked - from);
        return left;
    }
    uint32_t n = hpx_table_sum(t, r, left, from, w->bound);
    for (uint32_t i = 0; i < n; i++) {
        if (rows[i].trace == hpx_trace_summed) {
            rows[i].klass = none;
            rows[i].array = 0;
        }
    }
    return n;
}

/* Writes the class and trace of a row if they are not in the stream yet. false: the row cannot be written. */
static bool place(struct hpx_binary *w, const struct hpx_site_row *r)
{
    return hpx_binary_class(w, r->klass, r->class_name) && hpx_binary_trace(w, r->trace);
}

static uint32_t bits_of(double cutoff)
{
    float f = (float)cutoff;
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

static void put_binary(struct hpx_binary *w, const struct hpx_site_row *r)
{
    uint8_t *at = hpx_put_be4(hpx_put_be4(hpx_put_be1(piece(w), r->array), r->klass.v), r->trace->serial);
    at = hpx_put_be4(hpx_put_be4(at, hpx_fit4(r->live_bytes)), hpx_fit4(r->live_objects));
    hpx_out_filled(w->out, hpx_put_be4(hpx_put_be4(at, hpx_fit4(r->bytes)), hpx_fit4(r->objects)));
}

void hpx_binary_sites(struct hpx_binary *w, struct hpx_site_snapshot *s, double cutoff)
{
    if (s->flags & HPX_SITES_NOTHING) {
        return;
    }
    if (s->flags & HPX_SITES_SUMMARY) {
        summary(w, s);
        return;
    }
    const struct hpx_table t = table_of(s);
    const struct hpx_ranked r = rank(s, &t, cutoff);
    uint32_t shown = hpx_binary_fit(r.ranked, HPX_SITES_HEAD, HPX_SITES_ROW), n = 0, i = 0;
    for (; i < shown && !hpx_binary_is_full(w, n, HPX_SITES_ROW); i++) {
        if (place(w, &s->rows[i])) {
            s->rows[n++] = s->rows[i];
        } else {
            leave_out(w, &t, &s->rows[i], 1);
        }
    }
    n = i < shown ? sum_rest(w, &t, &r, n, i) : n;
    n = w->out->record != NULL ? hpx_binary_cut(w, n, HPX_SITES_HEAD, HPX_SITES_ROW) : n;
    hpx_out_room(w->out, 64 + (size_t)HPX_SITES_ROW * n);
    uint8_t *at = hpx_binary_head(w, piece(w), HPX_TAG_SITES, HPX_SITES_HEAD + HPX_SITES_ROW * n);
    uint16_t flags = (uint16_t)(s->flags | (is_by_allocated(s) ? HPX_SITES_BY_ALLOCATED : 0)); /* the order that the rows have */
    at = hpx_put_be4(hpx_put_be2(at, flags), bits_of(cutoff));
    at = hpx_put_be4(hpx_put_be4(at, hpx_fit4(s->live_bytes)), hpx_fit4(s->live_objects));
    hpx_out_filled(w->out, hpx_put_be4(hpx_put_be8(hpx_put_be8(at, s->bytes), s->objects), n));
    for (i = 0; i < n; i++) {
        put_binary(w, &s->rows[i]);
    }
    (void)hpx_binary_end_record(w);
}
