/* SPDX-License-Identifier: BSD-2-Clause */
/* live_objects.h: the live objects of every run that the shipper hears of, as of its last profile. One thread at a time: the caller has a
 * lock.
 *
 * Stacks of all runs stand in one tree; what no run needs any more goes from time to time. */
#ifndef HPX_FLEET_LIVE_OBJECTS_H
#define HPX_FLEET_LIVE_OBJECTS_H

#include "pull.h"
#include "tree.h"

#define HPX_LIVE_KEPT_MS ((uint64_t)5 * 60 * 1000) /* a run that was not heard of for so long is forgotten */
#define HPX_LIVE_MOST    ((size_t)1 << 20)         /* stacks and nodes, of all runs */

struct hpx_live {
    struct hpx_tree tree;
    struct hpx_list runs; /* struct run */
    size_t rows;          /* of all runs */
    size_t swept;         /* nodes that were left by the last sweep */
    uint64_t most;        /* bytes of the tree and the rows; hpx_live_init(): a quarter of hpx_memory_of_server() */
};

/* false: no memory. hpx_live_fini() in any case. */
bool hpx_live_init(struct hpx_live *l);
void hpx_live_fini(struct hpx_live *l);
/* Takes the live objects of a profile in place of those of the run's profile before; a profile that has no such tables leaves them. now: ms
 * of a clock that only goes forward. What does not fit is counted as HPX_METRIC_LIVE_DROPPED. */
void hpx_live_add(struct hpx_live *l, const struct hpx_tree *t, uint64_t now);
/* Adds the live objects of the requested runs to a tree; how many runs. */
size_t hpx_live_copy(struct hpx_live *l, const struct hpx_pull_asked *asked, uint64_t now, struct hpx_tree *to);

/* Whether a profile of that service and process is requested. */
bool hpx_live_asked(const struct hpx_pull_asked *asked, const char *service, uint64_t pid);

#endif
