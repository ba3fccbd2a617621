/* SPDX-License-Identifier: BSD-2-Clause */
/* look_tree.c: call trees, for a person: a line for each method, with branches drawn before it. Contract: look.h.
 *
 * What is called by one method alone stands below it without a branch; the middle of a long chain of those is left out. */
#include "look.h"
#include "words.h"
#include <stdlib.h>
#include <string.h>

#define LEVELS      60           /* of branches */
#define ENDS        2            /* of a chain, that are always shown */
#define METHOD_DEEP 5            /* branches of callers and callees */
#define BEFORE      ((size_t)21) /* columns */

struct tree {
    const struct hpx_look *look;
    const struct hpx_graph *calls;
    uint64_t total;
    unsigned deepest;
    struct hpx_list chain; /* uint32_t: nodes; that of the innermost branch is at the end */
    bool selves;           /* with a column for them */
    bool no_memory;
};

static bool seen(const struct tree *t, uint64_t v)
{
    return v > 0 && (double)v * 100.0 >= t->look->least * (double)t->total;
}

/* The first child from `node` on that is large enough; 0: none. Children descend. */
static uint32_t visible(const struct tree *t, uint32_t node)
{
    return node != 0 && seen(t, hpx_graph_at(t->calls, node)->total) ? node : 0;
}

static void before(const struct tree *t, const char *prefix, const char *last)
{
    (void)fputs(prefix, t->look->to);
    (void)fputs(last, t->look->to);
}

static void line(const struct tree *t, uint32_t node, const char *prefix, const char *last, size_t columns)
{
    const struct hpx_graph_node *n = hpx_graph_at(t->calls, node);
    double all = t->total > 0 ? (double)t->total : 1.0;
    (void)fprintf(t->look->to, "  %6.2f%%  ", 100.0 * (double)n->total / all);
    if (t->selves) {
        (void)fprintf(t->look->to, "%6.2f%%   ", 100.0 * (double)n->self / all);
    } else {
        (void)fprintf(t->look->to, "%10s", "");
    }
    before(t, prefix, last);
    (void)fprintf(t->look->to, "%s\n", hpx_look_name(t->look, n->name, hpx_look_room(t->look, BEFORE + columns)));
}

static void left_out(const struct tree *t, size_t n, const char *prefix, const char *below)
{
    (void)fprintf(t->look->to, "%*s", (int)BEFORE, "");
    before(t, prefix, below);
    (void)fprintf(t->look->to, "... %s more\n", hpx_words_number(n));
}

static bool must_show(const struct tree *t, size_t from, size_t i)
{
    uint32_t node = ((const uint32_t *)t->chain.items)[i];
    return i < from + ENDS || i + ENDS >= t->chain.len || (t->selves && seen(t, hpx_graph_at(t->calls, node)->self));
}

/* The chain that begins at `from`. */
static void chain(const struct tree *t, size_t from, const char *prefix, const char *first, const char *below, size_t columns)
{
    const uint32_t *nodes = t->chain.items;
    for (size_t i = from; i < t->chain.len; i++) {
        size_t hidden = 0;
        while (t->look->least > 0 && i + hidden < t->chain.len && !must_show(t, from, i + hidden)) {
            hidden++;
        }
        if (hidden > 1) { /* one takes as much room itself */
            left_out(t, hidden, prefix, below);
            i += hidden - 1;
        } else {
            line(t, nodes[i], prefix, i == from ? first : below, columns);
        }
    }
}

static void children(struct tree *t, uint32_t of, char *prefix, unsigned level);

/* A node, and what is below it. branch: whether one is drawn to it; last: of its parent. */
static void show(struct tree *t, uint32_t node, char *prefix, unsigned level, bool branch, bool last)
{
    static const char *const lines[2][3] = {{"|- ", "`- ", "|  "}, {"\u251c\u2500 ", "\u2514\u2500 ", "\u2502  "}};
    const char *const *draw = lines[t->look->boxes];
    const char *first = !branch ? "" : last ? draw[1] : draw[0], *below = !branch ? "" : last ? "   " : draw[2];
    size_t from = t->chain.len, n = strlen(prefix);
    uint32_t at = node;
    for (uint32_t next = node; next != 0;) {
        uint32_t *slot = hpx_list_push(&t->chain, sizeof *slot);
        if (slot == NULL) {
            t->no_memory = true;
            return;
        }
        *slot = at = next;
        next = visible(t, hpx_graph_at(t->calls, at)->first);
        next = next != 0 && visible(t, hpx_graph_at(t->calls, next)->next) != 0 ? 0 : next; /* a branch */
    }
    chain(t, from, prefix, first, below, (size_t)3 * (level + branch));
    t->chain.len = from;
    memcpy(prefix + n, below, strlen(below) + 1); /* there is room for LEVELS of them */
    children(t, at, prefix, level + branch);
    prefix[n] = '\0';
}

static void children(struct tree *t, uint32_t of, char *prefix, unsigned level)
{
    uint32_t next, first = visible(t, hpx_graph_at(t->calls, of)->first);
    if (first != 0 && level == t->deepest) {
        (void)fprintf(t->look->to, "%*s%s...\n", (int)BEFORE, "", prefix);
        return;
    }
    bool alone = first == 0 || visible(t, hpx_graph_at(t->calls, first)->next) == 0;
    for (uint32_t node = first; node != 0 && !t->no_memory; node = next) {
        next = visible(t, hpx_graph_at(t->calls, node)->next);
        show(t, node, prefix, level, of != 0 || !alone, next == 0);
    }
}

/* What is below the root. */
static bool print(const struct hpx_look *l, const struct hpx_graph *c, unsigned deepest, bool selves)
{
    char prefix[LEVELS * 8 + 8] = "";
    struct tree t = {.look = l, .calls = c, .total = hpx_graph_at(c, 0)->total, .deepest = deepest, .selves = selves};
    if (visible(&t, hpx_graph_at(c, 0)->first) == 0) {
        (void)fputs("  none\n", l->to);
    }
    children(&t, 0, prefix, 0);
    free(t.chain.items);
    return !t.no_memory;
}

bool hpx_look_tree(const struct hpx_look *l)
{
    struct hpx_graph c;
    bool made = hpx_graph_make(&c, &l->of);
    if (made) {
        (void)fputs("    total     self   method, and below it what it calls\n", l->to);
        made = print(l, &c, LEVELS, true);
        if (l->least > 0) {
            (void)fprintf(l->to, "  Parts below %g %% are left out; --min 0 shows all.\n", l->least);
        }
    }
    hpx_graph_fini(&c);
    return made;
}

static void say_method(const struct hpx_look *l, const struct hpx_graph_method *of, uint64_t total)
{
    const struct hpx_tree_measure *m = &l->tree->views[l->of.column.view].measures[l->of.column.measure];
    double all = total > 0 ? (double)total : 1.0;
    (void)fprintf(l->to, "%s\n", hpx_look_name(l, of->name, hpx_look_room(l, 0)));
    (void)fprintf(l->to, "  self %s (%.2f%%), total %s (%.2f%%)\n", hpx_tree_amount(m, of->self), 100.0 * (double)of->self / all,
                  hpx_tree_amount(m, of->total), 100.0 * (double)of->total / all);
}

bool hpx_look_method(const struct hpx_look *l, const struct hpx_graph *whole, const struct hpx_graph_method *of)
{
    struct hpx_graph callees = {0}, callers = {0};
    bool made = hpx_graph_callees(&callees, whole, of) && hpx_graph_callers(&callers, whole, of);
    if (made) {
        say_method(l, of, hpx_graph_at(whole, 0)->total);
        (void)fputs("\n    share            called by\n", l->to);
        made = print(l, &callers, METHOD_DEEP, false);
        (void)fputs("\n    total     self   calls\n", l->to);
        made = print(l, &callees, METHOD_DEEP, true) && made;
        (void)fputs("  Shares are those of the method's total.\n", l->to);
    }
    hpx_graph_fini(&callees);
    hpx_graph_fini(&callers);
    return made;
}
