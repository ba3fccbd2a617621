/* SPDX-License-Identifier: BSD-2-Clause */
/* certainty.c: the arithmetic of certainty.h. */
#include "certainty.h"
#include <math.h>
#include <stdio.h>

#define Z 1.959964 /* of 95 % */

double hpx_certainty_points(uint64_t count, uint64_t total, uint64_t n)
{
    if (n == 0 || total == 0) {
        return 0;
    }
    double more = (double)n + Z * Z, p = ((double)count / (double)total * (double)n + Z * Z / 2) / more;
    return p < 1 ? 100 * Z * sqrt(p * (1 - p) / more) : 0; /* above 1: a count of a damaged file */
}

uint32_t hpx_certainty_close(const uint64_t *counts, uint64_t rows, uint64_t total, uint64_t n)
{
    uint32_t close = 0;
    double samples = total > 0 ? (double)n / (double)total : 0; /* per interval */
    for (uint32_t i = 0; samples > 0 && i + 1 < rows && i + 1 < HPX_CERTAINTY_ROWS; i++) {
        double x = (double)counts[i] * samples, y = (double)counts[i + 1] * samples;
        close |= (uint32_t)((x - y) * (x - y) <= Z * Z * (x + y)) << i;
    }
    return close;
}

const char *hpx_certainty_rows(char to[static HPX_CERTAINTY_TEXT], uint32_t close)
{
    size_t len = 0;
    to[0] = '\0';
    for (uint32_t i = 0; i + 1 < HPX_CERTAINTY_ROWS; i++) {
        uint32_t last = i;
        while (close >> last & 1) {
            last++;
        }
        if (last > i) {
            int n = snprintf(to + len, HPX_CERTAINTY_TEXT - len, "%s%u to %u", len > 0 ? ", " : "", i + 1, last + 1);
            len += n > 0 ? (size_t)n : 0;
            i = last;
        }
    }
    return to;
}
