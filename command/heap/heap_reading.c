/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_reading.c: contract in heap_reading.h. */
#include "heap_reading.h"
#include "budget.h"
#include "heap_classes.h"
#include "heap_objects.h"
#include "heap_room.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN UINT64_MAX

enum pass { OBJECTS, REFERENCES, CONTENTS };

struct reading {
    struct hpx_heap_graph *g;
    struct hpx_heap_objects objects;
    enum pass pass;
    uint32_t wanted; /* 0: the newest */
    uint32_t dump;   /* this one */
    uint32_t whole;  /* the last that is complete */
    bool in_heap, taking, no_memory, left;
    int result; /* enum hpx_rd_result of the first reading */

    /* REFERENCES */
    struct hpx_list refs;    /* uint32_t, in the order of the file */
    struct hpx_list pending; /* uint64_t: ids in static fields and constants of the class to come */
    uint32_t *degree;

    struct hpx_heap_dump unlisted;

    uint32_t last;         /* the object before: the next one is often its neighbour */
    uint32_t node;         /* the open object; 0: none, or it counts no more */
    enum hpx_rd_kind kind; /* its record */
    uint32_t klass;        /* of an instance */
    hpx_heap_sink *sink;
    void *ctx;
};

static void *room(struct reading *r, uint64_t n, size_t size)
{
    void *p = hpx_heap_room(n, size, NULL);
    r->no_memory |= p == NULL;
    return p;
}

static void refer(struct reading *r, uint32_t node)
{
    uint32_t *ref = node != 0 ? hpx_list_push(&r->refs, sizeof *ref) : NULL;
    if (ref != NULL) {
        *ref = node;
    }
    r->no_memory |= node != 0 && ref == NULL;
}

/* The references of node 0, into the list of references. */
static void take_roots(struct reading *r)
{
    struct hpx_heap_graph *g = r->g;
    const struct hpx_heap_entry *e = r->objects.roots.items;
    size_t kept = hpx_heap_sort_unique(r->objects.roots.items, r->objects.roots.len);
    g->roots = room(r, kept, 1);
    uint32_t told = 0;
    for (size_t i = 0; g->roots != NULL && i < kept; i++) {
        uint32_t node = hpx_heap_node(g, e[i].key);
        g->dangling += node == 0;
        g->roots[told] = (uint8_t)e[i].a;
        told += node != 0;
        refer(r, node);
    }
    g->first[0] = 0;
    r->degree[0] = told;
    hpx_heap_list_free(&r->objects.roots, sizeof *e);
}

/* ---- references ---- */

static void refer_to(struct reading *r, uint64_t id)
{
    uint32_t node = id != 0 ? hpx_heap_node(r->g, id) : 0;
    r->g->dangling += id != 0 && node == 0;
    refer(r, node);
}

static void close_object(struct reading *r)
{
    if (r->pass == REFERENCES && r->node != 0) {
        r->degree[r->node] = (uint32_t)(r->refs.len - r->g->first[r->node]);
    }
    r->node = 0;
}

static void open_object(struct reading *r, const struct hpx_rd_event *ev)
{
    struct hpx_heap_graph *g = r->g;
    close_object(r);
    bool near = r->last + 1 < g->n && g->ids[r->last + 1] == ev->object.id;
    uint32_t node = near ? r->last + 1 : hpx_heap_node(g, ev->object.id);
    r->last = node;
    if (node == 0 || (r->pass == REFERENCES && g->first[node] != UNKNOWN)) {
        return;
    }
    r->node = node;
    r->kind = ev->kind;
    r->klass = g->klass[node];
    if (r->pass == REFERENCES) {
        g->first[node] = r->refs.len;
        refer(r, hpx_heap_class_at(g, r->klass)->node);
    }
}

static void class_refers(struct reading *r, const struct hpx_rd_object *o)
{
    const uint64_t *ids = r->pending.items;
    refer_to(r, o->super);
    refer_to(r, o->loader);
    refer_to(r, o->signers);
    refer_to(r, o->domain);
    for (size_t i = 0; i < r->pending.len; i++) {
        refer_to(r, ids[i]);
    }
}

static void instance_refers(struct reading *r, struct hpx_rd_text t)
{
    bool weak = hpx_heap_class_at(r->g, r->klass)->weak;
    struct hpx_heap_refs refs = {.g = r->g, .klass = r->klass, .contents = t};
    while (hpx_heap_refs_next(&refs)) {
        if (!weak || refs.field != r->g->referent) {
            refer_to(r, refs.id);
        }
    }
}

static void content_refers(struct reading *r, struct hpx_rd_text t)
{
    if (r->kind == HPX_RD_INSTANCE) {
        instance_refers(r, t);
    } else if (r->kind == HPX_RD_OBJECTS) {
        for (size_t at = 0; t.n - at >= r->g->id_size; at += r->g->id_size) {
            refer_to(r, hpx_heap_id(r->g, t.p + at));
        }
    }
}

static void references_event(struct reading *r, const struct hpx_rd_event *ev)
{
    uint64_t *id;
    switch (ev->kind) {
    case HPX_RD_FIELD:
        if (r->pass == REFERENCES && ev->field.of != HPX_RD_DECLARED && ev->field.type == HPX_TYPE_OBJECT) {
            id = hpx_list_push(&r->pending, sizeof *id);
            r->no_memory |= id == NULL;
            *(id != NULL ? id : &(uint64_t){0}) = ev->field.value;
        }
        if (r->pass == CONTENTS && r->sink != NULL) {
            r->left |= !r->sink(r->ctx, r->g, 0, ev);
        }
        return;
    case HPX_RD_CLASS:
        open_object(r, ev);
        if (r->pass == REFERENCES && r->node != 0) {
            class_refers(r, &ev->object);
        }
        r->pending.len = 0;
        break;
    case HPX_RD_INSTANCE:
    case HPX_RD_OBJECTS:
    case HPX_RD_PRIMITIVES:
        open_object(r, ev);
        break;
    case HPX_RD_CONTENT:
        if (r->pass == REFERENCES && r->node != 0) {
            content_refers(r, ev->content);
        }
        break;
    default:
        return;
    }
    if (r->node != 0 && r->sink != NULL) {
        r->left |= !r->sink(r->ctx, r->g, r->node, ev);
    }
}

/* From the order of the file to that of nodes. */
static bool order_references(struct reading *r)
{
    struct hpx_heap_graph *g = r->g;
    const uint32_t *from = r->refs.items;
    g->refs = room(r, r->refs.len, sizeof *g->refs);
    uint64_t at = 0;
    for (uint32_t i = 0; g->refs != NULL && i < g->n; i++) {
        uint32_t n = g->first[i] != UNKNOWN ? r->degree[i] : 0;
        if (n > 0) {
            memcpy(g->refs + at, from + g->first[i], n * sizeof *from);
        }
        g->first[i] = at;
        at += n;
    }
    g->first[g->n] = at;
    return g->refs != NULL;
}

/* ---- readings ---- */

/* The dump that is being read, for the list; a spare one if that is full. */
static struct hpx_heap_dump *listed(struct reading *r)
{
    return r->dump > 0 && r->dump <= HPX_HEAP_LISTED ? &r->g->listed[r->dump - 1] : &r->unlisted;
}

static void count_object(struct reading *r, int kind)
{
    listed(r)->objects += kind == HPX_RD_CLASS || kind == HPX_RD_INSTANCE || kind == HPX_RD_OBJECTS || kind == HPX_RD_PRIMITIVES;
}

static void heap(struct reading *r, const struct hpx_rd_heap *h)
{
    if (!r->in_heap || h->tag == HPX_TAG_HEAP_DUMP) {
        r->dump++;
        *listed(r) = (struct hpx_heap_dump){0, false};
        r->taking = r->wanted == 0 || r->wanted == r->dump;
        if (r->taking && r->pass == OBJECTS) {
            hpx_heap_objects_begin(&r->objects);
        }
    }
    r->in_heap = true;
}

static void heap_end(struct reading *r, const struct hpx_rd_heap *h)
{
    if (h->ended && r->in_heap) {
        close_object(r);
        listed(r)->complete = true;
        r->whole = r->taking || r->wanted == 0 ? r->dump : r->whole;
        r->in_heap = r->taking = false;
    }
}

static int event(void *ctx, struct hpx_reader *reader, const struct hpx_rd_event *ev)
{
    struct reading *r = ctx;
    if (r->pass == OBJECTS) {
        count_object(r, (int)ev->kind);
    }
    if (ev->kind == HPX_RD_HEADER) {
        r->g->id_size = ev->header.id_size;
    } else if (ev->kind == HPX_RD_HEAP) {
        heap(r, &ev->heap);
    } else if (ev->kind == HPX_RD_HEAP_END) {
        heap_end(r, &ev->heap);
    } else if (ev->kind < HPX_RD_HEAP || ev->kind > HPX_RD_HEAP_END) {
        if (r->pass == OBJECTS) {
            hpx_definitions_event(&r->g->defined, ev);
            r->no_memory |= r->g->defined.no_memory;
        }
    } else if (r->taking && r->pass == OBJECTS) {
        hpx_heap_objects_event(&r->objects, ev);
    } else if (r->taking) {
        references_event(r, ev);
    }
    r->no_memory |= r->objects.no_memory;
    return r->no_memory      ? hpx_reader_no_memory(reader)
           : r->objects.full ? hpx_reader_break(reader, ev->at, 0, "more objects or fields than 32 bits can count")
           : r->left         ? hpx_reader_break(reader, ev->at, 0, "enough")
                             : HPX_RD_SOUND;
}

/* Reads all of the file. HPX_HEAP_FAILED: nothing of it can be read. */
static enum hpx_heap_read pass(struct reading *r, const struct hpx_heap_file *file, enum pass pass, struct hpx_err *err)
{
    struct hpx_source s;
    r->pass = pass;
    r->dump = r->whole = 0;
    r->in_heap = r->taking = r->objects.full = false;
    if (!file->again(file->ctx)) {
        (void)hpx_err_set(err, HPX_E_IO, "the file cannot be read twice");
        return HPX_HEAP_FAILED;
    }
    if (hpx_source_init(&s, file->read, file->ctx) != 0) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return HPX_HEAP_FAILED;
    }
    struct hpx_reader reader = {.source = &s, .sinks = {event}, .ctx = {r}, .contents = pass != OBJECTS};
    bool binary = hpx_source_ahead(&s, HPX_VERSION_END + 1) > HPX_VERSION_END && hpx_reader_is_binary(&s);
    enum hpx_heap_read done = binary ? HPX_HEAP_READ : HPX_HEAP_NONE;
    (void)hpx_err_set(err, HPX_E_RANGE, "no heap dump is in it");
    const int result = binary ? hpx_reader_run(&reader) : HPX_RD_SOUND;
    if (pass == OBJECTS) {
        r->result = result;
        if (result != HPX_RD_SOUND) {
            (void)snprintf(r->g->why, sizeof r->g->why, "at byte %" PRIu64 ": %s", reader.at, reader.why);
        }
    }
    close_object(r);
    if (r->no_memory) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "%s", hpx_budget_why());
        done = HPX_HEAP_FAILED;
    } else if (pass == REFERENCES && !r->left && result != r->result) { /* who refers to whom would be known in part */
        (void)hpx_err_set(err, HPX_E_IO, "it was read differently the second time: at byte %" PRIu64 ": %s", reader.at, reader.why);
        done = HPX_HEAP_FAILED;
    }
    hpx_source_fini(&s);
    return done;
}

static void list_dumps(const struct hpx_heap_graph *g, struct hpx_err *err)
{
    char text[HPX_HEAP_LISTED * 64 + 32] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < g->dumps && i < HPX_HEAP_LISTED; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRIu32 " of %" PRIu64 " object%s%s", i > 0 ? ", " : "", i + 1,
                              g->listed[i].objects, g->listed[i].objects == 1 ? "" : "s", g->listed[i].complete ? "" : " (incomplete)");
    }
    (void)hpx_err_set(err, HPX_E_RANGE, "the file has no heap dump %" PRIu32 "; it has %s%s", g->dump, text,
                      g->dumps > HPX_HEAP_LISTED ? " and more" : "");
}

/* The objects of the dump that counts. */
static enum hpx_heap_read read_objects(struct reading *r, const struct hpx_heap_file *file, uint32_t dump, struct hpx_err *err)
{
    struct hpx_heap_graph *g = r->g;
    r->wanted = dump;
    enum hpx_heap_read done = pass(r, file, OBJECTS, err);
    if (done == HPX_HEAP_READ && dump == 0 && r->whole != 0 && r->whole < r->dump) { /* the last one is not complete */
        uint32_t dumps = r->dump;
        r->wanted = r->whole;
        hpx_definitions_fini(&g->defined);
        r->no_memory = hpx_definitions_init(&g->defined) != 0;
        done = r->no_memory ? HPX_HEAP_FAILED : pass(r, file, OBJECTS, err);
        r->dump = r->dump < dumps ? dumps : r->dump;
    }
    g->dumps = r->dump;
    g->dump = r->wanted != 0 ? r->wanted : r->dump;
    g->complete = r->whole == g->dump;
    if (done == HPX_HEAP_READ && (g->dumps == 0 || g->dump > g->dumps)) {
        if (g->dumps > 0) {
            list_dumps(g, err);
        }
        done = HPX_HEAP_NONE;
    }
    return done;
}

static bool begin_references(struct reading *r)
{
    struct hpx_heap_graph *g = r->g;
    r->no_memory |= !hpx_heap_objects_number(&r->objects);
    if (r->no_memory) {
        return false;
    }
    g->first = room(r, (uint64_t)g->n + 1, sizeof *g->first);
    r->degree = room(r, g->n, sizeof *r->degree);
    if (r->no_memory) {
        return false;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        g->first[i] = UNKNOWN;
    }
    take_roots(r);
    return !r->no_memory;
}

enum hpx_heap_read hpx_heap_graph_read(struct hpx_heap_graph *g, const struct hpx_heap_file *file, const struct hpx_heap_how *how,
                                       struct hpx_err *err)
{
    struct reading r = {.g = g, .objects = {.g = g}, .sink = how->sink, .ctx = how->ctx};
    *g = (struct hpx_heap_graph){0};
    hpx_seeded_map_init(&r.objects.class_of, true);
    r.no_memory = hpx_definitions_init(&g->defined) != 0;
    enum hpx_heap_read done = r.no_memory ? HPX_HEAP_FAILED : read_objects(&r, file, how->dump, err);
    bool made = done == HPX_HEAP_READ && hpx_heap_objects_finish(&r.objects, how->beside);
    if (made && how->want == HPX_HEAP_REFERENCES && (made = begin_references(&r))) {
        r.wanted = g->dump;
        done = pass(&r, file, REFERENCES, err);
        made = done == HPX_HEAP_READ && !r.left && order_references(&r);
    }
    if (!made && done != HPX_HEAP_NONE) {
        if (done == HPX_HEAP_READ || r.no_memory) {
            (void)hpx_err_set(err, HPX_E_NOMEM, "%s", hpx_budget_why());
        }
        done = HPX_HEAP_FAILED;
    }
    hpx_heap_objects_fini(&r.objects);
    hpx_heap_list_free(&r.refs, sizeof(uint32_t));
    hpx_heap_list_free(&r.pending, sizeof(uint64_t));
    hpx_heap_room_free(r.degree, g->n, sizeof *r.degree);
    return done;
}

enum hpx_heap_read hpx_heap_again(const struct hpx_heap_graph *g, const struct hpx_heap_file *file, hpx_heap_sink *sink, void *ctx,
                                  struct hpx_err *err)
{
    struct hpx_heap_graph same = *g; /* whose arrays are not written */
    struct reading r = {.g = &same, .wanted = g->dump, .sink = sink, .ctx = ctx};
    return pass(&r, file, CONTENTS, err);
}
