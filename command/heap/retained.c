/* SPDX-License-Identifier: BSD-2-Clause */
/* retained.c: contract in retained.h. */
#include "retained.h"
#include "dominators.h"
#include "heap_room.h"
#include <stdbool.h>
#include <string.h>

static uint32_t *numbers(size_t n, struct hpx_err *err)
{
    uint32_t *made = hpx_heap_room(n, sizeof *made, err);
    return made != NULL ? memset(made, 0, n * sizeof *made) : NULL;
}

/* ---- of objects ---- */

/* From node i, of whose children all have been added, up the tree, until a node waits for other children. */
static void climb(uint32_t i, const uint32_t *idom, uint32_t *waits, uint64_t *retained, uint32_t *held)
{
    while (i != 0 && waits[i] == 0) {
        uint32_t above = idom[i];
        waits[i] = UINT32_MAX; /* added */
        retained[above] += retained[i];
        if (held != NULL) {
            held[above] += held[i];
        }
        waits[above]--;
        i = above;
    }
}

int hpx_heap_retained(uint32_t n, const uint32_t *idom, const uint32_t *size, uint64_t *retained, uint32_t *held, struct hpx_err *err)
{
    uint32_t *waits = numbers(n, err); /* children in the tree that have yet to be added */
    if (waits == NULL) {
        return -HPX_E_NOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool reached = idom[i] != HPX_HEAP_UNREACHED;
        retained[i] = reached ? size[i] : 0;
        if (held != NULL) {
            held[i] = reached;
        }
        if (reached && i != 0) {
            waits[idom[i]]++;
        }
    }
    for (uint32_t i = 1; i < n; i++) {
        if (idom[i] != HPX_HEAP_UNREACHED) {
            climb(i, idom, waits, retained, held);
        }
    }
    hpx_heap_room_free(waits, n, sizeof *waits);
    return 0;
}

/* ---- of classes ---- */

/* The tree from the top down: the first child, and the next one of the same dominator; 0: none. */
static void link_all(uint32_t n, const uint32_t *idom, uint32_t *child, uint32_t *next)
{
    for (uint32_t i = n; i-- > 1;) {
        if (idom[i] != HPX_HEAP_UNREACHED) {
            next[i] = child[idom[i]];
            child[idom[i]] = i;
        }
    }
}

struct walk {
    const uint32_t *idom, *klass;
    const uint64_t *retained;
    uint32_t classes;
    uint32_t *alike, *next; /* alike: of nodes that the walk has yet to come to, their first child */
    uint32_t *lowest;       /* by class: of the objects from node 0 down to where the walk is */
    uint64_t *of_class;
};

static uint32_t class_of(const struct walk *w, uint32_t i)
{
    return w->klass[i] < w->classes ? w->klass[i] : w->classes;
}

/* Its first child. */
static uint32_t enter(const struct walk *w, uint32_t i)
{
    uint32_t c = class_of(w, i), child = w->alike[i];
    w->of_class[c] += w->lowest[c] == 0 ? w->retained[i] : 0;
    w->alike[i] = w->lowest[c];
    w->lowest[c] = i;
    return child;
}

static void walk(const struct walk *w)
{
    uint32_t at = w->alike[0];
    w->alike[0] = 0;
    while (at != 0) {
        uint32_t child = enter(w, at);
        if (child != 0) {
            at = child;
            continue;
        }
        for (;;) {
            w->lowest[class_of(w, at)] = w->alike[at];
            if (w->next[at] != 0 || w->idom[at] == 0) {
                break;
            }
            at = w->idom[at];
        }
        at = w->next[at];
    }
}

int hpx_heap_retained_classes(uint32_t n, const uint32_t *idom, const uint64_t *retained, const uint32_t *klass, uint32_t classes,
                              uint64_t *of_class, uint32_t *alike, struct hpx_err *err)
{
    struct walk w = {.idom = idom, .klass = klass, .retained = retained, .classes = classes, .alike = alike, .of_class = of_class};
    w.next = numbers(n, err);
    w.lowest = numbers((size_t)classes + 1, err);
    bool made = w.next != NULL && w.lowest != NULL;
    if (made) {
        memset(of_class, 0, ((size_t)classes + 1) * sizeof *of_class);
        memset(alike, 0, n * sizeof *alike);
        link_all(n, idom, alike, w.next);
        walk(&w);
    }
    hpx_heap_room_free(w.lowest, (uint64_t)classes + 1, sizeof *w.lowest);
    hpx_heap_room_free(w.next, n, sizeof *w.next);
    return made ? 0 : -HPX_E_NOMEM;
}

/* ---- the biggest ---- */

size_t hpx_heap_biggest(uint32_t n, const uint32_t *idom, const uint64_t *retained, const uint32_t *alike, uint32_t *to, size_t room)
{
    size_t len = 0;
    for (uint32_t i = 1; i < n; i++) {
        bool among = room > 0 && (len < room || retained[i] > retained[to[len - 1]]);
        bool repeats = alike[i] != 0 && (alike[i] == idom[i] || retained[i] >= retained[alike[i]] - retained[alike[i]] / 10);
        if (!among || idom[i] == HPX_HEAP_UNREACHED || repeats) {
            continue;
        }
        size_t at = len < room ? len++ : len - 1;
        for (; at > 0 && retained[to[at - 1]] < retained[i]; at--) {
            to[at] = to[at - 1];
        }
        to[at] = i;
    }
    return len;
}
