/* SPDX-License-Identifier: BSD-2-Clause */
/* bitset.c: see bitset.h. */
#include "bitset.h"
#include <stdlib.h>
#include <string.h>

/* false without memory. */
bool hpx_bitset_reach(struct hpx_bitset *s, uint32_t byte)
{
    uint32_t bytes = s->bytes == 0 ? 1024 : s->bytes;
    while (bytes <= byte) {
        bytes *= 2; /* byte < 2^29 */
    }
    uint8_t *grown = realloc(s->bits, bytes);
    if (grown == NULL) {
        return false;
    }
    memset(grown + s->bytes, 0, bytes - s->bytes);
    s->bits = grown;
    s->bytes = bytes;
    return true;
}

void hpx_bitset_fini(struct hpx_bitset *s)
{
    free(s->bits);
    *s = (struct hpx_bitset){.bits = NULL};
}
