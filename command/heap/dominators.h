/* SPDX-License-Identifier: BSD-2-Clause */
/* dominators.h: who alone keeps an object alive. It knows no file and no JVM, only a graph in arrays.
 *
 * Nodes are numbers below n. Node 0 stands above all roots: its arcs lead to them. The arcs of node i are refs[first[i]] up to
 * refs[first[i + 1]], each below n; several may be equal, and a node may refer to itself. Nothing here recurses, because a linked list is
 * as deep as it is long.
 *
 * A node d dominates i if every way from node 0 to i leads through d: without d, i would be garbage. The dominator of i that is nearest to
 * it is its immediate one; these make a tree with node 0 on top.
 *
 * The calling thread owns all arrays. No function keeps a pointer. */
#ifndef HPX_DOMINATORS_H
#define HPX_DOMINATORS_H

#include "err.h"
#include <stdint.h>

#define HPX_HEAP_UNREACHED UINT32_MAX        /* in the place of a node: garbage, to which no way leads */
#define HPX_HEAP_NODES     (UINT32_MAX - 1U) /* n is below */

/* The immediate dominator of every node; idom[0] = 0. By Lengauer and Tarjan with path compression: O(arcs * log n), in practice near
 * linear. It needs, beside the arrays of the caller, 20 bytes per node and 8 per arc to a node that was met before (for a heap some 8 to 12
 * per object). 0, -HPX_E_NOMEM, -HPX_E_RANGE (n, or 2^32 arcs of one node or met again). */
int hpx_heap_dominators(uint32_t n, const uint64_t *first, const uint32_t *refs, uint32_t *idom, struct hpx_err *err);

/* Of every node the one before it on a shortest way from node 0; before[0] = 0. 4 bytes per node. 0, -HPX_E_NOMEM. */
int hpx_heap_nearest(uint32_t n, const uint64_t *first, const uint32_t *refs, uint32_t *before, struct hpx_err *err);

#endif
