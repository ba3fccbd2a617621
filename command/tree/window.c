/* SPDX-License-Identifier: BSD-2-Clause */
/* window.c: see window.h. */
#include "window.h"
#include "budget.h"
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

/* That time of the day of the time 0, or of so many days behind it, by this machine's clock; since the time 0. Not every day has 24 hours.
 */
static int64_t on_day(uint64_t ms, uint64_t zero_ms, int days)
{
    time_t at = (time_t)(zero_ms / 1000);
    struct tm tm;
    if (localtime_r(&at, &tm) == NULL) {
        return 0;
    }
    tm.tm_mday += days;
    tm.tm_hour = (int)(ms / 3600000);
    tm.tm_min = (int)(ms / 60000 % 60);
    tm.tm_sec = (int)(ms / 1000 % 60);
    tm.tm_isdst = -1;
    return (int64_t)mktime(&tm) * 1000 + (int64_t)(ms % 1000) - (int64_t)zero_ms;
}

/* Since the time 0; below it: before. A time of day is that of the next day if the file has that, or if it is nearer: a short file of a
 * session that passes midnight means the same by it as the later ones do. */
static int64_t resolve(const struct wish *w, uint64_t zero_ms, uint64_t end_ms)
{
    if (!w->clock) {
        return (int64_t)w->ms;
    }
    const int64_t at = on_day(w->ms, zero_ms, 0), next = on_day(w->ms, zero_ms, 1);
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

/* "--from 90s --to 2m (14:03:10 to 14:03:40)". */
static void say(struct hpx_tree *t, uint64_t zero_ms, struct hpx_window w)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (f == NULL) {
        t->no_memory = true;
        return;
    }
    const char *before = "";
    if (t->filtered != 0) {
        (void)fprintf(f, "%s; ", hpx_tree_text(t, t->filtered));
    }
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
    if (fclose(f) == 0) {
        t->filtered = hpx_tree_name(t, text, n);
    }
    free(text);
}

/* ---- what lies in the window ---- */

/* The part of ns, which end at `end` ms, that lies in the window. */
static uint64_t part_of(struct hpx_window w, uint64_t end_ms, uint64_t ns)
{
    double end = (double)end_ms, begin = end - (double)ns / (double)NS_PER_MS, all = end - begin;
    double from = (double)w.from > begin ? (double)w.from : begin, to = (double)w.to < end ? (double)w.to : end;
    bool whole = (double)w.from <= begin && (double)w.to >= end;
    return whole ? ns : to <= from || all <= 0 ? 0 : (uint64_t)((double)ns * ((to - from) / all) + 0.5);
}

/* Parts of numbers of a stack are rounded as their sum is: one by one, small counts would all be 0 or 1. */
struct sums {
    struct hpx_seeded_map of;
    struct hpx_list exact; /* double: `values` for each stack */
};

static uint64_t rounded(double v)
{
    return v < 1.8e19 ? (uint64_t)(v + 0.5) : UINT64_MAX;
}

/* false: no memory. */
static bool scale(struct sums *s, const struct hpx_tree_view *v, const struct hpx_tree_moment *m, double share, uint64_t *values)
{
    double *sum = NULL;
    uint32_t *index;
    int added = hpx_seeded_map_add(&s->of, (uint64_t)m->node << 32 | m->thread, &index);
    if (added > 0) {
        *index = (uint32_t)(s->exact.len / v->values);
        for (size_t i = 0; i < v->values; i++) {
            if (hpx_list_push(&s->exact, sizeof *sum) == NULL) {
                return false;
            }
        }
    }
    if (added < 0) {
        return false;
    }
    sum = (double *)s->exact.items + *index * v->values;
    for (size_t i = 0; i < v->values; i++) {
        uint64_t before = rounded(sum[i]);
        sum[i] += (double)values[i] * share;
        values[i] = rounded(sum[i]) - before;
    }
    return true;
}

/* A moment of a coarse unit: some of it, evenly spread. false: nothing is in the window, or there is no memory. */
static bool take_coarse(struct hpx_tree *t, struct sums *s, const struct hpx_tree_view *v, uint64_t zero_ms, struct hpx_window w,
                        struct hpx_tree_moment *m, uint64_t *values)
{
    uint64_t at = m->at_ms - zero_ms, end = at + m->unit_ms, from = w.from > at ? w.from : at, to = w.to < end ? w.to : end;
    if (from >= to) {
        return false;
    }
    if (to - from < m->unit_ms && !scale(s, v, m, (double)(to - from) / m->unit_ms, values)) {
        t->no_memory = true;
        return false;
    }
    m->at_ms = zero_ms + from;
    m->unit_ms = (uint32_t)(to - from);
    return true;
}

static bool take_fine(const struct hpx_tree_view *v, uint64_t zero_ms, struct hpx_window w, struct hpx_tree_moment *m, uint64_t *values)
{
    const uint64_t at = m->at_ms - zero_ms;
    size_t length = m->lasted ? hpx_tree_length(v) : v->values;
    bool inside = at >= w.from && at < w.to, any = inside;
    for (size_t i = 0; i < v->values; i++) {
        values[i] = i == length ? part_of(w, at, values[i]) : inside ? values[i] : 0;
        any |= values[i] > 0;
    }
    m->at_ms = at > w.to ? zero_ms + w.to : m->at_ms; /* the part inside ends there */
    return any;
}

static void take_view(struct hpx_tree *t, struct hpx_tree_view *v, uint64_t zero_ms, struct hpx_window w)
{
    struct sums sums = {.exact = {0}};
    size_t kept = 0, bytes = v->values * sizeof(uint64_t);
    bool threads = hpx_tree_has_threads(v);
    for (size_t m = 0; m < v->values; m++) {
        v->before[m] = v->before[m] != 0 ? v->before[m] : hpx_tree_total(v, m);
    }
    v->samples.len = v->numbers.len = 0;
    hpx_seeded_map_clear(&v->index);
    hpx_seeded_map_init(&sums.of, true);
    for (size_t i = 0; i < v->moments.len && !t->no_memory; i++) {
        struct hpx_tree_moment m = *hpx_tree_moment_at(v, i);
        uint64_t values[HPX_TREE_VALUES] = {0};
        memcpy(values, hpx_tree_moment_values_at(v, i), bytes);
        m.at_ms = m.at_ms > zero_ms ? m.at_ms : zero_ms;
        if (m.unit_ms > 1 ? take_coarse(t, &sums, v, zero_ms, w, &m, values) : take_fine(v, zero_ms, w, &m, values)) {
            hpx_tree_add(t, v, m.node, threads ? m.thread : 0, values);
            ((struct hpx_tree_moment *)v->moments.items)[kept] = m;
            memcpy((uint64_t *)v->moment_numbers.items + kept++ * v->values, values, bytes);
        }
    }
    v->moments.len = kept;
    v->moment_numbers.len = kept * v->values;
    hpx_seeded_map_fini(&sums.of);
    hpx_budget_give(sums.exact.cap * sizeof(double));
    free(sums.exact.items);
}

static void take_pauses(struct hpx_tree *t, uint64_t zero_ms, struct hpx_window w)
{
    struct hpx_tree_pause *p = t->pauses.items;
    size_t kept = 0;
    for (size_t i = 0; i < t->pauses.len; i++) {
        const uint64_t at = p[i].at_ms > zero_ms ? p[i].at_ms - zero_ms : 0, ns = part_of(w, at, p[i].ns);
        if (ns > 0 || (at >= w.from && at < w.to)) {
            p[kept++] = (struct hpx_tree_pause){zero_ms + (at < w.to ? at : w.to), ns, p[i].name};
        }
    }
    t->pauses.len = kept;
}

void hpx_window_apply(struct hpx_tree *t, uint64_t zero_ms, uint64_t end_ms, bool timed)
{
    const struct hpx_window w = hpx_window_of(zero_ms, end_ms);
    const struct hpx_tree_view *cpu = &t->views[HPX_VIEW_CPU], *alloc = &t->views[HPX_VIEW_ALLOC];
    const size_t counted = hpx_tree_total(cpu, 0) == 0; /* samples, else their time */
    const uint64_t all_cpu = hpx_tree_total(cpu, counted), all_alloc = hpx_tree_total(alloc, 1);
    uint64_t end = w.to < end_ms ? w.to : end_ms;
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        take_view(t, &t->views[k], zero_ms, w);
    }
    take_pauses(t, zero_ms, w);
    say(t, zero_ms, w);
    t->effective = hpx_tree_part(t->effective, hpx_tree_total(cpu, counted), all_cpu);
    t->sampled = hpx_tree_part(t->sampled, hpx_tree_total(alloc, 1), all_alloc);
    t->start_ms = w.from < MOST_MS ? zero_ms + w.from : 0;
    t->duration_ms = end > w.from ? end - w.from : 0;
    t->times_from_ms = t->times_from_ms > t->start_ms ? t->times_from_ms : t->start_ms;
    t->times_to_ms = t->times_to_ms < zero_ms + end ? t->times_to_ms : zero_ms + end;
    t->empty = 0;
    free(t->verdict);
    free(t->states);
    t->verdict = t->states = NULL;
    t->timed = timed;
    if (!timed) {
        hpx_tree_without_times(t);
    }
}
