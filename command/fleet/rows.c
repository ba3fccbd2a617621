/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.c: a profile as rows of a table of ClickHouse, in its format RowBinary: numbers little-endian, a text or an array behind its length
 * as a varint (https://clickhouse.com/docs/interfaces/formats/RowBinary). */
#include "batch.h"
#include "graph.h"
#include <stdlib.h>
#include <string.h>

/* Of a column: so that the numbers of all of them fit 32 bits. */
#define ROWS (UINT32_MAX / (HPX_VIEWS * HPX_TREE_VALUES))

struct rows {
    FILE *to;
    const struct hpx_tree *tree;
    const char *id;
    uint64_t bytes;
    struct hpx_list names; /* uint32_t: of a stack, innermost first */
};

static void number(struct rows *r, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        (void)putc_unlocked((int)(v >> 8 * i & 0xff), r->to);
    }
    r->bytes += bytes;
}

static void varint(struct rows *r, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) {
        number(r, (v & 0x7f) | 0x80, 1);
    }
    number(r, v, 1);
}

static void text(struct rows *r, const char *s)
{
    size_t n = strlen(s);
    varint(r, n);
    (void)fwrite_unlocked(s, 1, n, r->to);
    r->bytes += n;
}

static uint32_t fits(uint64_t v)
{
    return v <= UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

/* What all rows of a profile have in common. */
static void about(struct rows *r)
{
    const struct hpx_tree *t = r->tree;
    number(r, fits(t->start_ms / 1000), 4);
    number(r, fits(t->duration_ms), 4);
    text(r, hpx_tree_text(t, t->origin.service));
    text(r, hpx_tree_text(t, t->origin.version));
    text(r, hpx_tree_text(t, t->origin.host));
    text(r, hpx_tree_text(t, t->origin.container));
    number(r, fits(t->origin.pid), 4);
    text(r, r->id);
}

static bool stack(struct rows *r, const struct hpx_graph *g, uint32_t node)
{
    r->names.len = 0;
    for (; node != 0; node = hpx_graph_at(g, node)->parent) {
        uint32_t *name = hpx_list_push(&r->names, sizeof *name);
        if (name == NULL) {
            return false;
        }
        *name = hpx_graph_at(g, node)->name;
    }
    varint(r, r->names.len);
    for (size_t i = r->names.len; i > 0; i--) {
        text(r, hpx_tree_text(r->tree, ((const uint32_t *)r->names.items)[i - 1]));
    }
    return true;
}

static bool column(struct rows *r, struct hpx_tree_column c)
{
    struct hpx_graph g;
    const uint32_t first = (uint32_t)(c.view * HPX_TREE_VALUES + c.measure) * ROWS;
    uint32_t row = 0;
    bool all = hpx_graph_make(&g, &(struct hpx_graph_of){.tree = r->tree, .column = c, .beside = c.measure});
    for (uint32_t i = 0; all && i < g.nodes.len; i++) {
        const struct hpx_graph_node *n = hpx_graph_at(&g, i);
        if (n->self > 0) {
            about(r);
            text(r, r->tree->views[c.view].measures[c.measure].name);
            number(r, first + row++, 4);
            all = row < ROWS && stack(r, &g, i); /* as the tree's bound: what has more counts as no memory */
            number(r, n->self, 8);
        }
    }
    hpx_graph_fini(&g);
    return all;
}

bool hpx_batch_rows(FILE *to, const struct hpx_tree *t, const char *id, uint64_t *bytes)
{
    struct rows r = {.to = to, .tree = t, .id = id};
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    bool all = true;
    for (size_t i = 0, n = hpx_tree_columns(t, of); all && i < n; i++) {
        all = column(&r, of[i]);
    }
    free(r.names.items);
    *bytes += r.bytes;
    return all;
}
