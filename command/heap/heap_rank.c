/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_rank.c: see heap_rank.h. */
#include "heap_rank.h"
#include <stdlib.h>

static const struct hpx_heap_class *class_of(const void *p)
{
    return *(const struct hpx_heap_class *const *)p;
}

int hpx_heap_by_bytes(const void *a, const void *b)
{
    const struct hpx_heap_class *x = class_of(a), *y = class_of(b);
    return x->bytes != y->bytes       ? (x->bytes < y->bytes ? 1 : -1)
           : x->objects != y->objects ? (x->objects < y->objects ? 1 : -1)
                                      : (x < y ? -1 : x > y);
}

int hpx_heap_by_empty(const void *a, const void *b)
{
    const struct hpx_heap_class *x = class_of(a), *y = class_of(b);
    return x->empty != y->empty ? (x->empty < y->empty ? 1 : -1) : (x < y ? -1 : x > y);
}

const struct hpx_heap_class **hpx_heap_rank(const struct hpx_heap_graph *g, int (*by)(const void *, const void *), size_t *n)
{
    const struct hpx_heap_class **all = calloc(g->classes.len + 1, sizeof(void *));
    *n = 0;
    for (size_t i = 0; all != NULL && i < g->classes.len; i++) {
        const struct hpx_heap_class *c = hpx_heap_class_at(g, (uint32_t)i);
        if (c->objects > 0) {
            all[(*n)++] = c;
        }
    }
    if (all != NULL) {
        qsort(all, *n, sizeof(void *), by);
    }
    return all;
}
