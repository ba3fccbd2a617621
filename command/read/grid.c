/* SPDX-License-Identifier: BSD-2-Clause */
/* grid.c: see grid.h. */
#include "grid.h"
#include "names.h"

void hpx_grid_begin(struct hpx_grid *g, FILE *to, const struct hpx_grid_column *columns, size_t n)
{
    *g = (struct hpx_grid){.to = to, .columns = columns, .n = n};
    for (size_t i = 0; i < n; i++) {
        g->width[i] = columns[i].width;
    }
}

void hpx_grid_cell(struct hpx_grid *g, const char *text)
{
    size_t i = g->at++, n = hpx_name_columns(text, NULL);
    if (!g->prints) {
        g->width[i] = n > g->width[i] ? n : g->width[i];
        return;
    }
    int blanks = (int)(g->width[i] - n), before = (int)g->columns[i].gap;
    bool left = g->columns[i].left;
    fprintf(g->to, "%*s%s%*s", before + (left ? 0 : blanks), "", text, left ? blanks : 0, "");
}

void hpx_grid_heads(struct hpx_grid *g)
{
    for (size_t i = 0; i < g->n; i++) {
        hpx_grid_cell(g, g->columns[i].head);
    }
}

bool hpx_grid_end(struct hpx_grid *g)
{
    g->at = 0;
    return g->prints;
}

bool hpx_grid_again(struct hpx_grid *g)
{
    g->prints = !g->prints;
    return g->prints;
}
