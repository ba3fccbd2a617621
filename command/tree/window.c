/* SPDX-License-Identifier: BSD-2-Clause */
/* window.c: see window.h. */
#include "window.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_MS    UINT64_C(86400000)
#define MOST_MS   (UINT64_C(1000) * 365 * DAY_MS)
#define NS_PER_MS UINT64_C(1000000)

struct wish {
    const char *text; /* NULL: not asked for */
    bool clock;
    uint64_t ms; /* offset; clock: since midnight */
};

static struct wish wishes[HPX_WINDOW_ENDS];
static const char *const names[HPX_WINDOW_ENDS] = {"--from", "--to", "--around"};

/* "12", "12.5": in thousandths. false: no number. */
static bool decimal(const char **at, uint64_t *thousandths)
{
    const char *first = *at;
    uint64_t v = 0, scale = 1000;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        if (v > MOST_MS) {
            return false;
        }
        v = v * 10 + (uint64_t)(**at - '0') * 1000;
    }
    bool some = *at > first;
    if (some && **at == '.') {
        for (++*at; **at >= '0' && **at <= '9'; (*at)++) {
            scale /= 10;
            v += (uint64_t)(**at - '0') * scale;
        }
    }
    *thousandths = v;
    return some;
}

static uint64_t unit_of(const char **at)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", DAY_MS}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t n = strlen(units[i].name);
        if (strncmp(*at, units[i].name, n) == 0) {
            *at += n;
            return units[i].ms;
        }
    }
    return 0;
}

/* "1m30s", "90"; the last unit may be left out: seconds. */
static bool take_offset(const char *at, uint64_t *ms)
{
    uint64_t n;
    *ms = 0;
    do {
        if (!decimal(&at, &n)) {
            return false;
        }
        uint64_t unit = *at == '\0' ? 1000 : unit_of(&at);
        if (unit == 0 || n / 1000 > MOST_MS / unit) {
            return false;
        }
        *ms += (n / 1000) * unit + (n % 1000) * unit / 1000;
    } while (*at != '\0');
    return *ms <= MOST_MS;
}

/* "14:03", "14:03:20.5". */
static bool take_clock(const char *at, uint64_t *ms)
{
    uint64_t part[3] = {0, 0, 0};
    for (size_t i = 0; i < 3; i++) {
        if (!decimal(&at, &part[i]) || part[i] >= (i == 0 ? 24000u : 60000u) || (i < 2 && part[i] % 1000 != 0)) {
            return false;
        }
        if (i > 0 && *at == '\0') {
            break;
        }
        if (*at != ':' || i == 2) {
            return false;
        }
        at++;
    }
    *ms = (part[0] / 1000 * 60 + part[1] / 1000) * 60000 + part[2];
    return true;
}

bool hpx_window_set(enum hpx_window_end end, const char *text)
{
    struct wish w = {.text = text, .clock = strchr(text, ':') != NULL};
    if (!(w.clock ? take_clock : take_offset)(text, &w.ms)) {
        return false;
    }
    wishes[end] = w;
    return true;
}

void hpx_window_clear(void)
{
    memset(wishes, 0, sizeof wishes);
}

bool hpx_window_is_set(void)
{
    return wishes[HPX_WINDOW_FROM].text != NULL || wishes[HPX_WINDOW_TO].text != NULL || wishes[HPX_WINDOW_AROUND].text != NULL;
}

const char *hpx_window_wrong(void)
{
    const struct wish *from = &wishes[HPX_WINDOW_FROM], *to = &wishes[HPX_WINDOW_TO];
    return wishes[HPX_WINDOW_AROUND].text != NULL && (from->text != NULL || to->text != NULL) ? "--around excludes --from and --to"
           : from->text != NULL && to->text != NULL && from->clock == to->clock && !from->clock && from->ms >= to->ms
               ? "--from is not before --to"
               : NULL;
}

/* Midnight of the day of the time 0, by this machine's clock, in ms since 1970. */
static int64_t midnight(uint64_t zero_ms)
{
    time_t at = (time_t)(zero_ms / 1000);
    struct tm tm;
    if (localtime_r(&at, &tm) == NULL) {
        return 0;
    }
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    return (int64_t)mktime(&tm) * 1000;
}

/* Since the time 0; below it: before. A time of day is that of the next day if the file has that, or if it is nearer: a short file of a
 * session that passes midnight means the same by it as the later ones do. */
static int64_t resolve(const struct wish *w, uint64_t zero_ms, uint64_t end_ms)
{
    if (!w->clock) {
        return (int64_t)w->ms;
    }
    const int64_t at = midnight(zero_ms) + (int64_t)w->ms - (int64_t)zero_ms, next = at + (int64_t)DAY_MS;
    return at < 0 && (next <= (int64_t)end_ms || next < -at) ? next : at;
}

static uint64_t not_below_zero(int64_t v)
{
    return v > 0 ? (uint64_t)v : 0;
}

struct hpx_window hpx_window_of(uint64_t zero_ms, uint64_t end_ms)
{
    const struct wish *from = &wishes[HPX_WINDOW_FROM], *to = &wishes[HPX_WINDOW_TO], *around = &wishes[HPX_WINDOW_AROUND];
    end_ms = end_ms < MOST_MS ? end_ms : MOST_MS;
    struct hpx_window w = {0, UINT64_MAX};
    if (around->text != NULL) {
        int64_t at = resolve(around, zero_ms, end_ms);
        return (struct hpx_window){not_below_zero(at - (int64_t)HPX_WINDOW_AROUND_MS), not_below_zero(at + (int64_t)HPX_WINDOW_AROUND_MS)};
    }
    w.from = from->text != NULL ? not_below_zero(resolve(from, zero_ms, end_ms)) : w.from;
    w.to = to->text != NULL ? not_below_zero(resolve(to, zero_ms, end_ms)) : w.to;
    return w;
}

static void put_clock(FILE *to, uint64_t zero_ms, uint64_t ms)
{
    uint64_t at_ms = zero_ms + ms;
    time_t at = (time_t)(at_ms / 1000);
    struct tm tm;
    char text[32];
    if (localtime_r(&at, &tm) != NULL && strftime(text, sizeof text, "%H:%M:%S", &tm) > 0) {
        (void)fputs(text, to);
        if (at_ms % 1000 != 0) {
            (void)fprintf(to, ".%03u", (unsigned)(at_ms % 1000));
        }
    }
}

void hpx_window_words(char *to, size_t n, uint64_t zero_ms, struct hpx_window w)
{
    FILE *f = fmemopen(to, n, "w");
    to[0] = '\0';
    if (f == NULL) {
        return;
    }
    const char *before = "";
    for (size_t i = 0; i < HPX_WINDOW_ENDS; i++) {
        if (wishes[i].text != NULL) {
            (void)fprintf(f, "%s%s %s", before, names[i], wishes[i].text);
            before = " ";
        }
    }
    (void)fputs(" (", f);
    put_clock(f, zero_ms, w.from);
    (void)fputs(w.to == UINT64_MAX ? " on)" : " to ", f);
    if (w.to != UINT64_MAX) {
        put_clock(f, zero_ms, w.to);
        (void)fputc(')', f);
    }
    (void)fclose(f);
    to[n - 1] = '\0';
}

uint64_t hpx_window_part(struct hpx_window w, uint64_t end_ms, uint64_t ns)
{
    double end = (double)end_ms, begin = end - (double)ns / (double)NS_PER_MS, all = end - begin;
    double from = (double)w.from > begin ? (double)w.from : begin, to = (double)w.to < end ? (double)w.to : end;
    bool whole = (double)w.from <= begin && (double)w.to >= end;
    return whole ? ns : to <= from || all <= 0 ? 0 : (uint64_t)((double)ns * ((to - from) / all) + 0.5);
}
