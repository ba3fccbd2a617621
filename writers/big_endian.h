/* SPDX-License-Identifier: BSD-2-Clause */
/* big_endian.h: integers of the binary format. Every function returns the position after the bytes that it wrote. */
#ifndef HPX_BIG_ENDIAN_H
#define HPX_BIG_ENDIAN_H

#include "compiler.h"
#include <endian.h>
#include <string.h>

static inline uint8_t *hpx_be1(uint8_t *to, uint8_t v)
{
    *to = v;
    return to + 1;
}

static inline uint8_t *hpx_be2(uint8_t *to, uint16_t v)
{
    v = htobe16(v);
    memcpy(to, &v, sizeof(v));
    return to + sizeof(v);
}

static inline uint8_t *hpx_be4(uint8_t *to, uint32_t v)
{
    v = htobe32(v);
    memcpy(to, &v, sizeof(v));
    return to + sizeof(v);
}

static inline uint8_t *hpx_be8(uint8_t *to, uint64_t v)
{
    v = htobe64(v);
    memcpy(to, &v, sizeof(v));
    return to + sizeof(v);
}

/* v for a field of 4 bytes, at most UINT32_MAX. */
static inline uint32_t hpx_fit4(uint64_t v)
{
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

#endif
