/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_blocks.c: see hprof_blocks.h. */
#include "hprof_blocks.h"
#include "hprof_table.h"
#include "text.h"
#include <inttypes.h>

static uint32_t owner_of(const struct hpx_block_row *r)
{
    return r->owner != NULL ? r->owner->serial : HPX_SERIAL_TRACE;
}

static int by_time(const void *a, const void *b)
{
    const struct hpx_block_row *x = a, *y = b;
    int order = hpx_order(y->ns, x->ns);
    order = order != 0 ? order : hpx_order(y->count, x->count);
    order = order != 0 ? order : hpx_order(x->trace->serial, y->trace->serial);
    order = order != 0 ? order : hpx_order(owner_of(x), owner_of(y));
    return order != 0 ? order : hpx_text_order(x->class_name, y->class_name);
}

static void put_class(struct hpx_ascii *w, const struct hpx_block_row *r)
{
    static const struct hpx_text unknown = {"<unknown class>", 15};
    hpx_text_put(w->out, r->class_name.len > 0 ? r->class_name : unknown, false);
    hpx_out_str(w->out, " (Java)\n");
}

static void put(struct hpx_ascii *w, const void *row)
{
    const struct hpx_block_row *r = row;
    hpx_out_printf(w->out, "%7" PRIu64 " %5" PRIu32 " ", r->count, r->trace->serial);
    put_class(w, r);
}

static void put_owned(struct hpx_ascii *w, const void *row)
{
    const struct hpx_block_row *r = row;
    hpx_out_printf(w->out, "%7" PRIu64 " %5" PRIu32 " %5" PRIu32 " ", r->count, r->trace->serial, owner_of(r));
    put_class(w, r);
}

void hpx_ascii_block_table(struct hpx_ascii *w, enum hpx_block_part part, struct hpx_block_table *t, double cutoff, time_t now)
{
#define COLUMNS(last) "rank   self  accum   count trace " last "\n"
    static const struct {
        const char *title, *columns;
    } tables[HPX_BLOCK_PARTS] = {[HPX_BLOCK_ENTER] = {"MONITOR TIME", COLUMNS("monitor")},
                                 [HPX_BLOCK_OWNERS] = {"MONITOR OWNERS", COLUMNS("owner monitor")},
                                 [HPX_BLOCK_WAIT] = {"WAIT TIME", COLUMNS("monitor")},
                                 [HPX_BLOCK_PARK] = {"LOCK TIME", COLUMNS("lock")},
                                 [HPX_BLOCK_PINNED] = {"PINNED TIME", COLUMNS("monitor")}};
    const bool owners = part == HPX_BLOCK_OWNERS;
    const struct hpx_table table = {.title = tables[part].title,
                                    .columns = tables[part].columns,
                                    .exact = true,
                                    .digits = 4,
                                    .row = sizeof(struct hpx_block_row),
                                    .value = offsetof(struct hpx_block_row, ns),
                                    .count = offsetof(struct hpx_block_row, count),
                                    .owner = owners ? offsetof(struct hpx_block_row, owner) : 0,
                                    .name = offsetof(struct hpx_block_row, class_name),
                                    .order = by_time,
                                    .percent = hpx_percent,
                                    .put = owners ? put_owned : put,
                                    .sums = {offsetof(struct hpx_block_row, count), offsetof(struct hpx_block_row, ns)}};
    uint64_t unwritten = w->unwritten;
    if (t->nrows > 0) {
        struct hpx_ranked r = hpx_table_rank(&table, t->rows, t->nrows, t->ns, cutoff);
        hpx_ascii_table(w, &table, r, now, "total = %" PRIu64 " ms", hpx_whole_ms(t->ns));
    }
    w->unwritten = owners ? unwritten : w->unwritten; /* MONITOR TIME has counted these blocks */
}
