/* SPDX-License-Identifier: BSD-2-Clause */
/* bitset.h: the numbers that are in the file already: one bit each, from 0. The writer's thread only. */
#ifndef HPX_BITSET_H
#define HPX_BITSET_H

#include "compiler.h"

struct hpx_bitset { /* zero: empty */
    uint8_t *bits;
    uint32_t bytes;
};

static inline bool hpx_bitset_has(const struct hpx_bitset *s, uint32_t n)
{
    return n / 8 < s->bytes && (s->bits[n / 8] >> n % 8 & 1);
}
bool hpx_bitset_reach(struct hpx_bitset *s, uint32_t byte);
/* Memory for n: adding it does not fail. false without memory: nothing changed. */
static inline bool hpx_bitset_reserve(struct hpx_bitset *s, uint32_t n)
{
    return hpx_likely(n / 8 < s->bytes) || hpx_bitset_reach(s, n / 8);
}
/* false without memory: nothing changed. */
static inline bool hpx_bitset_add(struct hpx_bitset *s, uint32_t n)
{
    if (!hpx_bitset_reserve(s, n)) {
        return false;
    }
    s->bits[n / 8] |= (uint8_t)(1u << n % 8);
    return true;
}
/* Removes n, when the record that would define it was refused. */
static inline void hpx_bitset_remove(struct hpx_bitset *s, uint32_t n)
{
    if (n / 8 < s->bytes) {
        s->bits[n / 8] &= (uint8_t) ~(1u << n % 8);
    }
}
void hpx_bitset_fini(struct hpx_bitset *s); /* empty afterwards */

#endif
