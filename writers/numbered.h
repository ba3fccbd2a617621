/* SPDX-License-Identifier: BSD-2-Clause */
/* numbered.h: an array that grows on access, for dense numbers. The writer's thread only. */
#ifndef HPX_NUMBERED_H
#define HPX_NUMBERED_H

#include "compiler.h"

struct hpx_numbered { /* zero: nothing in it */
    char *elements;
    uint32_t len;
};

/* Element n of `size` bytes, the same size in every call; NULL: beyond the end. Valid until the next reach. */
static inline void *hpx_numbered_at(const struct hpx_numbered *a, uint32_t n, size_t size)
{
    return hpx_likely(n < a->len) ? a->elements + n * size : NULL;
}
/* The same, but extends the array by cleared elements if needed. NULL without memory. */
void *hpx_numbered_reach(struct hpx_numbered *a, uint32_t n, size_t size);
void hpx_numbered_fini(struct hpx_numbered *a); /* nothing in it afterwards */

#endif
