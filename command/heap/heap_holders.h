/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_holders.h: which objects keep most of a heap alive, and who keeps them. One thread.
 *
 * Memory beside the graph, n objects and m references: 24 n bytes and 8 for each reference to an object met before while the dominators are
 * found (below 8 (m - n), and half of it more as a list that grows), 24 n afterwards. */
#ifndef HPX_HEAP_HOLDERS_H
#define HPX_HEAP_HOLDERS_H

#include "heap_reading.h"
#include <stdio.h>

#define HPX_HEAP_HOLDERS 50 /* objects in the table */
/* Paths, to objects that retain a hundredth of the heap, or to the largest one. */
#define HPX_HEAP_PATHS 5
#define HPX_HEAP_STEPS 24 /* of a path; of longer ones the middle is left out */

/* An object on a path. */
struct hpx_heap_step {
    uint32_t node;
    enum {
        HPX_STEP_ROOT,
        HPX_STEP_UNKNOWN,
        HPX_STEP_FIELD,
        HPX_STEP_ELEMENT,
        HPX_STEP_CLASS,
        HPX_STEP_SUPER,
        HPX_STEP_LOADER,
        HPX_STEP_OTHER
    } by;
    /* How the object before refers to it: the name of a field, a string of the file; an index; of the first a kind of root. */
    uint64_t detail;
};

struct hpx_heap_path {
    uint32_t steps;    /* in `step` */
    uint32_t left_out; /* objects behind the first half of them */
    struct hpx_heap_step step[HPX_HEAP_STEPS];
};

struct hpx_heap_holders {
    uint64_t *of_class;      /* bytes that the objects of a class retain, by class */
    uint64_t objects, bytes; /* that roots lead to */
    struct hpx_heap_holder {
        uint32_t node, objects; /* objects: that become free with it, itself included */
        uint64_t bytes;
    } top[HPX_HEAP_HOLDERS]; /* the greatest first */
    size_t tops;
    struct hpx_heap_path path[HPX_HEAP_PATHS];
    size_t paths;
};

/* Reads the file once more, for the names of fields; NULL: without paths. The struct is to be given back in any case. */
enum hpx_heap_read hpx_heap_holders_find(struct hpx_heap_holders *h, const struct hpx_heap_graph *g, const struct hpx_heap_file *file,
                                         struct hpx_err *err);
void hpx_heap_holders_tell(FILE *to, const struct hpx_heap_holders *h, const struct hpx_heap_graph *g);
/* What a step's detail means: of a root its kind; of a field its name. */
const char *hpx_heap_root_kind(uint64_t kind);
const char *hpx_heap_field_name(const struct hpx_heap_graph *g, uint64_t name);
/* Of which class it is the class object; NULL: of none. */
const struct hpx_heap_class *hpx_heap_class_of_object(const struct hpx_heap_graph *g, uint32_t node);
void hpx_heap_holders_fini(struct hpx_heap_holders *h);

#endif
