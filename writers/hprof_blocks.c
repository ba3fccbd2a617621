/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_blocks.c: see hprof_blocks.h. */
#include "hprof_blocks.h"
#include "shares.h"
#include "text.h"
#include <inttypes.h>
#include <stdlib.h>

#define LINE_ROOM    160u               /* bytes: usual upper bound of a line without its names */
#define SECTION_ROOM ((size_t)20 << 10) /* bytes: rest of a section, and its report */

static const struct hpx_trace_rec empty_trace = {.serial = HPX_SERIAL_TRACE};

static int by_number(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

static uint32_t owner_of(const struct hpx_block_row *r)
{
    return r->owner != NULL ? r->owner->serial : HPX_SERIAL_TRACE;
}

static int by_time(const void *a, const void *b)
{
    const struct hpx_block_row *x = a, *y = b;
    int order = by_number(y->ns, x->ns);
    order = order != 0 ? order : by_number(y->count, x->count);
    order = order != 0 ? order : by_number(x->trace->serial, y->trace->serial);
    order = order != 0 ? order : by_number(owner_of(x), owner_of(y));
    return order != 0 ? order : hpx_text_order(x->class_name, y->class_name);
}

/* The traces of these rows are in the output afterwards; returns how many rows are left, at the front. */
static uint32_t place_rows(struct hpx_ascii *w, struct hpx_block_table *t, bool owners, double cutoff)
{
    uint32_t ranked = 0, shown = 0;
    for (; ranked < t->nrows && !hpx_below(t->rows[ranked].ns, t->ns, cutoff); ranked++) {
        const struct hpx_block_row *r = &t->rows[ranked];
        (void)hpx_ascii_thread(w, r->trace->thread);
        (void)hpx_ascii_thread(w, owners && r->owner != NULL ? r->owner->thread : 0);
    }
    for (uint32_t k = 0; k < ranked; k++) {
        const struct hpx_block_row *r = &t->rows[k];
        if (hpx_ascii_trace(w, r->trace) && (!owners || hpx_ascii_trace(w, r->owner != NULL ? r->owner : &empty_trace))) {
            t->rows[shown++] = *r;
        }
    }
    return shown;
}

static size_t room_of_rows(const struct hpx_block_table *t, uint32_t shown)
{
    size_t room = SECTION_ROOM + (size_t)shown * LINE_ROOM;
    for (uint32_t k = 0; k < shown; k++) {
        room += t->rows[k].class_name.len;
    }
    return room;
}

static void put_rows(const struct hpx_ascii *w, const struct hpx_block_table *t, uint32_t shown, bool owners)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < shown; k++) {
        const struct hpx_block_row *r = &t->rows[k];
        sum += r->ns;
        hpx_out_printf(w->out, "%4" PRIu32 " %5.2f%% %5.2f%% %7" PRIu64 " %5" PRIu32 " ", k + 1, hpx_percent(r->ns, t->ns),
                       hpx_percent(sum, t->ns), r->count, r->trace->serial);
        if (owners) {
            hpx_out_printf(w->out, "%5" PRIu32 " ", owner_of(r));
        }
        if (r->class_name.len > 0) {
            hpx_text_put(w->out, r->class_name, false);
        } else {
            hpx_out_str(w->out, "<unknown class>");
        }
        hpx_out_str(w->out, " (Java)\n");
        hpx_out_part(w->out, k + 1 == shown);
    }
}

void hpx_ascii_block_table(struct hpx_ascii *w, enum hpx_block_part part, struct hpx_block_table *t, double cutoff, time_t now)
{
    static const struct {
        const char *title, *columns;
    } tables[HPX_BLOCK_PARTS] = {[HPX_BLOCK_ENTER] = {"MONITOR TIME", "monitor"},
                                 [HPX_BLOCK_OWNERS] = {"MONITOR OWNERS", "owner monitor"},
                                 [HPX_BLOCK_WAIT] = {"WAIT TIME", "monitor"},
                                 [HPX_BLOCK_PARK] = {"LOCK TIME", "lock"},
                                 [HPX_BLOCK_PINNED] = {"PINNED TIME", "monitor"}};
    bool owners = part == HPX_BLOCK_OWNERS;
    if (t->nrows == 0) {
        return;
    }
    (void)hpx_out_record(w->out); /* a section before it */
    qsort(t->rows, t->nrows, sizeof(t->rows[0]), by_time);
    uint32_t shown = place_rows(w, t, owners, cutoff);
    hpx_out_room_parts(w->out, room_of_rows(t, shown));
    hpx_out_printf(w->out, "%s BEGIN (total = %" PRIu64 " ms) ", tables[part].title, hpx_whole_ms(t->ns));
    hpx_ascii_date(w->out, now);
    if (shown > 0) {
        hpx_out_printf(w->out, "rank   self  accum   count trace %s\n", tables[part].columns);
    }
    put_rows(w, t, shown, owners);
    hpx_out_printf(w->out, "%s END\n", tables[part].title);
}
