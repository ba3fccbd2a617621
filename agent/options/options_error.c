/* SPDX-License-Identifier: BSD-2-Clause */
/* options_error.c: messages about wrong options, and suggestions. */
#include "edits.h"
#include "options_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Together below sizeof(struct hpx_err), so that a long option string never pushes the hint out; a line of the log holds 4 KiB. */
#define TEXT_BYTES  800u
#define GIVEN_BYTES 3000u
#define HINT_BYTES  300u
static_assert(TEXT_BYTES + GIVEN_BYTES + HINT_BYTES + 192 < sizeof(((struct hpx_err *)0)->msg), "an error always has room for its hint");

/* Bytes of the UTF-8 character at s, 0 if it is none (or a control: those must not reach a terminal). */
static size_t printable(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    if (s[0] < 0x20 || s[0] == 0x7F || (s[0] == 0xC2 && s[1] < 0xA0)) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return n;
}

/* s without controls and broken characters ('?'), ended by "..." where it does not fit into `room` bytes. */
static void clean(char *to, size_t room, const char *s)
{
    const unsigned char *from = (const unsigned char *)s;
    size_t used = 0;
    while (*from) {
        size_t n = printable(from), take = n ? n : 1;
        if (used + take + sizeof("...") > room) {
            memcpy(to + used, "...", 3);
            used += 3;
            break;
        }
        memcpy(to + used, n ? (const char *)from : "?", take);
        used += take;
        /* A control of two bytes is one mark. */
        from += *from == 0xC2 && !n && (from[1] & 0xC0) == 0x80 ? 2 : take;
    }
    to[used] = 0;
}

int hpx_opt_refuse(const struct hpx_opt_parse *p, const char *hint, const char *fmt, ...)
{
    char raw[TEXT_BYTES], text[TEXT_BYTES], given[GIVEN_BYTES], file[HINT_BYTES / 2], where[HINT_BYTES] = "";
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(raw, sizeof(raw), fmt, args) < 0) {
        raw[0] = 0;
    }
    va_end(args);
    clean(text, sizeof(text), raw);
    clean(given, sizeof(given), p->given);
    if (p->file) {
        clean(file, sizeof(file), p->file);
        (void)snprintf(where, sizeof(where), "\nhprofx: line %u of option file %s", p->line, file);
    }
    return hpx_err_set(p->err, HPX_E_OPT, "hprof option error: %s (%s)%s%.128s%s", text, given, hint ? "\nhprofx: " : "", hint ? hint : "",
                       where);
}

int hpx_opt_no_memory(const struct hpx_opt_parse *p)
{
    return hpx_err_set(p->err, HPX_E_NOMEM, "no memory for the options");
}

#define WORD_BYTES 16u

/* As hpx_edits(); a whole word at the start of the other (depths, mon) counts as one edit. UINT_MAX where they have too little in common.
 */
static unsigned distance(const char *word, const char *name)
{
    size_t nw = strlen(word), nn = strlen(name), shorter = nw < nn ? nw : nn;
    unsigned d = hpx_edits(word, name), bound = nw <= 3 ? 1 : nw <= 6 ? 2 : 3;
    if (d > 1 && shorter >= 3 && !strncmp(word, name, shorter)) {
        return 1;
    }
    return d <= bound && d < nn ? d : (unsigned)-1;
}

/* Is `word` one of the values a|b|c, two letters or more: people write "samples" for "cpu=samples". */
static bool is_value(const char *word, const char *values)
{
    size_t n = strlen(word);
    for (const char *v = values; n > 1 && v && *v; v += strcspn(v, "|"), v += *v == '|') {
        if (strcspn(v, "|") == n && !strncmp(v, word, n)) {
            return true;
        }
    }
    return false;
}

const char *hpx_opt_nearest(const char *name)
{
    char word[WORD_BYTES] = "";
    size_t n = 0;
    for (const char *s = name; *s && n < sizeof(word) - 1 && !(n && *s == ','); s++) {
        if (isalnum((unsigned char)*s) || *s == '_') {
            word[n++] = (char)tolower((unsigned char)*s);
        }
    }
    const char *best = "help";
    unsigned least = (unsigned)-1;
    size_t off = 0;
    for (size_t i = 0; i < hpx_opts_len; i++) {
        if (!hpx_opt_is_shown(&hpx_opts[i])) {
            continue;
        }
        unsigned d = is_value(word, hpx_opts[i].values) ? 0 : distance(word, hpx_opts[i].name);
        size_t length = strlen(hpx_opts[i].name), by = length > n ? length - n : n - length;
        if (d < least || (d == least && by < off)) { /* of two that are as near, the one of about this length: net-wait for net_wait */
            least = d;
            off = by;
            best = hpx_opts[i].name;
        }
    }
    return distance(word, "help") < least ? "help" : best;
}
