/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c: see words.h. */
#include "words.h"
#include "compiler.h"
#include "names.h"
#include "text.h"
#include <inttypes.h>
#include <string.h>

#define NAME_BYTES ((size_t)4200)

/* Good until the next call. */
static char *escaped(const char *name, bool quoted)
{
    static char text[6 * NAME_BYTES + sizeof("...")];
    size_t n = hpx_text_escape(text, (struct hpx_text){name, (uint32_t)strnlen(name, NAME_BYTES - 1)}, quoted);
    text[n] = '\0';
    return text;
}

const char *hpx_words_cut(const char *name, size_t columns)
{
    char *text = escaped(name, false);
    hpx_name_cut(text, columns);
    return text;
}

void hpx_words_name(FILE *to, const char *name, size_t columns, bool quoted)
{
    fputs(columns > 0 ? hpx_words_cut(name, columns) : escaped(name, quoted), to);
}

void hpx_words_java(FILE *to, const char *name)
{
    char spoken[NAME_BYTES];
    hpx_name_spoken(spoken, sizeof(spoken), name);
    char *text = escaped(spoken, false);
    hpx_name_shorten(text, HPX_NAME_COLUMNS);
    fputs(text, to);
}

const char *hpx_words_number(uint64_t v)
{
    static char ring[8][32];
    static unsigned next;
    char *text = ring[next++ % 8];
    char *at = text + 31;
    *at = '\0';
    for (int digits = 0; v > 0 || digits == 0; digits++, v /= 10) {
        if (digits > 0 && digits % 3 == 0) {
            *--at = ',';
        }
        *--at = (char)('0' + v % 10);
    }
    return at;
}

const char *hpx_words_size(uint64_t v)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    static char ring[8][24];
    static unsigned next;
    char *text = ring[next++ % 8];
    double d = (double)v;
    size_t unit = 0;
    for (; d >= 1023.95 && unit + 1 < HPX_ARRAY_LEN(units); unit++) {
        d /= 1024.0;
    }
    snprintf(text, 24, unit == 0 ? "%.0f %s" : "%.1f %s", d, units[unit]);
    return text;
}

const char *hpx_words_seconds(uint64_t us)
{
    static char ring[4][40];
    static unsigned next;
    char *text = ring[next++ % 4];
    if (us < 1000000) {
        snprintf(text, 40, "%.0f ms", (double)us / 1e3);
    } else if (us < 120000000) {
        snprintf(text, 40, "%.1f s", (double)us / 1e6);
    } else {
        snprintf(text, 40, "%" PRIu64 " h %02" PRIu64 " min %02" PRIu64 " s", us / 3600000000u, us / 60000000u % 60, us / 1000000u % 60);
    }
    return text;
}

void hpx_words_replaced(FILE *to, const char *said)
{
    if (said[0] != '\0') {
        fputs("\nReplaced by the VM: ", to);
        hpx_words_name(to, said, 0, false);
        fputs(".\n", to);
    }
}
