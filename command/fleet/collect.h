/* SPDX-License-Identifier: BSD-2-Clause */
/* collect.h: what the shipper has read, for those who pull: profiles of a span of time, and the live objects of now.
 *
 *     struct hpx_collect *c = hpx_collect_new(NULL, NULL);
 *     const struct hpx_pull_hooks hooks = hpx_collect_hooks(c);
 *     struct hpx_pull *p = hpx_pull_start(listen, false, &hooks, &err);
 *     ... hpx_collect_add(c, &tree); ...
 *     hpx_pull_stop(p);
 *     hpx_collect_free(c);
 *
 * A profile arrives when its time is over. So a pull of N seconds has what ended in these seconds, which begins up to --every (or the
 * agent's dump=) earlier; the time in the answer is that of the profiles. Where the shipper can ask for profiles at once
 * (hpx_collect_flush), the answer has just the seconds that were asked for.
 *
 * Memory: a pull has at most 2^20 stacks and nodes in an eighth of hpx_memory_of_server() (else it fails), the live objects of all runs
 * together 2^20 in a quarter of it (a run that does not fit is left out and counted); a run that was not heard of for 5 minutes is
 * forgotten. */
#ifndef HPX_FLEET_COLLECT_H
#define HPX_FLEET_COLLECT_H

#include "pull.h"
#include "tree.h"

struct hpx_collect;

/* Brings what the JVMs have counted so far: returns when it was given to hpx_collect_add(), or after `milliseconds` (5 s at most). Called
 * on threads of the server, several at a time, with no lock held. 0 milliseconds: nobody waits any more, because the program ends; calls
 * that wait for the main thread return at once. */
typedef void hpx_collect_flush(void *ctx, unsigned milliseconds);

/* flush may be NULL. NULL: no memory. */
struct hpx_collect *hpx_collect_new(hpx_collect_flush *flush, void *ctx);
/* After hpx_pull_stop(). */
void hpx_collect_free(struct hpx_collect *c);
/* For hpx_pull_start(): `metrics` is hpx_metrics_write(). */
struct hpx_pull_hooks hpx_collect_hooks(struct hpx_collect *c);

/* A profile that was read: a finished tree, with its origin; its allocations are those since the profile before, its live objects all. It
 * stays the caller's. Takes as long as joining it to another tree, once for every pull that waits (4 at most) and once for its live
 * objects. Any thread. */
void hpx_collect_add(struct hpx_collect *c, const struct hpx_tree *t);

#endif
