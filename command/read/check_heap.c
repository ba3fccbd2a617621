/* SPDX-License-Identifier: BSD-2-Clause */
/* check_heap.c: the rules of heap dumps: each object once, of a class that is in the dump, and as long as the fields of that class. Those
 * of text are for people: nothing of them is checked. */
#include "check.h"
#include <inttypes.h>

static void forget(struct hpx_check *c)
{
    hpx_seeded_map_clear(&c->objects);
    hpx_seeded_map_clear(&c->heap_classes);
    c->class_list.len = 0;
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
    struct hpx_check_class *k = hpx_list_entry(&c->heap_classes, &c->class_list, sizeof(*k), id);
    if (k != NULL) {
        k->id = id;
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
    c->heap = (struct hpx_place){ev->at, ev->line};
    return hpx_check_section(c, r, ev, HPX_TAG_HEAP_DUMP);
}

static int object(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    if (ev->object.id == 0) {
        return hpx_reader_break(r, ev->at, ev->line, "an object with the id 0");
    }
    int added = hpx_seeded_map_add(&c->objects, ev->object.id, NULL);
    if (added < 0) {
        return hpx_reader_no_memory(r);
    }
    return added > 0 ? HPX_RD_SOUND
                     : hpx_reader_break(r, ev->at, ev->line, "object %" PRIx64 " is in this dump a second time", ev->object.id);
}

static int class_loaded(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint64_t id, const char *what)
{
    return hpx_seeded_map_has(&c->class_ids, id) ? HPX_RD_SOUND
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
    struct hpx_check_class *k = rc == HPX_RD_SOUND ? get_class(c, ev->object.id) : NULL;
    if (k == NULL) {
        return rc == HPX_RD_SOUND ? hpx_reader_no_memory(r) : rc;
    }
    k->is_dumped = true;
    k->dumped = (struct hpx_place){ev->at, ev->line};
    k->super = ev->object.super;
    k->total = ev->object.bytes;
    k->declared = ev->object.length;
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
        c->near_index = (size_t)(k - class_at(c, 0)) + 1;
    }
    bool instance = ev->kind == HPX_RD_INSTANCE;
    if (instance && k->has_length && k->length != ev->object.length) {
        return hpx_reader_break(r, ev->at, ev->line, "an instance of %" PRIu64 " bytes, others of its class have %" PRIu64,
                                ev->object.length, k->length);
    }
    if (!k->is_used) {
        k->is_used = true;
        k->used = (struct hpx_place){ev->at, ev->line};
    }
    k->length = instance ? ev->object.length : k->length;
    k->has_length |= instance;
    return HPX_RD_SOUND;
}

/* Adds to the bytes of a class those of its superclasses: upwards to one that is known, leaving the way back in `super`; then down again.
 */
static int add_up(struct hpx_check *c, struct hpx_reader *r, struct hpx_check_class *k)
{
    struct hpx_check_class *below = NULL;
    while (k != NULL && k->walked == 0) {
        uint64_t super = k->super;
        k->walked = 1;
        k->super = below != NULL ? below->id : 0;
        below = k;
        k = super != 0 ? find_class(c, super) : NULL;
        if (super != 0 && (k == NULL || !k->is_dumped)) {
            return hpx_reader_break(r, below->dumped.at, below->dumped.line, "superclass %" PRIx64 " has no CLASS DUMP", super);
        }
        if (k != NULL && k->walked == 1) {
            return hpx_reader_break(r, below->dumped.at, below->dumped.line, "class %" PRIx64 " is a superclass of itself", k->id);
        }
    }
    while (below != NULL) {
        uint64_t next = below->super;
        below->total += k != NULL ? k->total : 0;
        below->walked = 2;
        k = below;
        below = next != 0 ? find_class(c, next) : NULL;
    }
    return HPX_RD_SOUND;
}

static int class_at_end(struct hpx_check *c, struct hpx_reader *r, struct hpx_check_class *k)
{
    if (!k->is_dumped) {
        return hpx_reader_break(r, k->used.at, k->used.line, "the class %" PRIx64 " of an object is not in the dump", k->id);
    }
    int rc = add_up(c, r, k);
    if (rc == HPX_RD_SOUND && k->has_length && k->length != k->total) {
        return hpx_reader_break(r, k->used.at, k->used.line, "an instance of %" PRIu64 " bytes, the fields of its class have %" PRIu64,
                                k->length, k->total);
    }
    return rc == HPX_RD_SOUND && k->declared != k->total ? hpx_reader_note(r, HPX_NOTE_INSTANCE_SIZE, k->dumped.at, k->dumped.line) : rc;
}

static int end(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    int rc = HPX_RD_SOUND;
    if (!c->in_heap) {
        return hpx_reader_break(r, ev->at, ev->line, "HEAP DUMP END without a HEAP DUMP SEGMENT before it");
    }
    if (!ev->heap.ended) {
        return HPX_RD_SOUND;
    }
    for (size_t i = 0; rc == HPX_RD_SOUND && i < c->class_list.len; i++) {
        rc = class_at_end(c, r, class_at(c, i));
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
    case HPX_RD_HEAP_END:
        return end(c, r, ev);
    case HPX_RD_CLASS:
        return c->text ? HPX_RD_SOUND : class_dump(c, r, ev);
    case HPX_RD_INSTANCE:
    case HPX_RD_OBJECTS:
        rc = c->text ? HPX_RD_SOUND : object(c, r, ev);
        return c->text || rc != HPX_RD_SOUND ? rc : of_class(c, r, ev);
    case HPX_RD_PRIMITIVES:
        return c->text ? HPX_RD_SOUND : object(c, r, ev);
    default:
        return HPX_RD_SOUND;
    }
}
