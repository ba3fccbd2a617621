/* SPDX-License-Identifier: BSD-2-Clause */
/* graph.c: see graph.h. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

#define NOT_IN UINT32_MAX

static struct hpx_graph_node *at(struct hpx_graph *c, uint32_t node)
{
    return (struct hpx_graph_node *)c->nodes.items + node;
}

void hpx_graph_fini(struct hpx_graph *c)
{
    hpx_seeded_map_fini(&c->child_of);
    free(c->nodes.items);
    *c = (struct hpx_graph){0};
}

static bool begin(struct hpx_graph *c)
{
    *c = (struct hpx_graph){0};
    hpx_seeded_map_init(&c->child_of, true);
    return hpx_list_push(&c->nodes, sizeof(struct hpx_graph_node)) != NULL;
}

/* NOT_IN: no memory. */
static uint32_t child(struct hpx_graph *c, uint32_t parent, uint32_t name, enum hpx_frame_kind kind)
{
    size_t before = c->nodes.len;
    uint64_t key = (uint64_t)parent << 32 | (uint64_t)(kind == HPX_FRAME_CLASS) << 31 | name; /* a tree has fewer names */
    struct hpx_graph_node *n = hpx_list_entry(&c->child_of, &c->nodes, sizeof *n, key);
    if (n == NULL) {
        return NOT_IN;
    }
    if (c->nodes.len > before) {
        n->parent = parent;
        n->name = name;
        n->kind = kind;
    }
    return (uint32_t)(n - (struct hpx_graph_node *)c->nodes.items);
}

struct order {
    uint32_t node, parent;
    uint64_t total;
};

/* Children of a parent with the largest last, as they are linked from the last on. */
static int by_parent(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    return x->parent != y->parent ? (x->parent < y->parent ? -1 : 1)
           : x->total != y->total ? (x->total < y->total ? -1 : 1)
                                  : (x->node < y->node) - (x->node > y->node);
}

/* Totals, and the links of children. */
static bool end(struct hpx_graph *c)
{
    size_t n = c->nodes.len;
    struct order *order = malloc(n * sizeof *order);
    if (order == NULL) {
        return false;
    }
    for (uint32_t i = (uint32_t)n; i-- > 0;) {
        struct hpx_graph_node *node = at(c, i);
        node->total = hpx_tree_sum(node->total, node->self);
        if (i > 0) {
            at(c, node->parent)->total = hpx_tree_sum(at(c, node->parent)->total, node->total);
        }
        order[i] = (struct order){i, node->parent, node->total};
    }
    qsort(order + 1, n - 1, sizeof *order, by_parent);
    for (size_t i = 1; i < n; i++) {
        at(c, order[i].node)->next = at(c, order[i].parent)->first;
        at(c, order[i].parent)->first = order[i].node;
    }
    free(order);
    return true;
}

static bool counts(const struct hpx_graph_of *of, const struct hpx_tree_view *v, size_t i)
{
    return hpx_tree_values_at(v, i)[of->column.measure] > 0 && (of->threads == NULL || of->threads[hpx_tree_sample_at(v, i)->thread]);
}

/* The nodes of c for those of the tree that the samples need; to: NOT_IN, and room, for each. */
static bool take_nodes(struct hpx_graph *c, const struct hpx_graph_of *of, uint32_t *to)
{
    const struct hpx_tree *t = of->tree;
    const struct hpx_tree_view *v = &t->views[of->column.view];
    memset(to, 0xff, t->nodes.len * sizeof *to);
    to[0] = 0;
    for (size_t i = 0; i < v->samples.len; i++) {
        for (uint32_t n = counts(of, v, i) ? hpx_tree_sample_at(v, i)->node : 0; to[n] == NOT_IN; n = hpx_tree_node_at(t, n)->parent) {
            to[n] = 0; /* wanted */
        }
    }
    for (uint32_t i = 1; i < t->nodes.len; i++) {
        const struct hpx_tree_node *n = hpx_tree_node_at(t, i);
        if (to[i] == 0) {
            const struct hpx_tree_frame *f = hpx_tree_frame_at(t, n->frame);
            to[i] = child(c, to[n->parent], f->name, f->kind);
            if (to[i] == NOT_IN) {
                return false;
            }
        }
    }
    return true;
}

bool hpx_graph_make(struct hpx_graph *c, const struct hpx_graph_of *of)
{
    const struct hpx_tree_view *v = &of->tree->views[of->column.view];
    uint32_t *to = malloc(of->tree->nodes.len * sizeof *to);
    bool made = begin(c) && to != NULL && take_nodes(c, of, to);
    for (size_t i = 0; made && i < v->samples.len; i++) {
        if (counts(of, v, i)) {
            struct hpx_graph_node *n = at(c, to[hpx_tree_sample_at(v, i)->node]);
            n->self = hpx_tree_sum(n->self, hpx_tree_values_at(v, i)[of->column.measure]);
            n->count = hpx_tree_sum(n->count, hpx_tree_values_at(v, i)[of->beside]);
        }
    }
    free(to);
    return made && end(c);
}

static bool is(const struct hpx_graph_node *n, const struct hpx_graph_method *m)
{
    return n->name == m->name && n->kind == m->kind;
}

bool hpx_graph_callees(struct hpx_graph *c, const struct hpx_graph *whole, const struct hpx_graph_method *method)
{
    uint32_t *to = malloc(whole->nodes.len * sizeof *to);
    bool made = begin(c) && to != NULL;
    for (uint32_t i = 0; made && i < whole->nodes.len; i++) {
        const struct hpx_graph_node *n = hpx_graph_at(whole, i);
        uint32_t above = i > 0 ? to[n->parent] : NOT_IN;
        to[i] = above != NOT_IN ? child(c, above, n->name, n->kind) : i > 0 && is(n, method) ? 0 : NOT_IN;
        made = above == NOT_IN || to[i] != NOT_IN;
        if (to[i] != NOT_IN) {
            at(c, to[i])->self = hpx_tree_sum(at(c, to[i])->self, n->self);
            at(c, to[i])->count = hpx_tree_sum(at(c, to[i])->count, n->count);
        }
    }
    free(to);
    return made && end(c);
}

/* Puts the callers of a node below the root of c; a value at the outermost. */
static bool climb(struct hpx_graph *c, const struct hpx_graph *whole, const struct hpx_graph_node *of)
{
    uint32_t to = 0, from = of->parent;
    for (unsigned level = 0; from != 0 && level < HPX_GRAPH_UP; level++) {
        const struct hpx_graph_node *n = hpx_graph_at(whole, from);
        to = child(c, to, n->name, n->kind);
        if (to == NOT_IN) {
            return false;
        }
        from = n->parent;
    }
    at(c, to)->self = hpx_tree_sum(at(c, to)->self, of->total);
    return true;
}

bool hpx_graph_callers(struct hpx_graph *c, const struct hpx_graph *whole, const struct hpx_graph_method *method)
{
    bool *below = calloc(whole->nodes.len, sizeof *below);
    bool made = begin(c) && below != NULL;
    for (uint32_t i = 1; made && i < whole->nodes.len; i++) {
        const struct hpx_graph_node *n = hpx_graph_at(whole, i);
        below[i] = below[n->parent] || is(n, method);
        if (below[i] && !below[n->parent]) {
            made = climb(c, whole, n);
        }
    }
    free(below);
    return made && end(c);
}

/* ---- by method ---- */

struct walk {
    struct hpx_list *methods;
    uint32_t *index; /* of each name and kind: + 1 */
    uint32_t *open;  /* how often it is on the stack */
};

static size_t slot(uint32_t name, enum hpx_frame_kind kind)
{
    return 2 * (size_t)name + (kind == HPX_FRAME_CLASS);
}

static struct hpx_graph_method *row(const struct walk *w, uint32_t name, enum hpx_frame_kind kind)
{
    uint32_t *index = &w->index[slot(name, kind)];
    if (*index == 0) {
        struct hpx_graph_method *made = hpx_list_push(w->methods, sizeof *made);
        if (made == NULL) {
            return NULL;
        }
        made->name = name;
        made->kind = kind;
        *index = (uint32_t)w->methods->len;
    }
    return (struct hpx_graph_method *)w->methods->items + *index - 1;
}

static bool enter(const struct walk *w, const struct hpx_graph *c, const struct hpx_graph_node *n)
{
    struct hpx_graph_method *m = row(w, n->name, n->kind);
    if (m == NULL) {
        return false;
    }
    m->total = w->open[slot(n->name, n->kind)]++ == 0 ? hpx_tree_sum(m->total, n->total) : m->total;
    m->self = hpx_tree_sum(m->self, n->self);
    m->count = hpx_tree_sum(m->count, n->count);
    if (n->kind == HPX_FRAME_CLASS && n->parent != 0) {
        const struct hpx_graph_node *caller = hpx_graph_at(c, n->parent);
        struct hpx_graph_method *above = row(w, caller->name, caller->kind); /* it is there */
        above->self = hpx_tree_sum(above->self, n->self);
        above->count = hpx_tree_sum(above->count, n->count);
    }
    return true;
}

static void leave(const struct walk *w, const struct hpx_graph_node *n)
{
    w->open[slot(n->name, n->kind)]--;
}

/* In the order of a walk, so that what is on the stack is known. */
static bool walk(const struct walk *w, const struct hpx_graph *c)
{
    for (uint32_t n = hpx_graph_at(c, 0)->first; n != 0;) {
        const struct hpx_graph_node *node = hpx_graph_at(c, n);
        if (!enter(w, c, node)) {
            return false;
        }
        if (node->first != 0) {
            n = node->first;
            continue;
        }
        while (n != 0 && hpx_graph_at(c, n)->next == 0) {
            leave(w, hpx_graph_at(c, n));
            n = hpx_graph_at(c, n)->parent;
        }
        if (n != 0) {
            leave(w, hpx_graph_at(c, n));
            n = hpx_graph_at(c, n)->next;
        }
    }
    return true;
}

static int by_self(const void *a, const void *b)
{
    const struct hpx_graph_method *x = a, *y = b;
    return x->self != y->self     ? (x->self > y->self ? -1 : 1)
           : x->total != y->total ? (x->total > y->total ? -1 : 1)
                                  : (x->name > y->name) - (x->name < y->name);
}

static int by_total(const void *a, const void *b)
{
    const struct hpx_graph_method *x = a, *y = b;
    return x->total != y->total ? (x->total > y->total ? -1 : 1) : by_self(a, b);
}

static void sort(struct hpx_list *methods, size_t from, int (*order)(const void *, const void *))
{
    if (methods->items != NULL && methods->len > from + 1) {
        qsort((struct hpx_graph_method *)methods->items + from, methods->len - from, sizeof(struct hpx_graph_method), order);
    }
}

bool hpx_graph_methods(struct hpx_list *methods, const struct hpx_graph *whole, const struct hpx_tree *t)
{
    const struct hpx_graph_node *root = hpx_graph_at(whole, 0);
    struct walk w = {
        .methods = methods, .index = calloc(2 * t->names.len, sizeof *w.index), .open = calloc(2 * t->names.len, sizeof *w.open)};
    *methods = (struct hpx_list){0};
    bool made = w.index != NULL && w.open != NULL && walk(&w, whole);
    if (made && root->self > 0) {
        struct hpx_graph_method *none = row(&w, 0, HPX_FRAME_METHOD);
        made = none != NULL;
        if (made) {
            none->self = hpx_tree_sum(none->self, root->self);
            none->total = hpx_tree_sum(none->total, root->self);
            none->count = hpx_tree_sum(none->count, root->count);
        }
    }
    free(w.index);
    free(w.open);
    sort(methods, 0, by_self);
    return made;
}

void hpx_graph_rank(struct hpx_list *methods, size_t n)
{
    sort(methods, 0, by_self);
    sort(methods, n - n / 2, by_total);
}

bool hpx_graph_threads(struct hpx_list *threads, const struct hpx_graph_of *of)
{
    const struct hpx_tree_view *v = &of->tree->views[of->column.view];
    struct walk w = {.methods = threads, .index = calloc(2 * of->tree->names.len, sizeof *w.index)};
    *threads = (struct hpx_list){0};
    bool made = w.index != NULL;
    for (size_t i = 0; made && i < v->samples.len; i++) {
        if (counts(of, v, i)) {
            struct hpx_graph_method *m = row(&w, hpx_tree_sample_at(v, i)->thread, HPX_FRAME_METHOD);
            made = m != NULL;
            if (made) {
                m->self = hpx_tree_sum(m->self, hpx_tree_values_at(v, i)[of->column.measure]);
                m->total = m->self;
                m->count = hpx_tree_sum(m->count, hpx_tree_values_at(v, i)[of->beside]);
            }
        }
    }
    free(w.index);
    sort(threads, 0, by_self);
    return made;
}
