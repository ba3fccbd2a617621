/* SPDX-License-Identifier: BSD-2-Clause */
/* utf8_put.h: characters as UTF-8. Async-signal-safe. */
#ifndef HPX_UTF8_PUT_H
#define HPX_UTF8_PUT_H

#include "compiler.h"

/* Writes a character below U+200000, which takes 1 to 4 bytes; returns how many. Also half of a pair of surrogates, as the JVM does. */
static inline size_t hpx_utf8_put(char *to, uint32_t c)
{
    const uint32_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (uint32_t i = n; i-- > 1; c >>= 6) {
        to[i] = (char)(0x80 | (c & 0x3f));
    }
    to[0] = (char)(n == 1 ? c : 0xf00u >> n | c);
    return n;
}

/* The same in a text that ends with 0: U+0000 is C0 80, as in the JVM. */
static inline size_t hpx_utf8_put_name(char *to, uint32_t c)
{
    to[0] = (char)0xc0;
    to[1] = (char)0x80;
    return c != 0 ? hpx_utf8_put(to, c) : 2;
}

#endif
