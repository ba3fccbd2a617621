/* SPDX-License-Identifier: BSD-2-Clause */
/* look_by.c: a row for each method that --by means, with what is below it in every view, for a person and as JSON. Contract: look.h. */
#include "grid.h"
#include "look.h"
#include "words.h"

#define WIDE ((size_t)18) /* columns of the terminal for a share and an amount */
#define NAME ((size_t)30)

static const char *const views[HPX_VIEWS] = {
    [HPX_VIEW_CPU] = "CPU",    [HPX_VIEW_WALL] = "wall",     [HPX_VIEW_CALLS] = "calls", [HPX_VIEW_ALLOC] = "allocated",
    [HPX_VIEW_HEAP] = "heap",  [HPX_VIEW_LOCK] = "monitors", [HPX_VIEW_OWNER] = "owned", [HPX_VIEW_PARK] = "locks",
    [HPX_VIEW_WAIT] = "waits", [HPX_VIEW_PINNED] = "pinned", [HPX_VIEW_OTHER] = "other"};

static const char *const states[] = {[HPX_BY_ALL] = NULL, [HPX_BY_BLOCKED] = "blocked", [HPX_BY_WAITING] = "waiting"};

static const struct hpx_tree_measure *measure(const struct hpx_look *l, const struct hpx_by_column *c)
{
    return &l->tree->views[c->of.view].measures[c->of.measure];
}

/* Columns without anything, as "blocked" where nobody was, are left out. */
static bool shown(const struct hpx_by *b, size_t column)
{
    return b->all.values[column] > 0;
}

/* Beside the shares, where the lines have room for them. */
static bool has_amounts(const struct hpx_look *l, const struct hpx_by *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->ncolumns; i++) {
        n += shown(b, i);
    }
    return l->columns == 0 || n * WIDE + NAME <= l->columns;
}

static size_t columns_of(const struct hpx_look *l, const struct hpx_by *b, struct hpx_grid_column to[HPX_GRID_COLUMNS])
{
    size_t n = 0;
    for (size_t i = 0; i < b->ncolumns; i++) {
        if (shown(b, i)) {
            const struct hpx_by_column *c = &b->columns[i];
            to[n++] = (struct hpx_grid_column){states[c->states] != NULL ? states[c->states] : views[c->of.view], 2, 7, false};
            if (!has_amounts(l, b)) {
                continue;
            }
            to[n++] = (struct hpx_grid_column){hpx_look_word(&l->tree->views[c->of.view], c->of.measure), 1, 7, false};
        }
    }
    return n;
}

/* A share of the view's total: that of blocked time is of all wall-clock time, too. */
static double share(const struct hpx_look *l, const struct hpx_by *b, const struct hpx_by_row *r, size_t column)
{
    const struct hpx_tree_column of = b->columns[column].of;
    uint64_t all = l->tree->views[of.view].totals[of.measure];
    return all > 0 ? 100.0 * (double)r->values[column] / (double)all : 0;
}

static void row(const struct hpx_look *l, struct hpx_grid *g, const struct hpx_by *b, const struct hpx_by_row *r, const char *nameless)
{
    size_t width = 2;
    for (size_t i = 0; i < b->ncolumns; i++) {
        char text[32];
        if (shown(b, i)) {
            (void)snprintf(text, sizeof text, "%.2f%%", share(l, b, r, i));
            hpx_grid_cell(g, text);
            if (has_amounts(l, b)) {
                hpx_grid_cell(g, hpx_tree_amount(measure(l, &b->columns[i]), r->values[i]));
            }
        }
    }
    for (size_t i = 0; i < g->n; i++) {
        width += g->columns[i].gap + g->width[i];
    }
    if (hpx_grid_end(g)) {
        (void)fprintf(l->to, "  %s\n", nameless != NULL ? nameless : hpx_look_name(l, r->name, hpx_look_room(l, width)));
    }
}

/* Not so small in every column that it is left out. */
static bool counts(const struct hpx_look *l, const struct hpx_by *b, const struct hpx_by_row *r)
{
    bool does = l->least == 0;
    for (size_t i = 0; i < b->ncolumns && !does; i++) {
        does = share(l, b, r, i) >= l->least;
    }
    return does;
}

/* The row behind *at that is shown, of at most l->rows; NULL: none. */
static const struct hpx_by_row *next(const struct hpx_look *l, const struct hpx_by *b, size_t *at, size_t *n)
{
    const struct hpx_by_row *rows = b->rows.items;
    while (*at < b->rows.len && *n < l->rows && !counts(l, b, rows + *at)) {
        ++*at;
    }
    if (*at == b->rows.len || *n == l->rows) {
        return NULL;
    }
    ++*n;
    return rows + (*at)++;
}

static bool has_any(const struct hpx_by *b, const struct hpx_by_row *r)
{
    bool any = false;
    for (size_t i = 0; i < b->ncolumns; i++) {
        any = any || r->values[i] > 0;
    }
    return any;
}

/* What is counted in all, and of how much. */
static void say_filtered(const struct hpx_look *l, const struct hpx_by *b)
{
    const char *between = " (";
    if (l->tree->filtered == 0) {
        return;
    }
    (void)fputs("  Filtered by ", l->to);
    hpx_words_name(l->to, hpx_tree_text(l->tree, l->tree->filtered), 0, false);
    for (size_t i = 0; i < b->ncolumns; i++) {
        const struct hpx_tree_view *v = &l->tree->views[b->columns[i].of.view];
        size_t m = b->columns[i].of.measure;
        if (b->columns[i].states == HPX_BY_ALL && v->before[m] > 0) {
            (void)fprintf(l->to, "%s%s: %s %s of %s", between, v->title, v->measures[m].title,
                          hpx_tree_amount(&v->measures[m], v->totals[m]), hpx_tree_amount(&v->measures[m], v->before[m]));
            between = "; ";
        }
    }
    (void)fputs(between[0] == ';' ? ")\n" : "\n", l->to);
}

void hpx_look_by(struct hpx_look *l, const struct hpx_by *b, const struct hpx_list *patterns)
{
    struct hpx_grid_column columns[HPX_GRID_COLUMNS];
    struct hpx_grid g;
    const struct hpx_by_row *r;
    size_t shown;
    (void)fprintf(l->to, l->bold ? "%s\033[1mBy " : "%sBy ", l->apart ? "\n" : "");
    l->apart = true;
    for (size_t i = 0; i < patterns->len; i++) {
        (void)fputs(i > 0 ? ", " : "", l->to);
        hpx_words_name(l->to, ((const char *const *)patterns->items)[i], HPX_NAME_COLUMNS, false);
    }
    (void)fputs(l->bold ? "\033[0m: each stack counts for its outermost method that matches\n"
                        : ": each stack counts for its outermost method that matches\n",
                l->to);
    say_filtered(l, b);
    hpx_grid_begin(&g, l->to, columns, columns_of(l, b, columns));
    do {
        hpx_grid_heads(&g);
        if (hpx_grid_end(&g)) {
            (void)fputs("  method\n", l->to);
        }
        shown = 0;
        for (size_t at = 0; (r = next(l, b, &at, &shown)) != NULL;) {
            row(l, &g, b, r, NULL);
        }
        if (has_any(b, &b->rest)) {
            row(l, &g, b, &b->rest, "[none of these]");
        }
        row(l, &g, b, &b->all, "[all]");
    } while (hpx_grid_again(&g));
    if (b->rows.len > shown) {
        (void)fprintf(l->to, "  and %s more\n", hpx_words_number(b->rows.len - shown));
    }
}

static void values(struct hpx_json *j, const struct hpx_by *b, const struct hpx_by_row *r)
{
    hpx_json_open(j, "values", '[');
    for (size_t i = 0; i < b->ncolumns; i++) {
        hpx_json_uint(j, NULL, r->values[i]);
    }
    hpx_json_close(j, ']');
}

void hpx_look_by_json(const struct hpx_look *l, struct hpx_json *j, const struct hpx_by *b, const struct hpx_list *patterns)
{
    const struct hpx_by_row *r;
    if (l->tree->filtered != 0) {
        hpx_json_text(j, "filtered", hpx_tree_text(l->tree, l->tree->filtered));
    }
    hpx_json_open(j, "by", '[');
    for (size_t i = 0; i < patterns->len; i++) {
        hpx_json_text(j, NULL, ((const char *const *)patterns->items)[i]);
    }
    hpx_json_close(j, ']');
    hpx_json_open(j, "columns", '[');
    for (size_t i = 0; i < b->ncolumns; i++) {
        const struct hpx_by_column *c = &b->columns[i];
        const struct hpx_tree_view *v = &l->tree->views[c->of.view];
        hpx_json_open(j, NULL, '{');
        hpx_json_text(j, "view", v->key);
        hpx_json_text(j, "measure", measure(l, c)->name);
        hpx_json_text(j, "unit", hpx_tree_unit_name(measure(l, c)->unit));
        if (states[c->states] != NULL) {
            hpx_json_text(j, "state", states[c->states]);
        }
        hpx_json_uint(j, "total", b->all.values[i]);
        if (v->before[c->of.measure] > 0 && c->states == HPX_BY_ALL) {
            hpx_json_uint(j, "of", v->before[c->of.measure]);
        }
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, ']');
    hpx_json_open(j, "rows", '[');
    for (size_t at = 0, shown = 0; (r = next(l, b, &at, &shown)) != NULL;) {
        hpx_json_open(j, NULL, '{');
        hpx_json_text(j, "method", hpx_tree_text(l->tree, r->name));
        values(j, b, r);
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, ']');
    hpx_json_open(j, "rest", '{');
    values(j, b, &b->rest);
    hpx_json_close(j, '}');
}
