/* SPDX-License-Identifier: BSD-2-Clause */
/* json.h: JSON as it is written: commas, quotes, escapes. What a stream does not take shows in its ferror(). One thread. */
#ifndef HPX_READ_JSON_H
#define HPX_READ_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct hpx_json {
    FILE *to;
    bool more; /* what is open has a member, or an item */
};

/* Each of these writes a member of the object that is open; with a NULL key, an item of the list, on a line of its own if it is an object.
 * Braces and brackets are closed with their own character. */
void hpx_json_open(struct hpx_json *j, const char *key, char bracket);
void hpx_json_close(struct hpx_json *j, char bracket);
void hpx_json_text(struct hpx_json *j, const char *key, const char *text);
void hpx_json_uint(struct hpx_json *j, const char *key, uint64_t v);
void hpx_json_flag(struct hpx_json *j, const char *key, bool v);
/* null: it is no number. */
void hpx_json_real(struct hpx_json *j, const char *key, double v);

/* Values alone, for those who write their own commas. A string is safe inside <script>, too: < is \u003c; bytes as in text.h. */
void hpx_json_string(FILE *to, const char *text);
/* The same without quotes. */
void hpx_json_escaped(FILE *to, const char *text);
void hpx_json_number(FILE *to, uint64_t v);
/* v divided by 10 to the power of `places`, with all its digits. */
void hpx_json_decimal(FILE *to, uint64_t v, unsigned places);

#endif
