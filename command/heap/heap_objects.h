/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_objects.h: between the files of the graph: the first reading of a dump, which knows its objects, classes and roots, and then numbers
 * the objects. One thread. */
#ifndef HPX_HEAP_OBJECTS_H
#define HPX_HEAP_OBJECTS_H

#include "heap_graph.h"

/* g and class_of are set by the caller; the others are zeroes at first. */
struct hpx_heap_objects {
    struct hpx_heap_graph *g;
    struct hpx_list all, roots;     /* struct hpx_heap_entry: heap_classes.h; of a root its kind, and which one it is */
    struct hpx_seeded_map class_of; /* -> index + 1 */
    uint64_t near_id;
    uint32_t near;                               /* its index + 1; 0: none */
    uint32_t field, statics_refs, statics_bytes; /* of the class to come */
    uint32_t trace;                              /* of the object before */
    bool no_memory, full;                        /* full: more than 32 bits can count */
};

/* A dump begins: what came before is forgotten. */
void hpx_heap_objects_begin(struct hpx_heap_objects *o);
void hpx_heap_objects_event(struct hpx_heap_objects *o, const struct hpx_rd_event *ev);
/* Classes with sums, the layout, sizes; beside: as in struct hpx_heap_how. false: no memory, as below. */
bool hpx_heap_objects_finish(struct hpx_heap_objects *o, const struct hpx_heap_fit *beside);
/* What the graph has of every node, but for its references; hpx_heap_node() works then. */
bool hpx_heap_objects_number(struct hpx_heap_objects *o);
void hpx_heap_objects_fini(struct hpx_heap_objects *o);

#endif
