/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_table.h: the tables of a dump from their descriptions: which rows they have, in which order, and their lines in text. The writer's
 * thread only. */
#ifndef HPX_HPROF_TABLE_H
#define HPX_HPROF_TABLE_H

#include "hprof_ascii.h"
#include <stddef.h>

#define HPX_ROW_ROOM     256u               /* bytes: usual upper bound of a row */
#define HPX_SECTION_ROOM ((size_t)20 << 10) /* bytes: rest of a section, and its report */

/* A row is a struct that begins with its trace (const struct hpx_trace_rec *). */
#define HPX_TABLE_SUMS  5u
#define HPX_TABLE_KINDS 8u
#define HPX_TABLE_ROW   128u /* bytes of a row, at most */
struct hpx_table {
    const char *title, *columns; /* of text */
    bool positive;               /* rows of the value 0 are not in it */
    bool exact;                  /* its rows have shares of a time: behind it the times themselves stand in ns */
    bool titled;                 /* the line of columns stands there without rows too */
    int digits;                  /* columns of the rank */
    size_t row, value;           /* bytes of a row; where its uint64_t is of which it has a share */
    size_t owner, name;          /* where it has a second trace, NULL: the empty one; where a name (struct hpx_text); 0: none */
    int (*order)(const void *, const void *); /* as qsort() has it */
    double (*percent)(uint64_t part, uint64_t total);
    void (*put)(struct hpx_ascii *w, const void *row); /* its line behind rank and shares */
    size_t count;                                      /* where it has what it stands for; 0: it stands for a time, of which the ms count */
    size_t sums[HPX_TABLE_SUMS];                       /* where it has numbers that add up when rows are summed; 0: no more */
    uint32_t (*kind)(const void *row); /* rows of different kinds, below HPX_TABLE_KINDS, are not summed together; NULL: one kind */
};

/* Rows of which the first `ranked` belong into the table. */
struct hpx_ranked {
    void *rows;
    uint32_t ranked;
    uint64_t total; /* of which they have shares */
};

/* Sorts n rows; a table ends before the first one whose share of the total is below the cutoff (a fraction; nan: everything; a total of 0:
 * no row is below). */
struct hpx_ranked hpx_table_rank(const struct hpx_table *t, void *rows, uint32_t n, uint64_t total, double cutoff);

/* The rows from `from` on become one of each kind, with the trace hpx_trace_summed and no class, in its place among the first `left`, which
 * stay. Returns how many rows there are then; r->ranked does not change. */
uint32_t hpx_table_sum(const struct hpx_table *t, const struct hpx_ranked *r, uint32_t left, uint32_t from, struct hpx_bound *b);
/* What n rows stand for: samples, calls, objects, blocks, ms. */
uint64_t hpx_table_counts(const struct hpx_table *t, const void *rows, uint32_t n);
extern const struct hpx_trace_rec *const hpx_trace_summed;
/* The class of rows of summed sites. */
#define HPX_CLASS_SUMMED ((struct hpx_text){"hprofx.summed", 13})

/* The threads and traces that are not in the output yet, then the table, without rows whose traces are not in the output; these go from
 * the array too. What stands between the parentheses behind BEGIN is printed as by printf(). t->exact: lines that readers of HPROF pass
 * over as they do the report's (hprof_format.h). Rows beyond w->bound are summed. */
void hpx_ascii_table(struct hpx_ascii *w, const struct hpx_table *t, struct hpx_ranked r, time_t now, const char *total, ...)
    HPX_PRINTF(5, 6);

/* For orders. */
static inline int hpx_order(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

/* Not 0 / 0: that is a share of 0 percent. */
static inline double hpx_percent(uint64_t part, uint64_t total)
{
    return total > 0 ? (double)part * 100.0 / (double)total : 0.0;
}

static inline uint64_t hpx_whole_ms(uint64_t ns)
{
    return ns / 1000000 + (ns % 1000000 >= 500000);
}

/* CPU SAMPLES: of struct hpx_row, by count, descending, then by trace. */
extern const struct hpx_table hpx_table_samples;

#endif
