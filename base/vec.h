/* SPDX-License-Identifier: BSD-2-Clause */
/* vec.h: a dense array of fixed-size elements that grows without moving: chunk k holds 2^(k + HPX_VEC_FIRST) elements.
 *
 * Growth costs one allocation and no copy, so there is no pause; an element's address is good for the life of the vector. One owner
 * thread appends; another thread may read elements below a length that it received by a release/acquire pair (a snapshot passed by a
 * lane): appending never writes what such a reader reads. */
#ifndef HPX_VEC_H
#define HPX_VEC_H

#include "compiler.h"

#define HPX_VEC_FIRST  6 /* 64 elements in the first chunk */
#define HPX_VEC_CHUNKS 27

struct hpx_vec {
    char *chunk[HPX_VEC_CHUNKS];
    uint32_t len;
    uint32_t size; /* bytes an element */
    size_t bytes;  /* of all chunks */
};

void hpx_vec_init(struct hpx_vec *v, uint32_t element_size);
void hpx_vec_fini(struct hpx_vec *v);

/* Appends a cleared element; its index is then v->len - 1. NULL without memory or above 2^32 - 64 elements: nothing changed. */
void *hpx_vec_push(struct hpx_vec *v);

/* Element i, after appending cleared elements up to it. NULL as in push: the vector may have grown short of i. */
void *hpx_vec_reach(struct hpx_vec *v, uint32_t i);

/* Element i; the caller guarantees i < len. Two loads and a shift. */
static inline void *hpx_vec_at(const struct hpx_vec *v, uint32_t i)
{
    uint32_t j = i + (1u << HPX_VEC_FIRST);
    unsigned k = 31u - (unsigned)__builtin_clz(j);
    return v->chunk[k - HPX_VEC_FIRST] + (size_t)(j - (1u << k)) * v->size;
}
/* The same; NULL beyond the end. */
static inline void *hpx_vec_find(const struct hpx_vec *v, uint32_t i)
{
    return hpx_likely(i < v->len) ? hpx_vec_at(v, i) : NULL;
}

#endif
