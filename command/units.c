/* SPDX-License-Identifier: BSD-2-Clause */
/* units.c: see units.h. */
#include "units.h"
#include "compiler.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST (UINT64_C(1) << 60) /* bytes */

double hpx_seconds_of(const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"h", 3600}};
    char *unit;
    double n = strtod(text, &unit);
    bool plain = unit != text && unit == text + strspn(text, "0123456789."); /* not "nan", "0x1p3" */
    for (size_t i = 0; plain && i < HPX_ARRAY_LEN(units); i++) {
        if (strcmp(unit, units[i].unit) == 0 && n * units[i].seconds < 1e7) {
            return n * units[i].seconds;
        }
    }
    return -1;
}

uint64_t hpx_bytes_of(const char *text)
{
    static const char units[] = "kmg";
    uint64_t n = 0;
    for (; *text >= '0' && *text <= '9' && n < MOST; text++) {
        n = n * 10 + (uint64_t)(*text - '0');
    }
    const char *at = text[0] != '\0' && text[1] == '\0' ? strchr(units, text[0]) : NULL;
    unsigned shift = at != NULL ? 10 * (unsigned)(at - units + 1) : 0;
    return (text[0] == '\0' || at != NULL) && n <= MOST >> shift ? n << shift : 0;
}

bool hpx_rows_of(const char *text, size_t *rows)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    *rows = n;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && n > 0 && n < 1000000000;
}
