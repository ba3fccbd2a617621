/* SPDX-License-Identifier: BSD-2-Clause */
/* graph.h: what a column of a finished tree says of methods: a call tree without lines and sources, self and total of every method, callers
 * and callees of one, totals of threads. Sums that do not fit stay at UINT64_MAX. One thread.
 *
 * Memory: 48 bytes and an index entry for each node. While it is computed also 16 for each node, 16 for each name and 4 for each node of
 * the tree. Time: linear in the tree, and n log n for sorting. */
#ifndef HPX_TREE_GRAPH_H
#define HPX_TREE_GRAPH_H

#include "tree.h"

/* Of which samples. */
struct hpx_graph_of {
    const struct hpx_tree *tree;
    struct hpx_tree_column column;
    size_t beside;       /* another measure of the view, for `count`; column.measure: none */
    const bool *threads; /* by name: those that count; NULL: all */
};

/* Node 0 is the root. A parent has a lower number. */
struct hpx_graph_node {
    uint32_t parent, name; /* name: of the tree */
    uint32_t first, next;  /* the child with the largest total; the next child of the parent; 0: none */
    uint64_t self, total;
    uint64_t count; /* self, in the measure beside it */
    enum hpx_frame_kind kind;
};

struct hpx_graph {
    struct hpx_list nodes; /* struct hpx_graph_node */
    struct hpx_seeded_map child_of;
};

/* A method or a class. What a class has is also self of the method that has the class below it. Name 0: samples without a stack. */
struct hpx_graph_method {
    uint32_t name;
    enum hpx_frame_kind kind;
    uint64_t self, total; /* total: of the samples with it on the stack; recursion counts once */
    uint64_t count;       /* self, in the measure beside it */
};

#define HPX_GRAPH_UP 256u /* levels of callers; those above are left out */

void hpx_graph_fini(struct hpx_graph *c);
/* These fill *c, which hpx_graph_fini() frees in any case. false: no memory. */
bool hpx_graph_make(struct hpx_graph *c, const struct hpx_graph_of *of);
/* What the method (its name and kind) calls, below the root, which stands for the method; and the methods that call it, each below the one
 * that it calls, without `count`. Each sample counts once: where the method stands farthest from the end of the stack. whole:
 * hpx_graph_make(). */
bool hpx_graph_callees(struct hpx_graph *c, const struct hpx_graph *whole, const struct hpx_graph_method *method);
bool hpx_graph_callers(struct hpx_graph *c, const struct hpx_graph *whole, const struct hpx_graph_method *method);

/* struct hpx_graph_method, by self; the caller frees the items in any case. false: no memory. */
bool hpx_graph_methods(struct hpx_list *methods, const struct hpx_graph *whole, const struct hpx_tree *t);
/* The first n rows as people look for them: half by self, the rest by total. */
void hpx_graph_rank(struct hpx_list *methods, size_t n);
/* Threads, by self, with kind 0; the caller frees the items in any case. */
bool hpx_graph_threads(struct hpx_list *threads, const struct hpx_graph_of *of);

static inline const struct hpx_graph_node *hpx_graph_at(const struct hpx_graph *c, uint32_t node)
{
    return (const struct hpx_graph_node *)c->nodes.items + node;
}

#endif
