/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c: definitions before uses, threads, traces, tables, and how a file may end. */
#include "check.h"
#include "hash.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EMPTY_TRACE 300000u

void hpx_check_init(struct hpx_check *c)
{
    memset(c, 0, sizeof(*c));
    hpx_seeded_map_init(&c->strings, false);
    hpx_seeded_map_init(&c->frames, false);
    hpx_seeded_map_init(&c->classes, true);
    hpx_seeded_map_init(&c->class_ids, false);
    hpx_seeded_map_init(&c->threads, true);
    hpx_seeded_map_init(&c->traces, true);
    hpx_seeded_map_init(&c->objects, false);
    hpx_seeded_map_init(&c->heap_classes, true);
}

void hpx_check_fini(struct hpx_check *c)
{
    struct hpx_seeded_map *maps[] = {&c->strings, &c->frames, &c->classes, &c->class_ids,
                                     &c->threads, &c->traces, &c->objects, &c->heap_classes};
    for (size_t i = 0; i < HPX_ARRAY_LEN(maps); i++) {
        hpx_seeded_map_fini(maps[i]);
    }
    free(c->class_list.items);
}

uint64_t hpx_check_hash(struct hpx_rd_text text)
{
    return hpx_hash128(text.p, text.n).lo;
}

static int rank_of(int tag)
{
    static const int order[] = {HPX_TAG_MONITOR_DUMP, HPX_TAG_DEADLOCKS, HPX_TAG_MONITOR_TIME, HPX_TAG_MONITOR_OWNERS,
                                HPX_TAG_WAIT_TIME,    HPX_TAG_LOCK_TIME, HPX_TAG_PINNED_TIME,  HPX_TAG_HEAP_DUMP,
                                HPX_TAG_SITES,        HPX_TAG_SAMPLES,   HPX_TAG_WALL};
    int rank = 0;
    while (rank < (int)HPX_ARRAY_LEN(order) && order[rank] != tag) {
        rank++;
    }
    return rank + 1; /* the tables of calls come last */
}

/* Sections of one dump stand in the order of their ranks: one that does not follow begins another dump. */
int hpx_check_section(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, int tag)
{
    int rank = rank_of(tag);
    bool again = rank <= c->rank;
    c->dumps += c->dumps == 0 || again;
    c->rank = rank;
    c->traces_open = false;
    return again ? hpx_reader_note(r, HPX_NOTE_SEVERAL_DUMPS, ev->at, ev->line) : HPX_RD_SOUND;
}

/* ---- definitions ---- */

static int string_defined(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint64_t id, const char *whose)
{
    return hpx_seeded_map_has(&c->strings, id) ? HPX_RD_SOUND
                                               : hpx_reader_break(r, ev->at, ev->line, "%s: no UTF8 %" PRIx64 " before it", whose, id);
}

static int trace_defined(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint32_t serial)
{
    return hpx_seeded_map_has(&c->traces, serial)
               ? HPX_RD_SOUND
               : hpx_reader_break(r, ev->at, ev->line, "trace %" PRIu32 " is not defined before it", serial);
}

static int define(struct hpx_seeded_map *set, struct hpx_reader *r, const struct hpx_rd_event *ev, uint64_t id, const char *what)
{
    if (id == 0) {
        return hpx_reader_break(r, ev->at, ev->line, "%s with the id 0", what);
    }
    int added = hpx_seeded_map_add(set, id, NULL);
    if (added < 0) {
        return hpx_reader_no_memory(r);
    }
    return added > 0 ? HPX_RD_SOUND : hpx_reader_break(r, ev->at, ev->line, "%s %" PRIx64 " is defined a second time", what, id);
}

static int load(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint32_t *state;
    if (ev->load.serial == 0) {
        return hpx_reader_break(r, ev->at, ev->line, "LOAD CLASS with the serial 0");
    }
    int added = hpx_seeded_map_add(&c->classes, ev->load.serial, &state);
    if (added < 0 || hpx_seeded_map_add(&c->class_ids, ev->load.id, NULL) < 0) {
        return hpx_reader_no_memory(r);
    }
    if (added == 0) {
        return hpx_reader_break(r, ev->at, ev->line, "class serial %" PRIu32 " is loaded a second time", ev->load.serial);
    }
    *state = 1;
    return string_defined(c, r, ev, ev->load.name, "the name of a class");
}

static int unload(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint32_t *state = hpx_seeded_map_find(&c->classes, ev->serial);
    if (state == NULL || *state != 1) {
        return hpx_reader_break(r, ev->at, ev->line, "class serial %" PRIu32 " is unloaded %s", ev->serial,
                                state == NULL ? "and was never loaded" : "twice");
    }
    *state = 2;
    return HPX_RD_SOUND;
}

static int frame(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    int rc = define(&c->frames, r, ev, ev->frame.id, "STACK FRAME");
    if (rc == HPX_RD_SOUND) {
        rc = string_defined(c, r, ev, ev->frame.method, "the method of a frame");
    }
    if (rc == HPX_RD_SOUND) {
        rc = string_defined(c, r, ev, ev->frame.signature, "the signature of a frame");
    }
    if (rc == HPX_RD_SOUND && ev->frame.source != 0) {
        rc = string_defined(c, r, ev, ev->frame.source, "the source of a frame");
    }
    return rc != HPX_RD_SOUND || hpx_seeded_map_has(&c->classes, ev->frame.class_serial)
               ? rc
               : hpx_reader_break(r, ev->at, ev->line, "a frame of class serial %" PRIu32 ", which is not loaded before it",
                                  ev->frame.class_serial);
}

static int frame_of_trace(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint64_t parts[4] = {c->hash, ev->of.id, 0, (uint64_t)(uint32_t)ev->of.line};
    if (c->text) {
        parts[1] = hpx_check_hash(ev->of.method);
        parts[2] = hpx_check_hash(ev->of.source);
    } else if (!hpx_seeded_map_has(&c->frames, ev->of.id)) {
        return hpx_reader_break(r, ev->at, ev->line, "a trace of frame %" PRIx64 ", which is not defined before it", ev->of.id);
    }
    c->hash = hpx_hash128(parts, sizeof(parts)).lo;
    return HPX_RD_SOUND;
}

static int trace_end(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint32_t *known;
    uint64_t parts[2] = {c->hash, ev->trace.thread};
    uint32_t hash = (uint32_t)hpx_hash128(parts, sizeof(parts)).lo;
    int added = hpx_seeded_map_add(&c->traces, ev->trace.serial, &known);
    if (added < 0) {
        return hpx_reader_no_memory(r);
    }
    if (added == 0) {
        return *known == hash ? hpx_reader_note(r, HPX_NOTE_TRACE_TWICE, ev->at, ev->line)
                              : hpx_reader_break(r, ev->at, ev->line, "trace %" PRIu32 " is repeated with other frames", ev->trace.serial);
    }
    *known = hash;
    c->traces_open = true;
    return HPX_RD_SOUND;
}

static int thread_start(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    const struct hpx_rd_thread *t = &ev->thread;
    const uint64_t ids[] = {t->name_id, t->group_id, t->parent_id};
    uint32_t *state;
    int added = hpx_seeded_map_add(&c->threads, t->serial, &state);
    if (added < 0) {
        return hpx_reader_no_memory(r);
    }
    if (added == 0) {
        return hpx_reader_break(r, ev->at, ev->line, "thread %" PRIu32 " starts a second time", t->serial);
    }
    *state = 1;
    int rc = HPX_RD_SOUND;
    for (size_t i = 0; rc == HPX_RD_SOUND && !c->text && i < HPX_ARRAY_LEN(ids); i++) {
        rc = ids[i] != 0 ? string_defined(c, r, ev, ids[i], "the name of a thread or group") : HPX_RD_SOUND;
    }
    return rc;
}

static int thread_end(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint32_t *state;
    int added = hpx_seeded_map_add(&c->threads, ev->serial, &state);
    if (added < 0) {
        return hpx_reader_no_memory(r);
    }
    if (*state == 2) {
        return hpx_reader_break(r, ev->at, ev->line, "thread %" PRIu32 " ends a second time", ev->serial);
    }
    *state = 2;
    return added == 0 ? HPX_RD_SOUND : hpx_reader_note(r, HPX_NOTE_END_ONLY, ev->at, ev->line);
}

/* ---- tables ---- */

static int begin_table(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    c->counting = hpx_tag_counts(ev->table.tag) ? ev->table.total : 0;
    c->table = ev->table;
    c->sum = 0;
    if (ev->table.more) {
        c->traces_open = false;
        return HPX_RD_SOUND;
    }
    return hpx_check_section(c, r, ev, ev->table.tag);
}

static int site(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint32_t serial = ev->row.class_serial;
    return c->text || hpx_seeded_map_has(&c->classes, serial) ? HPX_RD_SOUND
           : ev->row.array != 0
               ? hpx_reader_note(r, HPX_NOTE_ARRAY_CLASS, ev->at, ev->line)
               : hpx_reader_break(r, ev->at, ev->line, "a site of class serial %" PRIu32 ", which is not loaded before it", serial);
}

static int row(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    const struct hpx_rd_row *w = &ev->row;
    int tag = c->table.tag;
    c->counting += tag == HPX_TAG_TIMES ? w->count : 0;
    if (tag == HPX_TAG_OLD) { /* it has no end: each of its rows is whole */
        c->counted += w->count;
        return HPX_RD_SOUND;
    }
    if (hpx_tag_counts(tag) && (__builtin_add_overflow(c->sum, w->count, &c->sum) || c->sum > c->table.total)) {
        return hpx_reader_break(r, ev->at, ev->line, "the rows add up to more than the total of %" PRIu64, c->table.total);
    }
    int rc = tag == HPX_TAG_SITES ? site(c, r, ev) : HPX_RD_SOUND;
    if (rc == HPX_RD_SOUND) {
        rc = trace_defined(c, r, ev, w->trace);
    }
    return rc == HPX_RD_SOUND && w->owner != 0 ? trace_defined(c, r, ev, w->owner) : rc;
}

static int end_table(struct hpx_check *c)
{
    c->counted += c->counting;
    c->waited |= c->table.tag == HPX_TAG_WALL && c->table.total > 0;
    c->counting = 0;
    return HPX_RD_SOUND;
}

/* ---- the file ---- */

static int header(struct hpx_check *c, const struct hpx_rd_event *ev)
{
    c->text = ev->header.text;
    c->bare = ev->header.bare;
    return HPX_RD_SOUND;
}

static int record(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    c->records++;
    c->old |= ev->record.tag == HPX_TAG_OLD;
    return ev->record.tag == HPX_TAG_MONITOR_DUMP || ev->record.tag == HPX_TAG_DEADLOCKS ? hpx_check_section(c, r, ev, ev->record.tag)
                                                                                         : HPX_RD_SOUND;
}

static int finish(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    int rc = HPX_RD_SOUND;
    if (c->bare && !c->old && !r->unfinished) {
        return hpx_reader_break(r, 0, 1, "no header, and not the output of cpu=old");
    }
    if (c->in_heap) {
        rc = hpx_reader_note(r, HPX_NOTE_HEAP_OPEN, c->heap.at, c->heap.line);
    }
    if (rc == HPX_RD_SOUND && c->traces_open) {
        rc = hpx_reader_note(r, HPX_NOTE_TRACES_AFTER, ev->at, ev->line);
    }
    return rc == HPX_RD_SOUND && c->dumps == 0 ? hpx_reader_note(r, HPX_NOTE_NO_DUMP, ev->at, ev->line) : rc;
}

int hpx_check_event(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    struct hpx_check *c = ctx;
    switch (ev->kind) {
    case HPX_RD_HEADER:
        return header(c, ev);
    case HPX_RD_RECORD:
        return record(c, r, ev);
    case HPX_RD_STRING:
        return define(&c->strings, r, ev, ev->string.id, "UTF8");
    case HPX_RD_LOAD:
        return load(c, r, ev);
    case HPX_RD_UNLOAD:
        return unload(c, r, ev);
    case HPX_RD_FRAME:
        return frame(c, r, ev);
    case HPX_RD_TRACE:
        c->hash = 0;
        return HPX_RD_SOUND;
    case HPX_RD_FRAME_OF_TRACE:
        return frame_of_trace(c, r, ev);
    case HPX_RD_TRACE_END:
        return trace_end(c, r, ev);
    case HPX_RD_THREAD_START:
        return thread_start(c, r, ev);
    case HPX_RD_THREAD_END:
        return thread_end(c, r, ev);
    case HPX_RD_TABLE:
        return begin_table(c, r, ev);
    case HPX_RD_ROW:
        return row(c, r, ev);
    case HPX_RD_TABLE_END:
        return end_table(c);
    case HPX_RD_TIMELINE:
        c->traces_open = false;
        return HPX_RD_SOUND;
    case HPX_RD_SUMMARY:
        c->dumps += c->dumps == 0;
        return HPX_RD_SOUND;
    case HPX_RD_FIELD:
        return ev->field.of == HPX_RD_CONSTANT ? HPX_RD_SOUND : string_defined(c, r, ev, ev->field.name, "the name of a field");
    case HPX_RD_MONITOR_VIRTUAL:
    case HPX_RD_MONITOR_THREAD: /* the empty trace may stand for one that a socket lost, and be lost itself */
        return ev->monitor.trace != EMPTY_TRACE ? trace_defined(c, r, ev, ev->monitor.trace) : HPX_RD_SOUND;
    case HPX_RD_FINISH:
        return finish(c, r, ev);
    default:
        return hpx_check_heap(c, r, ev);
    }
}
