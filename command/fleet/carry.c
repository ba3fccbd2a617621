/* SPDX-License-Identifier: BSD-2-Clause */
/* carry.c: see carry.h. */
#include "carry.h"
#include <stdlib.h>

#define ALL ((1U << HPX_TREE_VALUES) - 1)

const struct hpx_carry hpx_carry_flow = {.keep = {[HPX_VIEW_CPU] = ALL,
                                                  [HPX_VIEW_WALL] = ALL,
                                                  [HPX_VIEW_CALLS] = ALL,
                                                  [HPX_VIEW_ALLOC] = 3,
                                                  [HPX_VIEW_LOCK] = ALL,
                                                  [HPX_VIEW_OWNER] = ALL,
                                                  [HPX_VIEW_PARK] = ALL,
                                                  [HPX_VIEW_WAIT] = ALL,
                                                  [HPX_VIEW_PINNED] = ALL,
                                                  [HPX_VIEW_OTHER] = ALL}};
const struct hpx_carry hpx_carry_live = {.keep = {[HPX_VIEW_ALLOC] = 12, [HPX_VIEW_HEAP] = ALL}};

/* Numbers in `from` -> numbers in `to`. */
struct carrier {
    struct hpx_tree *to;
    const struct hpx_tree *from;
    uint32_t *nodes, *frames, *names; /* nodes: UINT32_MAX is not wanted; others: 0 is not made yet */
};

/* The values that are kept; whether there is any. */
static bool kept(const struct hpx_carry *what, const struct hpx_tree *t, size_t view, size_t sample, uint64_t to[HPX_TREE_VALUES])
{
    const struct hpx_tree_view *v = &t->views[view];
    bool any = false;
    for (size_t m = 0; m < v->values; m++) {
        to[m] = (what->keep[view] >> m & 1) != 0 ? hpx_tree_values_at(v, sample)[m] : 0;
        any |= to[m] != 0;
    }
    return any;
}

static void mark(struct carrier *c, uint32_t node)
{
    for (; c->nodes[node] == UINT32_MAX; node = hpx_tree_node_at(c->from, node)->parent) {
        c->nodes[node] = 0;
    }
}

static void mark_all(struct carrier *c, const struct hpx_carry *what)
{
    uint64_t values[HPX_TREE_VALUES];
    for (size_t i = 1; i < c->from->nodes.len; i++) {
        c->nodes[i] = UINT32_MAX;
    }
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        for (size_t i = 0; i < c->from->views[k].samples.len; i++) {
            if (kept(what, c->from, k, i, values)) {
                mark(c, hpx_tree_sample_at(&c->from->views[k], i)->node);
            }
        }
    }
}

static uint32_t name(struct carrier *c, uint32_t of)
{
    if (of != 0 && c->names[of] == 0) {
        const char *text = hpx_tree_text(c->from, of);
        c->names[of] = hpx_tree_name(c->to, text, strlen(text));
    }
    return c->names[of];
}

static uint32_t frame(struct carrier *c, uint32_t of)
{
    const struct hpx_tree_frame *f = hpx_tree_frame_at(c->from, of);
    if (of != 0 && c->frames[of] == 0) {
        c->frames[of] = hpx_tree_frame(c->to, name(c, f->name), name(c, f->source), f->line, f->kind);
    }
    return c->frames[of];
}

static void add_nodes(struct carrier *c)
{
    for (uint32_t i = 1; i < c->from->nodes.len; i++) { /* a parent has a lower number */
        const struct hpx_tree_node *n = hpx_tree_node_at(c->from, i);
        if (c->nodes[i] != UINT32_MAX) {
            c->nodes[i] = hpx_tree_node(c->to, c->nodes[n->parent], frame(c, n->frame));
        }
    }
}

/* Values of measures that hprofx does not have, which may stand in another order; those for which there is no room are left out. */
static void place(struct carrier *c, const uint64_t *values, uint64_t to[HPX_TREE_VALUES])
{
    const struct hpx_tree_view *v = &c->from->views[HPX_VIEW_OTHER];
    struct hpx_tree_view *other = &c->to->views[HPX_VIEW_OTHER];
    memset(to, 0, HPX_TREE_VALUES * sizeof *to);
    for (size_t m = 0; m < v->values; m++) {
        for (size_t at = 0; at < other->values; at++) {
            if (other->measures[at].unit == v->measures[m].unit && strcmp(other->measures[at].name, v->measures[m].name) == 0) {
                to[at] = hpx_tree_sum(to[at], values[m]);
            }
        }
    }
}

static void add_measures(struct carrier *c)
{
    const struct hpx_tree_view *v = &c->from->views[HPX_VIEW_OTHER];
    for (size_t m = 0, at; m < v->values && v->samples.len > 0; m++) {
        const char *text = v->measures[m].name;
        uint32_t own = hpx_tree_name(c->to, text, strlen(text)); /* lives as long as the tree */
        (void)hpx_tree_find(c->to, hpx_tree_text(c->to, own), hpx_tree_unit_name(v->measures[m].unit), &at);
    }
}

static void add_samples(struct carrier *c, const struct hpx_carry *what, size_t view)
{
    uint64_t values[HPX_TREE_VALUES], placed[HPX_TREE_VALUES];
    const struct hpx_tree_view *v = &c->from->views[view];
    for (size_t i = 0; i < v->samples.len; i++) {
        if (kept(what, c->from, view, i, values)) {
            if (view == HPX_VIEW_OTHER) {
                place(c, values, placed);
            }
            hpx_tree_add(c->to, &c->to->views[view], c->nodes[hpx_tree_sample_at(v, i)->node], 0, view == HPX_VIEW_OTHER ? placed : values);
        }
    }
    if (v->samples.len > 0) {
        c->to->views[view].exact = v->exact;
    }
}

bool hpx_carry(struct hpx_tree *to, const struct hpx_tree *from, const struct hpx_carry *what)
{
    struct carrier c = {.to = to,
                        .from = from,
                        .nodes = calloc(from->nodes.len + 1, sizeof *c.nodes),
                        .frames = calloc(from->frames.len + 1, sizeof *c.frames),
                        .names = calloc(from->names.len + 1, sizeof *c.names)};
    to->no_memory |= c.nodes == NULL || c.frames == NULL || c.names == NULL || from->no_memory;
    if (!to->no_memory) {
        mark_all(&c, what);
        add_nodes(&c);
        if (what->keep[HPX_VIEW_OTHER] != 0) {
            add_measures(&c);
        }
        for (size_t k = 0; k < HPX_VIEWS && !to->no_memory; k++) {
            add_samples(&c, what, k);
        }
    }
    free(c.nodes);
    free(c.frames);
    free(c.names);
    return !to->no_memory;
}

size_t hpx_carry_size(const struct hpx_tree *t)
{
    size_t n = t->nodes.len;
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        n += t->views[k].samples.len;
    }
    return n;
}
