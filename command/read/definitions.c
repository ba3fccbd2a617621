/* SPDX-License-Identifier: BSD-2-Clause */
/* definitions.c: see definitions.h. */
#include "definitions.h"
#include "budget.h"
#include "check.h"
#include "err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SHOWN 4096
#define NAME_ADDS  17 /* bytes that the memory of a name has besides */

uint32_t hpx_defined_keep(struct hpx_definitions *d, struct hpx_rd_text text)
{
    uint32_t *index;
    text.n = text.n < NAME_SHOWN ? text.n : NAME_SHOWN;
    int added = hpx_seeded_map_add(&d->name_of, hpx_check_hash(text), &index);
    if (added == 0) {
        return *index;
    }
    bool allowed = added > 0 && hpx_budget_take(text.n + NAME_ADDS);
    char *copy = allowed ? malloc(text.n + 1) : NULL;
    char **slot = copy != NULL ? hpx_list_push(&d->names, sizeof(*slot)) : NULL;
    if (slot == NULL) {
        free(copy);
        hpx_budget_give(allowed ? text.n + NAME_ADDS : 0);
        d->no_memory = true;
        return 0;
    }
    if (text.n > 0) { /* else text.p may be NULL */
        memcpy(copy, text.p, text.n);
    }
    copy[text.n] = '\0';
    *slot = copy;
    *index = (uint32_t)d->names.len - 1;
    return *index;
}

const char *hpx_defined_name(const struct hpx_definitions *d, uint32_t name)
{
    return name < d->names.len ? ((char **)d->names.items)[name] : "?";
}

int hpx_definitions_init(struct hpx_definitions *d)
{
    memset(d, 0, sizeof(*d));
    struct hpx_seeded_map *maps[] = {&d->thread_of,   &d->frame_of,     &d->trace_of, &d->strings,
                                     &d->class_names, &d->object_names, &d->name_of};
    for (size_t i = 0; i < HPX_ARRAY_LEN(maps); i++) {
        hpx_seeded_map_init(maps[i], true);
    }
    (void)hpx_defined_keep(d, (struct hpx_rd_text){"?", 1});
    return d->names.len == 1 ? 0 : -HPX_E_NOMEM;
}

void hpx_definitions_fini(struct hpx_definitions *d)
{
    struct hpx_seeded_map *maps[] = {&d->thread_of,   &d->frame_of,     &d->trace_of, &d->strings,
                                     &d->class_names, &d->object_names, &d->name_of};
    for (size_t i = 0; i < HPX_ARRAY_LEN(maps); i++) {
        hpx_seeded_map_fini(maps[i]);
    }
    for (size_t i = 0; i < d->names.len; i++) {
        free(((char **)d->names.items)[i]);
    }
    struct hpx_list *lists[] = {&d->threads, &d->frames, &d->traces, &d->names, &d->frames_of_traces};
    for (size_t i = 0; i < HPX_ARRAY_LEN(lists); i++) {
        free(lists[i]->items);
    }
}

static void set(struct hpx_definitions *d, struct hpx_seeded_map *map, uint64_t key, uint32_t value)
{
    uint32_t *slot;
    if (hpx_seeded_map_add(map, key, &slot) >= 0) {
        *slot = value;
    } else {
        d->no_memory = true;
    }
}

static uint32_t get(const struct hpx_seeded_map *map, uint64_t key)
{
    const uint32_t *slot = hpx_seeded_map_find(map, key);
    return slot != NULL ? *slot : 0;
}

static void thread_event(struct hpx_definitions *d, const struct hpx_rd_event *ev)
{
    bool start = ev->kind == HPX_RD_THREAD_START, end = ev->kind == HPX_RD_THREAD_END;
    struct hpx_defined_thread *t = hpx_list_entry(&d->thread_of, &d->threads, sizeof(*t), end ? ev->serial : ev->thread.serial);
    if (t == NULL) {
        d->no_memory = true;
        return;
    }
    if (start) {
        t->serial = ev->thread.serial;
        t->name = d->text ? hpx_defined_keep(d, ev->thread.name) : get(&d->strings, ev->thread.name_id);
        t->group = d->text ? hpx_defined_keep(d, ev->thread.group) : get(&d->strings, ev->thread.group_id);
        t->start_us = d->us;
    } else if (!end) {
        t->serial = ev->thread.serial;
        t->newest = hpx_defined_keep(d, ev->thread.name);
    } else {
        t->serial = ev->serial;
        t->ended = true;
        t->end_us = d->us;
    }
}

/* A frame of a text file has no id but its line: method and source stand there side by side. */
static uint32_t text_frame(struct hpx_definitions *d, const struct hpx_rd_frame_of_trace *of)
{
    struct hpx_rd_text line = of->method;
    if (of->source.n > 0) {
        line.n = (size_t)(of->source.p + of->source.n - line.p);
    }
    uint64_t key = hpx_check_hash(line) + (uint64_t)(uint32_t)of->line * 0x9e3779b97f4a7c15u;
    size_t before = d->frames.len;
    struct hpx_defined_frame *f = hpx_list_entry(&d->frame_of, &d->frames, sizeof(*f), key);
    if (f == NULL) {
        d->no_memory = true;
        return 0;
    }
    if (d->frames.len > before) {
        *f = (struct hpx_defined_frame){
            .method = hpx_defined_keep(d, of->method), .source = of->source.n > 0 ? hpx_defined_keep(d, of->source) : 0, .line = of->line};
    }
    return (uint32_t)(f - (struct hpx_defined_frame *)d->frames.items) + 1;
}

static void frame_of_trace(struct hpx_definitions *d, const struct hpx_rd_event *ev)
{
    if (d->text && ev->of.method.n == 0) {
        return; /* the line of a trace without frames */
    }
    bool fits = d->frames_of_traces.len < UINT32_MAX; /* else a trace could not say where its frames begin */
    uint32_t frame = d->text ? text_frame(d, &ev->of) : get(&d->frame_of, ev->of.id);
    uint32_t *kept = fits ? hpx_list_push(&d->frames_of_traces, sizeof(frame)) : NULL;
    if (kept != NULL) {
        *kept = frame;
        d->trace.frames++;
    }
    d->no_memory |= kept == NULL;
}

static void frame(struct hpx_definitions *d, const struct hpx_rd_frame *of)
{
    struct hpx_defined_frame *f = hpx_list_entry(&d->frame_of, &d->frames, sizeof(*f), of->id);
    if (f != NULL) {
        *f = (struct hpx_defined_frame){.method = get(&d->strings, of->method),
                                        .class_name = get(&d->class_names, of->class_serial),
                                        .source = get(&d->strings, of->source),
                                        .line = of->line};
    }
    d->no_memory |= f == NULL;
}

static void trace_end(struct hpx_definitions *d, uint32_t serial)
{
    struct hpx_defined_trace *t = hpx_list_entry(&d->trace_of, &d->traces, sizeof(*t), serial);
    if (t != NULL) {
        *t = d->trace;
    }
    d->no_memory |= t == NULL;
}

void hpx_definitions_event(struct hpx_definitions *d, const struct hpx_rd_event *ev)
{
    switch (ev->kind) {
    case HPX_RD_HEADER:
        d->text = ev->header.text;
        break;
    case HPX_RD_RECORD:
        d->us = ev->record.us;
        break;
    case HPX_RD_STRING:
        set(d, &d->strings, ev->string.id, hpx_defined_keep(d, ev->string.text));
        break;
    case HPX_RD_LOAD:
        set(d, &d->class_names, ev->load.serial, get(&d->strings, ev->load.name));
        set(d, &d->object_names, ev->load.id, get(&d->strings, ev->load.name));
        break;
    case HPX_RD_FRAME:
        frame(d, &ev->frame);
        break;
    case HPX_RD_TRACE:
        d->trace = (struct hpx_defined_trace){.first = (uint32_t)d->frames_of_traces.len, .thread = ev->trace.thread};
        break;
    case HPX_RD_FRAME_OF_TRACE:
        frame_of_trace(d, ev);
        break;
    case HPX_RD_TRACE_END:
        trace_end(d, ev->trace.serial);
        break;
    case HPX_RD_THREAD_START:
    case HPX_RD_THREAD_END:
    case HPX_RD_THREAD_NAME:
        thread_event(d, ev);
        break;
    default:
        break;
    }
}

uint32_t hpx_defined_class(const struct hpx_definitions *d, uint32_t serial)
{
    return get(&d->class_names, serial);
}

uint32_t hpx_defined_object(const struct hpx_definitions *d, uint64_t id)
{
    return get(&d->object_names, id);
}

const struct hpx_defined_thread *hpx_defined_thread(const struct hpx_definitions *d, uint32_t serial)
{
    static const struct hpx_defined_thread none = {0};
    uint32_t index = get(&d->thread_of, serial);
    return index > 0 ? (const struct hpx_defined_thread *)d->threads.items + index - 1 : &none;
}

uint32_t hpx_defined_method(struct hpx_definitions *d, uint32_t frame)
{
    char text[1024];
    if (frame == 0) {
        return 0;
    }
    struct hpx_defined_frame *f = (struct hpx_defined_frame *)d->frames.items + frame - 1;
    if (d->text) {
        return f->method;
    }
    if (f->full == 0) {
        int n = snprintf(text, sizeof(text), "%.*s.%.*s", 500, hpx_defined_name(d, f->class_name), 500, hpx_defined_name(d, f->method));
        f->full = hpx_defined_keep(d, (struct hpx_rd_text){text, n > 0 ? (size_t)n : 0});
    }
    return f->full;
}
