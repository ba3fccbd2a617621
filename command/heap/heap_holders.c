/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_holders.c: see heap_holders.h. */
#include "heap_holders.h"
#include "dominators.h"
#include "heap_room.h"
#include "retained.h"
#include "words.h"
#include <inttypes.h>
#include <stdlib.h>

#define FAR  1024 /* dominators between an object and the one that has a path in its place */
#define SURE 10   /* rows, however small; others from one in a thousand on */
#define UNIT 8U   /* bytes of size[] */

/* ---- what retains most ---- */

/* While it is found. */
struct tree {
    uint32_t *idom, *held, *alike, *before;
    uint64_t *retained;
};

static int find_tree(struct tree *t, struct hpx_heap_holders *h, const struct hpx_heap_graph *g, struct hpx_err *err)
{
    uint32_t classes = (uint32_t)g->classes.len;
    t->idom = hpx_heap_room(g->n, sizeof *t->idom, err);
    int e = t->idom != NULL ? hpx_heap_dominators(g->n, g->first, g->refs, t->idom, err) : -HPX_E_NOMEM;
    if (e != 0) {
        return e;
    }
    t->retained = hpx_heap_room(g->n, sizeof *t->retained, err);
    t->held = hpx_heap_room(g->n, sizeof *t->held, err);
    t->alike = hpx_heap_room(g->n, sizeof *t->alike, err);
    h->of_class = hpx_heap_room((uint64_t)classes + 1, sizeof *h->of_class, err);
    if (t->retained == NULL || t->held == NULL || t->alike == NULL || h->of_class == NULL) {
        return -HPX_E_NOMEM;
    }
    e = hpx_heap_retained(g->n, t->idom, g->size, t->retained, t->held, err);
    return e != 0 ? e : hpx_heap_retained_classes(g->n, t->idom, t->retained, g->klass, classes, h->of_class, t->alike, err);
}

static void free_sizes(struct tree *t, uint32_t n)
{
    hpx_heap_room_free(t->retained, n, sizeof *t->retained);
    hpx_heap_room_free(t->held, n, sizeof *t->held);
    hpx_heap_room_free(t->alike, n, sizeof *t->alike);
    t->retained = NULL;
    t->held = t->alike = NULL;
}

static void find_tops(const struct tree *t, struct hpx_heap_holders *h, const struct hpx_heap_graph *g)
{
    uint32_t top[HPX_HEAP_HOLDERS];
    h->objects = t->held[0] - 1U;
    h->bytes = t->retained[0] * UNIT;
    h->tops = hpx_heap_biggest(g->n, t->idom, t->retained, t->alike, top, HPX_HEAP_HOLDERS);
    for (size_t i = 0; i < h->tops; i++) {
        h->top[i] = (struct hpx_heap_holder){top[i], t->held[top[i]], t->retained[top[i]] * UNIT};
    }
    for (size_t i = 0; i < g->classes.len; i++) {
        h->of_class[i] *= UNIT;
    }
}

/* ---- paths ---- */

static bool dominates(const uint32_t *idom, uint32_t above, uint32_t node)
{
    for (int k = 0; k < FAR && node != 0; k++) {
        node = idom[node];
        if (node == above) {
            return true;
        }
    }
    return false;
}

/* Another one in the table has half of it, or more, and its path leads through this one. */
static bool mere_holder(const struct hpx_heap_holders *h, const uint32_t *idom, size_t i)
{
    for (size_t k = i + 1; k < h->tops && h->top[k].bytes >= h->top[i].bytes / 2; k++) {
        if (dominates(idom, h->top[i].node, h->top[k].node)) {
            return true;
        }
    }
    return false;
}

static void find_path(struct hpx_heap_path *p, const struct hpx_heap_graph *g, const uint32_t *before, uint32_t to)
{
    uint32_t length = 0, at = to;
    for (; at != 0; at = before[at]) {
        length++;
    }
    p->steps = length < HPX_HEAP_STEPS ? length : HPX_HEAP_STEPS;
    p->left_out = length - p->steps;
    at = to;
    for (uint32_t i = length; i-- > 0; at = before[at]) {
        bool first_half = i < HPX_HEAP_STEPS / 2;
        if (first_half || i - HPX_HEAP_STEPS / 2 >= p->left_out) {
            p->step[first_half ? i : i - p->left_out] = (struct hpx_heap_step){at, HPX_STEP_UNKNOWN, 0};
        }
    }
    p->step[0].by = HPX_STEP_ROOT;
    for (uint64_t i = g->first[0]; i < g->first[1]; i++) {
        if (g->refs[i] == p->step[0].node) {
            p->step[0].detail = g->roots[i - g->first[0]];
        }
    }
}

static int find_paths(struct tree *t, struct hpx_heap_holders *h, const struct hpx_heap_graph *g, struct hpx_err *err)
{
    t->before = hpx_heap_room(g->n, sizeof *t->before, err);
    int e = t->before == NULL ? -HPX_E_NOMEM : hpx_heap_nearest(g->n, g->first, g->refs, t->before, err);
    for (size_t i = 0; e == 0 && i < h->tops && h->paths < HPX_HEAP_PATHS; i++) {
        bool worth = h->paths == 0 || h->top[i].bytes >= h->bytes / 100;
        if (worth && !mere_holder(h, t->idom, i)) {
            find_path(&h->path[h->paths++], g, t->before, h->top[i].node);
        }
    }
    return e;
}

/* ---- how an object refers to the next one: from the file ---- */

struct naming {
    struct hpx_heap_holders *h;
    struct {
        uint64_t node;
        struct hpx_heap_step *next;
    } from[HPX_HEAP_PATHS * HPX_HEAP_STEPS]; /* by node */
    size_t len, unknown;                     /* unknown: whose `next` has no name yet */
    enum hpx_rd_kind kind;                   /* of the record whose contents come */
    uint64_t elements;                       /* of the open array that are done */
    struct hpx_list statics;                 /* struct hpx_rd_field: of the class to come, those that refer to an object */
    bool no_memory;
};

static int by_node(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void begin_naming(struct naming *w)
{
    for (size_t i = 0; i < w->h->paths; i++) {
        struct hpx_heap_path *p = &w->h->path[i];
        for (uint32_t k = 1; k < p->steps; k++) {
            if (p->left_out == 0 || k != HPX_HEAP_STEPS / 2) {
                w->from[w->len].node = p->step[k - 1].node;
                w->from[w->len++].next = &p->step[k];
            }
        }
    }
    qsort(w->from, w->len, sizeof w->from[0], by_node);
}

/* That an object refers to its class stands in no field. */
static void name_classes(struct naming *w, const struct hpx_heap_graph *g)
{
    for (size_t i = 0; i < w->len; i++) {
        struct hpx_heap_step *s = w->from[i].next;
        if (s->by == HPX_STEP_UNKNOWN && s->node == hpx_heap_class_at(g, g->klass[w->from[i].node])->node) {
            s->by = HPX_STEP_CLASS;
        }
        w->unknown += s->by == HPX_STEP_UNKNOWN;
    }
}

/* The first of `from` with that node or a greater one. */
static size_t place(const struct naming *w, uint32_t node)
{
    size_t low = 0, high = w->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->from[middle].node < node) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The node refers to the object with that id. What is told first counts. */
static void name(struct naming *w, const struct hpx_heap_graph *g, uint32_t node, uint64_t id, int by, uint64_t detail)
{
    for (size_t i = place(w, node); id != 0 && i < w->len && w->from[i].node == node; i++) {
        struct hpx_heap_step *s = w->from[i].next;
        if (s->by == HPX_STEP_UNKNOWN && g->ids[s->node] == id) {
            s->by = by;
            s->detail = detail;
            w->unknown--;
        }
    }
}

static void name_fields(struct naming *w, const struct hpx_heap_graph *g, uint32_t node, struct hpx_rd_text t)
{
    struct hpx_heap_refs refs = {.g = g, .klass = g->klass[node], .contents = t};
    while (hpx_heap_refs_next(&refs)) {
        name(w, g, node, refs.id, HPX_STEP_FIELD, ((const struct hpx_heap_field *)g->fields.items)[refs.field].name);
    }
}

static void name_content(struct naming *w, const struct hpx_heap_graph *g, uint32_t node, const struct hpx_rd_event *ev)
{
    struct hpx_rd_text t = ev->content;
    if (w->kind == HPX_RD_INSTANCE) {
        name_fields(w, g, node, t);
    }
    for (size_t at = 0; w->kind == HPX_RD_OBJECTS && t.n - at >= g->id_size; at += g->id_size) {
        name(w, g, node, hpx_heap_id(g, t.p + at), HPX_STEP_ELEMENT, w->elements++);
    }
}

static void name_statics(struct naming *w, const struct hpx_heap_graph *g, uint32_t node, const struct hpx_rd_object *o)
{
    const struct hpx_rd_field *f = w->statics.items;
    for (size_t i = 0; i < w->statics.len; i++) {
        name(w, g, node, f[i].value, f[i].of == HPX_RD_STATIC ? HPX_STEP_FIELD : HPX_STEP_OTHER, f[i].name);
    }
    name(w, g, node, o->super, HPX_STEP_SUPER, 0);
    name(w, g, node, o->loader, HPX_STEP_LOADER, 0);
    name(w, g, node, o->signers, HPX_STEP_OTHER, 0);
    name(w, g, node, o->domain, HPX_STEP_OTHER, 0);
}

static bool take(void *ctx, const struct hpx_heap_graph *g, uint32_t node, const struct hpx_rd_event *ev)
{
    struct naming *w = ctx;
    if (ev->kind == HPX_RD_FIELD) {
        struct hpx_rd_field *f = ev->field.type == HPX_TYPE_OBJECT ? hpx_list_push(&w->statics, sizeof *f) : NULL;
        if (f != NULL) {
            *f = ev->field;
        }
        w->no_memory = f == NULL && ev->field.type == HPX_TYPE_OBJECT;
        return !w->no_memory;
    }
    size_t i = place(w, node);
    if (i < w->len && w->from[i].node == node) {
        if (ev->kind == HPX_RD_CONTENT) {
            name_content(w, g, node, ev);
        } else if (ev->kind == HPX_RD_CLASS) {
            name_statics(w, g, node, &ev->object);
        }
    }
    if (ev->kind != HPX_RD_CONTENT) {
        w->kind = ev->kind;
        w->elements = 0;
        w->statics.len = 0;
    }
    return w->unknown > 0;
}

static enum hpx_heap_read name_steps(struct hpx_heap_holders *h, const struct hpx_heap_graph *g, const struct hpx_heap_file *file,
                                     struct hpx_err *err)
{
    struct naming w = {.h = h};
    begin_naming(&w);
    name_classes(&w, g);
    enum hpx_heap_read done = w.unknown > 0 ? hpx_heap_again(g, file, take, &w, err) : HPX_HEAP_READ;
    free(w.statics.items);
    if (w.no_memory) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "%s", hpx_budget_why());
        done = HPX_HEAP_FAILED;
    }
    return done;
}

/* ---- all of it ---- */

enum hpx_heap_read hpx_heap_holders_find(struct hpx_heap_holders *h, const struct hpx_heap_graph *g, const struct hpx_heap_file *file,
                                         struct hpx_err *err)
{
    struct tree t = {0};
    *h = (struct hpx_heap_holders){0};
    int e = find_tree(&t, h, g, err);
    if (e == 0) {
        find_tops(&t, h, g);
        free_sizes(&t, g->n);
        e = file != NULL ? find_paths(&t, h, g, err) : 0;
    }
    free_sizes(&t, g->n);
    hpx_heap_room_free(t.before, g->n, sizeof *t.before);
    hpx_heap_room_free(t.idom, g->n, sizeof *t.idom);
    return e != 0 ? HPX_HEAP_FAILED : file != NULL ? name_steps(h, g, file, err) : HPX_HEAP_READ;
}

void hpx_heap_holders_fini(struct hpx_heap_holders *h)
{
    free(h->of_class);
    h->of_class = NULL;
}

/* ---- in words ---- */

const char *hpx_heap_root_kind(uint64_t kind)
{
    switch (kind) {
    case HPX_ROOT_JNI_GLOBAL:
        return "global JNI reference";
    case HPX_ROOT_JNI_LOCAL:
        return "local JNI reference";
    case HPX_ROOT_JAVA_FRAME:
        return "local variable of a frame";
    case HPX_ROOT_NATIVE_STACK:
        return "native stack";
    case HPX_ROOT_STICKY_CLASS:
        return "system class";
    case HPX_ROOT_THREAD_BLOCK:
        return "block of a thread";
    case HPX_ROOT_MONITOR_USED:
        return "monitor in use";
    case HPX_ROOT_THREAD_OBJECT:
        return "thread";
    default:
        return "unknown root";
    }
}

const char *hpx_heap_field_name(const struct hpx_heap_graph *g, uint64_t name)
{
    const uint32_t *known = hpx_seeded_map_find(&g->defined.strings, name);
    return known != NULL ? hpx_defined_name(&g->defined, *known) : "?";
}

const struct hpx_heap_class *hpx_heap_class_of_object(const struct hpx_heap_graph *g, uint32_t node)
{
    for (size_t i = 0; i < g->classes.len; i++) {
        const struct hpx_heap_class *c = hpx_heap_class_at(g, (uint32_t)i);
        if (c->node == node) {
            return c;
        }
    }
    return NULL;
}

static void put_object(FILE *to, const struct hpx_heap_graph *g, uint32_t node)
{
    const struct hpx_heap_class *itself = hpx_heap_class_of_object(g, node);
    if (itself != NULL) {
        (void)fputs("class ", to);
        hpx_words_java(to, itself->name);
        return;
    }
    hpx_words_java(to, hpx_heap_class_at(g, g->klass[node])->name);
    (void)fprintf(to, " @ 0x%" PRIx64, g->ids[node]);
}

static void put_how(FILE *to, const struct hpx_heap_graph *g, const struct hpx_heap_step *s)
{
    switch (s->by) {
    case HPX_STEP_ROOT:
        (void)fprintf(to, "%s: ", hpx_heap_root_kind(s->detail));
        break;
    case HPX_STEP_FIELD:
        (void)fputc('.', to);
        hpx_words_name(to, hpx_heap_field_name(g, s->detail), HPX_NAME_COLUMNS, false);
        (void)fputs(": ", to);
        break;
    case HPX_STEP_ELEMENT:
        (void)fprintf(to, "[%" PRIu64 "]: ", s->detail);
        break;
    case HPX_STEP_CLASS:
        (void)fputs("its class: ", to);
        break;
    case HPX_STEP_SUPER:
        (void)fputs("superclass: ", to);
        break;
    case HPX_STEP_LOADER:
        (void)fputs("class loader: ", to);
        break;
    default:
        break;
    }
}

static void tell_path(FILE *to, const struct hpx_heap_path *p, const struct hpx_heap_graph *g)
{
    for (uint32_t i = 0; i < p->steps; i++) {
        if (i == HPX_HEAP_STEPS / 2 && p->left_out > 0) {
            (void)fprintf(to, "    ... %s more object%s\n", hpx_words_number(p->left_out), p->left_out == 1 ? "" : "s");
        }
        (void)fputs("    ", to);
        put_how(to, g, &p->step[i]);
        put_object(to, g, p->step[i].node);
        (void)fputc('\n', to);
    }
}

static void tell_top(FILE *to, const struct hpx_heap_holders *h, const struct hpx_heap_graph *g)
{
    (void)fputs("\nRetained: the memory that would become free with an object, its own included\n"
                "          bytes  share      itself       objects  object\n",
                to);
    for (size_t i = 0; i < h->tops && (i < SURE || h->top[i].bytes >= h->bytes / 1000); i++) {
        const struct hpx_heap_holder *t = &h->top[i];
        (void)fprintf(to, "%15s %5.1f%% %11s %13s  ", hpx_words_number(t->bytes),
                      h->bytes > 0 ? 100 * (double)t->bytes / (double)h->bytes : 0, hpx_words_number((uint64_t)g->size[t->node] * UNIT),
                      hpx_words_number(t->objects));
        put_object(to, g, t->node);
        (void)fputc('\n', to);
    }
}

void hpx_heap_holders_tell(FILE *to, const struct hpx_heap_holders *h, const struct hpx_heap_graph *g)
{
    if (h->tops > 0) {
        tell_top(to, h, g);
    }
    if (g->objects > h->objects) {
        (void)fprintf(to, "No root leads to %s object%s, %s; weak references do not count.\n", hpx_words_number(g->objects - h->objects),
                      g->objects - h->objects == 1 ? "" : "s", hpx_words_size(g->bytes - h->bytes));
    }
    for (size_t i = 0; i < h->paths; i++) {
        const struct hpx_heap_path *p = &h->path[i];
        (void)fprintf(to, "%s", i == 0 ? "\nPaths: the shortest one from a root to each of the largest of these objects\n" : "\n");
        tell_path(to, p, g);
    }
}
