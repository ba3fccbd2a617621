/* SPDX-License-Identifier: BSD-2-Clause */
/* carry.h: a part of a profile's tree added to another tree: some measures, and only the stacks that have them. One thread. */
#ifndef HPX_FLEET_CARRY_H
#define HPX_FLEET_CARRY_H

#include "tree.h"

/* Which measures of each view: bit 0 is the first. */
struct hpx_carry {
    uint8_t keep[HPX_VIEWS];
};

/* What a span of time adds up: everything but live objects. */
extern const struct hpx_carry hpx_carry_flow;
/* Live objects: those of the heap's dumps, too. */
extern const struct hpx_carry hpx_carry_live;

/* Adds the stacks of `from` whose measures in `what` have a value; other measures are 0, threads are added up, facts stay. `from` need not
 * be finished, nor outlive `to`. false: no memory (to->no_memory, or from->no_memory was set). */
bool hpx_carry(struct hpx_tree *to, const struct hpx_tree *from, const struct hpx_carry *what);
/* Nodes and samples of a tree: what its memory goes with. */
size_t hpx_carry_size(const struct hpx_tree *t);

#endif
