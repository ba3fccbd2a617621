/* SPDX-License-Identifier: BSD-2-Clause */
/* grid.h: rows of cells whose columns are as wide as their longest cell. The rows are made twice, to measure and to print:
 *
 *     struct hpx_grid g;
 *     hpx_grid_begin(&g, to, columns, n);
 *     do {
 *         hpx_grid_heads(&g);
 *         for every row: hpx_grid_cell(&g, text) from the first column on; then if (hpx_grid_end(&g)) print the rest of the line
 *     } while (hpx_grid_again(&g)); */
#ifndef HPX_READ_GRID_H
#define HPX_READ_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define HPX_GRID_COLUMNS 26 /* of hprofx view --by, with all views */

struct hpx_grid_column {
    const char *head;
    size_t gap, width; /* blanks before it; its least width */
    bool left;         /* the text stands at the left end */
};

struct hpx_grid {
    FILE *to;
    const struct hpx_grid_column *columns;
    size_t n, at;
    size_t width[HPX_GRID_COLUMNS];
    bool prints;
};

/* At most HPX_GRID_COLUMNS columns. */
void hpx_grid_begin(struct hpx_grid *g, FILE *to, const struct hpx_grid_column *columns, size_t n);
/* The heads of all columns. */
void hpx_grid_heads(struct hpx_grid *g);
/* The next cell of the row: UTF-8. Rows may end early. */
void hpx_grid_cell(struct hpx_grid *g, const char *text);
/* Ends the row; true: it was printed but for its line's end. */
bool hpx_grid_end(struct hpx_grid *g);
/* true: once more, and now it is printed. */
bool hpx_grid_again(struct hpx_grid *g);

#endif
