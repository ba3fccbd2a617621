/* SPDX-License-Identifier: BSD-2-Clause */
/* hash.h: XXH3, the only includer of xxhash. Async-signal-safe: no state, no allocation. */
#ifndef HPX_HASH_H
#define HPX_HASH_H

#include "compiler.h"

#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
/* By memcpy: on Arm its own choice breaks the rules of aliasing, and gcc leaves out what the caller stored. */
#define XXH_FORCE_MEMORY_ACCESS 0
#include <xxhash.h>

struct hpx_hash128 {
    uint64_t lo, hi;
};

/* 128 bits over n bytes: trusted as identity by the tables (chance of a collision among 10^6 keys: about 10^-27). */
static inline struct hpx_hash128 hpx_hash128(const void *p, size_t n)
{
    XXH128_hash_t h = XXH3_128bits(p, n);
    return (struct hpx_hash128){h.low64, h.high64};
}

#endif
