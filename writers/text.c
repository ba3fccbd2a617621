/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c: modified UTF-8 in, UTF-8 with escapes out. */
#include "text.h"
#include "utf8_put.h"
#include <string.h>

enum style { FIELD, QUOTED, RAW }; /* RAW: controls as they are */

static bool plain(unsigned char c, enum style style)
{
    return c >= 0x20 && c < 0x7F && !(style == QUOTED && (c == '"' || c == '\\'));
}

/* How many bytes at p need no escape, at least as far as whole words tell. */
static size_t plain_words(const unsigned char *p, size_t n)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t x;
        memcpy(&x, p + i, 8);
        /* The high bit of a byte: below 0x20; from 0x7F on. A borrow or carry from another byte comes only from one that is marked itself.
         */
        if (((x - 0x20 * each) | (x + each) | x) & 0x80 * each) {
            break;
        }
    }
    return i;
}

static bool continuation(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

static size_t put_u(char *to, unsigned v)
{
    static const char hex[] = "0123456789ABCDEF";
    to[0] = '\\';
    to[1] = 'u';
    to[2] = hex[v >> 12 & 15];
    to[3] = hex[v >> 8 & 15];
    to[4] = hex[v >> 4 & 15];
    to[5] = hex[v & 15];
    return 6;
}

static size_t put_ascii(char *to, unsigned char c, enum style style)
{
    if (style == RAW) {
        to[0] = (char)c;
        return 1;
    }
    char letter = 0;
    switch (c) {
    case '\n':
        letter = 'n';
        break;
    case '\r':
        letter = 'r';
        break;
    case '\t':
        letter = 't';
        break;
    case '"':
    case '\\':
        if (style == QUOTED) {
            letter = (char)c;
        }
        break;
    default:
        break;
    }
    if (letter != 0) {
        to[0] = '\\';
        to[1] = letter;
        return 2;
    }
    if (c < 0x20 || c == 0x7F) {
        return put_u(to, c);
    }
    to[0] = (char)c;
    return 1;
}

/* The value of a well-formed sequence of three bytes at p, surrogates included; 0: none there. */
static unsigned three(const unsigned char *p, size_t n)
{
    if (n < 3 || (p[0] & 0xF0) != 0xE0 || !continuation(p[1]) || !continuation(p[2])) {
        return 0;
    }
    unsigned v = (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
    return v >= 0x800 ? v : 0;
}

static size_t put_three(char *to, const unsigned char *p, size_t n, unsigned v, size_t *len)
{
    unsigned low = v >= 0xD800 && v <= 0xDBFF ? three(p + 3, n - 3) : 0;
    if (low >= 0xDC00 && low <= 0xDFFF) {
        unsigned c = 0x10000 + ((v - 0xD800) << 10) + (low - 0xDC00);
        *len = 6;
        return hpx_utf8_put(to, c);
    }
    *len = 3;
    if (v >= 0xD800 && v <= 0xDFFF) {
        return put_u(to, v);
    }
    memcpy(to, p, 3);
    return 3;
}

static bool four(const unsigned char *p, size_t n)
{
    if (n < 4 || (p[0] & 0xF8) != 0xF0 || !continuation(p[1]) || !continuation(p[2]) || !continuation(p[3])) {
        return false;
    }
    unsigned v = (p[0] & 7u) << 18 | (p[1] & 63u) << 12;
    return v >= 0x10000 && v <= 0x10FFFF;
}

/* One character of the n > 0 bytes at p: *len of them are used, up to 6 are put. */
static size_t step(char *to, const unsigned char *p, size_t n, enum style style, size_t *len)
{
    *len = 1;
    if (p[0] < 0x80) {
        return put_ascii(to, p[0], style);
    }
    unsigned v = three(p, n);
    if (v != 0) {
        return put_three(to, p, n, v, len);
    }
    if (n >= 2 && (p[0] & 0xE0) == 0xC0 && continuation(p[1])) {
        v = (p[0] & 31u) << 6 | (p[1] & 63u);
        if (v == 0 || (v >= 0x80 && v < 0xA0)) { /* v == 0: the JVM's U+0000 */
            *len = 2;
            if (style == RAW) {
                memcpy(to, v == 0 ? "" : (const char *)p, v == 0 ? 1 : 2);
                return v == 0 ? 1 : 2;
            }
            return put_u(to, v);
        }
        if (v >= 0xA0) {
            *len = 2;
            memcpy(to, p, 2);
            return 2;
        }
    }
    if (four(p, n)) { /* not the JVM's way, but UTF-8 */
        *len = 4;
        memcpy(to, p, 4);
        return 4;
    }
    return put_u(to, p[0]);
}

/* How many bytes at p go through as they are, whatever the style's other rules. */
static size_t plain_run(const unsigned char *p, size_t n, enum style style)
{
    size_t i = style == QUOTED ? 0 : plain_words(p, n);
    while (i < n && plain(p[i], style)) {
        i++;
    }
    return i;
}

static size_t convert(char *to, struct hpx_text s, enum style style)
{
    const unsigned char *p = (const unsigned char *)s.bytes;
    size_t n = s.len, put = 0;
    while (n > 0) {
        size_t len = plain_run(p, n, style), bytes = len;
        if (len > 0) {
            memcpy(to + put, p, len);
        } else {
            bytes = step(to + put, p, n, style, &len);
        }
        put += bytes;
        p += len;
        n -= len;
    }
    return put;
}

size_t hpx_text_escape(char *to, struct hpx_text s, bool quoted)
{
    return convert(to, s, quoted ? QUOTED : FIELD);
}

size_t hpx_text_to_utf8(char *to, struct hpx_text s)
{
    return convert(to, s, RAW);
}

/* Returns the bytes of the output; o NULL: they are only counted. */
static size_t put_text(struct hpx_out *o, struct hpx_text s, enum style style)
{
    const unsigned char *p = (const unsigned char *)s.bytes;
    size_t n = s.len, all = 0;
    while (n > 0) {
        char c[8];
        const void *from = p;
        size_t len = plain_run(p, n, style), bytes = len;
        if (len == 0) {
            bytes = step(c, p, n, style, &len);
            from = c;
        }
        if (o != NULL) {
            hpx_out_bytes(o, from, bytes);
        }
        all += bytes;
        p += len;
        n -= len;
    }
    return all;
}

void hpx_text_put(struct hpx_out *o, struct hpx_text s, bool quoted)
{
    (void)put_text(o, s, quoted ? QUOTED : FIELD);
}

size_t hpx_text_utf8(struct hpx_out *o, struct hpx_text s)
{
    return put_text(o, s, RAW);
}

int hpx_text_order(struct hpx_text x, struct hpx_text y)
{
    uint32_t n = x.len < y.len ? x.len : y.len;
    int order = n > 0 ? memcmp(x.bytes, y.bytes, n) : 0;
    return order != 0 ? order : (x.len > n) - (y.len > n);
}
