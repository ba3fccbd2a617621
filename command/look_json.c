/* SPDX-License-Identifier: BSD-2-Clause */
/* look_json.c: the tables of hprofx view as JSON. Contract: look.h. */
#include "look.h"
#include "writers.h"
#include <inttypes.h>
#include <stdlib.h>

static void string(const struct hpx_look *l, const char *key, const char *text)
{
    (void)fprintf(l->to, "\"%s\": ", key);
    hpx_json_string(l->to, text);
}

static void measures(const struct hpx_look *l, const struct hpx_tree_view *v)
{
    static const char *const units[] = {"count", "nanoseconds", "bytes", "other"};
    const char *between = "";
    (void)fputs(", \"measures\": [", l->to);
    for (size_t m = 0; m < v->values; m++) {
        if (v->totals[m] > 0) {
            (void)fprintf(l->to, "%s{", between);
            string(l, "name", v->measures[m].name);
            (void)fprintf(l->to, ", \"unit\": \"%s\", \"total\": %" PRIu64 "}", units[v->measures[m].unit], v->totals[m]);
            between = ", ";
        }
    }
    (void)fputs("]", l->to);
}

static void rows(const struct hpx_look *l, const char *key, const struct hpx_list *all, enum hpx_frame_kind kind, bool totals)
{
    const char *between = "";
    size_t taken = 0;
    (void)fprintf(l->to, ",\n   \"%s\": [", key);
    for (size_t i = 0; i < all->len; i++) {
        const struct hpx_graph_method *m = (const struct hpx_graph_method *)all->items + i;
        if (m->kind != kind || taken++ >= l->rows) {
            continue;
        }
        (void)fprintf(l->to, "%s\n    {", between);
        string(l, "name", hpx_tree_text(l->tree, m->name));
        (void)fprintf(l->to, ", \"self\": %" PRIu64, m->self);
        if (totals) {
            (void)fprintf(l->to, ", \"total\": %" PRIu64, m->total);
        }
        if (l->of.beside != l->of.column.measure) {
            (void)fputs(", ", l->to);
            (void)fprintf(l->to, "\"%s\": %" PRIu64, l->tree->views[l->of.column.view].measures[l->of.beside].name, m->count);
        }
        (void)fputs("}", l->to);
        between = ",";
    }
    (void)fputs("]", l->to);
}

static bool one(struct hpx_look *l, struct hpx_tree_column c)
{
    const struct hpx_tree_view *v = &l->tree->views[c.view];
    struct hpx_graph calls;
    struct hpx_list methods = {0}, threads = {0};
    l->of.column = c;
    l->of.beside = hpx_look_beside(l->tree, c);
    bool made = hpx_graph_make(&calls, &l->of) && hpx_graph_methods(&methods, &calls, l->tree) && hpx_graph_threads(&threads, &l->of);
    if (made) {
        (void)fputs("{", l->to);
        string(l, "view", v->key);
        (void)fprintf(l->to, ", \"exact\": %s, ", v->exact ? "true" : "false");
        string(l, "measure", v->measures[c.measure].name);
        measures(l, v);
        rows(l, "methods", &methods, HPX_FRAME_METHOD, true);
        rows(l, c.view == HPX_VIEW_WALL ? "states" : "classes", &methods, HPX_FRAME_CLASS, false);
        rows(l, "threads", &threads, HPX_FRAME_METHOD, false);
        (void)fputs("}", l->to);
    }
    free(methods.items);
    free(threads.items);
    hpx_graph_fini(&calls);
    return made;
}

bool hpx_look_json(const struct hpx_look *l, const char *file, const struct hpx_tree_column *columns, size_t n)
{
    struct hpx_look with = *l;
    bool made = true;
    (void)fputs("{", l->to);
    string(l, "file", file);
    if (l->tree->verdict != NULL) {
        (void)fputs(", ", l->to);
        string(l, "verdict", l->tree->verdict);
    }
    if (l->tree->effective > 0) {
        (void)fprintf(l->to, ", \"effective\": %" PRIu64, l->tree->effective);
    }
    (void)fputs(", \"views\": [", l->to);
    for (size_t i = 0; i < n && made; i++) {
        (void)fputs(i == 0 ? "\n  " : ",\n  ", l->to);
        made = one(&with, columns[i]);
    }
    (void)fputs("]}\n", l->to);
    return made;
}
