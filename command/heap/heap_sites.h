/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_sites.h: where the objects of a heap dump were allocated, if the dump has their stacks. A sink of hpx_heap_graph_read(); one thread.
 *
 * Memory: 24 bytes for every class and stack that occur together, and a map of them. */
#ifndef HPX_HEAP_SITES_H
#define HPX_HEAP_SITES_H

#include "heap_reading.h"

#define HPX_HEAP_SITE_FRAMES 3 /* that name a site */

/* Objects of a class with a stack. */
struct hpx_heap_site {
    uint32_t klass, trace; /* trace: its serial number */
    uint64_t objects, bytes;
};

struct hpx_heap_sites {
    struct hpx_list all;      /* struct hpx_heap_site */
    struct hpx_seeded_map of; /* class and trace -> index + 1 */
};

void hpx_heap_sites_init(struct hpx_heap_sites *s);
/* A hpx_heap_sink; ctx: the struct. */
bool hpx_heap_sites_take(void *ctx, const struct hpx_heap_graph *g, uint32_t node, const struct hpx_rd_event *ev);
/* The innermost methods of a stack with their lines; "": it has none. The caller frees it; NULL: no memory. */
char *hpx_heap_site_name(struct hpx_heap_graph *g, uint32_t trace);
void hpx_heap_sites_fini(struct hpx_heap_sites *s);

#endif
