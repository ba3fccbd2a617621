/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_json.c: see heap_json.h. */
#include "heap_json.h"
#include "heap_rank.h"
#include <inttypes.h>
#include <stdlib.h>

#define UNIT 8U /* bytes of size[] */

static void put_row(struct hpx_json *j, const char *class, uint64_t count, uint64_t bytes)
{
    hpx_json_open(j, NULL, '{');
    hpx_json_text(j, "class", class);
    hpx_json_uint(j, "count", count);
    hpx_json_uint(j, "bytes", bytes);
    hpx_json_close(j, '}');
}

static void put_head(struct hpx_json *j, const struct hpx_heap_graph *g)
{
    hpx_json_uint(j, "dump", g->dump);
    hpx_json_uint(j, "dumps", g->dumps);
    hpx_json_flag(j, "complete", g->complete);
    if (g->why[0] != '\0') {
        hpx_json_text(j, "broken", g->why);
    }
    hpx_json_uint(j, "objects", g->objects);
    hpx_json_uint(j, "bytes", g->bytes);
    hpx_json_uint(j, "roots", g->first[1] - g->first[0]);
    hpx_json_uint(j, "twice", g->twice);
    hpx_json_uint(j, "dangling", g->dangling);
}

static bool put_classes(struct hpx_json *j, const struct hpx_heap_told *t, size_t rows)
{
    size_t n;
    const struct hpx_heap_class **all = hpx_heap_rank(t->graph, hpx_heap_by_bytes, &n);
    hpx_json_open(j, "classes", '[');
    for (size_t i = 0; all != NULL && i < n && (rows == 0 || i < rows); i++) {
        hpx_json_open(j, NULL, '{');
        hpx_json_text(j, "class", all[i]->name);
        hpx_json_uint(j, "objects", all[i]->objects);
        hpx_json_uint(j, "bytes", all[i]->bytes);
        if (t->holders != NULL) {
            hpx_json_uint(j, "retained", t->holders->of_class[all[i] - hpx_heap_class_at(t->graph, 0)]);
        }
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, ']');
    free(all);
    return all != NULL;
}

static void put_object(struct hpx_json *j, const struct hpx_heap_graph *g, uint32_t node)
{
    char id[32];
    const struct hpx_heap_class *itself = hpx_heap_class_of_object(g, node);
    (void)snprintf(id, sizeof id, "0x%" PRIx64, g->ids[node]);
    hpx_json_text(j, "class", hpx_heap_class_at(g, g->klass[node])->name);
    hpx_json_text(j, "id", id);
    if (itself != NULL) {
        hpx_json_text(j, "is_class", itself->name);
    }
}

static void put_holders(struct hpx_json *j, const struct hpx_heap_told *t)
{
    const struct hpx_heap_holders *h = t->holders;
    hpx_json_open(j, "retained", '[');
    for (size_t i = 0; i < h->tops; i++) {
        hpx_json_open(j, NULL, '{');
        put_object(j, t->graph, h->top[i].node);
        hpx_json_uint(j, "bytes", h->top[i].bytes);
        hpx_json_uint(j, "itself", (uint64_t)t->graph->size[h->top[i].node] * UNIT);
        hpx_json_uint(j, "objects", h->top[i].objects);
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, ']');
    hpx_json_open(j, "unreached", '{');
    hpx_json_uint(j, "objects", t->graph->objects - h->objects);
    hpx_json_uint(j, "bytes", t->graph->bytes - h->bytes);
    hpx_json_close(j, '}');
}

static void put_step(struct hpx_json *j, const struct hpx_heap_graph *g, const struct hpx_heap_step *s)
{
    static const char *const by[] = {
        [HPX_STEP_ROOT] = "root",   [HPX_STEP_UNKNOWN] = "unknown", [HPX_STEP_FIELD] = "field",   [HPX_STEP_ELEMENT] = "element",
        [HPX_STEP_CLASS] = "class", [HPX_STEP_SUPER] = "super",     [HPX_STEP_LOADER] = "loader", [HPX_STEP_OTHER] = "other"};
    hpx_json_open(j, NULL, '{');
    hpx_json_text(j, "by", by[s->by]);
    if (s->by == HPX_STEP_ROOT) {
        hpx_json_text(j, "root", hpx_heap_root_kind(s->detail));
    } else if (s->by == HPX_STEP_FIELD) {
        hpx_json_text(j, "field", hpx_heap_field_name(g, s->detail));
    } else if (s->by == HPX_STEP_ELEMENT) {
        hpx_json_uint(j, "index", s->detail);
    }
    put_object(j, g, s->node);
    hpx_json_close(j, '}');
}

static void put_paths(struct hpx_json *j, const struct hpx_heap_told *t)
{
    hpx_json_open(j, "paths", '[');
    for (size_t i = 0; i < t->holders->paths; i++) {
        const struct hpx_heap_path *p = &t->holders->path[i];
        hpx_json_open(j, NULL, '{');
        hpx_json_uint(j, "left_out", p->left_out);
        hpx_json_open(j, "steps", '[');
        for (uint32_t k = 0; k < p->steps; k++) {
            put_step(j, t->graph, &p->step[k]);
        }
        hpx_json_close(j, ']');
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, ']');
}

static void put_strings(struct hpx_json *j, const struct hpx_heap_waste *w)
{
    hpx_json_open(j, "duplicate_strings", '{');
    hpx_json_uint(j, "strings", w->strings);
    hpx_json_uint(j, "texts", w->texts);
    hpx_json_uint(j, "zeros", w->blank);
    hpx_json_uint(j, "bytes", w->bytes);
    hpx_json_open(j, "top", '[');
    for (size_t i = 0; i < w->tops; i++) {
        hpx_json_open(j, NULL, '{');
        hpx_json_text(j, "text", w->top[i].text);
        hpx_json_uint(j, "strings", w->top[i].strings);
        hpx_json_uint(j, "arrays", w->top[i].arrays);
        hpx_json_uint(j, "bytes", w->top[i].bytes);
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, ']');
    hpx_json_close(j, '}');
}

static bool put_empty(struct hpx_json *j, const struct hpx_heap_told *t)
{
    size_t n;
    const struct hpx_heap_empty *e = t->waste->empty.items;
    hpx_json_open(j, "empty_collections", '[');
    for (size_t i = 0; i < t->waste->empty.len; i++) {
        put_row(j, hpx_heap_class_at(t->graph, e[i].klass)->name, e[i].count, e[i].bytes);
    }
    hpx_json_close(j, ']');
    const struct hpx_heap_class **all = hpx_heap_rank(t->graph, hpx_heap_by_empty, &n);
    hpx_json_open(j, "empty_arrays", '[');
    for (size_t i = 0; all != NULL && i < n && all[i]->empty > 0; i++) {
        put_row(j, all[i]->name, all[i]->empty, all[i]->empty * hpx_heap_empty_array(t->graph, all[i]));
    }
    hpx_json_close(j, ']');
    free(all);
    return all != NULL;
}

bool hpx_heap_json(struct hpx_json *j, const struct hpx_heap_told *t, size_t rows)
{
    hpx_json_open(j, "heap_dump", '{');
    put_head(j, t->graph);
    bool made = put_classes(j, t, rows);
    if (t->holders != NULL) {
        put_holders(j, t);
        put_paths(j, t);
    } else {
        hpx_json_text(j, "missing", t->missing);
    }
    put_strings(j, t->waste);
    made = put_empty(j, t) && made;
    hpx_json_close(j, '}');
    return made;
}
