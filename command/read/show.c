/* SPDX-License-Identifier: BSD-2-Clause */
/* show.c: a file for a person: what it is, what is in it, the top of its tables; and the result of a check. */
#include "show.h"
#include "certainty.h"
#include "grid.h"
#include "words.h"
#include <inttypes.h>
#include <string.h>
#include <time.h>

#define THREADS_SHOWN 12
#define METHODS_SHOWN (2 * HPX_METHODS_BY_SELF)

static void title(const struct hpx_report *r, const char *text)
{
    fprintf(r->to, r->bold ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

/* rest: of what stands behind the cells. title: they are the title of what follows. */
static void heads(const struct hpx_report *r, struct hpx_grid *g, const char *rest, bool as_title)
{
    if (g->prints && as_title) {
        fputs(r->bold ? "\n\033[1m" : "\n", r->to);
    }
    hpx_grid_heads(g);
    if (hpx_grid_end(g)) {
        fprintf(r->to, "%s%s\n", rest, as_title && r->bold ? "\033[0m" : "");
    }
}

static void place(FILE *to, uint64_t at, uint64_t line)
{
    if (line > 0) {
        fprintf(to, "line %" PRIu64, line);
    } else {
        fprintf(to, "offset %" PRIu64, at);
    }
}

static void result(const struct hpx_report *r)
{
    const struct hpx_reader *d = r->reader;
    hpx_words_name(r->to, r->file, 0, false);
    if (d->result == HPX_RD_SOUND) {
        fprintf(r->to, ": sound: %" PRIu64 " bytes, %" PRIu64 " records, %" PRIu64 " dump%s\n", d->end, r->check->records, r->check->dumps,
                r->check->dumps == 1 ? "" : "s");
    } else if (d->line > 0) {
        fprintf(r->to, ": broken in line %" PRIu64 " (offset %" PRIu64 "): %s\n", d->line, d->at, d->why);
    } else {
        fprintf(r->to, ": broken at offset %" PRIu64 ": %s\n", d->at, d->why);
    }
    if (d->result == HPX_RD_CUT) {
        fprintf(r->to, "whole up to offset %" PRIu64 "%s\n", d->whole, d->whole > 0 ? "; --recover cuts off the rest" : "");
    }
}

static void notes(const struct hpx_report *r)
{
    for (size_t i = 0; i < HPX_NOTE_COUNT; i++) {
        const struct hpx_rd_noted *n = &r->reader->notes[i];
        if (n->count > 0) {
            fprintf(r->to, "note: %s (", hpx_rd_note_texts[i]);
            if (n->count > 1) {
                fprintf(r->to, "%" PRIu64 " times, first at ", n->count);
            }
            place(r->to, n->at, n->line);
            fputs(")\n", r->to);
        }
    }
}

void hpx_report_check(const struct hpx_report *r)
{
    result(r);
    notes(r);
}

static void overview(const struct hpx_report *r)
{
    const struct hpx_profile *p = r->profile;
    char when[40] = "";
    if (r->bold) {
        fputs("\033[1m", r->to);
    }
    hpx_words_name(r->to, r->file, 0, false);
    fputs(r->bold ? "\033[0m\n" : "\n", r->to);
    if (p->header.text) {
        fprintf(r->to, "  format    HPROF text%s%s\n", p->header.bare ? " without a header" : " 1.0.",
                p->header.bare         ? ""
                : p->header.minor == 1 ? "1"
                                       : "2");
    } else if (p->header.id_size > 0) { /* else no header was read */
        fprintf(r->to, "  format    HPROF binary 1.0.%d, identifiers of %" PRIu32 " bytes\n", p->header.minor, p->header.id_size);
        time_t at = (time_t)(p->header.ms / 1000);
        struct tm tm;
        if (p->header.ms / 1000 < 253402300800u && gmtime_r(&at, &tm) != NULL) {
            strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
        }
    }
    if (p->date[0] != '\0' || when[0] != '\0') {
        fprintf(r->to, "  created   %s\n", p->date[0] != '\0' ? p->date : when);
    }
    char period[HPX_PROFILE_PERIOD];
    hpx_profile_period(p, period);
    if (period[0] != '\0') {
        fprintf(r->to, "  %s%s\n", p->said.to_ms > 0 ? "from      " : "", period);
    }
    if (p->us > 0) {
        fprintf(r->to, "  covers    %s\n", hpx_words_seconds(p->us));
    }
    fprintf(r->to, "  size      %s, %s records, %s dump%s\n", hpx_words_size(r->reader->end), hpx_words_number(r->check->records),
            hpx_words_number(r->check->dumps), r->check->dumps == 1 ? "" : "s");
    if (p->has_control) {
        fprintf(r->to, "  settings  allocation traces %s, CPU sampling %s, stack depth %" PRIu32 "\n", (p->flags & 1) != 0 ? "on" : "off",
                (p->flags & 2) != 0 ? "on" : "off", p->depth);
    }
}

static void records(const struct hpx_report *r)
{
    static const struct hpx_grid_column columns[] = {{"Records", 0, 22, true}, {"count", 1, 10, false}, {"bytes", 1, 12, false}};
    const struct hpx_profile *p = r->profile;
    struct hpx_grid g;
    if (r->check->records == 0) {
        return;
    }
    hpx_grid_begin(&g, r->to, columns, p->header.text ? 2 : 3);
    do {
        heads(r, &g, "", true);
        for (int tag = 0; tag < HPX_TAGS; tag++) {
            if (p->counts[tag] == 0) {
                continue;
            }
            char name[32];
            snprintf(name, sizeof(name), "  %s", hpx_tag_name(tag));
            hpx_grid_cell(&g, name);
            hpx_grid_cell(&g, hpx_words_number(p->counts[tag]));
            if (!p->header.text) {
                hpx_grid_cell(&g, hpx_words_size(p->bytes[tag]));
            }
            if (hpx_grid_end(&g)) {
                fputc('\n', r->to);
            }
        }
    } while (hpx_grid_again(&g));
}

static void thread(const struct hpx_report *r, struct hpx_grid *g, const struct hpx_defined_thread *t, int digits)
{
    const struct hpx_profile *p = r->profile;
    char serial[24];
    snprintf(serial, sizeof(serial), "  %*" PRIu32, digits, t->serial);
    hpx_grid_cell(g, serial);
    hpx_grid_cell(g, hpx_words_cut(hpx_profile_name(p, t->group), 13));
    if (!p->header.text) {
        hpx_grid_cell(g, hpx_words_seconds(t->start_us));
        hpx_grid_cell(g, t->ended ? hpx_words_seconds(t->end_us) : "-");
    }
    if (hpx_grid_end(g)) {
        const char *name = hpx_profile_name(p, t->name);
        fputs(p->header.text ? " " : "  ", r->to);
        hpx_words_name(r->to, name[0] != '\0' ? name : "(no name)", HPX_NAME_COLUMNS, false);
        fputc('\n', r->to);
    }
}

static void threads(const struct hpx_report *r)
{
    static const struct hpx_grid_column columns[] = {
        {"Threads", 0, 8, true}, {"group", 3, 16, true}, {"started", 1, 9, false}, {"ended", 2, 9, false}};
    const struct hpx_profile *p = r->profile;
    const struct hpx_defined_thread *t = p->defined.threads.items;
    struct hpx_grid g;
    int digits = 6;
    if (p->defined.threads.len == 0) {
        return;
    }
    for (size_t i = 0; i < p->defined.threads.len && i < THREADS_SHOWN; i++) {
        int n = snprintf(NULL, 0, "%" PRIu32, t[i].serial);
        digits = n > digits ? n : digits;
    }
    hpx_grid_begin(&g, r->to, columns, p->header.text ? 2 : 4);
    do {
        heads(r, &g, p->header.text ? " name" : "  name", true);
        for (size_t i = 0; i < p->defined.threads.len && i < THREADS_SHOWN; i++) {
            thread(r, &g, t + i, digits);
        }
    } while (hpx_grid_again(&g));
    if (p->defined.threads.len > THREADS_SHOWN) {
        fprintf(r->to, "  and %s more\n", hpx_words_number(p->defined.threads.len - THREADS_SHOWN));
    }
}

static void row_name(const struct hpx_report *r, const struct hpx_profile_row *w, const char *between)
{
    if (w->state != 0) {
        fprintf(r->to, "%-8s  ", hpx_profile_name(r->profile, w->state));
    }
    hpx_words_java(r->to, hpx_profile_name(r->profile, w->name));
    if (w->caller != 0) {
        fputs(between, r->to);
        hpx_words_java(r->to, hpx_profile_name(r->profile, w->caller));
    }
    if (w->owner != 0) {
        fputs(", held in ", r->to);
        hpx_words_java(r->to, hpx_profile_name(r->profile, w->owner));
    } else if (w->row.owner != 0) {
        fputs(", owner not known", r->to);
    }
    fputc('\n', r->to);
}

static double share(uint64_t part, uint64_t total)
{
    return total > 0 ? (double)part * 100.0 / (double)total : 0.0;
}

static void rows_left(const struct hpx_report *r, const struct hpx_profile_table *t)
{
    if (t->rows > HPX_PROFILE_TOP) {
        fprintf(r->to, "  and %s more rows\n", hpx_words_number(t->rows - HPX_PROFILE_TOP));
    }
}

/* +-: samples are drawn, all other tables are counted or measured. */
static void too_close(const struct hpx_report *r)
{
    char rows[HPX_CERTAINTY_TEXT];
    uint32_t close = hpx_profile_close(r->profile);
    if (close != 0) {
        fprintf(r->to, "  Rows %s are too close for their order: %s samples. A longer run or a shorter interval may tell them apart.\n",
                hpx_certainty_rows(rows, close), hpx_words_number(hpx_profile_effective(r->profile)));
    }
}

static void inside_probes(const struct hpx_report *r)
{
    if (r->profile->said.in_probes > 0) {
        fprintf(r->to, "  Of the samples since the start, %.0f %% were inside probes; they count for the method that called the probe.\n",
                r->profile->said.in_probes_share / 100.0);
    }
}

static void rank(const struct hpx_report *r, struct hpx_grid *g, const struct hpx_profile_table *t, const struct hpx_profile_row *w)
{
    char text[32];
    snprintf(text, sizeof(text), "%.2f%%", w->row.self != HPX_NO_SHARE ? w->row.self / 100.0 : share(w->row.count, t->table.total));
    hpx_grid_cell(g, text);
    if (t->table.tag == HPX_TAG_SAMPLES) {
        snprintf(text, sizeof(text), "%.2f", hpx_certainty_points(w->row.count, t->table.total, hpx_profile_effective(r->profile)));
        hpx_grid_cell(g, text);
    }
    hpx_grid_cell(g, hpx_words_number(w->row.count));
    if (hpx_grid_end(g)) {
        fputs("  ", r->to);
        row_name(r, w, " <- ");
    }
}

/* In place of the rows of a table. */
static void none(const struct hpx_report *r, const char *why)
{
    fprintf(r->to, "  none: %s\n", why);
}

static const char *why_none(int tag)
{
    return tag == HPX_TAG_SAMPLES ? "no Java thread used CPU time when a sample was due"
           : tag == HPX_TAG_TIMES ? "no method with probes was called and returned"
           : tag == HPX_TAG_WALL  ? "no thread of Java was looked at"
                                  : "no thread was blocked there and went on";
}

static void ranked(const struct hpx_report *r, int tag, const char *unit)
{
    static const struct hpx_grid_column drawn_columns[] = {{"self", 2, 7, false}, {"+-", 1, 6, false}, {"count", 1, 10, false}},
                                        columns[] = {{"self", 2, 7, false}, {"count", 1, 10, false}};
    const struct hpx_profile_table *t = hpx_profile_table(r->profile, tag);
    char text[160], dumps[48] = "";
    struct hpx_grid g;
    if (t->seen == 0) {
        return;
    }
    if (t->seen > 1 && t->sums.added > 1) {
        snprintf(dumps, sizeof dumps, ", of %zu dumps", t->sums.added);
    }
    snprintf(text, sizeof(text), "%s: %s %s in all%s", hpx_tag_name(tag), hpx_words_number(t->table.total), unit,
             t->seen > 1 && t->sums.added == 1 ? ", the last of several" : dumps);
    title(r, text);
    bool drawn = tag == HPX_TAG_SAMPLES;
    if (t->rows == 0) {
        none(r, why_none(tag));
        return;
    }
    hpx_grid_begin(&g, r->to, drawn ? drawn_columns : columns, drawn ? 3 : 2);
    do {
        heads(r, &g,
              hpx_rd_blocked(tag)   ? "  class, where threads were blocked"
              : tag == HPX_TAG_WALL ? "  state     method, called by"
                                    : "  method, called by",
              false);
        for (size_t i = 0; i < t->rows && i < HPX_PROFILE_TOP; i++) {
            rank(r, &g, t, &t->top[i]);
        }
    } while (hpx_grid_again(&g));
    rows_left(r, t);
    if (drawn) {
        too_close(r);
        inside_probes(r);
    }
}

static void method(const struct hpx_report *r, struct hpx_grid *g, const struct hpx_method *m, uint64_t total)
{
    char text[32];
    snprintf(text, sizeof(text), "%.2f%%", share(m->self, total));
    hpx_grid_cell(g, text);
    snprintf(text, sizeof(text), "%.2f", hpx_certainty_points(m->self, total, hpx_profile_effective(r->profile)));
    hpx_grid_cell(g, text);
    snprintf(text, sizeof(text), "%.2f%%", share(m->total, total));
    hpx_grid_cell(g, text);
    hpx_grid_cell(g, hpx_words_number(m->self));
    if (hpx_grid_end(g)) {
        fputs("  ", r->to);
        hpx_words_java(r->to, hpx_profile_name(r->profile, m->name));
        fputc('\n', r->to);
    }
}

/* It is in every stack of a pool, and says nothing. */
static bool begins_thread(const struct hpx_report *r, const struct hpx_method *m)
{
    static const char *const names[] = {"java.lang.Thread.run", "java.lang.Thread.runWith"};
    const char *name = hpx_profile_name(r->profile, m->name);
    return m->self == 0 && (strcmp(name, names[0]) == 0 || strcmp(name, names[1]) == 0);
}

static void methods(const struct hpx_report *r)
{
    static const struct hpx_grid_column columns[] = {
        {"self", 2, 7, false}, {"+-", 1, 6, false}, {"total", 1, 8, false}, {"samples", 1, 10, false}};
    const struct hpx_profile_table *t = hpx_profile_table(r->profile, HPX_TAG_SAMPLES);
    const struct hpx_methods *all = &r->profile->methods;
    struct hpx_grid g;
    if (t->seen == 0 || t->table.total == 0) {
        return;
    }
    title(r, "CPU samples by method: the ten with the most in it, then those with the most in it and what it calls");
    hpx_grid_begin(&g, r->to, columns, HPX_ARRAY_LEN(columns));
    do {
        heads(r, &g, "  method", false);
        for (size_t i = 0; i < all->of.len && i < METHODS_SHOWN; i++) {
            if (begins_thread(r, (const struct hpx_method *)all->of.items + i)) {
                continue;
            }
            method(r, &g, (const struct hpx_method *)all->of.items + i, t->table.total);
        }
    } while (hpx_grid_again(&g));
    if (all->of.len > METHODS_SHOWN) {
        fprintf(r->to, "  and %s more methods\n", hpx_words_number(all->of.len - METHODS_SHOWN));
    }
    inside_probes(r);
}

static void state(const struct hpx_report *r, struct hpx_grid *g, const struct hpx_profile_state *s)
{
    static const char *const words[][2] = {{"R", "running"},  {"SL", "sleeping"}, {"MW", "waiting to enter"},
                                           {"CW", "waiting"}, {"ZO", "ended"},    {"NS", "not started"}};
    const char *name = hpx_profile_name(r->profile, s->name);
    hpx_grid_cell(g, hpx_words_number(s->count));
    hpx_grid_cell(g, s->unowned ? "unowned:" : s->monitor ? "held:" : s->count == 1 ? "thread:" : "threads:");
    if (!hpx_grid_end(g)) {
        return;
    }
    for (size_t w = 0; !s->monitor && w < HPX_ARRAY_LEN(words); w++) {
        name = strcmp(name, words[w][0]) == 0 ? words[w][1] : name;
    }
    fputc(' ', r->to);
    hpx_words_java(r->to, name);
    if (s->waiting > 0) {
        fprintf(r->to, ", %s waiting", hpx_words_number(s->waiting));
    }
    fputc('\n', r->to);
}

static void monitors(const struct hpx_report *r)
{
    static const struct hpx_grid_column columns[] = {{"", 2, 10, false}, {"", 1, 8, true}};
    const struct hpx_profile_state *s = r->profile->states.items;
    struct hpx_grid g;
    if (r->profile->states.len > 0) {
        title(r, r->profile->counts[HPX_TAG_MONITOR_DUMP] > 1 ? "Monitor dump, the last of several" : "Monitor dump");
    }
    hpx_grid_begin(&g, r->to, columns, 2);
    do {
        for (size_t i = 0; i < r->profile->states.len; i++) {
            state(r, &g, s + i);
        }
    } while (hpx_grid_again(&g));
}

static void old(const struct hpx_report *r)
{
    static const struct hpx_grid_column columns[] = {{"calls", 0, 10, false}, {"ms", 1, 10, false}};
    const struct hpx_profile_table *t = hpx_profile_table(r->profile, HPX_TAG_OLD);
    struct hpx_grid g;
    if (t->seen == 0) {
        return;
    }
    title(r, "Calls (cpu=old)");
    hpx_grid_begin(&g, r->to, columns, 2);
    do {
        heads(r, &g, "  method, called by", false);
        for (size_t i = 0; i < t->rows && i < HPX_PROFILE_TOP; i++) {
            hpx_grid_cell(&g, hpx_words_number(t->top[i].row.count));
            hpx_grid_cell(&g, hpx_words_number(t->top[i].row.bytes));
            if (hpx_grid_end(&g)) {
                fputs("  ", r->to);
                row_name(r, &t->top[i], " <- ");
            }
        }
    } while (hpx_grid_again(&g));
    rows_left(r, t);
}

static void site(const struct hpx_report *r, struct hpx_grid *g, const struct hpx_profile_row *w, bool live)
{
    if (live) {
        hpx_grid_cell(g, hpx_words_size(w->row.live_bytes));
        hpx_grid_cell(g, hpx_words_number(w->row.live_objects));
    }
    hpx_grid_cell(g, hpx_words_size(w->row.bytes));
    hpx_grid_cell(g, hpx_words_number(w->row.objects));
    if (hpx_grid_end(g)) {
        fputs("  ", r->to);
        row_name(r, w, " in ");
    }
}

/* Live objects were counted, or estimated. */
static bool has_live(const struct hpx_profile_table *t)
{
    bool has = false;
    for (size_t i = 0; i < t->rows && i < HPX_PROFILE_TOP; i++) {
        has |= t->top[i].row.live_objects > 0 || t->top[i].row.live_bytes > 0;
    }
    return has;
}

static void rows_of_sites(const struct hpx_report *r, const struct hpx_profile_table *t)
{
    static const struct hpx_grid_column columns[] = {
        {"live bytes", 0, 12, false}, {"live objects", 2, 12, false}, {"allocated", 1, 11, false}, {"objects", 1, 11, false}};
    bool live = has_live(t);
    struct hpx_grid g;
    hpx_grid_begin(&g, r->to, live ? columns : columns + 2, live ? 4 : 2);
    do {
        heads(r, &g, "  class, where", false);
        for (size_t i = 0; i < t->rows && i < HPX_PROFILE_TOP; i++) {
            site(r, &g, &t->top[i], live);
        }
    } while (hpx_grid_again(&g));
    rows_left(r, t);
}

static void sites(const struct hpx_report *r)
{
    const struct hpx_profile_table *t = hpx_profile_table(r->profile, HPX_TAG_SITES);
    if (t->seen > 0) {
        title(r, t->seen > 1 ? "Allocation sites, the last of several lists" : "Allocation sites");
        if (t->rows > 0) {
            rows_of_sites(r, t);
        } else {
            none(r, "nothing was allocated while it was recorded, or less than a sample stands for (sample=, 512 KiB)");
        }
    }
    const struct hpx_rd_table *s = &r->profile->summary.table;
    if (r->profile->summary.seen > 0) {
        title(r, "Heap summary");
        fprintf(r->to, "  live %s in %s objects, allocated %s in %s objects\n", hpx_words_size(s->total), hpx_words_number(s->live_objects),
                hpx_words_size(s->bytes), hpx_words_number(s->objects));
    }
}

static void heap_records(const struct hpx_report *r)
{
    static const struct hpx_grid_column columns[] = {{"", 2, 20, true}, {"", 1, 10, false}, {"", 1, 12, false}};
    const struct hpx_profile *p = r->profile;
    struct hpx_grid g;
    hpx_grid_begin(&g, r->to, columns, 3);
    do {
        for (int sub = 0; sub < 256; sub++) {
            if (p->sub_counts[sub] == 0) {
                continue;
            }
            hpx_grid_cell(&g, hpx_sub_name(sub));
            hpx_grid_cell(&g, hpx_words_number(p->sub_counts[sub]));
            if (p->sub_bytes[sub] > 0) {
                hpx_grid_cell(&g, hpx_words_size(p->sub_bytes[sub]));
            }
            if (hpx_grid_end(&g)) {
                fputc('\n', r->to);
            }
        }
    } while (hpx_grid_again(&g));
}

static void heap(const struct hpx_report *r)
{
    static const struct hpx_grid_column columns[] = {{"objects", 2, 10, false}, {"bytes", 1, 12, false}};
    struct hpx_profile *p = r->profile;
    struct hpx_grid g;
    if (p->heap_dumps == 0) {
        return;
    }
    title(r, p->heap_dumps > 1 ? "Heap dump, the last of several" : "Heap dump");
    heap_records(r);
    hpx_profile_sort(p);
    fputc('\n', r->to);
    const struct hpx_profile_class *k = p->classes.items;
    hpx_grid_begin(&g, r->to, columns, 2);
    do {
        heads(r, &g, "  class", false);
        for (size_t i = 0; i < p->classes.len && i < HPX_PROFILE_TOP; i++) {
            hpx_grid_cell(&g, hpx_words_number(k[i].count));
            hpx_grid_cell(&g, hpx_words_size(k[i].bytes));
            if (hpx_grid_end(&g)) {
                fputs("  ", r->to);
                hpx_words_java(r->to, hpx_profile_name(p, k[i].name));
                fputc('\n', r->to);
            }
        }
    } while (hpx_grid_again(&g));
    if (p->classes.len > HPX_PROFILE_TOP) {
        fprintf(r->to, "  and %s more classes\n", hpx_words_number(p->classes.len - HPX_PROFILE_TOP));
    }
}

/* Where the objects of the heap dump were allocated: nothing where all have the same trace, as in the JVM's own dumps. */
static void allocations(const struct hpx_report *r)
{
    static const struct hpx_grid_column columns[] = {{"objects", 2, 10, false}, {"bytes", 1, 12, false}, {"trace", 2, 5, false}};
    const struct hpx_profile *p = r->profile;
    const struct hpx_profile_site *s = p->sites.items;
    struct hpx_grid g;
    if (p->sites.len < 2) {
        return;
    }
    fputc('\n', r->to);
    hpx_grid_begin(&g, r->to, columns, 3);
    do {
        heads(r, &g, " allocated in, called by", false);
        for (size_t i = 0; i < p->sites.len && i < HPX_PROFILE_TOP; i++) {
            char trace[24];
            snprintf(trace, sizeof(trace), "%" PRIu32, s[i].trace);
            hpx_grid_cell(&g, hpx_words_number(s[i].count));
            hpx_grid_cell(&g, hpx_words_size(s[i].bytes));
            hpx_grid_cell(&g, trace);
            if (hpx_grid_end(&g)) {
                fputc(' ', r->to);
                row_name(r, &(struct hpx_profile_row){.name = s[i].name, .caller = s[i].caller}, " <- ");
            }
        }
    } while (hpx_grid_again(&g));
    if (p->sites.len > HPX_PROFILE_TOP) {
        fprintf(r->to, "  and %s more traces\n", hpx_words_number(p->sites.len - HPX_PROFILE_TOP));
    }
}

/* A file has no table of blocks without rows. */
static void blocked(const struct hpx_report *r)
{
    bool any = false;
    for (int tag = HPX_TAG_MONITOR_TIME; hpx_rd_blocked(tag); tag++) {
        ranked(r, tag, "ms");
        any |= hpx_profile_table(r->profile, tag)->seen > 0;
    }
    if (!any && r->profile->counts[HPX_TAG_MONITOR_DUMP] > 0) {
        title(r, "Blocked time");
        none(r, "no thread waited for a monitor (locks=y: or a lock) and went on; those that still wait are in the monitor dump");
    }
}

static void rest(const struct hpx_report *r)
{
    ranked(r, HPX_TAG_WALL, "ms");
    ranked(r, HPX_TAG_TIMES, "ms");
    monitors(r);
    blocked(r);
    old(r);
    sites(r);
    heap(r);
    allocations(r);
}

static void faults(const struct hpx_report *r)
{
    bool noted = false;
    for (size_t i = 0; i < HPX_NOTE_COUNT; i++) {
        noted |= r->reader->notes[i].count > 0;
    }
    if (noted || r->reader->result != HPX_RD_SOUND) {
        fputc('\n', r->to);
        notes(r);
    }
    if (r->reader->result != HPX_RD_SOUND) {
        result(r);
    }
}

void hpx_report_view(const struct hpx_report *r)
{
    overview(r);
    records(r);
    threads(r);
    ranked(r, HPX_TAG_SAMPLES, "samples");
    rest(r);
    faults(r);
}

void hpx_report_tables(const struct hpx_report *r)
{
    methods(r);
    rest(r);
    hpx_words_replaced(r->to, r->profile->said.replaced);
    if (r->profile->said.lost[0] != '\0') {
        fputs("\nLost: ", r->to);
        hpx_words_name(r->to, r->profile->said.lost, 0, false);
    }
    if (r->profile->said.own[0] != '\0') {
        fputs(r->profile->said.lost[0] != '\0' ? ". Own CPU time: " : "\nOwn CPU time: ", r->to);
        hpx_words_name(r->to, r->profile->said.own, 0, false);
    }
    if (r->profile->said.lost[0] != '\0' || r->profile->said.own[0] != '\0') {
        fputs(".\n", r->to);
    }
    faults(r);
}
