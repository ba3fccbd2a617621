/* SPDX-License-Identifier: BSD-2-Clause */
/* numbering.h: new numbers for what a file, or a part of it, uses of a tree: from 1 on, in the order of the first use. Memory: four bytes
 * for everything that could be used, four for what is. One thread. */
#ifndef HPX_TREE_NUMBERING_H
#define HPX_TREE_NUMBERING_H

#include "tree.h"

struct hpx_numbering {
    uint32_t *of;         /* 0: none yet */
    struct hpx_list used; /* uint32_t: what has number 1, 2, ... */
    bool no_memory;
};

/* For things 0 to n - 1. false: no memory; hpx_numbering_fini() in any case. */
bool hpx_numbering_init(struct hpx_numbering *m, size_t n);
void hpx_numbering_fini(struct hpx_numbering *m);
/* Forgets all numbers. Time: linear in their number, not in n. */
void hpx_numbering_clear(struct hpx_numbering *m);
/* The number of a thing, which gets one if it has none; 0: no memory, and m->no_memory. */
uint32_t hpx_number(struct hpx_numbering *m, uint32_t thing);

static inline size_t hpx_numbered(const struct hpx_numbering *m)
{
    return m->used.len;
}
/* What has number i + 1. */
static inline uint32_t hpx_numbered_at(const struct hpx_numbering *m, size_t i)
{
    return ((const uint32_t *)m->used.items)[i];
}

/* A frame without its line. */
struct hpx_function {
    uint32_t name, source;
};

/* Functions of all frames of a tree: [0] is that of frame 0, with neither name nor source. */
struct hpx_functions {
    uint32_t *of;         /* of each frame */
    struct hpx_list list; /* struct hpx_function */
};

/* false: no memory; hpx_functions_fini() in any case. */
bool hpx_functions_init(struct hpx_functions *f, const struct hpx_tree *t);
void hpx_functions_fini(struct hpx_functions *f);

static inline const struct hpx_function *hpx_function_at(const struct hpx_functions *f, size_t i)
{
    return (const struct hpx_function *)f->list.items + i;
}

#endif
