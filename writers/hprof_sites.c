/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_sites.c: order, text and binary form of allocation sites. Contract: hprof_sites.h. */
#include "hprof_sites.h"
#include "text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROW_ROOM     256u               /* bytes: usual upper bound of a row of text */
#define SECTION_ROOM ((size_t)20 << 10) /* bytes: rest of a section, and its report */

/* ---- which rows, in which order ---- */

static int by_trace(const struct hpx_site_row *x, const struct hpx_site_row *y)
{
    uint32_t a = x->trace->serial, b = y->trace->serial;
    return a != b ? (a > b) - (a < b) : hpx_text_order(x->class_name, y->class_name);
}

static int by_allocated(const void *a, const void *b)
{
    const struct hpx_site_row *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : by_trace(x, y);
}

static int by_live(const void *a, const void *b)
{
    const struct hpx_site_row *x = a, *y = b;
    return x->live_bytes != y->live_bytes ? (x->live_bytes < y->live_bytes) - (x->live_bytes > y->live_bytes) : by_allocated(a, b);
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

/* The bytes that shares and cutoff refer to. */
static uint64_t share_of(const struct hpx_site_snapshot *s, const struct hpx_site_row *r)
{
    return shares_are_live(s) ? r->live_bytes : r->bytes;
}

static uint64_t whole_of(const struct hpx_site_snapshot *s)
{
    return shares_are_live(s) ? s->live_bytes : s->bytes;
}

/* 0 if `whole` is 0. */
static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static uint32_t rank(struct hpx_site_snapshot *s, double cutoff)
{
    uint32_t n = 0, shown = 0;
    for (uint32_t i = 0; i < s->nrows; i++) {
        if ((s->flags & HPX_SITES_CHANGED) == 0 || s->rows[i].changed) {
            s->rows[n++] = s->rows[i];
        }
    }
    if (n > 1) {
        qsort(s->rows, n, sizeof(s->rows[0]), is_by_allocated(s) ? by_allocated : by_live);
    }
    while (shown < n && !(share(share_of(s, &s->rows[shown]), whole_of(s)) < cutoff)) {
        shown++;
    }
    return shown;
}

/* ---- text ---- */

void hpx_ascii_sites(struct hpx_ascii *w, struct hpx_site_snapshot *s, double cutoff, time_t now)
{
    struct hpx_out *o = w->out;
    uint32_t ranked = rank(s, cutoff), shown = 0;
    uint64_t sum = 0, total = whole_of(s);
    size_t names = 0;
    if (s->flags & (HPX_SITES_SUMMARY | HPX_SITES_NOTHING)) {
        return;
    }
    (void)hpx_out_record(o); /* ends the record of the section before */
    for (uint32_t i = 0; i < ranked; i++) {
        (void)hpx_ascii_thread(w, s->rows[i].trace->thread);
    }
    for (uint32_t i = 0; i < ranked; i++) {
        if (hpx_ascii_trace(w, s->rows[i].trace)) {
            names += s->rows[i].class_name.len;
            s->rows[shown++] = s->rows[i];
        }
    }
    hpx_out_room_parts(o, SECTION_ROOM + (size_t)shown * ROW_ROOM + names);
    hpx_out_printf(o, "SITES BEGIN (ordered by %s bytes) ", is_by_allocated(s) ? "allocated" : "live");
    hpx_ascii_date(o, now);
    hpx_out_str(o, "          percent          live          alloc'ed  stack class\n"
                   " rank   self  accum     bytes objs     bytes  objs trace name\n");
    for (uint32_t i = 0; i < shown; i++) {
        const struct hpx_site_row *r = &s->rows[i];
        sum += share_of(s, r);
        hpx_out_printf(o, "%5" PRIu32 " %5.2f%% %5.2f%% %9" PRIu64 " %4" PRIu64 " %9" PRIu64 " %5" PRIu64 " %5" PRIu32 " ", i + 1,
                       100 * share(share_of(s, r), total), 100 * share(sum, total), r->live_bytes, r->live_objects, r->bytes, r->objects,
                       r->trace->serial);
        hpx_text_put(o, r->class_name, false);
        hpx_out_char(o, '\n');
        hpx_out_part(o, i + 1 == shown);
    }
    hpx_out_str(o, "SITES END\n");
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

/* Number of the n rows that fit into one record of the output. */
static uint32_t cut_rows(const struct hpx_binary *w, uint32_t n)
{
    size_t most = w->out->most, fixed = HPX_RECORD_HEAD + HPX_SITES_HEAD;
    if (most == 0 || fixed + (size_t)HPX_SITES_ROW * n <= most) {
        return n;
    }
    uint32_t fit = most > fixed ? (uint32_t)((most - fixed) / HPX_SITES_ROW) : 0;
    hpx_out_leave_out(w->out, (uint64_t)HPX_SITES_ROW * (n - fit));
    return fit;
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
    uint32_t shown = hpx_binary_fit(rank(s, cutoff), HPX_SITES_HEAD, HPX_SITES_ROW), n = 0;
    for (uint32_t i = 0; i < shown; i++) {
        if (place(w, &s->rows[i])) {
            s->rows[n++] = s->rows[i];
        } else {
            w->unplaced_sites += w->out->record == NULL;
        }
    }
    n = w->out->record != NULL ? cut_rows(w, n) : n;
    hpx_out_room(w->out, 64 + (size_t)HPX_SITES_ROW * n);
    uint8_t *at = hpx_binary_head(w, piece(w), HPX_TAG_SITES, HPX_SITES_HEAD + HPX_SITES_ROW * n);
    uint16_t flags = (uint16_t)(s->flags | (is_by_allocated(s) ? HPX_SITES_BY_ALLOCATED : 0)); /* the order that the rows have */
    at = hpx_put_be4(hpx_put_be2(at, flags), bits_of(cutoff));
    at = hpx_put_be4(hpx_put_be4(at, hpx_fit4(s->live_bytes)), hpx_fit4(s->live_objects));
    hpx_out_filled(w->out, hpx_put_be4(hpx_put_be8(hpx_put_be8(at, s->bytes), s->objects), n));
    for (uint32_t i = 0; i < n; i++) {
        const struct hpx_site_row *r = &s->rows[i];
        at = hpx_put_be4(hpx_put_be4(hpx_put_be1(piece(w), r->array), r->klass), r->trace->serial);
        at = hpx_put_be4(hpx_put_be4(at, hpx_fit4(r->live_bytes)), hpx_fit4(r->live_objects));
        hpx_out_filled(w->out, hpx_put_be4(hpx_put_be4(at, hpx_fit4(r->bytes)), hpx_fit4(r->objects)));
    }
    (void)hpx_binary_end_record(w);
}
