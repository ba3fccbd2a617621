/* SPDX-License-Identifier: BSD-2-Clause */
/* delta.h: allocations of a run since its profile before. The agent counts them since the start of the run, so that each profile of
 * split=y has them all again; an engine adds up what it gets.
 *
 * Memory: some 150 bytes for each run; 16 and an index entry for each of its stacks. Above a bound of stacks in all, the run that was not
 * heard of for the longest time is forgotten; so is a run that has not been heard of for a day. One thread. */
#ifndef HPX_FLEET_DELTA_H
#define HPX_FLEET_DELTA_H

#include "tree.h"

struct hpx_delta;

enum hpx_delta_done {
    HPX_DELTA_DONE,      /* of a profile that comes after a later one of its run nothing is left: the later one had it */
    HPX_DELTA_NO_BASE,   /* nothing is known of what came before: the allocations are taken out */
    HPX_DELTA_NO_MEMORY, /* likewise */
};

#define HPX_DELTA_STACKS ((size_t)1 << 22)
#define HPX_DELTA_BYTES  40 /* of a stack, about */

/* most: stacks of all runs. NULL: no memory. */
struct hpx_delta *hpx_delta_new(size_t most);
void hpx_delta_free(struct hpx_delta *d);
/* The key of the run that a profile is of; 0: unknown, and its allocations are left as they are. */
uint64_t hpx_delta_run(const struct hpx_tree *t);
/* Something is known of the run. */
bool hpx_delta_knows(const struct hpx_delta *d, uint64_t run);
/* Takes from a finished tree without threads what the run had before, and remembers what it has now; the tree is finished again. base: it
 * was handed on before, and is only remembered. now: seconds, of any clock that does not go back. */
enum hpx_delta_done hpx_delta_take(struct hpx_delta *d, struct hpx_tree *t, bool base, uint64_t now);

#endif
