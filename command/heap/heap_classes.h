/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_classes.h: between the files of the graph: classes and sizes, once all of a dump's objects are known. */
#ifndef HPX_HEAP_CLASSES_H
#define HPX_HEAP_CLASSES_H

#include "heap_graph.h"
#include "heap_sort.h"

/* The first of g->classes: arrays of primitives, by type, and java.lang.Class, for a file that does not have it. */
#define HPX_HEAP_ARRAYS   HPX_TYPE_BOOLEAN
#define HPX_HEAP_CLASS    (HPX_TYPE_LONG - HPX_HEAP_ARRAYS + 1)
#define HPX_HEAP_RESERVED (HPX_HEAP_CLASS + 1)

/* Entries of objects: id, class, elements of an array. Of a class object the class is HPX_HEAP_NO_CLASS, and it is itself where elements
 * would be. */

/* The reserved ones, in the place of those that there are. false: no memory, as of all here. */
bool hpx_heap_classes_begin(struct hpx_heap_graph *g);
/* Names, superclasses, sums of fields. of: ids -> index + 1. */
bool hpx_heap_classes_finish(struct hpx_heap_graph *g, const struct hpx_seeded_map *of);
/* The layout that fits sorted objects best; of those that each of two dumps allows the best one for both, unless `beside` is NULL. */
void hpx_heap_layout_choose(struct hpx_heap_graph *g, const struct hpx_heap_entry *e, size_t n, const struct hpx_heap_fit *beside);
/* Of an object, in units of 8 bytes; class: hpx_heap_class_class(). */
uint32_t hpx_heap_size(const struct hpx_heap_graph *g, const struct hpx_heap_entry *e, uint32_t class);
/* The index of java.lang.Class. */
uint32_t hpx_heap_class_class(const struct hpx_heap_graph *g);

#endif
