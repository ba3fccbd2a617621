/* SPDX-License-Identifier: BSD-2-Clause */
/* json.c: the same as one JSON object. */
#include "certainty.h"
#include "show.h"
#include "words.h"
#include <inttypes.h>

/* Commas between the members of what is open. */
struct json {
    FILE *to;
    bool first;
};

static void key(struct json *j, const char *name)
{
    fprintf(j->to, "%s\"%s\": ", j->first ? "" : ", ", name);
    j->first = false;
}

static void open(struct json *j, char bracket)
{
    if (bracket == '{' || bracket == '[') {
        fputc(bracket, j->to);
    }
    j->first = true;
}

static void close_bracket(struct json *j, char bracket)
{
    fputc(bracket, j->to);
    j->first = false;
}

static void item(struct json *j)
{
    fputs(j->first ? "\n  " : ",\n  ", j->to);
    open(j, '{');
}

static void integer(struct json *j, const char *name, uint64_t v)
{
    key(j, name);
    fprintf(j->to, "%" PRIu64, v);
}

static void text(struct json *j, const char *name, const char *v)
{
    key(j, name);
    fputc('"', j->to);
    hpx_words_name(j->to, v, 0, true);
    fputc('"', j->to);
}

static void flag(struct json *j, const char *name, bool v)
{
    key(j, name);
    fputs(v ? "true" : "false", j->to);
}

static void place(struct json *j, uint64_t at, uint64_t line)
{
    integer(j, "offset", at);
    if (line > 0) {
        integer(j, "line", line);
    }
}

static void header(struct json *j, const struct hpx_report *r)
{
    const struct hpx_profile *p = r->profile;
    text(j, "file", r->file);
    bool known = p->header.text || p->header.id_size > 0;
    text(j, "format", p->header.text ? "text" : known ? "binary" : "unknown");
    if (known && !p->header.bare) {
        text(j, "version", p->header.minor == 2 ? "1.0.2" : "1.0.1");
    }
    if (p->header.text) {
        text(j, "created", p->date);
    } else if (known) {
        integer(j, "id_size", p->header.id_size);
        integer(j, "created_ms", p->header.ms);
        integer(j, "covers_us", p->us);
    }
    if (p->has_control) {
        integer(j, "flags", p->flags);
        integer(j, "depth", p->depth);
    }
    if (p->said.to_ms > 0) {
        integer(j, "from_ms", p->said.first_ms);
        integer(j, "to_ms", p->said.to_ms);
    }
    integer(j, "bytes", r->reader->end);
    integer(j, "dumps", r->check->dumps);
}

static void outcome(struct json *j, const struct hpx_report *r)
{
    const struct hpx_reader *d = r->reader;
    flag(j, "sound", d->result == HPX_RD_SOUND);
    integer(j, "whole", d->whole);
    if (d->result != HPX_RD_SOUND) {
        key(j, "break");
        open(j, '{');
        place(j, d->at, d->line);
        flag(j, "cut", d->result == HPX_RD_CUT);
        text(j, "reason", d->why);
        close_bracket(j, '}');
    }
    key(j, "notes");
    open(j, '[');
    for (size_t i = 0; i < HPX_NOTE_COUNT; i++) {
        if (d->notes[i].count > 0) {
            item(j);
            text(j, "note", hpx_rd_note_names[i]);
            text(j, "text", hpx_rd_note_texts[i]);
            integer(j, "count", d->notes[i].count);
            place(j, d->notes[i].at, d->notes[i].line);
            close_bracket(j, '}');
        }
    }
    close_bracket(j, ']');
}

static void counted(struct json *j, const char *name, uint64_t count, uint64_t bytes, bool with_bytes)
{
    key(j, name);
    open(j, '{');
    integer(j, "count", count);
    if (with_bytes) {
        integer(j, "bytes", bytes);
    }
    close_bracket(j, '}');
}

static void records(struct json *j, const struct hpx_profile *p)
{
    key(j, "records");
    open(j, '{');
    for (int tag = 0; tag < HPX_TAGS; tag++) {
        if (p->counts[tag] > 0) {
            counted(j, hpx_tag_name(tag), p->counts[tag], p->bytes[tag], !p->header.text);
        }
    }
    close_bracket(j, '}');
}

static void threads(struct json *j, const struct hpx_profile *p)
{
    const struct hpx_defined_thread *t = p->defined.threads.items;
    key(j, "threads");
    open(j, '[');
    for (size_t i = 0; i < p->defined.threads.len; i++, t++) {
        item(j);
        integer(j, "serial", t->serial);
        text(j, "name", hpx_profile_name(p, t->name));
        text(j, "group", hpx_profile_name(p, t->group));
        flag(j, "ended", t->ended);
        if (!p->header.text) {
            integer(j, "start_us", t->start_us);
            integer(j, "end_us", t->end_us);
        }
        close_bracket(j, '}');
    }
    close_bracket(j, ']');
}

/* Of a sampled row: how sure its share is, in points, and whether the next row may as well stand before it. */
static void certainty(struct json *j, struct hpx_profile *p, const struct hpx_profile_table *t, size_t i)
{
    if (t->table.tag == HPX_TAG_SAMPLES) {
        key(j, "plus_minus");
        fprintf(j->to, "%.2f", hpx_certainty_points(t->top[i].row.count, t->table.total, hpx_profile_effective(p)));
        flag(j, "close_to_next", hpx_profile_close(p) >> i & 1);
    }
}

static void row(struct json *j, struct hpx_profile *p, const struct hpx_profile_table *t, size_t i)
{
    int tag = t->table.tag;
    const struct hpx_profile_row *w = &t->top[i];
    item(j);
    if (w->row.self != HPX_NO_SHARE) {
        key(j, "self");
        fprintf(j->to, "%" PRIu32 ".%02" PRIu32, w->row.self / 100, w->row.self % 100);
    }
    if (tag == HPX_TAG_SITES) {
        integer(j, "live_bytes", w->row.live_bytes);
        integer(j, "live_objects", w->row.live_objects);
        integer(j, "bytes", w->row.bytes);
        integer(j, "objects", w->row.objects);
    } else {
        integer(j, "count", w->row.count);
    }
    if (tag == HPX_TAG_OLD) {
        integer(j, "ms", w->row.bytes);
    } else {
        integer(j, "trace", w->row.trace);
    }
    certainty(j, p, t, i);
    if (w->state != 0) {
        text(j, "state", hpx_profile_name(p, w->state));
    }
    text(j, "name", hpx_profile_name(p, w->name));
    if (w->caller != 0) {
        text(j, tag == HPX_TAG_SITES || hpx_rd_blocked(tag) ? "in" : "caller", hpx_profile_name(p, w->caller));
    }
    if (w->row.owner != 0) {
        integer(j, "owner_trace", w->row.owner);
    }
    if (w->owner != 0) {
        text(j, "owner_in", hpx_profile_name(p, w->owner));
    }
    close_bracket(j, '}');
}

static void table(struct json *j, struct hpx_profile *p, int tag)
{
    const struct hpx_profile_table *t = hpx_profile_table(p, tag);
    if (t->seen == 0) {
        return;
    }
    key(j, hpx_tag_name(tag));
    open(j, '{');
    integer(j, "seen", t->seen);
    integer(j, "added", t->sums.added);
    if (tag != HPX_TAG_OLD && (tag != HPX_TAG_SITES || !p->header.text)) {
        integer(j, "total", t->table.total);
    }
    if (tag == HPX_TAG_SAMPLES) {
        integer(j, "effective", hpx_profile_effective(p));
        integer(j, "inside_probes", p->said.in_probes);
    }
    integer(j, "rows", t->rows);
    key(j, "top");
    open(j, '[');
    for (size_t i = 0; i < t->rows && i < HPX_PROFILE_TOP; i++) {
        row(j, p, t, i);
    }
    close_bracket(j, ']');
    close_bracket(j, '}');
}

static void tables(struct json *j, struct hpx_profile *p)
{
    static const int tags[] = {HPX_TAG_SAMPLES,   HPX_TAG_TIMES,       HPX_TAG_MONITOR_TIME, HPX_TAG_MONITOR_OWNERS, HPX_TAG_WAIT_TIME,
                               HPX_TAG_LOCK_TIME, HPX_TAG_PINNED_TIME, HPX_TAG_OLD,          HPX_TAG_SITES,          HPX_TAG_WALL};
    key(j, "tables");
    open(j, '{');
    for (size_t i = 0; i < HPX_ARRAY_LEN(tags); i++) {
        table(j, p, tags[i]);
    }
    const struct hpx_rd_table *s = &p->summary.table;
    if (p->summary.seen > 0) {
        key(j, hpx_tag_name(HPX_TAG_SUMMARY));
        open(j, '{');
        integer(j, "live_bytes", s->total);
        integer(j, "live_objects", s->live_objects);
        integer(j, "bytes", s->bytes);
        integer(j, "objects", s->objects);
        close_bracket(j, '}');
    }
    close_bracket(j, '}');
}

static void heap(struct json *j, struct hpx_profile *p)
{
    if (p->heap_dumps == 0) {
        return;
    }
    key(j, "heap");
    open(j, '{');
    integer(j, "dumps", p->heap_dumps);
    key(j, "records");
    open(j, '{');
    for (int sub = 0; sub < 256; sub++) {
        if (p->sub_counts[sub] > 0) {
            counted(j, hpx_sub_name(sub), p->sub_counts[sub], p->sub_bytes[sub], true);
        }
    }
    close_bracket(j, '}');
    hpx_profile_sort(p);
    key(j, "classes");
    open(j, '[');
    const struct hpx_profile_class *k = p->classes.items;
    for (size_t i = 0; i < p->classes.len; i++, k++) {
        item(j);
        text(j, "name", hpx_profile_name(p, k->name));
        integer(j, "count", k->count);
        integer(j, "bytes", k->bytes);
        close_bracket(j, '}');
    }
    close_bracket(j, ']');
    key(j, "traces");
    open(j, '[');
    const struct hpx_profile_site *s = p->sites.items;
    for (size_t i = 0; i < p->sites.len; i++, s++) {
        item(j);
        integer(j, "trace", s->trace);
        integer(j, "count", s->count);
        integer(j, "bytes", s->bytes);
        text(j, "in", hpx_profile_name(p, s->name));
        if (s->caller != 0) {
            text(j, "caller", hpx_profile_name(p, s->caller));
        }
        close_bracket(j, '}');
    }
    close_bracket(j, ']');
    close_bracket(j, '}');
}

void hpx_report_json(const struct hpx_report *r)
{
    struct json j = {.to = r->to};
    open(&j, '{');
    header(&j, r);
    outcome(&j, r);
    records(&j, r->profile);
    threads(&j, r->profile);
    tables(&j, r->profile);
    heap(&j, r->profile);
    close_bracket(&j, '}');
    fputc('\n', r->to);
}
