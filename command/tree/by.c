/* SPDX-License-Identifier: BSD-2-Clause */
/* by.c: see by.h. */
#include "by.h"
#include "filter.h"
#include <stdlib.h>
#include <string.h>

void hpx_by_fini(struct hpx_by *b)
{
    free(b->rows.items);
    b->rows = (struct hpx_list){0};
}

static bool fits(const struct hpx_tree *t, const struct hpx_tree_frame *f, const struct hpx_list *patterns)
{
    bool is = false;
    for (size_t i = 0; i < patterns->len && f->kind == HPX_FRAME_METHOD && !is; i++) {
        is = hpx_filter_fits(((const char *const *)patterns->items)[i], hpx_tree_text(t, f->name));
    }
    return is;
}

/* Of each node the name of the outermost method that fits, up to it; 0: none. NULL: no memory. */
static uint32_t *outermost(const struct hpx_tree *t, const struct hpx_list *patterns)
{
    bool *frames = calloc(t->frames.len, sizeof *frames);
    uint32_t *of = calloc(t->nodes.len, sizeof *of);
    if (frames == NULL || of == NULL) {
        free(frames);
        free(of);
        return NULL;
    }
    for (uint32_t i = 1; i < t->frames.len; i++) {
        frames[i] = fits(t, hpx_tree_frame_at(t, i), patterns);
    }
    for (uint32_t i = 1; i < t->nodes.len; i++) {
        const struct hpx_tree_node *n = hpx_tree_node_at(t, i);
        of[i] = of[n->parent] != 0 ? of[n->parent] : frames[n->frame] ? hpx_tree_frame_at(t, n->frame)->name : 0;
    }
    free(frames);
    return of;
}

static void choose_columns(struct hpx_by *b, const struct hpx_tree *t, size_t view)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    size_t n = hpx_tree_columns(t, of);
    for (size_t i = 0; i < n; i++) {
        if ((i == 0 || of[i].view != of[i - 1].view) && (view == HPX_VIEWS || view == of[i].view)) {
            enum hpx_by_states last = of[i].view == HPX_VIEW_WALL ? HPX_BY_WAITING : HPX_BY_ALL;
            for (enum hpx_by_states s = HPX_BY_ALL; s <= last; s++) {
                b->columns[b->ncolumns++] = (struct hpx_by_column){of[i], s};
            }
        }
    }
}

/* What the innermost frame of a stack of the wall clock says; HPX_BY_ALL: the thread runs, or wants to. */
static enum hpx_by_states state_of(const struct hpx_tree *t, uint32_t node)
{
    const struct hpx_tree_frame *f = hpx_tree_frame_at(t, hpx_tree_node_at(t, node)->frame);
    const char *state = f->kind == HPX_FRAME_CLASS ? hpx_tree_text(t, f->name) : "";
    bool runs = strncmp(state, "running", 7) == 0 || strncmp(state, "runnable", 8) == 0;
    return state[0] == '\0' || state[0] == '?' || runs ? HPX_BY_ALL : strncmp(state, "blocked", 7) == 0 ? HPX_BY_BLOCKED : HPX_BY_WAITING;
}

static struct hpx_by_row *row_of(struct hpx_by *b, uint32_t name, uint32_t *index)
{
    if (name == 0) {
        return &b->rest;
    }
    if (index[name] == 0) {
        struct hpx_by_row *r = hpx_list_push(&b->rows, sizeof *r);
        if (r == NULL) {
            return NULL;
        }
        r->name = name;
        index[name] = (uint32_t)b->rows.len;
    }
    return (struct hpx_by_row *)b->rows.items + index[name] - 1;
}

static bool add(struct hpx_by *b, const struct hpx_tree *t, size_t column, const uint32_t *of, uint32_t *index)
{
    const struct hpx_by_column *c = &b->columns[column];
    const struct hpx_tree_view *v = &t->views[c->of.view];
    for (size_t i = 0; i < v->samples.len; i++) {
        uint32_t node = hpx_tree_sample_at(v, i)->node;
        uint64_t value = hpx_tree_values_at(v, i)[c->of.measure];
        if (value == 0 || (c->states != HPX_BY_ALL && state_of(t, node) != c->states)) {
            continue;
        }
        struct hpx_by_row *r = row_of(b, of[node], index);
        if (r == NULL) {
            return false;
        }
        r->values[column] = hpx_tree_sum(r->values[column], value);
        b->all.values[column] = hpx_tree_sum(b->all.values[column], value);
    }
    return true;
}

static int in_order(const void *a, const void *b)
{
    const struct hpx_by_row *x = a, *y = b;
    for (size_t i = 0; i < HPX_BY_COLUMNS; i++) {
        if (x->values[i] != y->values[i]) {
            return x->values[i] > y->values[i] ? -1 : 1;
        }
    }
    return (x->name > y->name) - (x->name < y->name);
}

bool hpx_by_make(struct hpx_by *b, const struct hpx_tree *t, const struct hpx_list *patterns, size_t view)
{
    *b = (struct hpx_by){.ncolumns = 0};
    uint32_t *of = outermost(t, patterns), *index = calloc(t->names.len, sizeof *index);
    bool made = of != NULL && index != NULL;
    choose_columns(b, t, view);
    for (size_t i = 0; i < b->ncolumns && made; i++) {
        made = add(b, t, i, of, index);
    }
    free(of);
    free(index);
    if (b->rows.len > 1) {
        qsort(b->rows.items, b->rows.len, sizeof(struct hpx_by_row), in_order);
    }
    return made;
}
