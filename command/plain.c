/* SPDX-License-Identifier: BSD-2-Clause */
/* plain.c: see plain.h. */
#include "plain.h"
#include <stddef.h>

/* Bytes of the UTF-8 character at p; 0: it is none. */
static size_t length_of(const unsigned char *p)
{
    size_t n = *p < 0x80 ? 1 : *p >= 0xC2 && *p < 0xE0 ? 2 : *p >= 0xE0 && *p < 0xF0 ? 3 : *p >= 0xF0 && *p < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return n;
}

char *hpx_plain(char *s)
{
    for (unsigned char *p = (unsigned char *)s; *p != 0;) {
        size_t n = length_of(p);
        if (n == 0 || *p < 0x20 || *p == 0x7F) {
            *p++ = '?';
        } else if (*p == 0xC2 && p[1] < 0xA0) {
            *p++ = '?';
            *p++ = '?';
        } else {
            p += n;
        }
    }
    return s;
}
