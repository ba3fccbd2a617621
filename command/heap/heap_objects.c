/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_objects.c: contract in heap_objects.h. */
#include "heap_objects.h"
#include "heap_classes.h"
#include "heap_room.h"
#include <string.h>

void hpx_heap_objects_begin(struct hpx_heap_objects *o)
{
    o->all.len = o->roots.len = 0;
    o->near = o->trace = 0;
    o->g->sited = false;
    o->field = o->statics_refs = o->statics_bytes = 0;
    hpx_seeded_map_clear(&o->class_of);
    o->no_memory |= !hpx_heap_classes_begin(o->g);
}

/* HPX_HEAP_NO_CLASS: no memory. */
static uint32_t class_index(struct hpx_heap_objects *o, uint64_t id)
{
    if (o->near != 0 && o->near_id == id) {
        return o->near - 1;
    }
    struct hpx_heap_class *c = hpx_list_entry(&o->class_of, &o->g->classes, sizeof *c, id);
    if (c == NULL) {
        o->no_memory = true;
        return HPX_HEAP_NO_CLASS;
    }
    c->id = id;
    o->near_id = id;
    o->near = (uint32_t)(c - hpx_heap_class_at(o->g, 0)) + 1;
    return o->near - 1;
}

static void add(struct hpx_heap_objects *o, struct hpx_list *to, uint64_t key, uint32_t a, uint32_t b)
{
    struct hpx_heap_entry *e = key != 0 && !o->full ? hpx_list_push(to, sizeof *e) : NULL;
    if (e != NULL) {
        *e = (struct hpx_heap_entry){key, a, b};
        o->full = to->len >= UINT32_MAX - 2;
    } else {
        o->no_memory |= key != 0 && !o->full;
    }
}

static void take_field(struct hpx_heap_objects *o, const struct hpx_rd_field *f)
{
    bool ref = f->type == HPX_TYPE_OBJECT;
    if (f->of == HPX_RD_DECLARED) {
        struct hpx_heap_field *to = hpx_list_push(&o->g->fields, sizeof *to);
        o->no_memory |= to == NULL;
        if (to != NULL) {
            *to = (struct hpx_heap_field){f->name, f->type};
        }
    } else if (f->of == HPX_RD_STATIC) {
        o->statics_refs += ref;
        o->statics_bytes += ref ? 0 : hpx_type_size(f->type, o->g->id_size);
    }
}

static void take_class(struct hpx_heap_objects *o, const struct hpx_rd_object *of)
{
    uint32_t index = class_index(o, of->id);
    struct hpx_heap_class *c = index != HPX_HEAP_NO_CLASS ? hpx_heap_class_at(o->g, index) : NULL;
    if (c != NULL && !c->dumped) {
        c->dumped = true;
        c->super_id = of->super;
        c->field = o->field;
        c->fields = (uint32_t)o->g->fields.len - o->field;
        c->statics_refs = o->statics_refs;
        c->statics_bytes = o->statics_bytes;
        add(o, &o->all, of->id, HPX_HEAP_NO_CLASS, index);
    }
    o->field = (uint32_t)o->g->fields.len;
    o->full |= o->g->fields.len >= UINT32_MAX - UINT16_MAX;
    o->statics_refs = o->statics_bytes = 0;
}

static void look_for_stack(struct hpx_heap_objects *o, uint32_t trace)
{
    const struct hpx_definitions *d = &o->g->defined;
    const uint32_t *known = trace != o->trace ? hpx_seeded_map_find(&d->trace_of, trace) : NULL;
    o->trace = trace;
    o->g->sited |= known != NULL && ((const struct hpx_defined_trace *)d->traces.items)[*known - 1].frames > 0;
}

static void take_object(struct hpx_heap_objects *o, enum hpx_rd_kind kind, const struct hpx_rd_object *of)
{
    if (!o->g->sited) {
        look_for_stack(o, of->trace);
    }
    uint32_t index = kind == HPX_RD_PRIMITIVES ? of->type - HPX_HEAP_ARRAYS : class_index(o, of->class_id);
    if (index != HPX_HEAP_NO_CLASS) {
        struct hpx_heap_class *c = hpx_heap_class_at(o->g, index);
        c->array_of = kind == HPX_RD_OBJECTS ? HPX_TYPE_OBJECT : c->array_of;
        add(o, &o->all, of->id, index, kind == HPX_RD_INSTANCE ? 0 : (uint32_t)of->length);
    }
}

void hpx_heap_objects_event(struct hpx_heap_objects *o, const struct hpx_rd_event *ev)
{
    switch (ev->kind) {
    case HPX_RD_ROOT:
        add(o, &o->roots, ev->root.id, (uint32_t)ev->root.sub, (uint32_t)o->roots.len);
        break;
    case HPX_RD_FIELD:
        take_field(o, &ev->field);
        break;
    case HPX_RD_CLASS:
        take_class(o, &ev->object);
        break;
    case HPX_RD_INSTANCE:
    case HPX_RD_OBJECTS:
    case HPX_RD_PRIMITIVES:
        take_object(o, ev->kind, &ev->object);
        break;
    default:
        break;
    }
}

/* Sizes, and how many there are of each class; class objects are of java.lang.Class now. Where elements were is the size. */
static void count(struct hpx_heap_objects *o)
{
    struct hpx_heap_graph *g = o->g;
    struct hpx_heap_entry *e = o->all.items;
    uint32_t class = hpx_heap_class_class(g);
    for (size_t i = 0; i < o->all.len; i++) {
        uint32_t size = hpx_heap_size(g, e + i, class);
        if (e[i].a == HPX_HEAP_NO_CLASS) {
            hpx_heap_class_at(g, e[i].b)->node = (uint32_t)i + 1;
            e[i].a = class;
        }
        struct hpx_heap_class *c = hpx_heap_class_at(g, e[i].a);
        c->objects++;
        c->bytes += (uint64_t)size * 8;
        c->empty += c->array_of != 0 && e[i].b == 0;
        g->bytes += (uint64_t)size * 8;
        e[i].b = size;
    }
    g->objects = o->all.len;
}

/* Arrays of primitives have no class in the file, but their class objects have the name. */
static void join_primitive_arrays(struct hpx_heap_graph *g)
{
    for (size_t i = HPX_HEAP_RESERVED; i < g->classes.len; i++) {
        const struct hpx_heap_class *c = hpx_heap_class_at(g, (uint32_t)i);
        for (uint32_t k = 0; c->dumped && k < HPX_HEAP_CLASS; k++) {
            struct hpx_heap_class *of = hpx_heap_class_at(g, k);
            if (of->node == 0 && strcmp(c->name, of->name) == 0) {
                of->node = c->node;
                of->id = c->id;
            }
        }
    }
}

bool hpx_heap_objects_finish(struct hpx_heap_objects *o, const struct hpx_heap_fit *beside)
{
    struct hpx_heap_graph *g = o->g;
    size_t n = o->all.len;
    o->all.len = hpx_heap_sort_unique(o->all.items, n);
    g->twice = n - o->all.len;
    if (!hpx_heap_classes_finish(g, &o->class_of)) {
        return false;
    }
    hpx_heap_layout_choose(g, o->all.items, o->all.len, beside);
    count(o);
    join_primitive_arrays(g);
    return true;
}

/* ---- nodes ---- */

static void *room(struct hpx_heap_objects *o, uint64_t n, size_t size)
{
    void *p = hpx_heap_room(n, size, NULL);
    o->no_memory |= p == NULL;
    return p;
}

/* A bucket has the ids that are alike above `shift` bits: four, if they lie as they do in a heap. */
static bool make_buckets(struct hpx_heap_objects *o)
{
    struct hpx_heap_graph *g = o->g;
    uint64_t range = g->n > 1 ? g->ids[g->n - 1] - g->ids[1] : 0;
    while (range >> g->shift > g->n / 4 + 1) { /* + 1: the shift stays below 64 */
        g->shift++;
    }
    g->buckets = (uint32_t)(range >> g->shift) + 1;
    g->bucket = room(o, (uint64_t)g->buckets + 1, sizeof *g->bucket);
    if (g->bucket == NULL) {
        return false;
    }
    uint32_t k = 0;
    for (uint32_t i = 1; i < g->n; i++) {
        for (uint64_t its = (g->ids[i] - g->ids[1]) >> g->shift; k <= its; k++) {
            g->bucket[k] = i;
        }
    }
    for (; k <= g->buckets; k++) {
        g->bucket[k] = g->n;
    }
    return true;
}

bool hpx_heap_objects_number(struct hpx_heap_objects *o)
{
    struct hpx_heap_graph *g = o->g;
    const struct hpx_heap_entry *e = o->all.items;
    g->n = (uint32_t)o->all.len + 1;
    g->ids = room(o, g->n, sizeof *g->ids);
    g->klass = room(o, g->n, sizeof *g->klass);
    g->size = room(o, g->n, sizeof *g->size);
    if (o->no_memory) {
        return false;
    }
    g->ids[0] = g->size[0] = 0;
    g->klass[0] = HPX_HEAP_NO_CLASS;
    for (uint32_t i = 1; i < g->n; i++) {
        g->ids[i] = e[i - 1].key;
        g->klass[i] = e[i - 1].a;
        g->size[i] = e[i - 1].b;
    }
    hpx_heap_list_free(&o->all, sizeof *e);
    return make_buckets(o);
}

void hpx_heap_objects_fini(struct hpx_heap_objects *o)
{
    hpx_heap_list_free(&o->all, sizeof(struct hpx_heap_entry));
    hpx_heap_list_free(&o->roots, sizeof(struct hpx_heap_entry));
    hpx_seeded_map_fini(&o->class_of);
}
