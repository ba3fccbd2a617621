/* SPDX-License-Identifier: BSD-2-Clause */
/* dominators.c: contract in dominators.h.
 *
 * The simple variant of T. Lengauer, R. E. Tarjan: A fast algorithm for finding dominators in a flowgraph (1979). Semi-NCA would be
 * shorter, but is quadratic for a linked list whose items are in an array, too.
 *
 * Nodes are numbered in the order of a depth-first search; from then on a node is its number. Its semidominator is the least node that has
 * a way to it over greater ones only. The search keeps the arcs to nodes that it met before: half of a heap's. Those from a lesser node
 * are ways of their own; the others wait for the node's turn.
 *
 * All of it waits for memory alone, so what is needed next is fetched ahead, and the search looks at as little as it can: at its numbers,
 * never at a node. */
#include "dominators.h"
#include "heap_room.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 16 /* elements of an array that are fetched so long before their turn */

/* A field has several uses, one after the other, to save memory: 16 bytes, a quarter of a cache line. */
struct node {
    uint32_t above; /* the parent in the search's tree; of a linked node the highest linked one that the way up is compressed to */
    uint32_t least; /* the list of the nodes whose semidominator it is (0: end); of a linked node: the one with the least semidominator
                     * from it up to `above` */
    uint32_t semi;  /* semidominator, of those that are known */
    uint32_t list;  /* until its turn: its arcs in `met`; then the next node with the same semidominator; at last its dominator */
};

struct arc {
    uint32_t from;
    uint32_t next; /* at first the node that it leads to; then the next one to the same node, in `met`; 0: end */
};

struct search {
    const uint64_t *first;
    const uint32_t *refs;
    uint32_t *number; /* by node */
    uint32_t *order;  /* nodes by number */
    struct node *nodes;
    /* During the search, in the room of `nodes`: */
    uint32_t *parent, *stack, *done; /* by number; nodes with arcs left; how many they have followed */
    uint32_t *roots;                 /* a bit for every node */
    uint32_t reached, waiting;       /* waiting: on the stack */
    struct arc *met;                 /* from 1 on */
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
    hpx_heap_large_pages(met, room * sizeof *met);
    s->met = met;
    s->met_room = room;
    s->met[0] = (struct arc){0, 0};
    return 0;
}

static int keep(struct search *s, uint32_t from, uint32_t to, struct hpx_err *err)
{
    int e = s->met_len >= s->met_room ? grow(s, err) : 0;
    if (e == 0) {
        s->met[s->met_len++] = (struct arc){from, to};
    }
    return e;
}

static bool is_root(const struct search *s, uint32_t node)
{
    return (s->roots[node / 32] >> node % 32 & 1) != 0;
}

/* The search waits for nothing but memory: of a node that it enters the next arcs are fetched. */
static void fetch(const struct search *s, uint64_t at, uint64_t end)
{
    for (uint64_t i = at + 1; i < end && i < at + AHEAD / 2; i++) {
        __builtin_prefetch(s->number + s->refs[i]);
        __builtin_prefetch(s->first + s->refs[i]);
    }
}

/* The arcs of a node that the search has yet to follow. */
struct place {
    uint32_t k;
    uint64_t at, end;
};

/* p becomes that of a node that is met for the first time. */
static int enter(struct search *s, struct place *p, uint32_t node, struct hpx_err *err)
{
    if (p->at < p->end) {
        uint64_t done = p->at - s->first[s->order[p->k]];
        if (done > UINT32_MAX) {
            return hpx_err_set(err, HPX_E_RANGE, "an object with more than 2^32 references");
        }
        s->done[s->waiting] = (uint32_t)done;
        s->stack[s->waiting++] = p->k;
    }
    uint32_t k = s->reached++;
    s->number[node] = k;
    s->order[k] = node;
    s->parent[k] = p->k;
    *p = (struct place){k, s->first[node], s->first[node + 1]};
    fetch(s, p->at, p->end);
    return 0;
}

/* Back to a node that has arcs left. false: none has. */
static bool leave(struct search *s, struct place *p)
{
    if (s->waiting == 0) {
        return false;
    }
    uint32_t k = s->stack[--s->waiting];
    const uint64_t *first = s->first + s->order[k];
    *p = (struct place){k, first[0] + s->done[s->waiting], first[1]};
    return true;
}

static int search(struct search *s, struct hpx_err *err)
{
    struct place p = {0, s->first[0], s->first[1]};
    int e = 0;
    s->number[0] = s->order[0] = s->parent[0] = 0;
    s->reached = 1;
    while (e == 0 && (p.at < p.end || leave(s, &p))) {
        uint32_t node = s->refs[p.at++], k = s->number[node];
        if (k == HPX_HEAP_UNREACHED) {
            e = enter(s, &p, node, err);
        } else if (k != p.k && !is_root(s, node)) { /* a root has node 0 as dominator, whoever else refers to it */
            e = keep(s, p.k, k, err);
        }
    }
    return e;
}

/* The search has left parents and arcs: these become nodes and lists. */
static void link_arcs(struct search *s)
{
    struct node *nodes = s->nodes;
    for (uint32_t w = s->reached; w-- > 0;) { /* downwards: the room of a parent is that of nodes before */
        uint32_t parent = s->parent[w];
        nodes[w] = (struct node){.above = parent, .semi = parent};
    }
    for (uint64_t i = s->first[0]; i < s->first[1]; i++) {
        nodes[s->number[s->refs[i]]].semi = 0;
    }
    for (size_t i = 1; i < s->met_len; i++) {
        struct arc *a = &s->met[i];
        __builtin_prefetch(nodes + s->met[i + AHEAD < s->met_len ? i + AHEAD : i].next, 1);
        struct node *to = &nodes[a->next];
        if (a->from < a->next) {
            to->semi = a->from < to->semi ? a->from : to->semi;
        } else {
            a->next = to->list;
            to->list = (uint32_t)i;
        }
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
    for (uint32_t a = at->list; a != 0 && at->semi != 0; a = s->met[a].next) { /* none is less than 0 */
        __builtin_prefetch(s->met + s->met[a].next);
        uint32_t semi = nodes[least(nodes, s->met[a].from, w + 1)].semi;
        at->semi = semi < at->semi ? semi : at->semi;
    }
    resolve(nodes, w);
    at->least = w; /* from here on it is linked */
    if (at->semi == 0 || at->semi == at->above) {
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
        if (w > 2 * AHEAD) {
            __builtin_prefetch(s->met + nodes[w - 2 * AHEAD].list);
            __builtin_prefetch(nodes + nodes[w - 2 * AHEAD].least);
            __builtin_prefetch(nodes + s->met[nodes[w - AHEAD].list].from);
        }
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

static void begin(struct search *s, uint32_t n)
{
    s->parent = (uint32_t *)s->nodes;
    s->stack = s->parent + n;
    s->done = s->stack + n;
    s->roots = s->done + n;
    for (uint32_t i = 0; i < n; i++) {
        s->number[i] = HPX_HEAP_UNREACHED;
    }
    memset(s->roots, 0, (n / 32 + 1) * sizeof *s->roots);
    for (uint64_t i = s->first[0]; i < s->first[1]; i++) {
        s->roots[s->refs[i] / 32] |= UINT32_C(1) << s->refs[i] % 32;
    }
}

int hpx_heap_dominators(uint32_t n, const uint64_t *first, const uint32_t *refs, uint32_t *idom, struct hpx_err *err)
{
    if (n >= HPX_HEAP_NODES) {
        return hpx_err_set(err, HPX_E_RANGE, "more than 2^32 objects");
    }
    struct search s = {.first = first, .refs = refs, .number = idom, .met_len = 1};
    s.order = hpx_heap_room(n, sizeof *s.order, err);
    s.nodes = hpx_heap_room(n, sizeof *s.nodes, err);
    int e = s.order == NULL || s.nodes == NULL ? -HPX_E_NOMEM : 0;
    if (e == 0) {
        begin(&s, n);
        e = grow(&s, err);
    }
    e = e == 0 ? search(&s, err) : e;
    if (e == 0) {
        link_arcs(&s);
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
