/* SPDX-License-Identifier: BSD-2-Clause */
/* show.c: a file for a person: what it is, what is in it, the top of its tables; and the result of a check. */
#include "show.h"
#include "certainty.h"
#include "text.h"
#include <inttypes.h>
#include <string.h>
#include <time.h>

#define THREADS_SHOWN 12
#define NAME_COLUMNS  72

void hpx_report_name(FILE *to, const char *name, size_t columns, bool quoted)
{
    static char escaped[6 * 4200];
    size_t n = strnlen(name, 4199);
    size_t shown = 0;
    n = hpx_text_escape(escaped, (struct hpx_text){name, (uint32_t)n}, quoted);
    for (size_t i = 0; i < n && (columns == 0 || shown <= columns); i++) {
        shown += ((unsigned char)escaped[i] & 0xc0) != 0x80;
        if (columns != 0 && shown > columns) {
            fputs("...", to);
            return;
        }
        fputc(escaped[i], to);
    }
}

/* 1234567 as 1,234,567. */
static const char *number(uint64_t v)
{
    static char ring[8][32];
    static unsigned next;
    char *text = ring[next++ % 8];
    char *at = text + 31;
    *at = '\0';
    for (int digits = 0; v > 0 || digits == 0; digits++, v /= 10) {
        if (digits > 0 && digits % 3 == 0) {
            *--at = ',';
        }
        *--at = (char)('0' + v % 10);
    }
    return at;
}

static const char *size(uint64_t v)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    static char ring[8][24];
    static unsigned next;
    char *text = ring[next++ % 8];
    double d = (double)v;
    size_t unit = 0;
    for (; d >= 1023.95 && unit + 1 < HPX_ARRAY_LEN(units); unit++) {
        d /= 1024.0;
    }
    snprintf(text, 24, unit == 0 ? "%.0f %s" : "%.1f %s", d, units[unit]);
    return text;
}

static const char *seconds(uint64_t us)
{
    static char ring[4][40];
    static unsigned next;
    char *text = ring[next++ % 4];
    if (us < 1000000) {
        snprintf(text, 40, "%.0f ms", (double)us / 1e3);
    } else if (us < 120000000) {
        snprintf(text, 40, "%.1f s", (double)us / 1e6);
    } else {
        snprintf(text, 40, "%" PRIu64 " h %02" PRIu64 " min %02" PRIu64 " s", us / 3600000000u, us / 60000000u % 60, us / 1000000u % 60);
    }
    return text;
}

static void title(const struct hpx_report *r, const char *text)
{
    fprintf(r->to, r->bold ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
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
    hpx_report_name(r->to, r->file, 0, false);
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
    hpx_report_name(r->to, r->file, 0, false);
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
    if (p->us > 0) {
        fprintf(r->to, "  covers    %s\n", seconds(p->us));
    }
    fprintf(r->to, "  size      %s, %s records, %s dump%s\n", size(r->reader->end), number(r->check->records), number(r->check->dumps),
            r->check->dumps == 1 ? "" : "s");
    if (p->has_control) {
        fprintf(r->to, "  settings  allocation traces %s, CPU sampling %s, stack depth %" PRIu32 "\n", (p->flags & 1) != 0 ? "on" : "off",
                (p->flags & 2) != 0 ? "on" : "off", p->depth);
    }
}

static void records(const struct hpx_report *r)
{
    const struct hpx_profile *p = r->profile;
    if (r->check->records == 0) {
        return;
    }
    title(r, p->header.text ? "Records                     count" : "Records                     count        bytes");
    for (int tag = 0; tag < HPX_TAGS; tag++) {
        if (p->counts[tag] == 0) {
            continue;
        }
        fprintf(r->to, "  %-20s %10s", hpx_rd_tag_name(tag), number(p->counts[tag]));
        if (p->header.text) {
            fputc('\n', r->to);
        } else {
            fprintf(r->to, " %12s\n", size(p->bytes[tag]));
        }
    }
}

static void threads(const struct hpx_report *r)
{
    const struct hpx_profile *p = r->profile;
    const struct hpx_profile_thread *t = p->threads.items;
    if (p->threads.len == 0) {
        return;
    }
    title(r, p->header.text ? "Threads    group            name" : "Threads    group              started      ended  name");
    for (size_t i = 0; i < p->threads.len && i < THREADS_SHOWN; i++, t++) {
        const char *group = hpx_profile_name(p, t->group);
        size_t columns = 0;
        fprintf(r->to, "  %6" PRIu32 "   ", t->serial);
        hpx_report_name(r->to, group, 13, false);
        for (const char *at = group; *at != '\0'; at++) {
            columns += ((unsigned char)*at & 0xc0) != 0x80;
        }
        fprintf(r->to, "%*s", columns < 13 ? (int)(16 - columns) : columns == 13 ? 3 : 0, "");
        if (!p->header.text) {
            fprintf(r->to, " %9s  %9s  ", seconds(t->start_us), t->ended ? seconds(t->end_us) : "-");
        } else {
            fputc(' ', r->to);
        }
        const char *name = hpx_profile_name(p, t->name);
        hpx_report_name(r->to, name[0] != '\0' ? name : "(no name)", NAME_COLUMNS, false);
        fputc('\n', r->to);
    }
    if (p->threads.len > THREADS_SHOWN) {
        fprintf(r->to, "  and %s more\n", number(p->threads.len - THREADS_SHOWN));
    }
}

static void row_name(const struct hpx_report *r, const struct hpx_profile_row *w, const char *between)
{
    hpx_report_name(r->to, hpx_profile_name(r->profile, w->name), NAME_COLUMNS, false);
    if (w->caller != 0) {
        fputs(between, r->to);
        hpx_report_name(r->to, hpx_profile_name(r->profile, w->caller), NAME_COLUMNS, false);
    }
    if (w->owner != 0) {
        fputs(", held in ", r->to);
        hpx_report_name(r->to, hpx_profile_name(r->profile, w->owner), NAME_COLUMNS, false);
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
        fprintf(r->to, "  and %s more rows\n", number(t->rows - HPX_PROFILE_TOP));
    }
}

/* +-: samples are drawn, all other tables are counted or measured. */
static void too_close(const struct hpx_report *r)
{
    char rows[HPX_CERTAINTY_TEXT];
    uint32_t close = hpx_profile_close(r->profile);
    if (close != 0) {
        fprintf(r->to, "  Rows %s are too close for their order: %s samples. A longer run or a shorter interval may tell them apart.\n",
                hpx_certainty_rows(rows, close), number(hpx_profile_effective(r->profile)));
    }
}

static void ranked(const struct hpx_report *r, int tag, const char *unit)
{
    const struct hpx_profile_table *t = hpx_profile_table(r->profile, tag);
    char text[160];
    if (t->seen == 0) {
        return;
    }
    snprintf(text, sizeof(text), "%s: %s %s in all%s", hpx_rd_tag_name(tag), number(t->table.total), unit,
             t->seen > 1 ? ", the last of several" : "");
    title(r, text);
    bool drawn = tag == HPX_TAG_SAMPLES;
    fputs(drawn                 ? "     self     +-      count  method, called by\n"
          : hpx_rd_blocked(tag) ? "     self      count  class, where threads were blocked\n"
                                : "     self      count  method, called by\n",
          r->to);
    for (size_t i = 0; i < t->rows && i < HPX_PROFILE_TOP; i++) {
        const struct hpx_profile_row *w = &t->top[i];
        double self = w->row.self != HPX_NO_SHARE ? w->row.self / 100.0 : share(w->row.count, t->table.total);
        fprintf(r->to, "  %6.2f%% ", self);
        if (drawn) {
            fprintf(r->to, "%6.2f ", hpx_certainty_points(w->row.count, t->table.total, hpx_profile_effective(r->profile)));
        }
        fprintf(r->to, "%10s  ", number(w->row.count));
        row_name(r, w, " <- ");
    }
    rows_left(r, t);
    if (drawn) {
        too_close(r);
    }
}

static void monitors(const struct hpx_report *r)
{
    static const char *const words[][2] = {{"R", "running"},  {"SL", "sleeping"}, {"MW", "waiting to enter"},
                                           {"CW", "waiting"}, {"ZO", "ended"},    {"NS", "not started"}};
    const struct hpx_profile_state *s = r->profile->states.items;
    if (r->profile->states.len > 0) {
        title(r, r->profile->counts[HPX_TAG_MONITOR_DUMP] > 1 ? "Monitor dump, the last of several" : "Monitor dump");
    }
    for (size_t i = 0; i < r->profile->states.len; i++, s++) {
        const char *name = hpx_profile_name(r->profile, s->name);
        fprintf(r->to, "  %10s %-8s ", number(s->count),
                s->unowned      ? "unowned:"
                : s->monitor    ? "held:"
                : s->count == 1 ? "thread:"
                                : "threads:");
        for (size_t w = 0; !s->monitor && w < HPX_ARRAY_LEN(words); w++) {
            name = strcmp(name, words[w][0]) == 0 ? words[w][1] : name;
        }
        hpx_report_name(r->to, name, NAME_COLUMNS, false);
        if (s->waiting > 0) {
            fprintf(r->to, ", %s waiting", number(s->waiting));
        }
        fputc('\n', r->to);
    }
}

static void old(const struct hpx_report *r)
{
    const struct hpx_profile_table *t = hpx_profile_table(r->profile, HPX_TAG_OLD);
    if (t->seen == 0) {
        return;
    }
    title(r, "Calls (cpu=old)");
    fputs("     calls         ms  method, called by\n", r->to);
    for (size_t i = 0; i < t->rows && i < HPX_PROFILE_TOP; i++) {
        fprintf(r->to, "%10s %10s  ", number(t->top[i].row.count), number(t->top[i].row.bytes));
        row_name(r, &t->top[i], " <- ");
    }
    rows_left(r, t);
}

static void sites(const struct hpx_report *r)
{
    const struct hpx_profile_table *t = hpx_profile_table(r->profile, HPX_TAG_SITES);
    if (t->seen > 0) {
        title(r, t->seen > 1 ? "Allocation sites, the last of several lists" : "Allocation sites");
        fputs("  live bytes  live objects   allocated     objects  class, where\n", r->to);
        for (size_t i = 0; i < t->rows && i < HPX_PROFILE_TOP; i++) {
            const struct hpx_rd_row *w = &t->top[i].row;
            fprintf(r->to, "%12s  %12s %11s %11s  ", size(w->live_bytes), number(w->live_objects), size(w->bytes), number(w->objects));
            row_name(r, &t->top[i], " in ");
        }
        rows_left(r, t);
    }
    const struct hpx_rd_table *s = &r->profile->summary.table;
    if (r->profile->summary.seen > 0) {
        title(r, "Heap summary");
        fprintf(r->to, "  live %s in %s objects, allocated %s in %s objects\n", size(s->total), number(s->live_objects), size(s->bytes),
                number(s->objects));
    }
}

static void heap(const struct hpx_report *r)
{
    struct hpx_profile *p = r->profile;
    if (p->heap_dumps == 0) {
        return;
    }
    title(r, p->heap_dumps > 1 ? "Heap dump, the last of several" : "Heap dump");
    for (int sub = 0; sub < 256; sub++) {
        if (p->sub_counts[sub] > 0) {
            fprintf(r->to, "  %-20s %10s", hpx_rd_sub_name(sub), number(p->sub_counts[sub]));
            fprintf(r->to, p->sub_bytes[sub] > 0 ? " %12s\n" : "\n", size(p->sub_bytes[sub]));
        }
    }
    hpx_profile_sort(p);
    fputs("\n     objects        bytes  class\n", r->to);
    const struct hpx_profile_class *k = p->classes.items;
    for (size_t i = 0; i < p->classes.len && i < HPX_PROFILE_TOP; i++, k++) {
        fprintf(r->to, "  %10s %12s  ", number(k->count), size(k->bytes));
        hpx_report_name(r->to, hpx_profile_name(p, k->name), NAME_COLUMNS, false);
        fputc('\n', r->to);
    }
    if (p->classes.len > HPX_PROFILE_TOP) {
        fprintf(r->to, "  and %s more classes\n", number(p->classes.len - HPX_PROFILE_TOP));
    }
}

/* Where the objects of the heap dump were allocated: nothing where all have the same trace, as in the JVM's own dumps. */
static void allocations(const struct hpx_report *r)
{
    const struct hpx_profile *p = r->profile;
    const struct hpx_profile_site *s = p->sites.items;
    if (p->sites.len < 2) {
        return;
    }
    fputs("\n     objects        bytes  trace, allocated in, called by\n", r->to);
    for (size_t i = 0; i < p->sites.len && i < HPX_PROFILE_TOP; i++, s++) {
        struct hpx_profile_row w = {.name = s->name, .caller = s->caller};
        fprintf(r->to, "  %10s %12s  %" PRIu32 " ", number(s->count), size(s->bytes), s->trace);
        row_name(r, &w, " <- ");
    }
    if (p->sites.len > HPX_PROFILE_TOP) {
        fprintf(r->to, "  and %s more traces\n", number(p->sites.len - HPX_PROFILE_TOP));
    }
}

void hpx_report_view(const struct hpx_report *r)
{
    overview(r);
    records(r);
    threads(r);
    ranked(r, HPX_TAG_SAMPLES, "samples");
    ranked(r, HPX_TAG_TIMES, "ms");
    monitors(r);
    for (int tag = HPX_TAG_MONITOR_TIME; hpx_rd_blocked(tag); tag++) {
        ranked(r, tag, "ms");
    }
    old(r);
    sites(r);
    heap(r);
    allocations(r);
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
