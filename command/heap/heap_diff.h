/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_diff.h: what two heap dumps have of each class. One thread. */
#ifndef HPX_HEAP_DIFF_H
#define HPX_HEAP_DIFF_H

#include "heap_reading.h"
#include <stdio.h>

#define HPX_HEAP_CHANGES 30 /* classes that are told of */

struct hpx_heap_side {
    const char *name; /* of the file */
    int fd;           /* open; read from its beginning (lseek) */
};

/* Classes are the same if their names are: those of several loaders count together, and what they retain of each other counts once. Sizes
 * of both sides are those of one layout of the heap, if one fits both. If both dumps have stacks of allocations, rows by class and site
 * follow; for these the graphs are read, too. retained: what the objects of a class retain, in the place of their bytes; then memory as
 * heap_holders.h. Else memory as hpx_heap_graph_read() with HPX_HEAP_CLASSES, one file after the other; in addition 56 bytes and the name
 * for every class of both files, which no budget counts. HPX_HEAP_NONE: a file has no dump in binary, HPX_HEAP_FAILED: err; then nothing is
 * written. */
enum hpx_heap_read hpx_heap_diff_tell(FILE *to, const struct hpx_heap_side side[static 2], bool retained, struct hpx_err *err);

#endif
