/* SPDX-License-Identifier: BSD-2-Clause */
/* beside.c: the folder of NAME, looked through for what else lies there. */
#include "beside.h"
#include "compiler.h"
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PART   ".part"
#define DIGITS 9u /* of a dump's number */

struct found {
    uint32_t *numbers;
    size_t n, cap;
    bool killed;
};

static bool ends_with(const char *s, size_t n, const char *end)
{
    size_t k = strlen(end);
    return n == k && memcmp(s, end, k) == 0;
}

static void add(struct found *f, uint32_t number)
{
    if (f->n == f->cap) {
        size_t cap = f->cap > 0 ? 2 * f->cap : 16;
        uint32_t *more = realloc(f->numbers, cap * sizeof(*more));
        if (more == NULL) {
            return;
        }
        f->numbers = more;
        f->cap = cap;
    }
    f->numbers[f->n++] = number;
}

/* middle: what stands between "NAME." and ".part". */
static void look(struct found *f, const char *middle, size_t n)
{
    uint32_t number = 0;
    f->killed |= ends_with(middle, n, "killed") || ends_with(middle, n, "killed.journal");
    if (n == 0 || n > DIGITS || middle[0] == '0') {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (middle[i] < '0' || middle[i] > '9') {
            return;
        }
        number = number * 10 + (uint32_t)(middle[i] - '0');
    }
    add(f, number);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

void hpx_beside_say(const char *name, size_t n, FILE *to)
{
    char folder[PATH_MAX];
    struct found f = {0};
    size_t dir = n;
    while (dir > 0 && name[dir - 1] != '/') {
        dir--;
    }
    const char *base = name + dir;
    size_t base_len = n - dir;
    snprintf(folder, sizeof(folder), "%.*s", (int)(dir > 0 ? dir : 1), dir > 0 ? name : ".");
    DIR *d = dir < sizeof(folder) ? opendir(folder) : NULL;
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        size_t len = strlen(e->d_name), around = base_len + 1 + strlen(PART);
        if (len > around && memcmp(e->d_name, base, base_len) == 0 && e->d_name[base_len] == '.' &&
            strcmp(e->d_name + len - strlen(PART), PART) == 0) {
            look(&f, e->d_name + base_len + 1, len - around);
        }
    }
    if (d != NULL) {
        closedir(d);
    }
    if (f.n > 0) {
        qsort(f.numbers, f.n, sizeof(*f.numbers), by_number);
    }
    for (size_t i = 0; i < f.n; i++) {
        fprintf(to, "%.*s.%" PRIu32 ".part: a dump that was not complete: hprofx recover %.*s.%" PRIu32 "\n", (int)n, name, f.numbers[i],
                (int)n, name, f.numbers[i]);
    }
    if (f.killed) {
        fprintf(to, "%.*s.killed: of a run that was killed before: hprofx recover %.*s.killed\n", (int)n, name, (int)n, name);
    }
    free(f.numbers);
}
