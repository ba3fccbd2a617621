/* SPDX-License-Identifier: BSD-2-Clause */
/* units.c: see units.h. */
#include "units.h"
#include "compiler.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double hpx_seconds_of(const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"h", 3600}};
    char *unit;
    double n = strtod(text, &unit);
    for (size_t i = 0; unit != text && i < HPX_ARRAY_LEN(units); i++) {
        if (strcmp(unit, units[i].unit) == 0 && isfinite(n) && n > 0 && n * units[i].seconds < 1e7) {
            return n * units[i].seconds;
        }
    }
    return -1;
}

uint64_t hpx_bytes_of(const char *text)
{
    static const char units[] = "kmg";
    char *unit;
    unsigned long long n = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &unit, 10) : 0;
    if (n == 0 || n >= 1ull << 32) {
        return 0;
    }
    const char *at = unit[0] != '\0' && unit[1] == '\0' ? strchr(units, unit[0]) : NULL;
    return unit[0] == '\0' ? n : at != NULL ? (uint64_t)n << 10 * (at - units + 1) : 0;
}
