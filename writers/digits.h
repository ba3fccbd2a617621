/* SPDX-License-Identifier: BSD-2-Clause */
/* digits.h: figures as text, for formats with many of them: printf() takes 20 times as long. Every function returns the position behind
 * the digits. */
#ifndef HPX_DIGITS_H
#define HPX_DIGITS_H

#include "big_endian.h"

/* 8 digits. */
static inline uint8_t *hpx_digits_hex8(uint8_t *to, uint32_t v)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t x = v; /* one digit in each byte, the first one in the highest */
    x = (x << 16 & UINT64_C(0x0000FFFF00000000)) | (x & 0xFFFF);
    x = (x << 8 & UINT64_C(0x00FF000000FF0000)) | (x & UINT64_C(0x000000FF000000FF));
    x = (x << 4 & UINT64_C(0x0F000F000F000F00)) | (x & UINT64_C(0x000F000F000F000F));
    return hpx_put_be8(to, x + '0' * each + ((x + 6 * each) >> 4 & each) * ('a' - '0' - 10));
}

/* As %x; writes up to 16 bytes, whatever the length. */
static inline char *hpx_digits_hex(char *to, uint64_t v)
{
    unsigned zeros = (unsigned)__builtin_clzll(v | 1) / 4;
    v <<= 4 * zeros;
    (void)hpx_digits_hex8(hpx_digits_hex8((uint8_t *)to, (uint32_t)(v >> 32)), (uint32_t)v);
    return to + 16 - zeros;
}

/* As %u; up to 20 bytes. */
static inline char *hpx_digits_decimal(char *to, uint64_t v)
{
    unsigned n = 1;
    for (uint64_t most = 10; v >= most && n < 20; n++) {
        most = n < 19 ? most * 10 : most;
    }
    for (unsigned k = n; k > 0; k--) {
        to[k - 1] = (char)('0' + v % 10);
        v /= 10;
    }
    return to + n;
}

#endif
