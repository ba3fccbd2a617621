/* SPDX-License-Identifier: BSD-2-Clause */
/* plain.c: see plain.h. */
#include "plain.h"

char *hpx_plain(char *s)
{
    for (unsigned char *p = (unsigned char *)s; *p != 0; p++) {
        if (*p < 0x20 || *p == 0x7F || (*p == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0)) {
            *p = '?';
        }
    }
    return s;
}
