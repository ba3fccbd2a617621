/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_rank.h: the classes of a heap in an order, for those who tell of them. One thread. */
#ifndef HPX_HEAP_RANK_H
#define HPX_HEAP_RANK_H

#include "heap_graph.h"

/* For qsort() of pointers to classes: those with the most first. */
int hpx_heap_by_bytes(const void *a, const void *b);
int hpx_heap_by_empty(const void *a, const void *b);
/* The classes that have objects, which the caller frees; NULL: no memory. */
const struct hpx_heap_class **hpx_heap_rank(const struct hpx_heap_graph *g, int (*by)(const void *, const void *), size_t *n);

#endif
