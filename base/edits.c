/* SPDX-License-Identifier: BSD-2-Clause */
/* edits.c: see edits.h. */
#include "edits.h"
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned hpx_edits(const char *a, const char *b)
{
    unsigned row[3][HPX_EDITS_MOST + 1];
    size_t na = strlen(a), nb = strlen(b);
    if (na > HPX_EDITS_MOST || nb > HPX_EDITS_MOST) {
        return UINT_MAX;
    }
    for (unsigned j = 0; j <= nb; j++) {
        row[0][j] = j;
    }
    for (unsigned i = 1; i <= na; i++) {
        unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= nb; j++) {
            now[j] = least(last[j - 1] + !same(a[i - 1], b[j - 1]), least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
                now[j] = least(now[j], before[j - 2] + 1);
            }
        }
    }
    return row[na % 3][nb];
}
