/* SPDX-License-Identifier: BSD-2-Clause */
/* numbered.c: see numbered.h. */
#include "numbered.h"
#include <stdlib.h>
#include <string.h>

#define FIRST 256u

void *hpx_numbered_reach(struct hpx_numbered *a, uint32_t n, size_t size)
{
    if (n >= a->len) {
        uint64_t len = a->len == 0 ? FIRST : a->len;
        while (len <= n) {
            len *= 2;
        }
        char *grown = len <= UINT32_MAX ? realloc(a->elements, len * size) : NULL;
        if (grown == NULL) {
            return NULL;
        }
        memset(grown + a->len * size, 0, (len - a->len) * size);
        a->elements = grown;
        a->len = (uint32_t)len;
    }
    return a->elements + n * size;
}

void hpx_numbered_fini(struct hpx_numbered *a)
{
    free(a->elements);
    *a = (struct hpx_numbered){.elements = NULL};
}
