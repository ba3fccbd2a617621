/* SPDX-License-Identifier: BSD-2-Clause */
/* show.c: see show.h. */
#include "show.h"
#include "grid.h"
#include "words.h"
#include <inttypes.h>
#include <string.h>
#include <time.h>

#define THREADS_SHOWN 12

/* The title of what follows. rest: what stands behind the cells. */
static void heads(const struct hpx_report *r, struct hpx_grid *g, const char *rest)
{
    if (g->prints) {
        fputs(r->bold ? "\n\033[1m" : "\n", r->to);
    }
    hpx_grid_heads(g);
    if (hpx_grid_end(g)) {
        fprintf(r->to, "%s%s\n", rest, r->bold ? "\033[0m" : "");
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

/* Kinds of notes. */
static uint64_t noted(const struct hpx_reader *d)
{
    uint64_t n = 0;
    for (size_t i = 0; i < HPX_NOTE_COUNT; i++) {
        n += d->notes[i].count > 0;
    }
    return n;
}

static void result(const struct hpx_report *r)
{
    const struct hpx_reader *d = r->reader;
    hpx_words_name(r->to, r->file, 0, false);
    if (d->result == HPX_RD_SOUND) {
        fprintf(r->to, ": sound: %" PRIu64 " bytes, %" PRIu64 " records, %" PRIu64 " dump%s", d->end, r->check->records, r->check->dumps,
                r->check->dumps == 1 ? "" : "s");
        uint64_t n = r->notes ? 0 : noted(d);
        if (n > 0) {
            fprintf(r->to, ", %" PRIu64 " note%s (-v)", n, n == 1 ? "" : "s");
        }
        fputc('\n', r->to);
    } else if (d->line > 0) {
        fprintf(r->to, ": broken in line %" PRIu64 " (offset %" PRIu64 "): %s\n", d->line, d->at, d->why);
    } else {
        fprintf(r->to, ": broken at offset %" PRIu64 ": %s\n", d->at, d->why);
    }
    if (d->result == HPX_RD_CUT) {
        fprintf(r->to, "whole up to offset %" PRIu64 "%s\n", d->whole, d->whole > 0 ? "; hprofx recover cuts off the rest" : "");
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
    if (r->notes) {
        notes(r);
    }
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

/* Records by their kind. bytes: NULL: not known; 0: of none. */
static void counted(const struct hpx_report *r, const char *head, const char *(*name_of)(int), int kinds, const uint64_t *count,
                    const uint64_t *bytes)
{
    const struct hpx_grid_column columns[] = {{head, 0, 22, true}, {"count", 1, 10, false}, {"bytes", 1, 12, false}};
    struct hpx_grid g;
    hpx_grid_begin(&g, r->to, columns, bytes == NULL ? 2 : 3);
    do {
        heads(r, &g, "");
        for (int i = 0; i < kinds; i++) {
            char name[32];
            if (count[i] == 0) {
                continue;
            }
            snprintf(name, sizeof(name), "  %s", name_of(i));
            hpx_grid_cell(&g, name);
            hpx_grid_cell(&g, hpx_words_number(count[i]));
            if (bytes != NULL && bytes[i] > 0) {
                hpx_grid_cell(&g, hpx_words_size(bytes[i]));
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
        const char *name = hpx_profile_name(p, hpx_defined_newest(t));
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
        heads(r, &g, p->header.text ? " name" : "  name");
        for (size_t i = 0; i < p->defined.threads.len && i < THREADS_SHOWN; i++) {
            thread(r, &g, t + i, digits);
        }
    } while (hpx_grid_again(&g));
    if (p->defined.threads.len > THREADS_SHOWN) {
        fprintf(r->to, "  and %s more\n", hpx_words_number(p->defined.threads.len - THREADS_SHOWN));
    }
}

static void state(FILE *to, struct hpx_grid *g, const struct hpx_profile *p, const struct hpx_profile_state *s)
{
    static const char *const words[][2] = {{"R", "running"},  {"SL", "sleeping"}, {"MW", "waiting to enter"},
                                           {"CW", "waiting"}, {"ZO", "ended"},    {"NS", "not started"}};
    const char *name = hpx_profile_name(p, s->name);
    hpx_grid_cell(g, hpx_words_number(s->count));
    hpx_grid_cell(g, s->unowned ? "unowned:" : s->monitor ? "held:" : s->is_virtual ? "virtual:" : s->count == 1 ? "thread:" : "threads:");
    if (!hpx_grid_end(g)) {
        return;
    }
    for (size_t w = 0; !s->monitor && w < HPX_ARRAY_LEN(words); w++) {
        name = strcmp(name, words[w][0]) == 0 ? words[w][1] : name;
    }
    fputc(' ', to);
    hpx_words_java(to, name);
    if (s->waiting > 0) {
        fprintf(to, ", %s waiting", hpx_words_number(s->waiting));
    }
    fputc('\n', to);
}

void hpx_report_monitors(FILE *to, const struct hpx_profile *p)
{
    static const struct hpx_grid_column columns[] = {{"", 2, 10, false}, {"", 1, 8, true}};
    const struct hpx_profile_state *s = p->states.items;
    struct hpx_grid g;
    if (p->states.len > 0) {
        fputs(p->counts[HPX_TAG_MONITOR_DUMP] > 1 ? "Monitor dump, the last of several\n" : "Monitor dump\n", to);
    }
    hpx_grid_begin(&g, to, columns, 2);
    do {
        for (size_t i = 0; i < p->states.len; i++) {
            state(to, &g, p, s + i);
        }
    } while (hpx_grid_again(&g));
}

void hpx_report_faults(const struct hpx_report *r)
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

void hpx_report_facts(const struct hpx_report *r)
{
    const struct hpx_profile *p = r->profile;
    const struct hpx_rd_table *s = &p->summary.table;
    overview(r);
    if (p->summary.seen > 0) {
        fprintf(r->to, "  heap      live %s in %s objects, allocated %s in %s objects\n", hpx_words_size(s->total),
                hpx_words_number(s->live_objects), hpx_words_size(s->bytes), hpx_words_number(s->objects));
    }
    if (r->check->records > 0) {
        counted(r, "Records", hpx_tag_name, HPX_TAGS, p->counts, p->header.text ? NULL : p->bytes);
    }
    if (p->heap_dumps > 0) {
        counted(r, p->heap_dumps > 1 ? "The last heap dump" : "Heap dump", hpx_sub_name, 256, p->sub_counts, p->sub_bytes);
    }
    threads(r);
}
