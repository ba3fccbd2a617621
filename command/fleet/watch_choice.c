/* SPDX-License-Identifier: BSD-2-Clause */
/* watch_choice.c: see watch_choice.h and the end of watch.h. */
#include "watch_choice.h"
#include "hash.h"
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 80 /* of a file of ours */

/* ---- which JVMs, which hosts ---- */

static bool word_fits(const char *pattern, bool is_glob, const char *word)
{
    return is_glob ? fnmatch(pattern, word, 0) == 0 : strstr(word, pattern) != NULL;
}

bool hpx_watch_matches(const char *pattern, const char *name, const char *command, size_t n)
{
    bool is_glob = strpbrk(pattern, "*?[") != NULL;
    bool fits = word_fits(pattern, is_glob, name);
    for (size_t at = 0; !fits && at < n; at += strlen(command + at) + 1) {
        fits = word_fits(pattern, is_glob, command + at);
    }
    return fits;
}

bool hpx_watch_in_share(const char *host, double percent)
{
    struct hpx_hash128 h = hpx_hash128(host, strlen(host));
    return (double)(h.lo >> 11) / (double)(UINT64_C(1) << 53) * 100 < percent;
}

/* ---- the budget ---- */

size_t hpx_watch_balance(struct hpx_watch_cost *of, size_t n, uint64_t own, uint64_t allowed)
{
    uint64_t sum = own;
    size_t marked = 0;
    for (size_t i = 0; i < n; i++) {
        of[i].ends = false;
        sum += of[i].ns;
    }
    while (sum > allowed) {
        struct hpx_watch_cost *most = NULL;
        for (size_t i = 0; i < n; i++) {
            if (!of[i].ends && of[i].ns > (most != NULL ? most->ns : 0)) {
                most = &of[i];
            }
        }
        if (most == NULL) {
            break;
        }
        most->ends = true;
        sum -= most->ns;
        marked++;
    }
    return marked;
}

uint64_t hpx_watch_allowance(double percent, unsigned cpus, uint64_t ns)
{
    return (uint64_t)(percent / 100 * cpus * (double)ns);
}

uint64_t hpx_watch_own_cpu(const char *text, size_t n)
{
    static const char key[] = "hprofx: own CPU time: ";
    const char *at = text, *found = NULL;
    char number[32];
    for (size_t left = n; (at = memmem(at, left, key, sizeof key - 1)) != NULL; left = n - (size_t)(at - text)) {
        at += sizeof key - 1;
        found = at; /* names of the program stand before the report */
    }
    if (found == NULL) {
        return 0;
    }
    size_t k = 0;
    for (; found + k < text + n && k < sizeof number - 1 && strchr("0123456789.", found[k]) != NULL && found[k] != 0; k++) {
        number[k] = found[k];
    }
    number[k] = 0;
    double ms = strtod(number, NULL);
    return isfinite(ms) && ms >= 0 && ms < 1e12 ? (uint64_t)(ms * 1e6 + 0.5) : 0;
}

/* ---- names ---- */

void hpx_watch_print(int pid, unsigned long long id, char *to, size_t size)
{
    (void)snprintf(to, size, "hprofx-watch-%d-%llx.hprof", pid, id);
}

/* What stands behind the name of the last profile. */
static bool parse_end(const char *end, struct hpx_watch_name *to)
{
    char again[LONGEST_NAME];
    size_t n = strlen(end);
    if (n >= 5 && strcmp(end + n - 5, ".part") == 0) { /* also of the journal */
        to->file = HPX_WATCH_UNFINISHED;
        return true;
    }
    to->file = n == 0 ? HPX_WATCH_LAST : HPX_WATCH_NUMBERED;
    if (n > 0) {
        to->number = sscanf(end, ".%u", &to->number) == 1 ? to->number : 0;
        (void)snprintf(again, sizeof again, ".%u", to->number);
    }
    return n == 0 || (to->number > 0 && strcmp(again, end) == 0);
}

bool hpx_watch_parse(const char *name, struct hpx_watch_name *to)
{
    char again[LONGEST_NAME];
    *to = (struct hpx_watch_name){0};
    if (strlen(name) >= sizeof again || sscanf(name, "hprofx-watch-%d-%llx", &to->pid, &to->id) != 2) {
        return false;
    }
    hpx_watch_print(to->pid, to->id, again, sizeof again);
    return to->pid > 0 && strncmp(name, again, strlen(again)) == 0 && parse_end(name + strlen(again), to);
}
