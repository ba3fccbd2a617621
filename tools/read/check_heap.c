/* SPDX-License-Identifier: BSD-2-Clause */
/* check_heap.c: the rules of heap dumps: each object once, of a class that is in the dump, and as long as the fields of that class. */
#include "check.h"
#include <inttypes.h>
#include <stdlib.h>

static void forget(struct hpx_check *c)
{
    hpx_idmap_clear(&c->objects);
    hpx_idmap_clear(&c->roots);
    hpx_idmap_clear(&c->heap_classes);
    c->root_places.len = 0;
    c->class_list.len = 0;
    c->heap_objects = 0;
    c->late = false;
    c->near_index = 0;
}

static struct hpx_check_class *class_at(const struct hpx_check *c, size_t i)
{
    return (struct hpx_check_class *)c->class_list.items + i;
}

static struct hpx_check_class *find_class(const struct hpx_check *c, uint64_t id)
{
    const uint32_t *index = hpx_idmap_find(&c->heap_classes, id);
    return index != NULL ? class_at(c, *index - 1) : NULL;
}

/* The entry of a class, made where there is none; NULL without memory. */
static struct hpx_check_class *get_class(struct hpx_check *c, uint64_t id)
{
    uint32_t *index;
    int added = hpx_idmap_add(&c->heap_classes, id, &index);
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
    return hpx_check_section(c, r, ev, 3);
}

static int known_trace(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint32_t serial)
{
    if (serial == c->near_trace) { /* 0 at first, which is no trace */
        return HPX_RD_SOUND;
    }
    if (!hpx_idmap_has(&c->traces, serial)) {
        return serial == 0 ? HPX_RD_SOUND : hpx_reader_break(r, ev->at, ev->line, "trace %" PRIu32 " is not defined before it", serial);
    }
    c->near_trace = serial;
    return HPX_RD_SOUND;
}

static int root(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    uint32_t *state;
    if (ev->root.frame < -1) {
        return hpx_reader_break(r, ev->at, ev->line, "a root in frame %" PRId32, ev->root.frame);
    }
    int rc = hpx_check_thread(c, r, ev, ev->root.thread);
    if (rc == HPX_RD_SOUND && (ev->root.sub == HPX_SUB_THREAD_OBJECT || ev->root.sub == HPX_SUB_JNI_GLOBAL)) {
        rc = known_trace(c, r, ev, ev->root.trace);
    }
    if (rc != HPX_RD_SOUND) {
        return rc;
    }
    if (ev->root.sub == HPX_SUB_THREAD_OBJECT) {
        if (hpx_idmap_add(&c->threads, ev->root.thread, &state) < 0) {
            return hpx_reader_no_memory(r);
        }
        *state |= 4;
    }
    return ev->root.object == 0 || hpx_check_remember(&c->roots, &c->root_places, ev, ev->root.object) == 0 ? HPX_RD_SOUND
                                                                                                            : hpx_reader_no_memory(r);
}

/* What every object has: a unique id, and a trace. */
static int object(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    if (ev->object.id == 0) {
        return hpx_reader_break(r, ev->at, ev->line, "an object with the id 0");
    }
    int added = hpx_idmap_add(&c->objects, ev->object.id, NULL);
    if (added < 0) {
        return hpx_reader_no_memory(r);
    }
    if (added == 0) {
        return hpx_reader_break(r, ev->at, ev->line, "object %" PRIx64 " is in this dump a second time", ev->object.id);
    }
    c->heap_objects++;
    return known_trace(c, r, ev, ev->object.trace);
}

static int class_loaded(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint64_t id, const char *what)
{
    return c->text || hpx_idmap_has(&c->class_ids, id)
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
    return c->late ? hpx_reader_note(r, HPX_NOTE_CLASSES_LATE, ev->at, ev->line) : HPX_RD_SOUND;
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
    if (c->text || ev->kind != HPX_RD_INSTANCE) {
        return HPX_RD_SOUND;
    }
    if (k->has_length && k->length != ev->object.length) {
        return hpx_reader_break(r, ev->at, ev->line, "an instance of %" PRIu64 " bytes, others of its class have %" PRIu64,
                                ev->object.length, k->length);
    }
    k->has_length = true;
    k->length = ev->object.length;
    return HPX_RD_SOUND;
}

/* Bytes of the fields of a class and its superclasses. Upwards to one that is known, leaving the way back in `super`; then down again. */
static int add_up(struct hpx_check *c, struct hpx_reader *r, struct hpx_check_class *k)
{
    struct hpx_check_class *below = NULL;
    uint64_t super_total = 0;
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
        if (k == NULL || !k->is_dumped) {
            return hpx_reader_break(r, below->dumped.at, below->dumped.line, "superclass %" PRIx64 " has no CLASS DUMP", super);
        }
        if (k->walked == 1) {
            return hpx_reader_break(r, below->dumped.at, below->dumped.line, "class %" PRIx64 " is a superclass of itself", k->id);
        }
    }
    super_total = k != NULL ? k->total : 0;
    while (below != NULL) {
        uint64_t next = below->super;
        below->total = super_total + below->own;
        super_total = below->total;
        below->walked = 2;
        below = next != 0 ? find_class(c, next) : NULL;
    }
    return HPX_RD_SOUND;
}

static int class_at_end(struct hpx_check *c, struct hpx_reader *r, struct hpx_check_class *k)
{
    if (!k->is_dumped) {
        return hpx_reader_break(r, k->used.at, k->used.line, "the class %" PRIx64 " of an object is not in the dump", k->id);
    }
    if (c->text) {
        return HPX_RD_SOUND;
    }
    int rc = add_up(c, r, k);
    if (rc == HPX_RD_SOUND && k->has_length && k->length != k->total) {
        return hpx_reader_break(r, k->used.at, k->used.line, "an instance of %" PRIu64 " bytes, the fields of its class have %" PRIu64,
                                k->length, k->total);
    }
    return rc == HPX_RD_SOUND && k->has_length && k->declared != k->total
               ? hpx_reader_note(r, HPX_NOTE_INSTANCE_SIZE, k->dumped.at, k->dumped.line)
               : rc;
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
        if (!hpx_idmap_has(&c->objects, roots[i].id)) {
            return hpx_reader_break(r, roots[i].at, roots[i].line, "a root of object %" PRIx64 ", which is not in the dump", roots[i].id);
        }
    }
    if (rc == HPX_RD_SOUND && c->text && c->heap_objects != c->announced) {
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
        return object(c, r, ev);
    default:
        return end(c, r, ev);
    }
}
