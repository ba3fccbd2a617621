/* SPDX-License-Identifier: BSD-2-Clause */
/* check_heap.c: the rules of heap dumps: each object once, of a class that is in the dump, and as long as the fields of that class. */
#include "binary.h"
#include "check.h"
#include "err.h"
#include <inttypes.h>
#include <stdlib.h>

static void forget(struct hpx_check *c)
{
    hpx_seeded_map_clear(&c->objects);
    hpx_seeded_map_clear(&c->roots);
    hpx_seeded_map_clear(&c->heap_classes);
    hpx_seeded_map_clear(&c->heap_threads);
    c->root_places.len = 0;
    c->class_list.len = 0;
    c->awaited_objects.len = 0;
    c->field_offsets.len = 0;
    c->fields_begun = 0;
    c->field_bytes = 0;
    c->free_awaited = 0;
    c->heap_objects = 0;
    c->heap_bytes = 0;
    c->holder_class = 0;
    c->late = false;
    c->near_index = 0;
}

static struct hpx_check_class *class_at(const struct hpx_check *c, size_t i)
{
    return (struct hpx_check_class *)c->class_list.items + i;
}

static struct hpx_check_class *find_class(const struct hpx_check *c, uint64_t id)
{
    const uint32_t *index = hpx_seeded_map_find(&c->heap_classes, id);
    return index != NULL ? class_at(c, *index - 1) : NULL;
}

/* The entry of a class, made where there is none; NULL without memory. */
static struct hpx_check_class *get_class(struct hpx_check *c, uint64_t id)
{
    uint32_t *index;
    int added = hpx_seeded_map_add(&c->heap_classes, id, &index);
    if (added == 0) {
        return class_at(c, *index - 1);
    }
    struct hpx_check_class *k = added > 0 ? hpx_list_push(&c->class_list, sizeof(*k)) : NULL;
    if (k != NULL) {
        k->id = id;
        *index = (uint32_t)c->class_list.len;
    }
    return k;
}

static int begin(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    if (c->in_heap) {
        return ev->heap.tag == HPX_TAG_SEGMENT
                   ? HPX_RD_SOUND
                   : hpx_reader_break(r, ev->at, ev->line, "HEAP DUMP between HEAP DUMP SEGMENT and HEAP DUMP END");
    }
    forget(c);
    c->in_heap = true;
    c->heap = (struct hpx_place){ev->at, ev->line, 0};
    c->announced = ev->heap.objects;
    c->announced_bytes = ev->heap.bytes;
    return hpx_check_section(c, r, ev, hpx_check_rank(HPX_TAG_HEAP_DUMP));
}

static int known_trace(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint32_t serial)
{
    if (serial == 0) {
        return hpx_reader_note(r, HPX_NOTE_TRACE_ZERO, ev->at, ev->line);
    }
    if (serial == c->near_trace) {
        return HPX_RD_SOUND;
    }
    if (!hpx_seeded_map_has(&c->traces, serial)) {
        return hpx_reader_break(r, ev->at, ev->line, "trace %" PRIu32 " is not defined before it", serial);
    }
    c->near_trace = serial;
    return HPX_RD_SOUND;
}

static struct hpx_check_awaited *awaited_at(const struct hpx_check *c, size_t i)
{
    return (struct hpx_check_awaited *)c->awaited_objects.items + i;
}

/* An entry for an object that is awaited: 0 and its index + 1, -HPX_E_NOMEM. */
static int await(struct hpx_check *c, const struct hpx_rd_event *ev, uint64_t id, uint32_t *index)
{
    struct hpx_check_awaited *w;
    if (c->free_awaited != 0) {
        *index = (uint32_t)c->free_awaited;
        w = awaited_at(c, *index - 1);
        c->free_awaited = w->place.id;
    } else {
        w = c->awaited_objects.len < HPX_CHECK_HERE - 1 ? hpx_list_push(&c->awaited_objects, sizeof(*w)) : NULL;
        if (w == NULL) {
            return -HPX_E_NOMEM;
        }
        *index = (uint32_t)c->awaited_objects.len;
    }
    *w = (struct hpx_check_awaited){.place = {ev->at, ev->line, id}, .references = 1};
    return 0;
}

/* An object that the dump must have, here or further on. */
static int refer(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint64_t id)
{
    uint32_t *state;
    if (id == 0) {
        return HPX_RD_SOUND;
    }
    if (hpx_seeded_map_add(&c->objects, id, &state) < 0) {
        return hpx_reader_no_memory(r);
    }
    if (*state == 0) {
        return await(c, ev, id, state) == 0 ? HPX_RD_SOUND : hpx_reader_no_memory(r);
    }
    if (*state != HPX_CHECK_HERE) {
        awaited_at(c, *state - 1)->references++;
    }
    return HPX_RD_SOUND;
}

static bool of_thread(int sub)
{
    return sub == HPX_ROOT_THREAD_OBJECT || sub == HPX_ROOT_JNI_LOCAL || sub == HPX_ROOT_JAVA_FRAME || sub == HPX_ROOT_NATIVE_STACK ||
           sub == HPX_ROOT_THREAD_BLOCK;
}

/* The root of a thread object: what roots of this thread refer to. */
static int thread_root(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint32_t *state;
    uint32_t *trace;
    if (hpx_seeded_map_add(&c->threads, ev->root.thread, &state) < 0 || hpx_seeded_map_add(&c->heap_threads, ev->root.thread, &trace) < 0) {
        return hpx_reader_no_memory(r);
    }
    *state |= 4;
    *trace = ev->root.trace;
    return HPX_RD_SOUND;
}

static int root_of_thread(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    const uint32_t *state = hpx_seeded_map_find(&c->threads, ev->root.thread);
    int rc = state == NULL || (*state & 1) == 0 ? hpx_reader_note(r, HPX_NOTE_ROOT_THREAD, ev->at, ev->line) : HPX_RD_SOUND;
    if (rc != HPX_RD_SOUND || ev->root.sub == HPX_ROOT_THREAD_OBJECT) {
        return rc == HPX_RD_SOUND ? thread_root(c, r, ev) : rc;
    }
    const uint32_t *trace = hpx_seeded_map_find(&c->heap_threads, ev->root.thread);
    if (trace == NULL) {
        return hpx_reader_note(r, HPX_NOTE_ROOT_EARLY, ev->at, ev->line);
    }
    if (ev->root.frame < 0) {
        return HPX_RD_SOUND;
    }
    const struct hpx_check_trace *t = hpx_check_find_trace(c, *trace);
    return t == NULL || (uint32_t)ev->root.frame >= t->frames ? hpx_reader_note(r, HPX_NOTE_ROOT_FRAME, ev->at, ev->line) : HPX_RD_SOUND;
}

static int root(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    int rc = HPX_RD_SOUND;
    if (ev->root.frame < -1) {
        return hpx_reader_break(r, ev->at, ev->line, "a root in frame %" PRId32, ev->root.frame);
    }
    if (ev->root.sub == HPX_ROOT_THREAD_OBJECT || (c->text && ev->root.sub == HPX_ROOT_JNI_GLOBAL)) {
        rc = known_trace(c, r, ev, ev->root.trace);
    }
    if (rc == HPX_RD_SOUND && of_thread(ev->root.sub)) {
        rc = root_of_thread(c, r, ev);
    }
    if (rc != HPX_RD_SOUND) {
        return rc;
    }
    if (ev->root.object == 0) {
        return hpx_reader_note(r, HPX_NOTE_ROOT_NULL, ev->at, ev->line);
    }
    return hpx_check_remember(&c->roots, &c->root_places, ev, ev->root.object) == 0 ? HPX_RD_SOUND : hpx_reader_no_memory(r);
}

/* What every object has: a unique id, and a trace. */
static int object(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    if (ev->object.id == 0) {
        return hpx_reader_break(r, ev->at, ev->line, "an object with the id 0");
    }
    uint32_t *state;
    if (hpx_seeded_map_add(&c->objects, ev->object.id, &state) < 0) {
        return hpx_reader_no_memory(r);
    }
    if (*state == HPX_CHECK_HERE) {
        return hpx_reader_break(r, ev->at, ev->line, "object %" PRIx64 " is in this dump a second time", ev->object.id);
    }
    if (*state != 0) {
        *awaited_at(c, *state - 1) = (struct hpx_check_awaited){.place = {.id = c->free_awaited}};
        c->free_awaited = *state;
    }
    *state = HPX_CHECK_HERE;
    if (ev->kind != HPX_RD_CLASS) {
        c->heap_objects++;
        c->heap_bytes += ev->object.bytes;
    }
    return known_trace(c, r, ev, ev->object.trace);
}

static int class_loaded(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint64_t id, const char *what)
{
    return c->text || hpx_seeded_map_has(&c->class_ids, id)
               ? HPX_RD_SOUND
               : hpx_reader_break(r, ev->at, ev->line, "%s %" PRIx64 " was not loaded before", what, id);
}

static int class_dump(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    int rc = class_loaded(c, r, ev, ev->object.id, "class");
    if (rc == HPX_RD_SOUND && ev->object.super != 0) {
        rc = class_loaded(c, r, ev, ev->object.super, "superclass");
    }
    if (rc == HPX_RD_SOUND) {
        rc = object(c, r, ev);
    }
    const uint64_t others[] = {ev->object.super, ev->object.loader, ev->object.signers, ev->object.domain};
    for (size_t i = 0; rc == HPX_RD_SOUND && i < HPX_ARRAY_LEN(others); i++) {
        rc = refer(c, r, ev, others[i]);
    }
    if (rc != HPX_RD_SOUND) {
        return rc;
    }
    struct hpx_check_class *k = get_class(c, ev->object.id);
    if (k == NULL) {
        return hpx_reader_no_memory(r);
    }
    k->is_dumped = true;
    k->dumped = (struct hpx_place){ev->at, ev->line, ev->object.id};
    k->super = ev->object.super;
    k->own = ev->object.bytes;
    k->declared = ev->object.length;
    k->first = c->fields_begun;
    k->references = (uint32_t)(c->field_offsets.len - c->fields_begun);
    c->fields_begun = c->field_offsets.len;
    c->field_bytes = 0;
    return c->late ? hpx_reader_note(r, HPX_NOTE_CLASSES_LATE, ev->at, ev->line) : HPX_RD_SOUND;
}

static int field(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    if (ev->field.of != HPX_FIELD_INSTANCE) {
        return ev->field.type == HPX_TYPE_OBJECT ? refer(c, r, ev, ev->field.value) : HPX_RD_SOUND;
    }
    if (ev->field.type == HPX_TYPE_OBJECT) {
        uint32_t *offset = hpx_list_push(&c->field_offsets, sizeof(*offset));
        if (offset == NULL) {
            return hpx_reader_no_memory(r);
        }
        *offset = (uint32_t)c->field_bytes; /* at most 65535 fields */
    }
    c->field_bytes += hpx_type_size(ev->field.type, c->id_size);
    return HPX_RD_SOUND;
}

/* The way down that add_up() left in `super`, from the class `below` whose superclass is `above`: as it was. */
static void back_down(struct hpx_check *c, struct hpx_check_class *below, uint64_t above)
{
    while (below != NULL) {
        uint64_t next = below->super;
        below->super = above;
        below->walked = 0;
        above = below->id;
        below = next != 0 ? find_class(c, next) : NULL;
    }
}

/* Bytes of the fields of a class and its superclasses. Upwards to one that is known, leaving the way back in `super`; then down again.
 * at_end: a superclass that is missing does not come any more; before, the class stays unknown. */
static int add_up(struct hpx_check *c, struct hpx_reader *r, struct hpx_check_class *k, bool at_end)
{
    struct hpx_check_class *below = NULL;
    while (k->walked == 0) {
        uint64_t super = k->super;
        k->walked = 1;
        k->super = below != NULL ? below->id : 0;
        below = k;
        if (super == 0) {
            k = NULL;
            break;
        }
        k = find_class(c, super);
        if ((k == NULL || !k->is_dumped) && !at_end) {
            back_down(c, below, super);
            return HPX_RD_SOUND;
        }
        if (k == NULL || !k->is_dumped) {
            return hpx_reader_break(r, below->dumped.at, below->dumped.line, "superclass %" PRIx64 " has no CLASS DUMP", super);
        }
        if (k->walked == 1) {
            return hpx_reader_break(r, below->dumped.at, below->dumped.line, "class %" PRIx64 " is a superclass of itself", k->id);
        }
    }
    while (below != NULL) {
        uint64_t next = below->super;
        below->total = (k != NULL ? k->total : 0) + below->own;
        below->up = k == NULL ? 0 : k->references > 0 ? (uint32_t)(k - class_at(c, 0)) + 1 : k->up;
        below->walked = 2;
        k = below;
        below = next != 0 ? find_class(c, next) : NULL;
    }
    return HPX_RD_SOUND;
}

/* Is an instance as long as the fields of its class, and as others? The fields of one that comes before its classes stay unknown. */
static int instance_length(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, struct hpx_check_class *k)
{
    if (k->has_length && k->length != ev->object.length) {
        return hpx_reader_break(r, ev->at, ev->line, "an instance of %" PRIu64 " bytes, others of its class have %" PRIu64,
                                ev->object.length, k->length);
    }
    k->has_length = true;
    k->length = ev->object.length;
    if (k->is_dumped && !k->tried) {
        k->tried = true;
        int rc = add_up(c, r, k, false);
        if (rc != HPX_RD_SOUND) {
            return rc;
        }
    }
    if (k->walked == 2 && k->length != k->total) {
        return hpx_reader_break(r, ev->at, ev->line, "an instance of %" PRIu64 " bytes, the fields of its class have %" PRIu64, k->length,
                                k->total);
    }
    c->holder_class = k->walked == 2 ? (uint32_t)(k - class_at(c, 0)) + 1 : 0;
    return HPX_RD_SOUND;
}

static int of_class(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    struct hpx_check_class *k;
    if (c->near_index != 0 && c->near_class == ev->object.class_id) {
        k = class_at(c, c->near_index - 1);
    } else {
        int rc = class_loaded(c, r, ev, ev->object.class_id, "the class of an object");
        if (rc != HPX_RD_SOUND) {
            return rc;
        }
        k = get_class(c, ev->object.class_id);
        if (k == NULL) {
            return hpx_reader_no_memory(r);
        }
        c->near_class = ev->object.class_id;
        c->near_index = (uint32_t)(k - class_at(c, 0)) + 1;
    }
    if (!k->is_used) {
        k->is_used = true;
        k->used = (struct hpx_place){ev->at, ev->line, ev->object.id};
    }
    c->holder = *ev;
    return c->text || ev->kind != HPX_RD_INSTANCE ? HPX_RD_SOUND : instance_length(c, r, ev, k);
}

static uint64_t id_at(const struct hpx_check *c, const char *p)
{
    return c->id_size == 4 ? hpx_get_be4(p) : hpx_get_be8(p);
}

/* The fields of an instance: those of its class, then of its superclass, and so on. */
static int fields(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    int rc = HPX_RD_SOUND;
    if (c->holder_class == 0 || ev->contents.n != c->holder.object.length) {
        return HPX_RD_SOUND;
    }
    const char *end = ev->contents.p + ev->contents.n;
    for (uint32_t i = c->holder_class; rc == HPX_RD_SOUND && i != 0; i = class_at(c, i - 1)->up) {
        const struct hpx_check_class *k = class_at(c, i - 1);
        const uint32_t *offsets = (const uint32_t *)c->field_offsets.items + k->first;
        for (uint32_t n = 0; rc == HPX_RD_SOUND && n < k->references; n++) {
            rc = refer(c, r, &c->holder, id_at(c, end - k->total + offsets[n]));
        }
    }
    return rc;
}

static int contents(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    int rc = HPX_RD_SOUND;
    if (c->holder.kind == HPX_RD_INSTANCE) {
        return fields(c, r, ev);
    }
    for (size_t at = 0; rc == HPX_RD_SOUND && at < ev->contents.n; at += c->id_size) {
        rc = refer(c, r, &c->holder, id_at(c, ev->contents.p + at));
    }
    return rc;
}

/* In text the size of a primitive array is that of its elements alone. */
static int primitives(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    int rc = object(c, r, ev);
    uint64_t bytes;
    bool fits = !__builtin_mul_overflow(ev->object.length, (uint64_t)hpx_type_size((int)ev->object.type, 8), &bytes);
    return rc == HPX_RD_SOUND && c->text && (!fits || ev->object.bytes != bytes) ? hpx_reader_note(r, HPX_NOTE_ARRAY_SIZE, ev->at, ev->line)
                                                                                 : rc;
}

static int class_at_end(struct hpx_check *c, struct hpx_reader *r, struct hpx_check_class *k)
{
    if (!k->is_dumped) {
        return hpx_reader_break(r, k->used.at, k->used.line, "the class %" PRIx64 " of an object is not in the dump", k->id);
    }
    if (c->text) {
        return HPX_RD_SOUND;
    }
    int rc = add_up(c, r, k, true);
    if (rc == HPX_RD_SOUND && k->has_length && k->length != k->total) {
        return hpx_reader_break(r, k->used.at, k->used.line, "an instance of %" PRIu64 " bytes, the fields of its class have %" PRIu64,
                                k->length, k->total);
    }
    return rc == HPX_RD_SOUND && k->declared != k->total ? hpx_reader_note(r, HPX_NOTE_INSTANCE_SIZE, k->dumped.at, k->dumped.line) : rc;
}

/* References to what did not come. */
static int lost(struct hpx_check *c, struct hpx_reader *r)
{
    const struct hpx_check_awaited *first = NULL;
    uint64_t count = 0;
    for (size_t i = 0; i < c->awaited_objects.len; i++) {
        const struct hpx_check_awaited *w = awaited_at(c, i);
        count += w->references;
        if (w->references > 0 && (first == NULL || w->place.at < first->place.at)) {
            first = w;
        }
    }
    return first == NULL ? HPX_RD_SOUND : hpx_reader_notes(r, HPX_NOTE_REFERENCE_LOST, count, first->place.at, first->place.line);
}

static int end(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    if (!c->in_heap) {
        return hpx_reader_break(r, ev->at, ev->line, "HEAP DUMP END without a HEAP DUMP SEGMENT before it");
    }
    if (!ev->heap.ended) {
        return HPX_RD_SOUND;
    }
    int rc = HPX_RD_SOUND;
    for (size_t i = 0; rc == HPX_RD_SOUND && i < c->class_list.len; i++) {
        rc = class_at_end(c, r, class_at(c, i));
    }
    const struct hpx_place *roots = c->root_places.items;
    for (size_t i = 0; rc == HPX_RD_SOUND && i < c->root_places.len; i++) {
        const uint32_t *state = hpx_seeded_map_find(&c->objects, roots[i].id);
        if (state == NULL || *state != HPX_CHECK_HERE) {
            return hpx_reader_break(r, roots[i].at, roots[i].line, "a root of object %" PRIx64 ", which is not in the dump", roots[i].id);
        }
    }
    if (rc == HPX_RD_SOUND) {
        rc = lost(c, r);
    }
    if (rc == HPX_RD_SOUND && c->text && (c->heap_objects != c->announced || c->heap_bytes != c->announced_bytes)) {
        rc = hpx_reader_note(r, HPX_NOTE_HEAP_TOTALS, c->heap.at, c->heap.line);
    }
    forget(c);
    c->in_heap = false;
    return rc;
}

int hpx_check_heap(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    int rc;
    switch (ev->kind) {
    case HPX_RD_HEAP:
        return begin(c, r, ev);
    case HPX_RD_ROOT:
        return root(c, r, ev);
    case HPX_RD_CLASS:
        return class_dump(c, r, ev);
    case HPX_RD_INSTANCE:
    case HPX_RD_OBJECTS:
        c->late = true;
        rc = object(c, r, ev);
        return rc == HPX_RD_SOUND ? of_class(c, r, ev) : rc;
    case HPX_RD_PRIMITIVES:
        c->late = true;
        return primitives(c, r, ev);
    case HPX_RD_FIELD:
        return field(c, r, ev);
    case HPX_RD_CONTENTS:
        return contents(c, r, ev);
    case HPX_RD_REFERENCE:
        return refer(c, r, ev, ev->reference);
    default:
        return end(c, r, ev);
    }
}
