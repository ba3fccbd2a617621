/* SPDX-License-Identifier: BSD-2-Clause */
/* big_endian.h: integers of the binary format. hpx_put_: returns the position after the bytes that it wrote. Any alignment, any thread. */
#ifndef HPX_BIG_ENDIAN_H
#define HPX_BIG_ENDIAN_H

#include "compiler.h"
#include <endian.h>
#include <string.h>

static inline uint8_t *hpx_put_be1(uint8_t *to, uint8_t v)
{
    *to = v;
    return to + 1;
}

static inline uint8_t *hpx_put_be2(uint8_t *to, uint16_t v)
{
    v = htobe16(v);
    return (uint8_t *)memcpy(to, &v, sizeof(v)) + sizeof(v);
}

static inline uint8_t *hpx_put_be4(uint8_t *to, uint32_t v)
{
    v = htobe32(v);
    return (uint8_t *)memcpy(to, &v, sizeof(v)) + sizeof(v);
}

static inline uint8_t *hpx_put_be8(uint8_t *to, uint64_t v)
{
    v = htobe64(v);
    return (uint8_t *)memcpy(to, &v, sizeof(v)) + sizeof(v);
}

static inline uint16_t hpx_get_be2(const void *from)
{
    uint16_t v;
    memcpy(&v, from, sizeof(v));
    return be16toh(v);
}

static inline uint32_t hpx_get_be4(const void *from)
{
    uint32_t v;
    memcpy(&v, from, sizeof(v));
    return be32toh(v);
}

static inline uint64_t hpx_get_be8(const void *from)
{
    uint64_t v;
    memcpy(&v, from, sizeof(v));
    return be64toh(v);
}

/* v for a field of 4 bytes, at most UINT32_MAX. */
static inline uint32_t hpx_fit4(uint64_t v)
{
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

#endif
