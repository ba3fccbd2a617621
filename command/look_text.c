/* SPDX-License-Identifier: BSD-2-Clause */
/* look_text.c: tables of methods, classes and threads, for a person. Contract: look.h. */
#include "certainty.h"
#include "grid.h"
#include "look.h"
#include "names.h"
#include "words.h"
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES    ((size_t)(6 * 4096 + 8)) /* names of the tree, and three dots */
#define NAME_LEAST    ((size_t)16)
#define NAME_SHOWN    ((size_t)20) /* columns that a trend leaves for names */
#define LEAST_SECONDS 9u           /* as wide as its head */

const char *hpx_look_name(const struct hpx_look *l, uint32_t name, size_t columns)
{
    static char text[NAME_BYTES];
    const char *of = hpx_tree_text(l->tree, name);
    (void)snprintf(text, sizeof text, "%s", of[0] != '\0' ? of : "[no name]");
    hpx_name_shorten(text, columns > NAME_LEAST ? columns : NAME_LEAST);
    return text;
}

size_t hpx_look_room(const struct hpx_look *l, size_t columns)
{
    return l->columns == 0 ? HPX_NAME_COLUMNS : l->columns > columns ? l->columns - columns : 0;
}

static const struct hpx_tree_view *view(const struct hpx_look *l)
{
    return &l->tree->views[l->of.column.view];
}

static const struct hpx_tree_measure *measure(const struct hpx_look *l)
{
    return &view(l)->measures[l->of.column.measure];
}

uint64_t hpx_look_effective(const struct hpx_look *l)
{
    bool bytes = l->of.column.view == HPX_VIEW_ALLOC && strcmp(measure(l)->name, "alloc_space") == 0;
    return l->thread != NULL                   ? 0 /* how many count of a thread is not known */
           : l->of.column.view == HPX_VIEW_CPU ? l->tree->effective
           : bytes && !view(l)->exact          ? l->tree->sampled
                                               : 0;
}

static double share(uint64_t part, uint64_t total)
{
    return total > 0 ? (double)part * 100.0 / (double)total : 0.0;
}

/* "samples 12 of 50": n bytes are in the text. */
static size_t put_total(const struct hpx_tree_view *v, size_t m, char *text, size_t n, size_t size)
{
    const char *of = v->before[m] > 0 ? " of " : "";
    return n >= size
               ? n
               : n + (size_t)snprintf(text + n, size - n, "%s %s%s%s", v->measures[m].title, hpx_tree_amount(&v->measures[m], v->totals[m]),
                                      of, of[0] != '\0' ? hpx_tree_amount(&v->measures[m], v->before[m]) : "");
}

void hpx_look_head(struct hpx_look *l)
{
    const struct hpx_tree_view *v = view(l);
    char text[512];
    size_t n = (size_t)snprintf(text, sizeof text, "%s: ", v->title);
    n = put_total(v, l->of.column.measure, text, n, sizeof text);
    for (size_t m = 0; m < v->values && n < sizeof text; m++) {
        if (m != l->of.column.measure && v->totals[m] > 0) {
            n += (size_t)snprintf(text + n, sizeof text - n, ", ");
            n = put_total(v, m, text, n, sizeof text);
        }
    }
    (void)fprintf(l->to, l->bold ? "%s\033[1m%s\033[0m\n" : "%s%s\n", l->apart ? "\n" : "", hpx_words_cut(text, sizeof text));
    l->apart = true;
    if (l->tree->filtered != 0) {
        (void)fputs("  Filtered by ", l->to);
        hpx_words_name(l->to, hpx_tree_text(l->tree, l->tree->filtered), 0, false);
        (void)fputc('\n', l->to);
    }
}

const char *hpx_look_word(const struct hpx_tree_view *v, size_t m)
{
    static const char *const words[] = {"count", "time", "bytes", "value"};
    bool objects = strstr(v->measures[m].title, "objects") != NULL;
    bool own = v->measures[m].unit == HPX_UNIT_COUNT && strlen(v->measures[m].title) <= 8; /* "samples", "calls" */
    return objects ? "objects" : own ? v->measures[m].title : words[v->measures[m].unit];
}

/* ---- a table ---- */

struct table {
    const struct hpx_look *look;
    const struct hpx_list *rows; /* struct hpx_graph_method */
    const char *what;            /* the head of the names */
    const char *nameless;        /* what stands there for name 0 */
    uint64_t total;
    uint64_t effective; /* samples that count for the certainty; 0: not known, or nothing is left to chance */
    bool totals;        /* with a column for them */
    bool trend;         /* with a column for the last seconds, where the screen has room for it */
    size_t seconds;     /* that it has; 0: it is not there */
    bool (*takes)(const struct hpx_graph_method *m);
};

static size_t columns_of(struct table *t, struct hpx_grid_column to[HPX_GRID_COLUMNS])
{
    static char head[32];
    const struct hpx_look *l = t->look;
    size_t n = 0;
    to[n++] = (struct hpx_grid_column){"self", 2, 7, false};
    if (t->effective > 0) {
        to[n++] = (struct hpx_grid_column){"+-", 1, 6, false};
    }
    if (t->totals) {
        to[n++] = (struct hpx_grid_column){"total", 1, 8, false};
    }
    to[n++] = (struct hpx_grid_column){hpx_look_word(view(l), l->of.column.measure), 1, 10, false};
    if (l->of.beside != l->of.column.measure) {
        to[n++] = (struct hpx_grid_column){hpx_look_word(view(l), l->of.beside), 1, 10, false};
    }
    size_t used = NAME_SHOWN + 2;
    for (size_t i = 0; i < n; i++) {
        used += to[i].gap + to[i].width;
    }
    size_t left = l->columns > used + 2 ? l->columns - used - 2 : 0;
    left = left < HPX_TREND_SECONDS ? left : HPX_TREND_SECONDS;
    t->seconds = t->trend && left >= LEAST_SECONDS ? left : 0;
    if (t->seconds > 0) {
        (void)snprintf(head, sizeof head, "last %zu s", t->seconds);
        to[n++] = (struct hpx_grid_column){head, 2, t->seconds, true};
    }
    return n;
}

static void percent(struct hpx_grid *g, const char *format, double v)
{
    char text[32];
    (void)snprintf(text, sizeof text, format, v);
    hpx_grid_cell(g, text);
}

static void row(const struct table *t, struct hpx_grid *g, const struct hpx_graph_method *m)
{
    const struct hpx_look *l = t->look;
    size_t width = 2;
    percent(g, "%.2f%%", share(m->self, t->total));
    if (t->effective > 0) {
        percent(g, "%.2f", hpx_certainty_points(m->self, t->total, t->effective));
    }
    if (t->totals) {
        percent(g, "%.2f%%", share(m->total, t->total));
    }
    hpx_grid_cell(g, hpx_tree_amount(measure(l), m->self));
    if (l->of.beside != l->of.column.measure) {
        hpx_grid_cell(g, hpx_tree_amount(&view(l)->measures[l->of.beside], m->count));
    }
    if (t->seconds > 0) {
        char line[HPX_TREND_LINE];
        hpx_trend_line(l->trend, hpx_tree_text(l->tree, m->name), t->seconds, l->boxes, line);
        hpx_grid_cell(g, line);
    }
    for (size_t i = 0; i < g->n; i++) {
        width += g->columns[i].gap + g->width[i];
    }
    if (hpx_grid_end(g)) {
        (void)fprintf(l->to, "  %s\n", m->name == 0 ? t->nameless : hpx_look_name(l, m->name, hpx_look_room(l, width)));
    }
}

static size_t rows(const struct table *t, struct hpx_grid *g)
{
    const struct hpx_graph_method *m = t->rows->items;
    size_t taken = 0;
    for (size_t i = 0; i < t->rows->len; i++) {
        if (t->takes(m + i) && taken++ < t->look->rows) {
            row(t, g, m + i);
        }
    }
    return taken;
}

static void print(struct table *t)
{
    struct hpx_grid_column columns[HPX_GRID_COLUMNS];
    struct hpx_grid g;
    size_t n;
    hpx_grid_begin(&g, t->look->to, columns, columns_of(t, columns));
    do {
        hpx_grid_heads(&g);
        if (hpx_grid_end(&g)) {
            (void)fprintf(t->look->to, "  %s\n", t->what);
        }
        n = rows(t, &g);
    } while (hpx_grid_again(&g));
    if (n > t->look->rows) {
        (void)fprintf(t->look->to, "  and %s more\n", hpx_words_number(n - t->look->rows));
    }
}

static bool is_class(const struct hpx_graph_method *m)
{
    return m->kind == HPX_FRAME_CLASS;
}

static bool is_method(const struct hpx_graph_method *m)
{
    return m->kind != HPX_FRAME_CLASS;
}

/* Classes, by self; behind them the rows are by self and total. false: there are none. */
static bool classes(struct table *t, const struct hpx_list *all)
{
    const struct hpx_graph_method *m = all->items;
    size_t n = 0;
    for (size_t i = 0; i < all->len; i++) {
        n += is_class(m + i);
    }
    t->takes = is_class;
    if (n > 0) {
        t->what = t->look->of.column.view == HPX_VIEW_WALL ? "state" : "class";
        print(t);
    }
    return n > 0;
}

/* It is in every stack of a pool, and says nothing. */
static bool begins_thread(const struct hpx_tree *t, const struct hpx_graph_method *m)
{
    static const char begin[] = "java.lang.Thread.run";
    const char *name = hpx_tree_text(t, m->name);
    bool begins = m->self == 0 && strncmp(name, begin, sizeof begin - 1) == 0;
    return begins && (name[sizeof begin - 1] == '\0' || strcmp(name + sizeof begin - 1, "With") == 0);
}

/* Moves the methods to the front: their order is another one than that of classes. */
static struct hpx_list methods_of(const struct hpx_tree *t, const struct hpx_list *all)
{
    struct hpx_graph_method *m = all->items;
    struct hpx_list to = {.items = m, .cap = all->cap};
    for (size_t i = 0; i < all->len; i++) {
        if (is_method(m + i) && !begins_thread(t, m + i)) {
            m[to.len++] = m[i];
        }
    }
    return to;
}

/* Samples of CPU time and of allocations are drawn, all other tables are counted or measured. methods: as ranked. */
static void certainty(const struct hpx_look *l, const struct hpx_list *methods, uint64_t total, uint64_t effective)
{
    uint64_t counts[HPX_CERTAINTY_ROWS];
    char rows[HPX_CERTAINTY_TEXT];
    size_t n = 0;
    for (; n < methods->len && n < l->rows - l->rows / 2 && n < HPX_CERTAINTY_ROWS; n++) { /* by self */
        counts[n] = ((const struct hpx_graph_method *)methods->items)[n].self;
    }
    uint32_t close = hpx_certainty_close(counts, n, total, effective);
    if (close != 0) {
        (void)fprintf(l->to, "  Rows %s are too close for their order: %s samples. A longer run or a %s may tell them apart.\n",
                      hpx_certainty_rows(rows, close), hpx_words_number(effective),
                      l->of.column.view == HPX_VIEW_CPU ? "shorter interval" : "smaller sample=");
    }
    if (l->tree->in_probes > 0 && l->of.column.view == HPX_VIEW_CPU) {
        (void)fprintf(l->to,
                      "  Of the samples since the start, %.0f %% were inside probes; they count for the method that called the probe.\n",
                      l->tree->probes_share / 100.0);
    }
}

static void note_shares(const struct table *t)
{
    const struct hpx_graph_method *m = t->rows->items;
    for (size_t i = 0; i < t->rows->len && t->total > 0; i++) {
        if (m[i].self > 0) {
            hpx_trend_add(t->look->trend, hpx_tree_text(t->look->tree, m[i].name), (double)m[i].self / (double)t->total);
        }
    }
}

bool hpx_look_table(const struct hpx_look *l)
{
    struct hpx_graph c;
    struct hpx_list all = {0};
    bool made = hpx_graph_make(&c, &l->of) && hpx_graph_methods(&all, &c, l->tree);
    if (made) {
        struct table t = {
            .look = l, .rows = &all, .nameless = "[no stack]", .total = hpx_graph_at(&c, 0)->total, .effective = hpx_look_effective(l)};
        bool after = classes(&t, &all);
        struct hpx_list methods = methods_of(l->tree, &all);
        hpx_graph_rank(&methods, l->rows);
        t.rows = &methods;
        t.totals = true;
        t.takes = is_method;
        t.what = "method";
        t.trend = l->trend != NULL && l->of.column.view == HPX_VIEW_CPU;
        if (t.trend) {
            note_shares(&t);
        }
        if (!after || methods.len > 1 || (methods.len == 1 && ((const struct hpx_graph_method *)methods.items)->name != 0)) {
            (void)fputs(after ? "\n" : "", l->to); /* that no object has a stack says nothing */
            print(&t);
        }
        if (t.effective > 0) {
            certainty(l, &methods, t.total, t.effective);
        }
    }
    free(all.items);
    hpx_graph_fini(&c);
    return made;
}

bool hpx_look_threads(const struct hpx_look *l)
{
    struct hpx_list all = {0};
    bool made = hpx_graph_threads(&all, &l->of);
    struct table t = {.look = l, .rows = &all, .what = "thread", .nameless = "[the file does not tell]", .takes = is_method};
    for (size_t i = 0; i < all.len; i++) {
        uint64_t self = ((const struct hpx_graph_method *)all.items)[i].self;
        t.total = t.total > UINT64_MAX - self ? UINT64_MAX : t.total + self;
    }
    if (made) {
        print(&t);
    }
    free(all.items);
    return made;
}

static const char *why_empty(enum hpx_view_kind view, bool live)
{
    return view == HPX_VIEW_CPU     ? "no Java thread used CPU time when a sample was due"
           : view == HPX_VIEW_CALLS ? "no call of a method with probes was counted"
           : view == HPX_VIEW_WALL  ? "no thread of Java was looked at"
           : view == HPX_VIEW_ALLOC && live
               ? "of what was allocated while it was recorded nothing lived at the last collection, or less than a sample stands for"
           : view == HPX_VIEW_ALLOC ? "nothing was allocated while it was recorded, or less than a sample stands for (sample=, 512 KiB)"
           : view == HPX_VIEW_LOCK
               ? "no thread waited for a monitor (locks=y: or a lock) and went on; those that still wait are in the monitor dump"
               : "no thread was blocked there and went on";
}

void hpx_look_empty(struct hpx_look *l)
{
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        if ((l->tree->empty >> k & 1) != 0 && l->tree->views[k].samples.len == 0) {
            (void)fprintf(l->to, "%s%s\n  none: %s\n", l->apart ? "\n" : "", l->tree->views[k].title, why_empty(k, l->tree->live_drawn));
            l->apart = true;
        }
    }
    if (l->tree->states != NULL) {
        (void)fprintf(l->to, "%s%s", l->apart ? "\n" : "", l->tree->states);
        l->apart = true;
    }
}
