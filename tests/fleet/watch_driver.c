/* SPDX-License-Identifier: BSD-2-Clause */
/* watch_driver.c: command/fleet/watch.h for test_watch.py, without what ships: DIR and options KEY=VALUE; then a line on standard input has
 * "counts", "flush" or "stop", and its answer is a line on standard output. */
#include "watch.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take(struct hpx_watch_asked *a, const char *word)
{
    const struct {
        const char *key;
        double *number;
        const char **text;
    } all[] = {{"every=", &a->every, NULL},   {"for=", &a->during, NULL},  {"share=", &a->share, NULL},
               {"budget=", &a->budget, NULL}, {"match=", NULL, &a->match}, {"what=", NULL, &a->what},
               {"more=", NULL, &a->more},     {"agent=", NULL, &a->agent}, {"host=", NULL, &a->host}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        size_t n = strlen(all[i].key);
        if (strncmp(word, all[i].key, n) == 0) {
            if (all[i].number != NULL) {
                *all[i].number = strtod(word + n, NULL);
            } else {
                *all[i].text = word + n;
            }
            return true;
        }
    }
    return false;
}

static void tell_counts(const struct hpx_watch_counts *c, bool ended)
{
    (void)printf("{\"ended\": %d", (int)ended);
    for (size_t i = 0; i < HPX_WATCH_COUNT; i++) {
        (void)printf(", \"%s\": %" PRIu64, hpx_watch_infos[i].key, c->of[i]);
    }
    (void)puts("}");
}

static void obey(struct hpx_watch *w)
{
    char line[64];
    struct hpx_watch_counts c;
    while (fgets(line, sizeof line, stdin) != NULL && strcmp(line, "stop\n") != 0) {
        if (strcmp(line, "flush\n") == 0) {
            (void)puts(hpx_watch_flush(w, 20000) ? "true" : "false");
        } else {
            hpx_watch_counts(w, &c);
            tell_counts(&c, hpx_watch_ended(w));
        }
        (void)fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    struct hpx_watch_asked a = {.every = 0};
    struct hpx_watch *w;
    struct hpx_watch_counts c;
    struct hpx_err err;
    for (int i = 2; i < argc; i++) {
        if (!take(&a, argv[i])) {
            (void)fprintf(stderr, "watch_driver: what is %s?\n", argv[i]);
            return HPX_USAGE;
        }
    }
    enum hpx_status s = argc < 2 ? hpx_fail(&err, HPX_USAGE, "which folder?") : hpx_watch_check(&a, &err);
    s = s == HPX_OK ? hpx_watch_start(&a, argv[1], &w, &err) : s;
    if (s != HPX_OK) {
        (void)fprintf(stderr, "watch_driver: %s\n", err.msg);
        return (int)s;
    }
    obey(w);
    hpx_watch_stop(w, &c);
    tell_counts(&c, true);
    return HPX_OK;
}
