/* SPDX-License-Identifier: BSD-2-Clause */
/* by.h: what each of the methods that fit a pattern (filter.h) costs with all that it calls, in every view: which request costs. A sample
 * counts for the outermost of them on its stack, once, so that the rows and the rest are the total. One thread.
 *
 * Memory: nine bytes for each node, frame and name, and a row for each method that fits. Time: linear in nodes and samples, names times
 * patterns. */
#ifndef HPX_TREE_BY_H
#define HPX_TREE_BY_H

#include "tree.h"

#define HPX_BY_COLUMNS (HPX_VIEWS + 2)

enum hpx_by_states { HPX_BY_ALL, HPX_BY_BLOCKED, HPX_BY_WAITING };

struct hpx_by_column {
    struct hpx_tree_column of;
    enum hpx_by_states states; /* of the wall clock: of all of it, of blocked threads, of those that wait otherwise */
};

struct hpx_by_row {
    uint32_t name;
    uint64_t values[HPX_BY_COLUMNS];
};

struct hpx_by {
    size_t ncolumns;
    struct hpx_by_column columns[HPX_BY_COLUMNS]; /* the main measure of each view that has any; of the wall clock three */
    struct hpx_list rows;                         /* struct hpx_by_row: by the first column, then the next */
    struct hpx_by_row rest, all;                  /* rest: without such a method */
};

/* Of a finished tree; patterns: const char *, any of them; view: only that view's columns, HPX_VIEWS: all. false: no memory. hpx_by_fini()
 * in any case. */
bool hpx_by_make(struct hpx_by *b, const struct hpx_tree *t, const struct hpx_list *patterns, size_t view);
void hpx_by_fini(struct hpx_by *b);

#endif
