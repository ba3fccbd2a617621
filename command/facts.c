/* SPDX-License-Identifier: BSD-2-Clause */
/* facts.c: see facts.h. */
#include "facts.h"
#include "compiler.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

void hpx_facts_status(const char *text, struct hpx_facts *f)
{
    const struct {
        const char *key;
        uint64_t *to;
        int base;
    } known[] = {{"\nThreads:", &f->threads, 10},
                 {"\nSigQ:", &f->queued, 10},
                 {"\nSigCgt:", &f->caught, 16},
                 {"\nSigBlk:", &f->blocked, 16},
                 {"\nCapEff:", &f->capabilities, 16}};
    char *behind;
    *f = (struct hpx_facts){0};
    for (size_t i = 0; i < HPX_ARRAY_LEN(known); i++) {
        const char *at = strstr(text, known[i].key);
        if (at != NULL) {
            *known[i].to = strtoull(at + strlen(known[i].key), &behind, known[i].base);
            if (known[i].to == &f->queued && *behind == '/') {
                f->queue_limit = strtoull(behind + 1, NULL, 10);
            }
        }
    }
    f->filtered = strstr(text, "\nSeccomp:\t2") != NULL;
}

uint64_t hpx_facts_open_files(const char *limits)
{
    static const char key[] = "Max open files";
    const char *at = strstr(limits, key);
    if (at == NULL) {
        return 0;
    }
    at += sizeof key - 1 + strspn(at + sizeof key - 1, " ");
    return strncmp(at, "unlimited", 9) == 0 ? UINT64_MAX : strtoull(at, NULL, 10);
}

static bool option_hides(const char *options)
{
    static const char *const shows[] = {"0", "off"};
    const char *at = strstr(options, "hidepid=");
    if (at == NULL) {
        return false;
    }
    at += strlen("hidepid=");
    size_t n = strcspn(at, ",");
    for (size_t i = 0; i < HPX_ARRAY_LEN(shows); i++) {
        if (strlen(shows[i]) == n && strncmp(at, shows[i], n) == 0) {
            return false;
        }
    }
    return true;
}

bool hpx_facts_hides(const char *mounts)
{
    bool hides = false; /* the last mount is the one that is seen */
    for (const char *line = mounts; line != NULL; line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
        char options[256];
        if (sscanf(line, "%*s /proc proc %255s", options) == 1) {
            hides = option_hides(options);
        }
    }
    return hides;
}

/* "OpenJDK 64-Bit Server VM (17.0.15+6) for linux-amd64 JRE (17.0.15+6), built on ..."; JDK 8 has its own release only in the second. */
bool hpx_facts_release(const char *bytes, size_t n, char *to, size_t size)
{
    static const char before[] = ") for linux-", jre[] = " JRE (";
    const char *end = bytes + n, *at = bytes;
    while ((at = memmem(at, (size_t)(end - at), before, sizeof before - 1)) != NULL) {
        at += sizeof before - 1;
        size_t left = (size_t)(end - at), near = left < HPX_FACTS_RELEASE / 2 ? left : HPX_FACTS_RELEASE / 2;
        const char *from = memmem(at, near, jre, sizeof jre - 1);
        if (from == NULL) {
            continue;
        }
        from += sizeof jre - 1;
        const char *close = memchr(from, ')', near - (size_t)(from - at));
        if (close != NULL && close > from && (size_t)(close - from) < size && memchr(from, 0, (size_t)(close - from)) == NULL) {
            memcpy(to, from, (size_t)(close - from));
            to[close - from] = 0;
            return true;
        }
    }
    return false;
}

unsigned hpx_facts_glibc(const char *bytes, size_t n)
{
    static const char before[] = "\0GLIBC_2."; /* other texts have a name with something before it */
    const char *end = bytes + n, *at = bytes;
    unsigned newest = 0;
    while ((at = memmem(at, (size_t)(end - at), before, sizeof before - 1)) != NULL) {
        const char *digits = at += sizeof before - 1;
        unsigned number = 0;
        for (; at < end && at - digits < 3 && *at >= '0' && *at <= '9'; at++) {
            number = 10 * number + (unsigned)(*at - '0');
        }
        if (at > digits && at < end && (*at == 0 || *at == '.') && number > newest) {
            newest = number;
        }
    }
    return newest;
}

unsigned hpx_facts_major(const char *release)
{
    unsigned first = 0, second = 0;
    int n = sscanf(release, "%3u.%3u", &first, &second);
    return n == 2 && first == 1 ? second : n >= 1 ? first : 0;
}
