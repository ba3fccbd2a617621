/* SPDX-License-Identifier: BSD-2-Clause */
/* seen.h: which numbers are in the file already: a bit each, from 0. The writer's thread only. */
#ifndef HPX_SEEN_H
#define HPX_SEEN_H

#include "compiler.h"

struct hpx_seen { /* zero: none seen */
    uint8_t *bits;
    uint32_t bytes;
};

static inline bool hpx_seen_has(const struct hpx_seen *s, uint32_t n)
{
    return n / 8 < s->bytes && (s->bits[n / 8] >> n % 8 & 1);
}
bool hpx_seen_reach(struct hpx_seen *s, uint32_t byte);
/* false without memory: nothing changed. */
static inline bool hpx_seen_add(struct hpx_seen *s, uint32_t n)
{
    if (hpx_unlikely(n / 8 >= s->bytes) && !hpx_seen_reach(s, n / 8)) {
        return false;
    }
    s->bits[n / 8] |= (uint8_t)(1u << n % 8);
    return true;
}
/* Not seen any more: what was to say so was refused. */
static inline void hpx_seen_remove(struct hpx_seen *s, uint32_t n)
{
    if (n / 8 < s->bytes) {
        s->bits[n / 8] &= (uint8_t) ~(1u << n % 8);
    }
}
void hpx_seen_fini(struct hpx_seen *s); /* none seen afterwards */

#endif
