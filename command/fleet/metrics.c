/* SPDX-License-Identifier: BSD-2-Clause */
/* metrics.c: see metrics.h. A series is found by the text of its labels, as it is printed. One lock: it is held for some comparisons of
 * strings, or while the page is written to memory. */
#include "metrics.h"
#include "utf8.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define OTHER  "other"
#define SERIES 64            /* of a metric, without the one of all others */
#define LABEL  ((size_t)512) /* bytes of a label's value; the rest is cut off */

enum type { COUNTER, GAUGE };

struct kind {
    enum type type;
    const char *name, *first, *second;
    uint64_t unit;
    const char *help;
};

static const struct kind kinds[HPX_METRIC_COUNT] = {
#define KIND(id, type, name, first, second, unit, help) {type, name, first, second, unit, help},
    HPX_METRICS(KIND)
#undef KIND
};

struct series {
    char *labels; /* "destination=\"...\",cause=\"...\"" */
    uint64_t value;
};

static struct {
    pthread_mutex_t lock;
    size_t n[HPX_METRIC_COUNT];
    struct series of[HPX_METRIC_COUNT][SERIES];
    uint64_t plain[HPX_METRIC_COUNT]; /* a metric without labels; of one with labels, what was counted as "other" */
    bool other[HPX_METRIC_COUNT];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
    (void)pthread_mutex_lock(&all.lock);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&all.lock);
}

/* ---- labels ---- */

/* Bytes of a value that are printed: whole characters. */
static size_t kept(const char *value)
{
    size_t n = strnlen(value, LABEL);
    if (n == LABEL) {
        while (n > 0 && ((unsigned char)value[n] & 0xc0) == 0x80) {
            n--;
        }
    }
    return n;
}

/* NAME="VALUE" with what the format escapes; controls, and bytes that are no UTF-8, are question marks. */
static char *put_label(char *to, const char *name, const char *value)
{
    struct hpx_utf8 u = {0};
    size_t n = kept(value);
    hpx_utf8_feed(&u, value, n);
    hpx_utf8_end(&u);
    bool text = !u.broken && !u.modified;
    to = stpcpy(stpcpy(to, name), "=\"");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)value[i];
        if (c == '\\' || c == '"') {
            *to++ = '\\';
            *to++ = (char)c;
        } else if (c == '\n') {
            to = stpcpy(to, "\\n");
        } else {
            *to++ = (char)(c < ' ' || c == 0x7f || (c >= 0x80 && !text) ? '?' : c);
        }
    }
    return stpcpy(to, "\"");
}

#define ROOM (2 * (2 * LABEL + 64))

static void put_labels(char to[ROOM], const struct kind *k, const char *first, const char *second)
{
    to = put_label(to, k->first, first != NULL ? first : "");
    if (k->second != NULL) {
        *to++ = ',';
        (void)put_label(to, k->second, second != NULL ? second : "");
    }
}

/* Where the value is kept; made if `make`. NULL: nowhere, it belongs to the others. */
static uint64_t *find_locked(enum hpx_metric m, const char *labels, bool make)
{
    for (size_t i = 0; i < all.n[m]; i++) {
        if (strcmp(all.of[m][i].labels, labels) == 0) {
            return &all.of[m][i].value;
        }
    }
    char *copy = make && all.n[m] < SERIES ? strdup(labels) : NULL;
    if (copy == NULL) {
        return NULL;
    }
    struct series *s = &all.of[m][all.n[m]++];
    *s = (struct series){copy, 0};
    return &s->value;
}

/* make: the value may be that of the others. */
static uint64_t *value_locked(enum hpx_metric m, const char *first, const char *second, bool make)
{
    char labels[ROOM], other[ROOM];
    if (kinds[m].first == NULL) {
        return &all.plain[m];
    }
    put_labels(labels, &kinds[m], first, second);
    put_labels(other, &kinds[m], OTHER, OTHER);
    uint64_t *v = strcmp(labels, other) != 0 ? find_locked(m, labels, make) : NULL;
    if (v == NULL && (make || strcmp(labels, other) == 0)) {
        all.other[m] |= make;
        v = &all.plain[m];
    }
    return v;
}

/* ---- what others call ---- */

void hpx_metric_add(enum hpx_metric m, const char *first, const char *second, uint64_t n)
{
    lock();
    *value_locked(m, first, second, true) += n; /* goes on from 0 after 2^64, which Prometheus takes for a restart */
    unlock();
}

void hpx_metric_set(enum hpx_metric m, const char *first, const char *second, uint64_t n)
{
    lock();
    *value_locked(m, first, second, true) = n;
    unlock();
}

uint64_t hpx_metric_get(enum hpx_metric m, const char *first, const char *second)
{
    lock();
    const uint64_t *v = value_locked(m, first, second, false);
    uint64_t n = v != NULL ? *v : 0;
    unlock();
    return n;
}

/* ---- the page ---- */

static uint64_t cpu_ns(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) != 0) {
        return 0;
    }
    return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000 +
           ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000;
}

static uint64_t memory(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long size = 0, resident = 0;
    if (f != NULL) {
        resident = fscanf(f, "%lu %lu", &size, &resident) == 2 ? resident : 0;
        (void)fclose(f);
    }
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Field 22 of stat, in ticks since the machine began, behind the name, which may hold anything but ends at the last ")". */
static uint64_t age_ms(void)
{
    char text[1024];
    FILE *f = fopen("/proc/self/stat", "re");
    size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL) {
        (void)fclose(f);
    }
    text[n] = '\0';
    char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    struct timespec now;
    if (at == NULL || clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
        return 0;
    }
    uint64_t up = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    uint64_t began = strtoull(at + 1, NULL, 10) * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
    return up > began ? up - began : 0;
}

/* Once: a clock that is set later does not move it. */
static uint64_t start_ms(void)
{
    static uint64_t start;
    struct timespec now;
    if (start == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0) {
        start = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 - age_ms();
    }
    return start;
}

static void put_value(FILE *to, const struct kind *k, const char *labels, uint64_t v)
{
    (void)fprintf(to, labels[0] != '\0' ? "%s{%s} " : "%s%s ", k->name, labels);
    (void)fprintf(to, "%" PRIu64, v / k->unit);
    if (v % k->unit != 0) {
        int digits = 0;
        for (uint64_t unit = k->unit; unit > 1; unit /= 10) {
            digits++;
        }
        (void)fprintf(to, ".%0*" PRIu64, digits, v % k->unit);
    }
    (void)fputc('\n', to);
}

void hpx_metrics_write(FILE *to)
{
    char labels[ROOM];
    lock();
    all.plain[HPX_METRIC_PROCESS_CPU] = cpu_ns();
    all.plain[HPX_METRIC_PROCESS_MEMORY] = memory();
    all.plain[HPX_METRIC_PROCESS_START] = start_ms();
    for (size_t m = 0; m < HPX_METRIC_COUNT; m++) {
        const struct kind *k = &kinds[m];
        if (k->first != NULL && all.n[m] == 0 && !all.other[m]) {
            continue;
        }
        (void)fprintf(to, "# HELP %s %s\n# TYPE %s %s\n", k->name, k->help, k->name, k->type == COUNTER ? "counter" : "gauge");
        for (size_t i = 0; i < all.n[m]; i++) {
            put_value(to, k, all.of[m][i].labels, all.of[m][i].value);
        }
        if (k->first == NULL) {
            put_value(to, k, "", all.plain[m]);
        } else if (all.other[m]) {
            put_labels(labels, k, OTHER, OTHER);
            put_value(to, k, labels, all.plain[m]);
        }
    }
    unlock();
}
