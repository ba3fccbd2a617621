/* SPDX-License-Identifier: BSD-2-Clause */
/* show_json.c: the same as JSON. Contract: show.h. */
#include "show.h"

static void place(struct hpx_json *j, uint64_t at, uint64_t line)
{
    hpx_json_uint(j, "offset", at);
    if (line > 0) {
        hpx_json_uint(j, "line", line);
    }
}

static void header(struct hpx_json *j, const struct hpx_report *r)
{
    const struct hpx_profile *p = r->profile;
    hpx_json_text(j, "file", r->file);
    bool known = p->header.text || p->header.id_size > 0;
    hpx_json_text(j, "format", p->header.text ? "text" : known ? "binary" : "unknown");
    if (known && !p->header.bare) {
        hpx_json_text(j, "version", p->header.minor == 2 ? "1.0.2" : "1.0.1");
    }
    if (p->header.text) {
        hpx_json_text(j, "created", p->date);
    } else if (known) {
        hpx_json_uint(j, "id_size", p->header.id_size);
        hpx_json_uint(j, "created_ms", p->header.ms);
        hpx_json_uint(j, "covers_us", p->us);
    }
    if (p->has_control) {
        hpx_json_uint(j, "flags", p->flags);
        hpx_json_uint(j, "depth", p->depth);
    }
    if (p->said.to_ms > 0) {
        hpx_json_uint(j, "from_ms", p->said.first_ms);
        hpx_json_uint(j, "to_ms", p->said.to_ms);
    }
    hpx_json_uint(j, "bytes", r->reader->end);
    hpx_json_uint(j, "dumps", r->check->dumps);
    hpx_json_uint(j, "heap_dumps", p->heap_dumps);
}

static void outcome(struct hpx_json *j, const struct hpx_reader *d)
{
    hpx_json_flag(j, "sound", d->result == HPX_RD_SOUND);
    hpx_json_uint(j, "whole", d->whole);
    if (d->result != HPX_RD_SOUND) {
        hpx_json_open(j, "break", '{');
        place(j, d->at, d->line);
        hpx_json_flag(j, "cut", d->result == HPX_RD_CUT);
        hpx_json_text(j, "reason", d->why);
        hpx_json_close(j, '}');
    }
    hpx_json_open(j, "notes", '[');
    for (size_t i = 0; i < HPX_NOTE_COUNT; i++) {
        if (d->notes[i].count > 0) {
            hpx_json_open(j, NULL, '{');
            hpx_json_text(j, "note", hpx_rd_note_names[i]);
            hpx_json_text(j, "text", hpx_rd_note_texts[i]);
            hpx_json_uint(j, "count", d->notes[i].count);
            place(j, d->notes[i].at, d->notes[i].line);
            hpx_json_close(j, '}');
        }
    }
    hpx_json_close(j, ']');
}

static void counted(struct hpx_json *j, const char *key, const char *(*name_of)(int), int kinds, const uint64_t *count,
                    const uint64_t *bytes)
{
    hpx_json_open(j, key, '{');
    for (int i = 0; i < kinds; i++) {
        if (count[i] > 0) {
            hpx_json_open(j, name_of(i), '{');
            hpx_json_uint(j, "count", count[i]);
            if (bytes != NULL) {
                hpx_json_uint(j, "bytes", bytes[i]);
            }
            hpx_json_close(j, '}');
        }
    }
    hpx_json_close(j, '}');
}

static void threads(struct hpx_json *j, const struct hpx_profile *p)
{
    const struct hpx_defined_thread *t = p->defined.threads.items;
    hpx_json_open(j, "threads", '[');
    for (size_t i = 0; i < p->defined.threads.len; i++, t++) {
        hpx_json_open(j, NULL, '{');
        hpx_json_uint(j, "serial", t->serial);
        hpx_json_text(j, "name", hpx_profile_name(p, hpx_defined_newest(t)));
        if (t->newest != 0 && t->name != 0) {
            hpx_json_text(j, "first_name", hpx_profile_name(p, t->name));
        }
        hpx_json_text(j, "group", hpx_profile_name(p, t->group));
        hpx_json_flag(j, "ended", t->ended);
        if (!p->header.text) {
            hpx_json_uint(j, "start_us", t->start_us);
            hpx_json_uint(j, "end_us", t->end_us);
        }
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, ']');
}

void hpx_report_json(struct hpx_json *j, const struct hpx_report *r)
{
    const struct hpx_profile *p = r->profile;
    header(j, r);
    outcome(j, r->reader);
    counted(j, "records", hpx_tag_name, HPX_TAGS, p->counts, p->header.text ? NULL : p->bytes);
    if (p->heap_dumps > 0) {
        counted(j, "heap_records", hpx_sub_name, 256, p->sub_counts, p->sub_bytes);
    }
    threads(j, p);
}
