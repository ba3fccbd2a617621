/* SPDX-License-Identifier: BSD-2-Clause */
/* check_tables.c: the rules of SITES, CPU SAMPLES, WALL CLOCK, CPU TIME, blocked time, the table of cpu=old and HEAP SUMMARY. */
#include "check.h"
#include <inttypes.h>
#include <string.h>

static bool is_ratio(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f >= 0.0F && f <= 1.0F;
}

static int begin(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    c->table = ev->table;
    c->tables++;
    c->rows = c->sum = c->shares = 0;
    c->last = UINT64_MAX;
    if (!c->text && ev->table.tag == HPX_TAG_SITES) {
        if (ev->table.flags > 7) {
            return hpx_reader_break(r, ev->at, ev->line, "ALLOC SITES with the unknown flags 0x%" PRIx32, ev->table.flags);
        }
        if (!is_ratio(ev->table.cutoff)) {
            int rc = hpx_reader_note(r, HPX_NOTE_CUTOFF, ev->at, ev->line);
            if (rc != HPX_RD_SOUND) {
                return rc;
            }
        }
    }
    if (ev->table.more) {
        c->traces_open = false;
        return HPX_RD_SOUND;
    }
    return hpx_check_section(c, r, ev, hpx_check_rank(ev->table.tag));
}

/* Rows come in descending order of what the table ranks. */
static uint64_t order_of(const struct hpx_check *c, const struct hpx_rd_row *w)
{
    switch (c->table.tag) {
    case HPX_TAG_SITES:
        return (c->table.flags & 2) != 0 ? w->bytes : w->live_bytes;
    case HPX_TAG_SAMPLES:
    case HPX_TAG_OLD:
        return w->count;
    case HPX_TAG_WALL:
        return c->text ? w->self : w->count;
    default:
        return w->self;
    }
}

/* Do hundredths of a percent say part / total? Half a unit is rounding, the rest the last digit of a double. */
static bool says(uint32_t hundredths, uint64_t part, uint64_t total)
{
    double exact = total > 0 ? (double)part * 10000.0 / (double)total : 0.0;
    double off = exact - (double)hundredths;
    return off < 0.51 && off > -0.51;
}

static int shares(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    const struct hpx_rd_row *w = &ev->row;
    if (w->self == HPX_NO_SHARE) {
        return HPX_RD_SOUND;
    }
    if (w->rank != c->rows) {
        return hpx_reader_break(r, ev->at, ev->line, "rank %" PRIu32 " in row %" PRIu64, w->rank, c->rows);
    }
    c->shares += w->self;
    uint64_t half = c->rows / 2 + 2; /* each row was rounded by half a unit */
    bool far = w->accum > c->shares + half || w->accum + half < c->shares;
    if (c->table.tag == HPX_TAG_SAMPLES && c->table.total != UINT64_MAX) {
        if (!says(w->self, w->count, c->table.total)) {
            return hpx_reader_break(r, ev->at, ev->line, "%" PRIu32 ".%02" PRIu32 " %% is not %" PRIu64 " of %" PRIu64, w->self / 100,
                                    w->self % 100, w->count, c->table.total);
        }
        far = !says(w->accum, c->sum, c->table.total);
    }
    return far ? hpx_reader_break(r, ev->at, ev->line, "accum is not the sum of the rows so far") : HPX_RD_SOUND;
}

static int trace_of_row(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    static const struct hpx_rd_text empty = {"<empty trace>", sizeof("<empty trace>") - 1};
    const struct hpx_rd_row *w = &ev->row;
    struct hpx_check_trace *t = hpx_check_find_trace(c, w->trace);
    if (t == NULL) {
        return hpx_reader_break(r, ev->at, ev->line, "trace %" PRIu32 " is not defined before its row", w->trace);
    }
    bool wall = c->table.tag == HPX_TAG_WALL; /* a row for each state */
    bool cpu = wall || c->table.tag == HPX_TAG_SAMPLES || c->table.tag == HPX_TAG_TIMES;
    if (cpu && t->table == c->tables && !(wall && c->text)) {
        return hpx_reader_break(r, ev->at, ev->line, "trace %" PRIu32 " has two rows", w->trace);
    }
    t->table = c->tables;
    if (w->owner != 0 && hpx_check_find_trace(c, w->owner) == NULL) {
        return hpx_reader_break(r, ev->at, ev->line, "trace %" PRIu32 " of the owner is not defined before its row", w->owner);
    }
    if (cpu && c->text && w->name.n > 0 && w->name.n < 900 && hpx_check_hash(w->name) != (t->top != 0 ? t->top : hpx_check_hash(empty))) {
        return hpx_reader_break(r, ev->at, ev->line, "the method is not the innermost one of trace %" PRIu32, w->trace);
    }
    return HPX_RD_SOUND;
}

static int site(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    const struct hpx_rd_row *w = &ev->row;
    if (!c->text && w->array != 0 && hpx_type_size((int)w->array, c->id_size) == 0) {
        return hpx_reader_break(r, ev->at, ev->line, "row %" PRIu64 ": no basic type %" PRIu32, c->rows, w->array);
    }
    if (!c->text && !hpx_seeded_map_has(&c->classes, w->class_serial)) {
        int rc = w->array != 0 ? hpx_reader_note(r, HPX_NOTE_ARRAY_CLASS, ev->at, ev->line)
                               : hpx_reader_break(r, ev->at, ev->line, "row %" PRIu64 ": class serial %" PRIu32 " is not loaded before it",
                                                  c->rows, w->class_serial);
        if (rc != HPX_RD_SOUND) {
            return rc;
        }
    }
    c->sum += w->live_bytes;
    if (!c->text && c->sum > c->table.total) {
        int rc = hpx_reader_note(r, HPX_NOTE_SITES_MOVED, ev->at, ev->line);
        if (rc != HPX_RD_SOUND) {
            return rc;
        }
    }
    return w->live_bytes > w->bytes || w->live_objects > w->objects ? hpx_reader_note(r, HPX_NOTE_WRAPPED, ev->at, ev->line) : HPX_RD_SOUND;
}

static int counted(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    if (ev->row.count == 0 && c->table.tag != HPX_TAG_WALL) { /* less than half a ms */
        return hpx_reader_break(r, ev->at, ev->line, "row %" PRIu64 " has the count 0", c->rows);
    }
    c->counting += c->table.tag == HPX_TAG_TIMES ? ev->row.count : 0;
    c->counted += c->table.tag == HPX_TAG_OLD ? ev->row.count : 0; /* each of its rows is whole */
    if (c->table.tag == HPX_TAG_SAMPLES && (__builtin_add_overflow(c->sum, ev->row.count, &c->sum) || c->sum > c->table.total)) {
        return hpx_reader_break(r, ev->at, ev->line, "the rows add up to more than the total of %" PRIu64, c->table.total);
    }
    return HPX_RD_SOUND;
}

static int row(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    c->rows++;
    uint64_t order = order_of(c, &ev->row);
    int rc = HPX_RD_SOUND;
    if (order > c->last && c->table.tag == HPX_TAG_SITES) {
        rc = hpx_reader_note(r, HPX_NOTE_SITES_MOVED, ev->at, ev->line);
    } else if (order > c->last) {
        rc = hpx_reader_break(r, ev->at, ev->line, "row %" PRIu64 " is above the row before it: not in descending order", c->rows);
    }
    c->last = order;
    if (rc == HPX_RD_SOUND) {
        rc = c->table.tag == HPX_TAG_SITES ? site(c, r, ev) : counted(c, r, ev);
    }
    if (rc == HPX_RD_SOUND) {
        rc = shares(c, r, ev);
    }
    return rc == HPX_RD_SOUND && c->table.tag != HPX_TAG_OLD ? trace_of_row(c, r, ev) : rc;
}

int hpx_check_table(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    switch (ev->kind) {
    case HPX_RD_TABLE:
        c->counting = ev->table.tag == HPX_TAG_SAMPLES ? ev->table.total : 0;
        return begin(c, r, ev);
    case HPX_RD_ROW:
        return row(c, r, ev);
    case HPX_RD_TABLE_END:
        c->counted += c->counting;
        c->waited |= c->table.tag == HPX_TAG_WALL && c->table.total > 0;
        c->counting = 0;
        return HPX_RD_SOUND;
    case HPX_RD_SUMMARY:
        c->dumps += c->dumps == 0;
        return ev->table.total > ev->table.bytes || ev->table.live_objects > ev->table.objects
                   ? hpx_reader_note(r, HPX_NOTE_SUMMARY_ORDER, ev->at, ev->line)
                   : HPX_RD_SOUND;
    default:
        return HPX_RD_SOUND;
    }
}
