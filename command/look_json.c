/* SPDX-License-Identifier: BSD-2-Clause */
/* look_json.c: the tables of hprofx view as JSON. Contract: look.h. */
#include "certainty.h"
#include "look.h"
#include <math.h>
#include <stdlib.h>

static void measures(struct hpx_json *j, const struct hpx_tree_view *v)
{
    hpx_json_open(j, "measures", '[');
    for (size_t m = 0; m < v->values; m++) {
        if (v->totals[m] > 0) {
            hpx_json_open(j, NULL, '{');
            hpx_json_text(j, "name", v->measures[m].name);
            hpx_json_text(j, "unit", hpx_tree_unit_name(v->measures[m].unit));
            hpx_json_uint(j, "total", v->totals[m]);
            if (v->before[m] > 0) {
                hpx_json_uint(j, "of", v->before[m]);
            }
            hpx_json_close(j, '}');
        }
    }
    hpx_json_close(j, ']');
}

/* effective: samples that count; 0: nothing is left to chance. */
static void rows(const struct hpx_look *l, struct hpx_json *j, const char *key, const struct hpx_list *all, enum hpx_frame_kind kind,
                 bool totals, uint64_t effective)
{
    const struct hpx_tree_view *v = &l->tree->views[l->of.column.view];
    size_t taken = 0;
    hpx_json_open(j, key, '[');
    for (size_t i = 0; i < all->len; i++) {
        const struct hpx_graph_method *m = (const struct hpx_graph_method *)all->items + i;
        if (m->kind != kind || taken++ >= l->rows) {
            continue;
        }
        hpx_json_open(j, NULL, '{');
        hpx_json_text(j, "name", hpx_tree_text(l->tree, m->name));
        hpx_json_uint(j, "self", m->self);
        if (totals) {
            hpx_json_uint(j, "total", m->total);
        }
        if (effective > 0) {
            hpx_json_real(j, "plus_minus", round(100 * hpx_certainty_points(m->self, v->totals[l->of.column.measure], effective)) / 100);
        }
        if (l->of.beside != l->of.column.measure) {
            hpx_json_uint(j, v->measures[l->of.beside].name, m->count);
        }
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, ']');
}

static bool one(struct hpx_look *l, struct hpx_json *j, struct hpx_tree_column c)
{
    const struct hpx_tree_view *v = &l->tree->views[c.view];
    struct hpx_graph calls;
    struct hpx_list methods = {0}, threads = {0};
    l->of.column = c;
    l->of.beside = hpx_look_beside(l->tree, c);
    bool made = hpx_graph_make(&calls, &l->of) && hpx_graph_methods(&methods, &calls, l->tree) && hpx_graph_threads(&threads, &l->of);
    if (made) {
        hpx_json_open(j, NULL, '{');
        hpx_json_text(j, "view", v->key);
        hpx_json_flag(j, "exact", v->exact);
        hpx_json_text(j, "measure", v->measures[c.measure].name);
        measures(j, v);
        rows(l, j, "methods", &methods, HPX_FRAME_METHOD, true, hpx_look_effective(l));
        rows(l, j, c.view == HPX_VIEW_WALL ? "states" : "classes", &methods, HPX_FRAME_CLASS, false, hpx_look_effective(l));
        rows(l, j, "threads", &threads, HPX_FRAME_METHOD, false, 0);
        hpx_json_close(j, '}');
    }
    free(methods.items);
    free(threads.items);
    hpx_graph_fini(&calls);
    return made;
}

bool hpx_look_json(const struct hpx_look *l, struct hpx_json *j, const struct hpx_tree_column *columns, size_t n)
{
    struct hpx_look with = *l;
    const struct hpx_tree *t = l->tree;
    bool made = true;
    if (t->verdict != NULL) {
        hpx_json_text(j, "verdict", t->verdict);
    }
    if (t->filtered != 0) {
        hpx_json_text(j, "filtered", hpx_tree_text(t, t->filtered));
    }
    if (t->effective > 0) {
        hpx_json_uint(j, "effective", t->effective);
    }
    if (t->in_probes > 0) {
        hpx_json_uint(j, "inside_probes", t->in_probes);
    }
    hpx_json_open(j, "views", '[');
    for (size_t i = 0; i < n && made; i++) {
        made = one(&with, j, columns[i]);
    }
    hpx_json_close(j, ']');
    return made;
}
