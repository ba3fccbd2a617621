/* SPDX-License-Identifier: BSD-2-Clause */
/* text_check.h: is this harmless text? A second opinion on text.c, for its unit test and its fuzz target; written from RFC 3629 alone. */
#ifndef HPX_TEXT_CHECK_H
#define HPX_TEXT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with the n bytes at s as the inside of a field; NULL: nothing. */
static inline const char *text_fault(const char *s, size_t n, bool quoted)
{
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)s[i];
        size_t len = c < 0x80 ? 1 : c >= 0xC2 && c <= 0xDF ? 2 : c >= 0xE0 && c <= 0xEF ? 3 : c >= 0xF0 && c <= 0xF4 ? 4 : 0;
        if (len == 0 || len > n - i) {
            return "no UTF-8: bad or cut lead byte";
        }
        unsigned long v = len == 1 ? c : c & (0xFFu >> (len + 1));
        for (size_t j = 1; j < len; j++) {
            unsigned char d = (unsigned char)s[i + j];
            if (d < 0x80 || d > 0xBF) {
                return "no UTF-8: bad continuation";
            }
            v = v << 6 | (d & 0x3Fu);
        }
        if ((len == 3 && v < 0x800) || (len == 4 && v < 0x10000) || v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF)) {
            return "no UTF-8: overlong, surrogate or too large";
        }
        if (v < 0x20 || (v >= 0x7F && v <= 0x9F)) {
            return "a control";
        }
        i += len;
        if (!quoted) {
            continue;
        }
        if (v == '"') {
            return "a quote that ends the field";
        }
        if (v == '\\') {
            char kind = '\0';
            if (i < n) {
                kind = s[i];
            }
            if (kind != '"' && kind != '\\' && kind != 'n' && kind != 'r' && kind != 't' && kind != 'u') {
                return "a backslash that begins no escape";
            }
            i++;
        }
    }
    return NULL;
}

#endif
