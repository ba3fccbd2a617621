/* SPDX-License-Identifier: BSD-2-Clause */
/* vec.c: growth by one cleared chunk. */
#include "vec.h"

#include <stdlib.h>

#define MAX_LEN (UINT32_MAX - 64u + 1u) /* i + 64 must fit 32 bits in hpx_vec_at() */

void hpx_vec_init(struct hpx_vec *v, uint32_t element_size)
{
    *v = (struct hpx_vec){.size = element_size};
}

void hpx_vec_fini(struct hpx_vec *v)
{
    for (int k = 0; k < HPX_VEC_CHUNKS; k++) {
        free(v->chunk[k]);
    }
    hpx_vec_init(v, v->size);
}

void *hpx_vec_push(struct hpx_vec *v)
{
    if (v->len >= MAX_LEN) {
        return NULL;
    }
    uint32_t j = v->len + (1u << HPX_VEC_FIRST);
    if (!(j & (j - 1))) {
        unsigned k = (unsigned)__builtin_ctz(j) - HPX_VEC_FIRST;
        if (!v->chunk[k]) {
            v->chunk[k] = calloc(j, v->size);
            if (!v->chunk[k]) {
                return NULL;
            }
            v->bytes += (size_t)j * v->size;
        }
    }
    return hpx_vec_at(v, v->len++);
}

void *hpx_vec_reach(struct hpx_vec *v, uint32_t i)
{
    while (v->len <= i) {
        if (!hpx_vec_push(v)) {
            return NULL;
        }
    }
    return hpx_vec_at(v, i);
}
