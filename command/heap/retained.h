/* SPDX-License-Identifier: BSD-2-Clause */
/* retained.h: what becomes free with an object, from the tree of immediate dominators (dominators.h).
 *
 * Nodes and idom[] are those of hpx_heap_dominators(). Nodes that no way leads to retain nothing. No recursion; the calling thread owns all
 * arrays. */
#ifndef HPX_RETAINED_H
#define HPX_RETAINED_H

#include "err.h"
#include <stddef.h>
#include <stdint.h>

/* retained[i]: the sum of size[] over i and all that it dominates, in the unit of size[]. held[i], unless it is NULL: how many those are.
 * 4 bytes per node. 0, -HPX_E_NOMEM. */
int hpx_heap_retained(uint32_t n, const uint32_t *idom, const uint32_t *size, uint64_t *retained, uint32_t *held, struct hpx_err *err);

/* of_class[c], for c below `classes`: the sum of retained[] over the objects with klass[i] == c that no other object of the class
 * dominates, so that nothing counts twice. of_class[classes] is the sum of those with a greater number: it has room for one more than
 * `classes`. Node 0 has no class. alike[i]: the nearest dominator of the same class; 0: none. 4 bytes per node and per class. 0,
 * -HPX_E_NOMEM. */
int hpx_heap_retained_classes(uint32_t n, const uint32_t *idom, const uint64_t *retained, const uint32_t *klass, uint32_t classes,
                              uint64_t *of_class, uint32_t *alike, struct hpx_err *err);

/* The objects that retain most, at most `room`, the greatest first, of equal ones the first; returns how many. Left out are those that
 * repeat the line of another: whose immediate dominator has the same class (branches of a tree of nodes), or that retain nearly all of what
 * the nearest dominator of the same class retains (nodes of a list, also of one with several classes). */
size_t hpx_heap_biggest(uint32_t n, const uint32_t *idom, const uint64_t *retained, const uint32_t *alike, uint32_t *to, size_t room);

#endif
