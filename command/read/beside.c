/* SPDX-License-Identifier: BSD-2-Clause */
/* beside.c: the folder of NAME, looked through for what else lies there. */
#include "beside.h"
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PART   ".part"
#define DIGITS 9u /* of a dump's number */

static bool is(const char *middle, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(middle, word, n) == 0;
}

static bool is_number(const char *middle, size_t n)
{
    return n > 0 && n <= DIGITS && middle[0] != '0' && strspn(middle, "0123456789") == n;
}

void hpx_beside_say(const char *name, size_t n, FILE *to)
{
    char folder[PATH_MAX];
    struct dirent **all = NULL;
    bool killed = false;
    size_t dir = n;
    while (dir > 0 && name[dir - 1] != '/') {
        dir--;
    }
    const char *base = name + dir;
    size_t base_len = n - dir;
    snprintf(folder, sizeof(folder), "%.*s", (int)(dir > 0 ? dir : 1), dir > 0 ? name : ".");
    int found = dir < sizeof(folder) ? scandir(folder, &all, NULL, versionsort) : 0; /* by numbers, as they count */
    for (int i = 0; i < found; i++) {
        const char *file = all[i]->d_name, *middle = file + base_len + 1; /* between "NAME." and ".part" */
        size_t len = strlen(file), around = base_len + 1 + strlen(PART), k = len > around ? len - around : 0;
        if (k > 0 && memcmp(file, base, base_len) == 0 && file[base_len] == '.' && strcmp(file + len - strlen(PART), PART) == 0) {
            killed = killed || is(middle, k, "killed") || is(middle, k, "killed.journal");
            if (is_number(middle, k)) {
                fprintf(to, "%.*s.%.*s.part: a dump that was not complete: hprofx recover %.*s.%.*s\n", (int)n, name, (int)k, middle,
                        (int)n, name, (int)k, middle);
            }
        }
        free(all[i]);
    }
    free(all);
    if (killed) {
        fprintf(to, "%.*s.killed: of a run that was killed before: hprofx recover %.*s.killed\n", (int)n, name, (int)n, name);
    }
}
