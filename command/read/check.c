/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c: definitions before uses, threads, traces, and how a file may end. */
#include "check.h"
#include "err.h"
#include "hash.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_THREAD 200000u
#define EMPTY_TRACE    300000u

int hpx_check_remember(struct hpx_seeded_map *seen, struct hpx_list *places, const struct hpx_rd_event *ev, uint64_t id)
{
    int added = hpx_seeded_map_add(seen, id, NULL);
    struct hpx_place *place = added > 0 ? hpx_list_push(places, sizeof(*place)) : NULL;
    if (place != NULL) {
        *place = (struct hpx_place){ev->at, ev->line, id};
    }
    return added == 0 || place != NULL ? 0 : -HPX_E_NOMEM;
}

void hpx_check_init(struct hpx_check *c)
{
    memset(c, 0, sizeof(*c));
    hpx_seeded_map_init(&c->strings, false);
    hpx_seeded_map_init(&c->frames, false);
    hpx_seeded_map_init(&c->classes, true);
    hpx_seeded_map_init(&c->class_ids, true);
    hpx_seeded_map_init(&c->threads, true);
    hpx_seeded_map_init(&c->traces, true);
    hpx_seeded_map_init(&c->awaited, false);
    hpx_seeded_map_init(&c->objects, true);
    hpx_seeded_map_init(&c->roots, false);
    hpx_seeded_map_init(&c->heap_classes, true);
    hpx_seeded_map_init(&c->heap_threads, true);
}

void hpx_check_fini(struct hpx_check *c)
{
    struct hpx_seeded_map *maps[] = {&c->strings, &c->frames,  &c->classes, &c->class_ids,    &c->threads,     &c->traces,
                                     &c->awaited, &c->objects, &c->roots,   &c->heap_classes, &c->heap_threads};
    struct hpx_list *lists[] = {&c->trace_list, &c->awaited_places,  &c->root_places,
                                &c->class_list, &c->awaited_objects, &c->field_offsets};
    for (size_t i = 0; i < HPX_ARRAY_LEN(maps); i++) {
        hpx_seeded_map_fini(maps[i]);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(lists); i++) {
        free(lists[i]->items);
    }
}

uint64_t hpx_check_hash(struct hpx_rd_text text)
{
    return hpx_hash128(text.p, text.n).lo;
}

struct hpx_check_trace *hpx_check_find_trace(const struct hpx_check *c, uint32_t serial)
{
    const uint32_t *index = hpx_seeded_map_find(&c->traces, serial);
    return index != NULL ? (struct hpx_check_trace *)c->trace_list.items + *index - 1 : NULL;
}

int hpx_check_thread(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint32_t serial)
{
    return serial == 0 || serial == UNKNOWN_THREAD || hpx_seeded_map_has(&c->threads, serial)
               ? HPX_RD_SOUND
               : hpx_reader_note(r, HPX_NOTE_THREAD_UNKNOWN, ev->at, ev->line);
}

int hpx_check_rank(int tag)
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
int hpx_check_section(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, int rank)
{
    bool again = rank <= c->rank;
    c->dumps += c->dumps == 0 || again;
    c->rank = rank;
    c->traces_open = false;
    return again ? hpx_reader_note(r, HPX_NOTE_SEVERAL_DUMPS, ev->at, ev->line) : HPX_RD_SOUND;
}

static int string_defined(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint64_t id, const char *whose)
{
    return hpx_seeded_map_has(&c->strings, id) ? HPX_RD_SOUND
                                               : hpx_reader_break(r, ev->at, ev->line, "%s: no UTF8 %" PRIx64 " before it", whose, id);
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

/* A class or thread may name a trace that comes later, or never: judged at the end. */
static int await_trace(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint32_t serial)
{
    if (serial == 0 || hpx_seeded_map_has(&c->traces, serial)) {
        return HPX_RD_SOUND;
    }
    return hpx_check_remember(&c->awaited, &c->awaited_places, ev, serial) == 0 ? HPX_RD_SOUND : hpx_reader_no_memory(r);
}

static int load(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint32_t *state;
    uint32_t *serial;
    if (ev->load.serial == 0) {
        return hpx_reader_break(r, ev->at, ev->line, "LOAD CLASS with the serial 0");
    }
    int added = hpx_seeded_map_add(&c->classes, ev->load.serial, &state);
    if (added < 0) {
        return hpx_reader_no_memory(r);
    }
    if (added == 0) {
        return hpx_reader_break(r, ev->at, ev->line, "class serial %" PRIu32 " is loaded a second time", ev->load.serial);
    }
    *state = 1;
    added = hpx_seeded_map_add(&c->class_ids, ev->load.id, &serial);
    if (added < 0) {
        return hpx_reader_no_memory(r);
    }
    const uint32_t *before = added == 0 ? hpx_seeded_map_find(&c->classes, *serial) : NULL;
    int rc = before != NULL && *before == 1 ? hpx_reader_note(r, HPX_NOTE_CLASS_AGAIN, ev->at, ev->line) : HPX_RD_SOUND;
    *serial = ev->load.serial;
    if (rc == HPX_RD_SOUND) {
        rc = string_defined(c, r, ev, ev->load.name, "the name of a class");
    }
    return rc == HPX_RD_SOUND ? await_trace(c, r, ev, ev->load.trace) : rc;
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
    if (rc == HPX_RD_SOUND && !hpx_seeded_map_has(&c->classes, ev->frame.class_serial)) {
        return hpx_reader_break(r, ev->at, ev->line, "a frame of class serial %" PRIu32 ", which is not loaded before it",
                                ev->frame.class_serial);
    }
    if (rc == HPX_RD_SOUND && ev->frame.line < -3) {
        return hpx_reader_break(r, ev->at, ev->line, "a frame in line %" PRId32, ev->frame.line);
    }
    return rc;
}

static int frame_of_trace(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint64_t parts[4] = {c->trace.hash, ev->of.id, 0, (uint64_t)(uint32_t)ev->of.line};
    if (c->text) {
        parts[1] = hpx_check_hash(ev->of.method);
        parts[2] = hpx_check_hash(ev->of.source);
        c->trace.top = c->trace.hash == 0 ? parts[1] : c->trace.top;
    } else if (!hpx_seeded_map_has(&c->frames, ev->of.id)) {
        return hpx_reader_break(r, ev->at, ev->line, "a trace of frame %" PRIx64 ", which is not defined before it", ev->of.id);
    }
    c->trace.hash = hpx_hash128(parts, sizeof(parts)).lo | 1;
    c->trace.frames++;
    return HPX_RD_SOUND;
}

static int trace_end(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint32_t *index;
    uint64_t parts[2] = {c->trace.hash, ev->trace.thread};
    uint64_t hash = hpx_hash128(parts, sizeof(parts)).lo;
    int added = hpx_seeded_map_add(&c->traces, ev->trace.serial, &index);
    if (added == 0) {
        const struct hpx_check_trace *before = hpx_check_find_trace(c, ev->trace.serial);
        return before->hash == hash
                   ? hpx_reader_note(r, HPX_NOTE_TRACE_TWICE, ev->at, ev->line)
                   : hpx_reader_break(r, ev->at, ev->line, "trace %" PRIu32 " is repeated with other frames", ev->trace.serial);
    }
    struct hpx_check_trace *t = added > 0 ? hpx_list_push(&c->trace_list, sizeof(*t)) : NULL;
    if (t == NULL) {
        return hpx_reader_no_memory(r);
    }
    *t = (struct hpx_check_trace){.hash = hash, .top = c->trace.top, .frames = c->trace.frames};
    *index = (uint32_t)c->trace_list.len;
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
    if ((*state & 3) != 0) {
        return hpx_reader_break(r, ev->at, ev->line, "thread %" PRIu32 " starts a second time", t->serial);
    }
    *state |= 1;
    for (size_t i = 0; !c->text && i < HPX_ARRAY_LEN(ids); i++) {
        int rc = ids[i] != 0 ? string_defined(c, r, ev, ids[i], "the name of a thread or group") : HPX_RD_SOUND;
        if (rc != HPX_RD_SOUND) {
            return rc;
        }
    }
    return await_trace(c, r, ev, t->trace);
}

static int thread_end(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint32_t *state;
    int added = hpx_seeded_map_add(&c->threads, ev->serial, &state);
    if (added < 0) {
        return hpx_reader_no_memory(r);
    }
    uint32_t before = *state;
    *state |= 2;
    if ((before & 2) != 0) {
        return hpx_reader_break(r, ev->at, ev->line, "thread %" PRIu32 " ends a second time", ev->serial);
    }
    return (before & 1) != 0 ? HPX_RD_SOUND : hpx_reader_note(r, HPX_NOTE_END_ONLY, ev->at, ev->line);
}

static int control(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    if ((ev->control.flags & ~(uint32_t)(HPX_SETTING_ALLOC | HPX_SETTING_CPU | HPX_SETTING_SINCE)) != 0) {
        return hpx_reader_break(r, ev->at, ev->line, "CONTROL SETTINGS with the unknown flags 0x%" PRIx32, ev->control.flags);
    }
    return c->records > 1 ? hpx_reader_note(r, HPX_NOTE_CONTROL_AGAIN, ev->at, ev->line) : HPX_RD_SOUND;
}

static int monitor(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    bool dead = ev->kind == HPX_RD_DEADLOCK;
    /* the empty trace may stand for one that a socket lost, and be lost itself */
    if ((ev->kind == HPX_RD_MONITOR_THREAD || dead) && ev->monitor.trace != EMPTY_TRACE &&
        hpx_check_find_trace(c, ev->monitor.trace) == NULL) {
        return hpx_reader_break(r, ev->at, ev->line, "trace %" PRIu32 " is not defined before it", ev->monitor.trace);
    }
    if (ev->kind == HPX_RD_MONITOR || ev->kind == HPX_RD_MONITOR_END) {
        return HPX_RD_SOUND;
    }
    int rc = hpx_check_thread(c, r, ev, ev->monitor.thread);
    return rc == HPX_RD_SOUND && dead ? hpx_check_thread(c, r, ev, (uint32_t)ev->monitor.number) : rc;
}

static int awaited(struct hpx_check *c, struct hpx_reader *r)
{
    const struct hpx_place *places = c->awaited_places.items;
    int rc = HPX_RD_SOUND;
    for (size_t i = 0; rc == HPX_RD_SOUND && i < c->awaited_places.len; i++) {
        enum hpx_rd_note note = hpx_seeded_map_has(&c->traces, places[i].id) ? HPX_NOTE_TRACE_LATE : HPX_NOTE_TRACE_NEVER;
        rc = hpx_reader_note(r, note, places[i].at, places[i].line);
    }
    return rc;
}

/* What hprofx never writes in a heap dump, but HotSpot or the original does. A socket that lost records may have lost any. */
static int judge_ours(const struct hpx_check *c, struct hpx_reader *r)
{
    static const enum hpx_rd_note never[] = {HPX_NOTE_CLASSES_LATE, HPX_NOTE_INSTANCE_SIZE, HPX_NOTE_REFERENCE_LOST, HPX_NOTE_ROOT_NULL,
                                             HPX_NOTE_ROOT_THREAD,  HPX_NOTE_ROOT_EARLY,    HPX_NOTE_ROOT_FRAME,     HPX_NOTE_TRACE_ZERO,
                                             HPX_NOTE_ARRAY_SIZE,   HPX_NOTE_SEGMENT_EMPTY, HPX_NOTE_HEAP_TOTALS};
    const struct hpx_rd_noted *first = NULL;
    const char *text = NULL;
    for (size_t i = 0; r->judge_ours && c->report && !c->lossy && i < HPX_ARRAY_LEN(never); i++) {
        const struct hpx_rd_noted *n = &r->notes[never[i]];
        bool may = c->text && never[i] == HPX_NOTE_CLASSES_LATE; /* the order of the original, which no reader of text minds */
        if (n->count > 0 && !may && (first == NULL || n->at < first->at)) {
            first = n;
            text = hpx_rd_note_texts[never[i]];
        }
    }
    return first != NULL ? hpx_reader_break(r, first->at, first->line, "hprofx wrote this file: %s", text) : HPX_RD_SOUND;
}

static int finish(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    int rc = awaited(c, r);
    if (rc == HPX_RD_SOUND) {
        rc = judge_ours(c, r);
    }
    if (rc == HPX_RD_SOUND && c->bare && !c->old && !r->unfinished) {
        return hpx_reader_break(r, 0, 1, "no header, and not the output of cpu=old");
    }
    if (rc == HPX_RD_SOUND && c->in_heap) {
        rc = hpx_reader_note(r, HPX_NOTE_HEAP_OPEN, c->heap.at, c->heap.line);
    }
    if (rc == HPX_RD_SOUND && c->traces_open) {
        rc = hpx_reader_note(r, HPX_NOTE_TRACES_AFTER, ev->at, ev->line);
    }
    return rc == HPX_RD_SOUND && c->dumps == 0 ? hpx_reader_note(r, HPX_NOTE_NO_DUMP, ev->at, ev->line) : rc;
}

static int record(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    c->records++;
    c->old |= ev->record.tag == HPX_TAG_OLD;
    return ev->record.tag == HPX_TAG_MONITOR_DUMP || ev->record.tag == HPX_TAG_DEADLOCKS
               ? hpx_check_section(c, r, ev, hpx_check_rank(ev->record.tag))
               : HPX_RD_SOUND;
}

/* What a socket lost is told where it is missing, not only behind a dump. */
static bool is_note(const struct hpx_rd_text *key)
{
    static const char note[] = "lost, socket";
    return key->n == sizeof(note) - 1 && memcmp(key->p, note, sizeof(note) - 1) == 0;
}

/* The report of a binary file is a string that nothing names. */
static int binary_report(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    static const char begin[] = "hprofx: ";
    static const char lost[] = "hprofx: lost, socket: ";
    const struct hpx_rd_text *t = &ev->string.text;
    if (t->n < sizeof(begin) - 1 || memcmp(t->p, begin, sizeof(begin) - 1) != 0) {
        return HPX_RD_SOUND;
    }
    c->report = true;
    c->lossy |= memmem(t->p, t->n, lost, sizeof(lost) - 1) != NULL;
    return c->in_heap && r->judge_ours ? hpx_reader_break(r, ev->at, ev->line, "a report before HEAP DUMP END") : HPX_RD_SOUND;
}

static int string(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    int rc = define(&c->strings, r, ev, ev->string.id, "UTF8");
    return rc == HPX_RD_SOUND ? binary_report(c, r, ev) : rc;
}

static int report(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    if (is_note(&ev->report.key)) {
        c->lossy = true;
        return HPX_RD_SOUND;
    }
    c->report = true;
    return c->dumps > 0 ? HPX_RD_SOUND : hpx_reader_break(r, ev->at, ev->line, "a report before the end of a dump");
}

static int header(struct hpx_check *c, const struct hpx_rd_event *ev)
{
    c->text = ev->header.text;
    c->bare = ev->header.bare;
    c->id_size = ev->header.id_size;
    return HPX_RD_SOUND;
}

int hpx_check_event(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    struct hpx_check *c = ctx;
    int rc;
    switch (ev->kind) {
    case HPX_RD_HEADER:
        return header(c, ev);
    case HPX_RD_RECORD:
        return record(c, r, ev);
    case HPX_RD_CONTROL:
        return control(c, r, ev);
    case HPX_RD_STRING:
        return string(c, r, ev);
    case HPX_RD_LOAD:
        return load(c, r, ev);
    case HPX_RD_UNLOAD:
        return unload(c, r, ev);
    case HPX_RD_FRAME:
        return frame(c, r, ev);
    case HPX_RD_TRACE:
        c->trace = (struct hpx_check_trace){0};
        return hpx_check_thread(c, r, ev, ev->trace.thread);
    case HPX_RD_FRAME_OF_TRACE:
        return frame_of_trace(c, r, ev);
    case HPX_RD_TRACE_END:
        return trace_end(c, r, ev);
    case HPX_RD_THREAD_START:
        return thread_start(c, r, ev);
    case HPX_RD_THREAD_END:
        return thread_end(c, r, ev);
    case HPX_RD_TABLE:
    case HPX_RD_ROW:
    case HPX_RD_TABLE_END:
    case HPX_RD_SUMMARY:
        return hpx_check_table(c, r, ev);
    case HPX_RD_HEAP:
    case HPX_RD_ROOT:
    case HPX_RD_CLASS:
    case HPX_RD_INSTANCE:
    case HPX_RD_OBJECTS:
    case HPX_RD_PRIMITIVES:
    case HPX_RD_CONTENTS:
    case HPX_RD_REFERENCE:
    case HPX_RD_HEAP_END:
        return hpx_check_heap(c, r, ev);
    case HPX_RD_FIELD:
        rc = ev->field.of == HPX_FIELD_CONSTANT ? HPX_RD_SOUND : string_defined(c, r, ev, ev->field.name, "the name of a field");
        return rc == HPX_RD_SOUND ? hpx_check_heap(c, r, ev) : rc;
    case HPX_RD_REPORT:
        return report(c, r, ev);
    case HPX_RD_FINISH:
        return finish(c, r, ev);
    case HPX_RD_SINCE:
    case HPX_RD_EXACT:
        return HPX_RD_SOUND;
    default:
        return monitor(c, r, ev);
    }
}
