/* SPDX-License-Identifier: BSD-2-Clause */
/* dominators.c: contract in dominators.h.
 *
 * The simple variant of T. Lengauer, R. E. Tarjan: A fast algorithm for finding dominators in a flowgraph (1979). Semi-NCA would be
 * shorter, but is quadratic for a linked list whose items are in an array, too.
 *
 * Nodes are numbered in the order of a depth-first search; from then on a node is its number. Its semidominator is the least node that has
 * a way to it over greater ones only. Arcs to greater nodes are ways of their own: the search takes their least source at once. Only the
 * others, to a node met before, are kept until the node's turn: half of a heap's arcs. */
#include "dominators.h"
#include "heap_room.h"
#include <stdbool.h>
#include <stdlib.h>

#define ROOT (UINT32_MAX - 1U) /* the number of a root that has none yet */

/* A field has several uses, one after the other, to save memory: 16 bytes, a quarter of a cache line. */
struct node {
    uint32_t above; /* the parent in the search's tree; of a linked node the highest linked one that the way up is compressed to */
    uint32_t least; /* during the search: how many arcs are done; then the list of the nodes whose semidominator it is (0: end);
                     * of a linked node: the one with the least semidominator from it up to `above` */
    uint32_t semi;  /* semidominator, of those that are known */
    uint32_t list;  /* until its turn: its arcs in `met`; then the next node with the same semidominator; at last its dominator */
};

struct arc {
    uint32_t from, next; /* next: in `met`; 0: end */
};

struct search {
    uint32_t *number; /* by node */
    uint32_t *order;  /* nodes by number */
    struct node *nodes;
    uint32_t reached;
    struct arc *met; /* from 1 on */
    size_t met_len, met_room;
};

/* ---- the search ---- */

static int grow(struct search *s, struct hpx_err *err)
{
    size_t room = s->met_room + s->met_room / 2 + 1024;
    room = room < UINT32_MAX ? room : UINT32_MAX;
    if (s->met_len == UINT32_MAX) {
        return hpx_err_set(err, HPX_E_RANGE, "more than 2^32 references to objects met before");
    }
    struct arc *met = hpx_budget_take((room - s->met_room) * sizeof *met) ? realloc(s->met, room * sizeof *met) : NULL;
    if (met == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "%s", hpx_budget_why());
        return -HPX_E_NOMEM;
    }
    s->met = met;
    s->met_room = room;
    return 0;
}

static int keep(struct search *s, uint32_t from, uint32_t to, struct hpx_err *err)
{
    int e = s->met_len >= s->met_room ? grow(s, err) : 0;
    if (e == 0) {
        s->met[s->met_len] = (struct arc){from, s->nodes[to].list};
        s->nodes[to].list = (uint32_t)s->met_len++;
    }
    return e;
}

static void meet(struct search *s, uint32_t node, uint32_t parent)
{
    uint32_t k = s->reached++;
    s->nodes[k] = (struct node){.above = parent, .semi = s->number[node] == ROOT ? 0 : parent};
    s->number[node] = k;
    s->order[k] = node;
}

/* Goes on with the arcs of k. *child: one that it met for the first time, or 0. */
static int go_on(struct search *s, uint32_t k, const uint64_t *first, const uint32_t *refs, uint32_t *child, struct hpx_err *err)
{
    const uint32_t *arcs = refs + first[s->order[k]];
    uint64_t n = first[s->order[k] + 1] - first[s->order[k]];
    if (n > UINT32_MAX) {
        return hpx_err_set(err, HPX_E_RANGE, "an object with %llu references", (unsigned long long)n);
    }
    *child = 0;
    for (uint32_t i = s->nodes[k].least; i < n; i++) {
        uint32_t to = s->number[arcs[i]];
        if (to >= ROOT) {
            s->nodes[k].least = i + 1;
            *child = s->reached;
            meet(s, arcs[i], k);
            return 0;
        }
        struct node *t = &s->nodes[to];
        if (to > k) {
            t->semi = t->semi < k ? t->semi : k;
        } else if (t->semi != 0 && to != k) { /* one that node 0 refers to has node 0 as dominator, whoever else refers to it */
            int e = keep(s, k, to, err);
            if (e != 0) {
                return e;
            }
        }
    }
    s->nodes[k].least = 0;
    return 0;
}

static int search(struct search *s, const uint64_t *first, const uint32_t *refs, struct hpx_err *err)
{
    for (uint64_t i = first[0]; i < first[1]; i++) {
        s->number[refs[i]] = ROOT;
    }
    meet(s, 0, 0);
    for (uint32_t k = 0, child = 0;;) {
        int e = go_on(s, k, first, refs, &child, err);
        if (e != 0) {
            return e;
        }
        if (k == 0 && child == 0) {
            return 0;
        }
        k = child != 0 ? child : s->nodes[k].above;
    }
}

/* ---- the dominators ---- */

/* The node with the least semidominator on the way from v up to the last linked one: those from `linked` on are. Compresses this way. It
 * has as many nodes as the heap in the worst case, so the way back is kept in `above` itself. */
static uint32_t least(struct node *nodes, uint32_t v, uint32_t linked)
{
    uint32_t below = 0, at = v;
    while (nodes[at].above >= linked) {
        uint32_t up = nodes[at].above;
        nodes[at].above = below;
        below = at;
        at = up;
    }
    for (uint32_t top = nodes[at].above, best = nodes[at].least; below != 0;) {
        struct node *b = &nodes[below];
        if (nodes[best].semi < nodes[b->least].semi) {
            b->least = best;
        }
        best = b->least;
        below = b->above;
        b->above = top;
    }
    return nodes[v].least;
}

/* The nodes whose semidominator w is: w is their dominator, or they have that of a node on the way. */
static void resolve(struct node *nodes, uint32_t w)
{
    for (uint32_t v = nodes[w].least, next; v != 0; v = next) {
        next = nodes[v].list;
        uint32_t u = least(nodes, v, w + 1);
        nodes[v].list = nodes[u].semi < nodes[v].semi ? u : w;
    }
}

static void take_turn(const struct search *s, uint32_t w)
{
    struct node *nodes = s->nodes, *at = &nodes[w];
    bool root = at->semi == 0;
    for (uint32_t a = root ? 0 : at->list; a != 0; a = s->met[a].next) {
        uint32_t semi = nodes[least(nodes, s->met[a].from, w + 1)].semi;
        at->semi = semi < at->semi ? semi : at->semi;
    }
    resolve(nodes, w);
    at->least = w; /* from here on it is linked */
    if (root || at->semi == at->above) {
        at->list = at->semi;
    } else {
        at->list = nodes[at->semi].least;
        nodes[at->semi].least = w;
    }
}

static void dominate(const struct search *s, uint32_t *idom)
{
    struct node *nodes = s->nodes;
    for (uint32_t w = s->reached - 1; w > 0; w--) {
        take_turn(s, w);
    }
    resolve(nodes, 0);
    for (uint32_t w = 1; w < s->reached; w++) {
        if (nodes[w].list != nodes[w].semi) {
            nodes[w].list = nodes[nodes[w].list].list;
        }
    }
    idom[0] = 0; /* the numbers of the search are needed no more: idom takes their place */
    for (uint32_t w = 1; w < s->reached; w++) {
        idom[s->order[w]] = s->order[nodes[w].list];
    }
}

int hpx_heap_dominators(uint32_t n, const uint64_t *first, const uint32_t *refs, uint32_t *idom, struct hpx_err *err)
{
    if (n >= HPX_HEAP_NODES) {
        return hpx_err_set(err, HPX_E_RANGE, "more than 2^32 objects");
    }
    struct search s = {.number = idom, .met_len = 1};
    s.order = hpx_heap_room(n, sizeof *s.order, err);
    s.nodes = hpx_heap_room(n, sizeof *s.nodes, err);
    int e = s.order == NULL || s.nodes == NULL ? -HPX_E_NOMEM : 0;
    for (uint32_t i = 0; e == 0 && i < n; i++) {
        idom[i] = HPX_HEAP_UNREACHED;
    }
    e = e == 0 ? search(&s, first, refs, err) : e;
    if (e == 0) {
        dominate(&s, idom);
    }
    hpx_heap_room_free(s.met, s.met_room, sizeof *s.met);
    hpx_heap_room_free(s.nodes, n, sizeof *s.nodes);
    hpx_heap_room_free(s.order, n, sizeof *s.order);
    return e;
}

/* ---- ways ---- */

int hpx_heap_nearest(uint32_t n, const uint64_t *first, const uint32_t *refs, uint32_t *before, struct hpx_err *err)
{
    uint32_t *queue = hpx_heap_room(n, sizeof *queue, err);
    if (queue == NULL) {
        return -HPX_E_NOMEM;
    }
    for (uint32_t i = 1; i < n; i++) {
        before[i] = HPX_HEAP_UNREACHED;
    }
    queue[0] = before[0] = 0;
    for (uint32_t done = 0, met = 1; done < met; done++) {
        uint32_t at = queue[done];
        for (uint64_t i = first[at]; i < first[at + 1]; i++) {
            if (before[refs[i]] == HPX_HEAP_UNREACHED) {
                before[refs[i]] = at;
                queue[met++] = refs[i];
            }
        }
    }
    hpx_heap_room_free(queue, n, sizeof *queue);
    return 0;
}
