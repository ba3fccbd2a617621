/* SPDX-License-Identifier: BSD-2-Clause */
/* write_cpuprofile.c: a CPU profile of Chrome's DevTools (Profiler.Profile of their protocol): one column, its threads added up. A node is
 * a function that another called, whatever the lines.
 *
 * Time is in microseconds: what has another unit takes a microsecond for each of it. Readers do not agree on whether a time delta is that
 * before its sample or that behind it. So each stack comes twice, with no time between the pair before and its own first: then both give
 * each stack its own time. hitCount, of which DevTools makes the times of functions, is the value itself. */
#include "numbering.h"
#include "writers.h"
#include <stdlib.h>

#define FIRST_ID 1 /* of the root */

/* Children of nodes are lists, in the order of their numbers. */
struct node {
    uint32_t function, first_child, next;
    uint64_t value;
};

struct cpuprofile {
    const struct hpx_tree *tree;
    FILE *to;
    struct hpx_functions functions;
    struct hpx_seeded_map of; /* parent, function -> index + 1 in nodes */
    struct hpx_list nodes;    /* struct node; 0 is the root, whose number no child has */
    struct hpx_list stack;
    unsigned places; /* of the value in microseconds */
};

static struct node *at(const struct cpuprofile *p, size_t i)
{
    return (struct node *)p->nodes.items + i;
}

/* The node of a function below `parent`; 0: no memory. */
static uint32_t below(struct cpuprofile *p, uint32_t parent, uint32_t function)
{
    size_t before = p->nodes.len;
    struct node *n = hpx_list_entry(&p->of, &p->nodes, sizeof *n, (uint64_t)parent << 32 | function);
    if (n == NULL) {
        return 0;
    }
    uint32_t i = (uint32_t)(n - at(p, 0));
    if (p->nodes.len > before) {
        n->function = function;
        n->next = at(p, parent)->first_child; /* the last one first: turned round when they are written */
        at(p, parent)->first_child = i;
    }
    return i;
}

/* The node of a stack; one of no frames is that of function 0. *fine: there was memory. */
static uint32_t place(struct cpuprofile *p, uint32_t node, bool *fine)
{
    size_t n;
    uint32_t to = 0;
    *fine = hpx_tree_stack(p->tree, node, &p->stack, &n);
    if (*fine && n == 0) {
        to = below(p, 0, 0);
        *fine = to != 0;
    }
    for (size_t i = 0; *fine && i < n; i++) {
        to = below(p, to, p->functions.of[((const uint32_t *)p->stack.items)[i]]);
        *fine = to != 0;
    }
    return to;
}

static bool build(struct cpuprofile *p, struct hpx_tree_column c)
{
    uint32_t node;
    uint64_t value;
    bool fine = hpx_list_push(&p->nodes, sizeof(struct node)) != NULL;
    for (size_t i = 0; fine && hpx_tree_next(&p->tree->views[c.view], c.measure, &i, &node, &value);) {
        uint32_t to = place(p, node, &fine);
        struct node *n = at(p, to);
        n->value = hpx_tree_sum(n->value, value);
    }
    return fine;
}

static bool children(struct cpuprofile *p, const struct node *n)
{
    p->stack.len = 0;
    for (uint32_t i = n->first_child; i != 0; i = at(p, i)->next) {
        uint32_t *slot = hpx_list_push(&p->stack, sizeof *slot);
        if (slot == NULL) {
            return false;
        }
        *slot = i;
    }
    if (p->stack.len > 0) {
        (void)fputs(",\"children\":[", p->to);
        for (size_t k = p->stack.len; k-- > 0;) {
            hpx_json_number(p->to, FIRST_ID + ((const uint32_t *)p->stack.items)[k]);
            (void)putc_unlocked(k > 0 ? ',' : ']', p->to);
        }
    }
    return true;
}

static bool put_node(struct cpuprofile *p, size_t i)
{
    const struct node *n = at(p, i);
    const struct hpx_function *f = hpx_function_at(&p->functions, n->function);
    (void)fputs(i == 0 ? "{\"id\":" : ",\n{\"id\":", p->to);
    hpx_json_number(p->to, FIRST_ID + i);
    (void)fputs(",\"callFrame\":{\"functionName\":", p->to);
    hpx_json_string(p->to, i == 0 ? "(root)" : f->name == 0 ? HPX_NO_STACK : hpx_tree_text(p->tree, f->name));
    (void)fputs(",\"scriptId\":\"0\",\"url\":", p->to);
    hpx_json_string(p->to, hpx_tree_text(p->tree, i == 0 ? 0 : f->source));
    (void)fputs(",\"lineNumber\":-1,\"columnNumber\":-1},\"hitCount\":", p->to);
    hpx_json_number(p->to, n->value);
    bool all = children(p, n);
    (void)putc_unlocked('}', p->to);
    return all;
}

static void samples(const struct cpuprofile *p)
{
    bool first = true;
    for (size_t i = 0; i < p->nodes.len; i++) {
        if (at(p, i)->value > 0) {
            (void)fputs(first ? "" : ",", p->to);
            first = false;
            hpx_json_number(p->to, FIRST_ID + i);
            (void)putc_unlocked(',', p->to);
            hpx_json_number(p->to, FIRST_ID + i);
        }
    }
}

static void deltas(const struct cpuprofile *p)
{
    bool first = true;
    for (size_t i = 0; i < p->nodes.len; i++) {
        if (at(p, i)->value > 0) {
            (void)fputs(first ? "0," : ",0,", p->to);
            first = false;
            hpx_json_decimal(p->to, at(p, i)->value, p->places);
        }
    }
}

bool hpx_write_cpuprofile(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    const struct hpx_tree_view *v = &t->views[c.view];
    struct cpuprofile p = {.tree = t, .to = to, .places = v->measures[c.measure].unit == HPX_UNIT_NS ? 3 : 0};
    hpx_seeded_map_init(&p.of, true);
    bool all = hpx_functions_init(&p.functions, t) && build(&p, c);
    if (all) {
        (void)fputs("{\"nodes\":[", to);
        for (size_t i = 0; i < p.nodes.len && all; i++) {
            all = put_node(&p, i);
        }
        (void)fputs("],\n\"startTime\":0,\"endTime\":", to);
        hpx_json_decimal(to, v->totals[c.measure], p.places);
        (void)fputs(",\n\"samples\":[", to);
        samples(&p);
        (void)fputs("],\n\"timeDeltas\":[", to);
        deltas(&p);
        (void)fputs("]}\n", to);
    }
    hpx_functions_fini(&p.functions);
    hpx_seeded_map_fini(&p.of);
    free(p.nodes.items);
    free(p.stack.items);
    return all;
}
