/* SPDX-License-Identifier: BSD-2-Clause */
/* sums.c: see sums.h. */
#include "sums.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

#define MS    UINT64_C(1000000)
#define GROWN ((size_t)1 << 16) /* rows that are not worth adding up yet */

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* No further than a signed number reaches, which other formats have. */
static uint64_t ns_of(uint64_t ms)
{
    return ms < INT64_MAX / MS ? ms * MS : INT64_MAX;
}

void hpx_sums_init(struct hpx_sums *s, int tag)
{
    *s = (struct hpx_sums){.tag = tag};
}

void hpx_sums_fini(struct hpx_sums *s)
{
    free(s->rows.items);
    free(s->parts.items);
    s->rows = s->parts = (struct hpx_list){0};
}

void hpx_sums_clear(struct hpx_sums *s)
{
    struct hpx_list rows = s->rows, parts = s->parts;
    hpx_sums_init(s, s->tag);
    s->rows = rows;
    s->parts = parts;
    s->rows.len = s->parts.len = 0;
}

static struct hpx_sum *at(const struct hpx_sums *s, size_t i)
{
    return (struct hpx_sum *)s->rows.items + i;
}

static struct hpx_sums_part *part(const struct hpx_sums *s, size_t i)
{
    return (struct hpx_sums_part *)s->parts.items + i;
}

/* Where the rows of a part end. */
static size_t end_of(const struct hpx_sums *s, size_t i)
{
    return i + 1 < s->parts.len ? part(s, i + 1)->first : s->rows.len;
}

/* Of what names a row. */
static uint64_t key_of(const struct hpx_sum *row)
{
    const uint32_t of[] = {row->trace, row->name, row->other, row->state};
    return hpx_check_hash((struct hpx_rd_text){(const char *)of, sizeof of});
}

/* Equal rows of all tables become one, which stands where the first did. */
static void add_up(struct hpx_sums *s)
{
    struct hpx_seeded_map map;
    size_t n = 0;
    hpx_seeded_map_init(&map, true);
    for (size_t i = 0; i < s->rows.len; i++) {
        uint32_t *index;
        int added = hpx_seeded_map_add(&map, key_of(at(s, i)), &index);
        if (added > 0) {
            *at(s, n) = *at(s, i);
            at(s, n)->self = HPX_NO_SHARE; /* it was that of one table */
            *index = (uint32_t)++n;
        } else if (added == 0) {
            struct hpx_sum *to = at(s, *index - 1);
            to->values[HPX_SUM_COUNT] = plus(to->values[HPX_SUM_COUNT], at(s, i)->values[HPX_SUM_COUNT]);
            to->values[HPX_SUM_NS] = plus(to->values[HPX_SUM_NS], at(s, i)->values[HPX_SUM_NS]);
        }
        s->no_memory |= added < 0;
    }
    s->rows.len = n;
    hpx_seeded_map_fini(&map);
    for (; s->parts.len > 1; s->parts.len--) {
        struct hpx_sums_part *first = part(s, 0), *last = part(s, s->parts.len - 1);
        first->tables += last->tables;
        first->total = plus(first->total, last->total);
        first->ns = plus(first->ns, last->ns);
        first->rounded |= last->rounded;
    }
}

void hpx_sums_begin(struct hpx_sums *s, const struct hpx_rd_table *table, bool since)
{
    uint64_t ns = hpx_tag_counts(s->tag) || s->tag == HPX_TAG_SITES ? 0 : ns_of(table->total);
    struct hpx_sums_part *last;
    if (table->more && s->parts.len > 0) {
        last = part(s, s->parts.len - 1);
        last->total = plus(last->total, table->total);
        last->ns = plus(last->ns, ns);
        return;
    }
    if (s->tag == HPX_TAG_SITES) {
        s->rows.len = s->parts.len = 0;
    } else if (since && s->parts.len > 1 && s->rows.len > GROWN && s->rows.len / 2 > part(s, 1)->first && !s->any_kept) {
        add_up(s);
    }
    s->exact = 0;
    last = hpx_list_push(&s->parts, sizeof *last);
    if (last == NULL) {
        s->no_memory = true;
        return;
    }
    *last = (struct hpx_sums_part){.first = s->rows.len, .tables = 1, .total = table->total, .ns = ns, .rounded = !hpx_tag_counts(s->tag)};
}

void hpx_sums_kept(struct hpx_sums *s)
{
    if (s->parts.len > 0) {
        part(s, s->parts.len - 1)->kept = s->any_kept = true;
    }
}

/* Nanoseconds of a row that tells its share of the table's, in hundredths of a percent. */
static uint64_t share_ns(const struct hpx_sums *s, uint32_t self)
{
    double ns = (double)part(s, s->parts.len - 1)->ns * (double)self / 10000 + 0.5;
    return self == HPX_NO_SHARE ? 0 : ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

struct hpx_sum *hpx_sums_row(struct hpx_sums *s, const struct hpx_rd_row *row)
{
    struct hpx_sum *to = s->rows.len < HPX_SUMS_MOST && s->parts.len > 0 ? hpx_list_push(&s->rows, sizeof *to) : NULL;
    if (to == NULL) {
        s->no_memory = true;
        return NULL;
    }
    *to = (struct hpx_sum){.trace = row->trace, .self = row->self};
    switch (s->tag) {
    case HPX_TAG_SITES:
        memcpy(to->values, (uint64_t[]){row->objects, row->bytes, row->live_objects, row->live_bytes}, sizeof to->values);
        break;
    case HPX_TAG_WALL:
        to->values[HPX_SUM_NS] = ns_of(row->count);
        break;
    case HPX_TAG_OLD:
        to->values[HPX_SUM_COUNT] = row->count;
        to->values[HPX_SUM_NS] = ns_of(row->bytes);
        break;
    default:
        to->values[HPX_SUM_COUNT] = row->count;
        to->values[HPX_SUM_NS] = hpx_tag_counts(s->tag) ? 0 : share_ns(s, row->self);
        break;
    }
    return to;
}

void hpx_sums_exact(struct hpx_sums *s, const struct hpx_rd_exact *exact)
{
    uint64_t ns = exact->ns < INT64_MAX ? exact->ns : INT64_MAX;
    struct hpx_sums_part *last = s->parts.len > 0 ? part(s, s->parts.len - 1) : NULL;
    if (last == NULL || hpx_tag_counts(s->tag) || s->tag == HPX_TAG_SITES) {
        return; /* they have no times */
    }
    if (exact->total) {
        last->ns = ns;
        last->rounded = false;
    } else if (last->first + s->exact < s->rows.len) {
        at(s, last->first + s->exact++)->values[HPX_SUM_NS] = ns;
    }
}

/* Whether table i + 1 may count what table i counts, too: no row has fallen, or is gone. One that has become too small for the table may
 * be gone. */
static bool holds(struct hpx_sums *s, size_t i)
{
    struct hpx_seeded_map map;
    const struct hpx_sums_part *next = part(s, i + 1);
    double least = (hpx_tag_counts(s->tag) ? (double)next->total : (double)next->ns) * 2e-4;
    bool grown = next->total >= part(s, i)->total;
    hpx_seeded_map_init(&map, true);
    for (size_t k = next->first; k < end_of(s, i + 1) && grown; k++) {
        uint32_t *index;
        grown = hpx_seeded_map_add(&map, key_of(at(s, k)), &index) >= 0;
        if (grown) {
            *index = (uint32_t)k;
        }
        s->no_memory |= !grown;
    }
    for (size_t k = part(s, i)->first; k < next->first && grown; k++) {
        const uint32_t *index = hpx_seeded_map_find(&map, key_of(at(s, k)));
        grown = index != NULL ? at(s, *index)->values[HPX_SUM_COUNT] >= at(s, k)->values[HPX_SUM_COUNT]
                              : (double)hpx_sum_main(s, at(s, k)) < least;
    }
    hpx_seeded_map_fini(&map);
    return grown;
}

/* Leaves out each table for which the next one stands. */
static void leave_out(struct hpx_sums *s, bool since)
{
    size_t rows = 0, parts = 0;
    for (size_t i = 0; i < s->parts.len; i++) {
        size_t first = part(s, i)->first, n = end_of(s, i) - first;
        if (i + 1 == s->parts.len || (since ? !part(s, i)->kept : !holds(s, i))) {
            struct hpx_sums_part kept = *part(s, i);
            kept.first = rows;
            *part(s, parts++) = kept;
            if (n > 0) {
                memmove(at(s, rows), at(s, first), n * sizeof(struct hpx_sum));
            }
            rows += n;
        }
    }
    s->parts.len = parts;
    s->rows.len = rows;
}

static void set_rest(struct hpx_sums *s)
{
    uint64_t sum = 0, total = hpx_sums_total(s);
    for (size_t i = 0; i < s->rows.len; i++) {
        sum = plus(sum, hpx_sum_main(s, at(s, i)));
    }
    bool rounding = part(s, 0)->rounded && sum < total && (double)(total - sum) * 1000 < (double)total;
    s->rest = sum < total && !rounding ? total - sum : 0;
}

void hpx_sums_end(struct hpx_sums *s, bool since)
{
    if (s->parts.len == 0) {
        return;
    }
    leave_out(s, since || s->tag == HPX_TAG_OLD);
    if (s->parts.len > 1) {
        add_up(s);
    }
    s->total = part(s, 0)->total;
    s->ns = part(s, 0)->ns;
    s->added = part(s, 0)->tables;
    if (s->tag != HPX_TAG_OLD && s->tag != HPX_TAG_SITES) { /* which tell no total */
        set_rest(s);
    }
}
