/* SPDX-License-Identifier: BSD-2-Clause */
/* sums.h: the tables of one kind in a file as one table.
 *
 * CPU SAMPLES, CPU TIME, WALL CLOCK and the tables of blocked time count since the table before, and are added up. hprofx says so at the
 * begin of its files, and behind a table for a peer that its counts go on: the next table stands for both. Of a file that says nothing the
 * numbers decide: a table that has all rows of the one before, none of them smaller, stands for both; any other is added. (The original
 * HPROF clears its counts at SIGQUIT, and does not when a peer asks for a table.) The table of cpu=old is added up in any file, because no
 * such file can say anything. SITES counts from the start: the last one holds.
 *
 * Memory: a row for each row of the file; equal rows are one where the file says that they add up. One thread. */
#ifndef HPX_READ_SUMS_H
#define HPX_READ_SUMS_H

#include "events.h"
#include "list.h"

#define HPX_SUMS_MOST ((size_t)1 << 26)   /* rows: as tree.h bounds what it holds */
#define HPX_NO_OWNER  "[owner not known]" /* stands for owners of monitors that were not asked for, or had left */
#define HPX_REST      "[rest]"            /* stands for what the total of a table has and its rows do not */

enum { HPX_SUM_COUNT, HPX_SUM_NS };
enum { HPX_SUM_OBJECTS, HPX_SUM_BYTES, HPX_SUM_LIVE_OBJECTS, HPX_SUM_LIVE_BYTES };

struct hpx_sum {
    uint32_t trace; /* its serial */
    uint32_t name;  /* of the class or monitor; cpu=old: of the method */
    uint32_t other; /* MONITOR OWNERS: the trace of the owner; cpu=old: who called it */
    uint32_t state; /* WALL CLOCK */
    uint32_t self;  /* text, of one table: its share in hundredths of a percent, else HPX_NO_SHARE */
    uint64_t values[4];
};

/* Tables that were added up: their rows stand from `first` to the next part. */
struct hpx_sums_part {
    size_t first, tables;
    uint64_t total, ns;
    bool kept;    /* its counts went on */
    bool rounded; /* its rows have only shares, or whole ms */
};

struct hpx_sums {
    int tag;
    struct hpx_list rows;  /* struct hpx_sum; after hpx_sums_end() each is there once */
    struct hpx_list parts; /* struct hpx_sums_part */
    size_t exact;          /* rows of the last table whose time in ns the file says */
    bool any_kept;
    /* After hpx_sums_end(): */
    uint64_t total, ns; /* samples; else time */
    uint64_t rest;      /* what of the total no row has, if it is more than rounding: samples, or ns */
    size_t added;       /* tables that were added up */
    bool no_memory;
};

void hpx_sums_init(struct hpx_sums *s, int tag);
void hpx_sums_fini(struct hpx_sums *s);
/* As after hpx_sums_init(). */
void hpx_sums_clear(struct hpx_sums *s);
/* A table begins. since: the file has said that they add up. */
void hpx_sums_begin(struct hpx_sums *s, const struct hpx_rd_table *table, bool since);
/* A row of it, of which the caller sets what names it and, of SITES, the values. NULL: no memory. */
struct hpx_sum *hpx_sums_row(struct hpx_sums *s, const struct hpx_rd_row *row);
/* What the file says behind the last table of its time in ns. */
void hpx_sums_exact(struct hpx_sums *s, const struct hpx_rd_exact *exact);
/* The counts of the last table went on. */
void hpx_sums_kept(struct hpx_sums *s);
/* After the last table. */
void hpx_sums_end(struct hpx_sums *s, bool since);

/* By which rows are ranked: samples, calls, or ns. */
static inline uint64_t hpx_sum_main(const struct hpx_sums *s, const struct hpx_sum *row)
{
    return row->values[hpx_tag_counts(s->tag) ? HPX_SUM_COUNT : s->tag == HPX_TAG_SITES ? HPX_SUM_LIVE_BYTES : HPX_SUM_NS];
}
static inline uint64_t hpx_sums_total(const struct hpx_sums *s)
{
    return hpx_tag_counts(s->tag) ? s->total : s->ns;
}

#endif
