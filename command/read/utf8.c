/* SPDX-License-Identifier: BSD-2-Clause */
/* utf8.c: judging UTF-8 and modified UTF-8. */
#include "utf8.h"
#include <string.h>

/* How many of the n bytes are printable ASCII. */
static size_t plain(const char *p, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t w;
        memcpy(&w, p + i, 8);
        /* a byte below 0x20 borrows from its top bit, 0x7f and above set it */
        if ((((w - 0x2020202020202020u) | (w + 0x0101010101010101u) | w) & 0x8080808080808080u) != 0) {
            break;
        }
    }
    while (i < n && (unsigned char)p[i] >= 0x20 && (unsigned char)p[i] < 0x7f) {
        i++;
    }
    return i;
}

static void begin(struct hpx_utf8 *u, unsigned char c)
{
    if (c < 0x80) {
        u->controls |= (c < 0x20 && c != '\t') || c == 0x7f;
    } else if (c >= 0xc0 && c < 0xf5 && c != 0xc1) {
        u->need = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        u->first = c;
    } else {
        u->broken = true;
    }
}

/* The second byte tells overlong forms, surrogates and what is above U+10FFFF. */
static void second(struct hpx_utf8 *u, unsigned char c)
{
    if (u->first == 0xc0) {
        u->modified = true;
        u->broken |= c != 0x80;
    } else if (u->first == 0xed && c >= 0xa0) {
        u->modified = true;
    } else if ((u->first == 0xe0 && c < 0xa0) || (u->first == 0xf0 && c < 0x90) || (u->first == 0xf4 && c >= 0x90)) {
        u->broken = true;
    }
    u->first = 0;
}

void hpx_utf8_feed(struct hpx_utf8 *u, const char *p, size_t n)
{
    for (size_t i = 0; i < n && !u->broken; i++) {
        if (u->need == 0) {
            i += plain(p + i, n - i);
            if (i == n) {
                return;
            }
        }
        unsigned char c = (unsigned char)p[i];
        if (u->need == 0) {
            begin(u, c);
            continue;
        }
        if ((c & 0xc0) != 0x80) {
            u->broken = true;
            return;
        }
        if (u->first != 0) {
            second(u, c);
        }
        u->need--;
    }
}

void hpx_utf8_end(struct hpx_utf8 *u)
{
    u->broken |= u->need > 0;
}
