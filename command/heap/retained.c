/* SPDX-License-Identifier: BSD-2-Clause */
/* retained.c: contract in retained.h. */
#include "retained.h"
#include "dominators.h"
#include "heap_room.h"
#include <stdbool.h>
#include <string.h>

#define NEAR 4 /* dominators above an object that biggest() looks at */

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
struct links {
    uint32_t *child, *next;
};

static void link_all(const struct links *l, uint32_t n, const uint32_t *idom)
{
    for (uint32_t i = n; i-- > 1;) {
        if (idom[i] != HPX_HEAP_UNREACHED) {
            l->next[i] = l->child[idom[i]];
            l->child[idom[i]] = i;
        }
    }
}

/* open[c]: how many objects of the class are on the way from node 0 down to where the walk is. */
static void sum_classes(const struct links *l, const uint32_t *idom, const uint64_t *retained, const uint32_t *klass, uint32_t classes,
                        uint32_t *open, uint64_t *of_class)
{
    uint32_t at = l->child[0];
    while (at != 0) {
        uint32_t c = klass[at] < classes ? klass[at] : classes;
        if (open[c]++ == 0) {
            of_class[c] += retained[at];
        }
        if (l->child[at] != 0) {
            at = l->child[at];
            continue;
        }
        for (;;) {
            open[klass[at] < classes ? klass[at] : classes]--;
            if (l->next[at] != 0 || idom[at] == 0) {
                break;
            }
            at = idom[at];
        }
        at = l->next[at];
    }
}

int hpx_heap_retained_classes(uint32_t n, const uint32_t *idom, const uint64_t *retained, const uint32_t *klass, uint32_t classes,
                              uint64_t *of_class, struct hpx_err *err)
{
    struct links l = {numbers(n, err), numbers(n, err)};
    uint32_t *open = numbers((size_t)classes + 1, err);
    bool made = l.child != NULL && l.next != NULL && open != NULL;
    if (made) {
        memset(of_class, 0, ((size_t)classes + 1) * sizeof *of_class);
        link_all(&l, n, idom);
        sum_classes(&l, idom, retained, klass, classes, open, of_class);
    }
    hpx_heap_room_free(open, (uint64_t)classes + 1, sizeof *open);
    hpx_heap_room_free(l.next, n, sizeof *l.next);
    hpx_heap_room_free(l.child, n, sizeof *l.child);
    return made ? 0 : -HPX_E_NOMEM;
}

/* ---- the biggest ---- */

static bool repeats(uint32_t i, const uint32_t *idom, const uint64_t *retained, const uint32_t *klass)
{
    uint32_t above = idom[i];
    for (int k = 0; k < NEAR && above != 0; k++, above = idom[above]) {
        if (klass[above] == klass[i] && (k == 0 || retained[i] >= retained[above] - retained[above] / 10)) {
            return true;
        }
    }
    return false;
}

size_t hpx_heap_biggest(uint32_t n, const uint32_t *idom, const uint64_t *retained, const uint32_t *klass, uint32_t *to, size_t room)
{
    size_t len = 0;
    for (uint32_t i = 1; i < n; i++) {
        bool among = room > 0 && (len < room || retained[i] > retained[to[len - 1]]);
        if (!among || idom[i] == HPX_HEAP_UNREACHED || repeats(i, idom, retained, klass)) {
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
