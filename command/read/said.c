/* SPDX-License-Identifier: BSD-2-Clause */
/* said.c: see said.h. */
#include "said.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those before HOST are of a table and end with the next, the others are of the run. */
enum {
    EFFECTIVE,
    PROBES,
    SAMPLES,
    LOST,
    OWN,
    OLDER,
    ERROR,
    LIVE,
    ALLOCATIONS,
    REPLACED,
    COUNTS,
    FILTERED,
    BEFORE,
    HOST,
    SERVICE,
    VERSION,
    CONTAINER,
    PID,
    BEGAN,
    PROFILE,
    LATE,
    KEYS
};
static const char *const keys[KEYS] = {"effective samples",
                                       "inside probes",
                                       "samples",
                                       "lost",
                                       "own CPU time",
                                       "without debug information",
                                       "standard error",
                                       "live",
                                       "allocations",
                                       "replaced by the VM",
                                       "counts",
                                       "filtered",
                                       "before filters",
                                       "host",
                                       "service",
                                       "service version",
                                       "container",
                                       "pid",
                                       "run began",
                                       "profile",
                                       "kept by the process"};

static uint64_t leading_number(const char *digits, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n && i < 18 && digits[i] >= '0' && digits[i] <= '9'; i++) {
        v = v * 10 + (uint64_t)(digits[i] - '0');
    }
    return v;
}

static void keep(char *to, size_t size, const char *value, size_t n)
{
    size_t k = 0;
    for (; k < n && k < size - 1 && value[k] != '\n'; k++) {
        to[k] = value[k];
    }
    to[k] = '\0';
}

static void keep_line(char to[HPX_SAID], const char *value, size_t n)
{
    keep(to, HPX_SAID, value, n);
}

/* "4 (40.00 %)". */
static uint32_t share(const char *value, size_t n)
{
    const char *at = memchr(value, '(', n), *end = value + n;
    uint32_t v = 0;
    for (size_t digits = 0; at != NULL && ++at < end && digits < 5 && (*at == '.' || (*at >= '0' && *at <= '9'));) {
        v = *at == '.' ? v : v * 10 + (uint32_t)(*at - '0');
        digits += *at != '.';
    }
    return v;
}

/* "123 (one per 10 ms of CPU time of a Java thread)". */
static uint64_t interval(const char *value, size_t n)
{
    char line[HPX_SAID];
    double ms;
    keep_line(line, value, n);
    const char *per = strstr(line, "(one per ");
    return per != NULL && sscanf(per, "(one per %lf ms of CPU time", &ms) == 1 && ms > 0 && ms < 1e9 ? (uint64_t)(ms * 1e6 + 0.5) : 0;
}

/* "1.23 % of all allocated bytes", which is rounded. */
static uint64_t by_error(const char *value, size_t n)
{
    char line[HPX_SAID];
    double percent;
    keep_line(line, value, n);
    if (sscanf(line, "%lf %% of all allocated bytes", &percent) != 1 || !(percent >= 0 && percent < 1e4)) {
        return 0;
    }
    percent = percent < 0.005 ? 0.005 : percent;
    return (uint64_t)(1e4 / (percent * percent)) + 1;
}

/* "3, from 1764096858123 to 1764096868456 ms since 1970". */
static void period(struct hpx_said *s, const char *value, size_t n)
{
    char line[HPX_SAID];
    unsigned long long number, from, to;
    keep_line(line, value, n);
    if (sscanf(line, "%18llu, from %18llu to %18llu ms since 1970", &number, &from, &to) == 3 && from <= to) {
        s->number = number;
        s->from_ms = from;
        s->first_ms = s->first_ms == 0 || from < s->first_ms ? from : s->first_ms;
        s->to_ms = to;
    }
}

static void hear_of_run(struct hpx_said *s, size_t i, const char *value, size_t n)
{
    switch (i) {
    case PID:
        s->pid = leading_number(value, n);
        break;
    case BEGAN:
        s->began_ms = leading_number(value, n);
        break;
    case PROFILE:
        period(s, value, n);
        break;
    case LATE:
        s->late = true;
        break;
    default:
        keep_line(i == HOST ? s->host : i == SERVICE ? s->service : i == VERSION ? s->version : s->container, value, n);
        break;
    }
}

static void hear(struct hpx_said *s, size_t i, const char *value, size_t n)
{
    static const char estimated[] = "estimated from ";
    if (i >= HOST) {
        hear_of_run(s, i, value, n);
        return;
    }
    switch (i) {
    case EFFECTIVE:
        s->effective = leading_number(value, n);
        s->older[0] = '\0'; /* not every report has it */
        break;
    case PROBES:
        s->in_probes = leading_number(value, n);
        s->in_probes_share = share(value, n);
        break;
    case SAMPLES:
        s->interval_ns = interval(value, n);
        break;
    case ERROR:
        s->allocations = by_error(value, n);
        break;
    case COUNTS:
        s->kept |= memmem(value, n, "go on", 5) != NULL;
        break;
    case LIVE:
        s->live_drawn = memmem(value, n, "estimated", 9) != NULL;
        s->live_some = leading_number(value, n) > 0;
        break;
    case ALLOCATIONS:
        s->sampled = n > sizeof estimated && memcmp(value, estimated, sizeof estimated - 1) == 0
                         ? leading_number(value + sizeof estimated - 1, n - (sizeof estimated - 1))
                         : 0;
        break;
    case FILTERED:
        keep(s->filtered, sizeof(s->filtered), value, n);
        break;
    case BEFORE:
        keep(s->before, sizeof(s->before), value, n);
        break;
    case REPLACED:
        keep(s->replaced, sizeof(s->replaced), value, n);
        break;
    default:
        keep_line(i == LOST ? s->lost : i == OWN ? s->own : s->older, value, n);
        break;
    }
}

/* The report of a binary file is a string that nothing names. */
static void binary_report(struct hpx_said *s, const struct hpx_rd_string *string)
{
    static const char begin[] = "hprofx: ";
    struct hpx_rd_text t = string->text;
    bool is = hpx_rd_is_report(string);
    s->since |= is;
    s->reported |= is;
    for (size_t i = 0; is && i < KEYS; i++) {
        char line[40];
        size_t n = (size_t)snprintf(line, sizeof(line), "\n%s%s: ", begin, keys[i]);
        const char *first = t.n > n && memcmp(t.p, line + 1, n - 1) == 0 ? t.p - 1 : NULL; /* no line before it */
        const char *at = first != NULL ? first : memmem(t.p, t.n, line, n);
        if (at != NULL) {
            hear(s, i, at + n, (size_t)(t.p + t.n - at) - n);
        }
    }
}

static void text_report(struct hpx_said *s, const struct hpx_rd_report *r)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (r->key.n == strlen(keys[i]) && memcmp(r->key.p, keys[i], r->key.n) == 0) {
            hear(s, i, r->value.p, r->value.n);
        }
    }
}

void hpx_said_event(struct hpx_said *s, const struct hpx_rd_event *ev)
{
    s->reported |= ev->kind == HPX_RD_REPORT;
    s->since |= ev->kind == HPX_RD_SINCE || ev->kind == HPX_RD_REPORT ||
                (ev->kind == HPX_RD_CONTROL && (ev->control.flags & HPX_SETTING_SINCE) != 0);
    if (ev->kind == HPX_RD_STRING) {
        binary_report(s, &ev->string);
    } else if (ev->kind == HPX_RD_REPORT) {
        text_report(s, &ev->report);
    } else if (ev->kind == HPX_RD_TABLE || ev->kind == HPX_RD_SUMMARY) {
        for (size_t i = ev->table.tag == HPX_TAG_SAMPLES ? 0 : LOST; i < HOST; i++) {
            hear(s, i, "", 0);
        }
    }
}
