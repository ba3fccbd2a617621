/* SPDX-License-Identifier: BSD-2-Clause */
/* json.c: see json.h. */
#include "json.h"
#include "digits.h"
#include "text.h"
#include <math.h>

#define PIECE 64u /* bytes that are no ASCII, at once */

static bool plain(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<';
}

/* The character at `at`, and those behind it if none of them is ASCII; how many bytes. A pair of surrogates in two pieces is the same pair.
 */
static size_t special(FILE *to, const char *at)
{
    char out[6 * PIECE];
    size_t n = 1;
    if (at[0] == '<') {
        (void)fputs("\\u003c", to);
        return n;
    }
    while ((at[0] & 0x80) != 0 && n < PIECE && (at[n] & 0x80) != 0) {
        n++;
    }
    while (n > PIECE - 4 && (at[n] & 0xC0) == 0x80) {
        n--;
    }
    (void)fwrite_unlocked(out, 1, hpx_text_escape(out, (struct hpx_text){at, (uint32_t)n}, true), to);
    return n;
}

void hpx_json_escaped(FILE *to, const char *text)
{
    while (*text != '\0') {
        size_t n = 0;
        while (plain((unsigned char)text[n])) {
            n++;
        }
        if (n > 0) {
            (void)fwrite_unlocked(text, 1, n, to);
        } else {
            n = special(to, text);
        }
        text += n;
    }
}

void hpx_json_string(FILE *to, const char *text)
{
    (void)putc_unlocked('"', to);
    hpx_json_escaped(to, text);
    (void)putc_unlocked('"', to);
}

void hpx_json_number(FILE *to, uint64_t v)
{
    char text[24];
    (void)fwrite_unlocked(text, 1, (size_t)(hpx_digits_decimal(text, v) - text), to);
}

void hpx_json_decimal(FILE *to, uint64_t v, unsigned places)
{
    uint64_t one = 1;
    for (unsigned i = 0; i < places; i++) {
        one *= 10;
    }
    hpx_json_number(to, v / one);
    for (v %= one; v > 0; v %= one) {
        if (places > 0) {
            (void)putc_unlocked('.', to);
            places = 0;
        }
        one /= 10;
        (void)putc_unlocked((int)('0' + v / one), to);
    }
}

static void begin(struct hpx_json *j, const char *key)
{
    (void)fputs(j->more ? ", " : "", j->to);
    j->more = true;
    if (key != NULL) {
        hpx_json_string(j->to, key);
        (void)fputs(": ", j->to);
    }
}

void hpx_json_open(struct hpx_json *j, const char *key, char bracket)
{
    if (key == NULL && j->more) {
        (void)fputs(",\n", j->to);
        j->more = false;
    }
    begin(j, key);
    (void)putc_unlocked(bracket, j->to);
    j->more = false;
}

void hpx_json_close(struct hpx_json *j, char bracket)
{
    (void)putc_unlocked(bracket, j->to);
    j->more = true;
}

void hpx_json_text(struct hpx_json *j, const char *key, const char *text)
{
    begin(j, key);
    hpx_json_string(j->to, text);
}

void hpx_json_uint(struct hpx_json *j, const char *key, uint64_t v)
{
    begin(j, key);
    hpx_json_number(j->to, v);
}

void hpx_json_flag(struct hpx_json *j, const char *key, bool v)
{
    begin(j, key);
    (void)fputs(v ? "true" : "false", j->to);
}

void hpx_json_real(struct hpx_json *j, const char *key, double v)
{
    begin(j, key);
    if (!isfinite(v)) {
        (void)fputs("null", j->to);
    } else if (v == nearbyint(v) && fabs(v) < 9e15) {
        (void)fprintf(j->to, "%.0f", v == 0 ? 0 : v); /* no -0 */
    } else {
        (void)fprintf(j->to, "%.9g", v);
    }
}
