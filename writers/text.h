/* SPDX-License-Identifier: BSD-2-Clause */
/* text.h: names of the program as text that cannot forge a record.
 *
 * In: the JVM's modified UTF-8 (U+0000 as C0 80, supplementary characters as two surrogates of three bytes), possibly broken.
 * Out: real UTF-8; \n \r \t, other controls (U+0000-001F, 007F-009F) and lone surrogates as \n \r \t \uXXXX; a byte that is no UTF-8 as
 * \u00XX of its value; inside quoted fields (`quoted`) also \" and \\. */
#ifndef HPX_TEXT_H
#define HPX_TEXT_H

#include "out.h"
#include "snapshot.h"

void hpx_text_put(struct hpx_out *o, struct hpx_text s, bool quoted);
/* The same into a buffer of at least 6 * s.len bytes; returns the length. */
size_t hpx_text_escape(char *to, struct hpx_text s, bool quoted);
/* For formats that store the length of a text: real UTF-8, where U+0000 is one byte 0, and other controls, quotes and backslashes are
 * not escaped; invalid UTF-8 as above. Returns the number of bytes; o NULL: only that. */
size_t hpx_text_utf8(struct hpx_out *o, struct hpx_text s);
/* The same into a buffer of at least 6 * s.len bytes. */
size_t hpx_text_to_utf8(char *to, struct hpx_text s);
/* Below 0, 0, above 0, as memcmp. */
int hpx_text_order(struct hpx_text x, struct hpx_text y);

#endif
