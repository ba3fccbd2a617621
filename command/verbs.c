/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs.c: see verbs.h. */
#include "verbs.h"
#include "compiler.h"
#include <stddef.h>
#include <string.h>

#define LONGEST 16u /* bytes of a word that can be near */
#define NEAR    2u  /* letters that differ at most; exchanged neighbours are one */

static const char *const verbs[] = {"start", "stop",    "dump",    "status", "run",  "top",  "list", "doctor", "jmh",  "info",
                                    "check", "recover", "convert", "merge",  "diff", "view", "ship", "watch",  "fetch"};

bool hpx_verb_is(const char *word)
{
    bool is = false;
    for (size_t i = 0; i < HPX_ARRAY_LEN(verbs); i++) {
        is = is || strcmp(verbs[i], word) == 0;
    }
    return is;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance(const char *a, const char *b)
{
    unsigned d[LONGEST + 1][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    for (unsigned i = 0; i <= n; i++) {
        for (unsigned k = 0; k <= m; k++) {
            if (i == 0 || k == 0) {
                d[i][k] = i + k;
                continue;
            }
            d[i][k] = least(d[i - 1][k - 1] + (a[i - 1] != b[k - 1]), least(d[i - 1][k], d[i][k - 1]) + 1);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
                d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
            }
        }
    }
    return d[n][m];
}

const char *hpx_verb_nearest(const char *word)
{
    const char *nearest = NULL;
    unsigned best = NEAR + 1;
    size_t n = strlen(word);
    for (size_t i = 0; i < HPX_ARRAY_LEN(verbs) && n > NEAR && n <= LONGEST; i++) {
        unsigned d = distance(word, verbs[i]);
        if (d < best) {
            best = d;
            nearest = verbs[i];
        }
    }
    return nearest;
}
