/* SPDX-License-Identifier: BSD-2-Clause */
/* big_endian.h: figures as the binary format has them. Each returns the place behind what it put. */
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

/* A figure whose field has 4 bytes: the largest there where it is larger. */
static inline uint32_t hpx_fit4(uint64_t v)
{
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

#endif
