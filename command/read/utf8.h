/* SPDX-License-Identifier: BSD-2-Clause */
/* utf8.h: is this UTF-8, or the JVM's modified UTF-8, or neither? In pieces; no state but the struct. */
#ifndef HPX_READ_UTF8_H
#define HPX_READ_UTF8_H

#include "compiler.h"

struct hpx_utf8 {
    uint8_t need;  /* bytes of a character that are still to come */
    uint8_t first; /* its first byte, while its second is still to come: then that one is judged too */
    bool modified; /* C0 80, or a surrogate of three bytes, stood there */
    bool controls; /* a raw control but tab: U+0000 to U+001F, U+007F */
    bool broken;   /* no UTF-8 of either form */
};

/* Judges n more bytes. */
void hpx_utf8_feed(struct hpx_utf8 *u, const char *p, size_t n);
/* At the end: an unfinished character is broken. */
void hpx_utf8_end(struct hpx_utf8 *u);

#endif
