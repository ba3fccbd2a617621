/* SPDX-License-Identifier: BSD-2-Clause */
/* write_speedscope.c: speedscope's own format (its schema: https://www.speedscope.app/file-format-schema.json): each column a profile of
 * the type "sampled", with as many weights as samples. A frame is a function, because speedscope takes two lines of a method for two
 * frames. It has no threads: they are roots of stacks (formats.h). */
#include "numbering.h"
#include "writers.h"
#include <stdlib.h>

struct speedscope {
    const struct hpx_tree *tree;
    FILE *to;
    struct hpx_functions functions;
    struct hpx_list stack;
};

/* Function i is frame i of the file; 0, which has no name, is what stands for no stack. */
static void frames(const struct speedscope *s)
{
    for (size_t i = 0; i < s->functions.list.len; i++) {
        const struct hpx_function *f = hpx_function_at(&s->functions, i);
        (void)fputs(i == 0 ? "{\"name\":" : ",\n{\"name\":", s->to);
        hpx_json_string(s->to, f->name == 0 ? HPX_NO_STACK : hpx_tree_text(s->tree, f->name));
        if (f->source != 0) {
            (void)fputs(",\"file\":", s->to);
            hpx_json_string(s->to, hpx_tree_text(s->tree, f->source));
        }
        (void)putc_unlocked('}', s->to);
    }
}

static bool stacks(struct speedscope *s, const struct hpx_tree_view *v, size_t measure)
{
    uint32_t node;
    uint64_t value;
    for (size_t i = 0, n, k = 0; hpx_tree_next(v, measure, &i, &node, &value); k++) {
        if (!hpx_tree_stack(s->tree, node, &s->stack, &n)) {
            return false;
        }
        const uint32_t *of = s->stack.items;
        (void)fputs(k == 0 ? "[" : ",\n[", s->to);
        for (size_t j = 0; j < n; j++) {
            if (j > 0) {
                (void)putc_unlocked(',', s->to);
            }
            hpx_json_number(s->to, s->functions.of[of[j]]);
        }
        (void)fputs(n == 0 ? "0]" : "]", s->to);
    }
    return true;
}

static bool profile(struct speedscope *s, struct hpx_tree_column c)
{
    static const char *const units[] = {"none", "nanoseconds", "bytes", "none"};
    const struct hpx_tree_view *v = &s->tree->views[c.view];
    const struct hpx_tree_measure *m = &v->measures[c.measure];
    uint32_t node;
    uint64_t value;
    (void)fputs("{\"type\":\"sampled\",\"name\":", s->to);
    hpx_json_column(s->to, s->tree, c);
    (void)fprintf(s->to, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":", units[m->unit]);
    hpx_json_number(s->to, v->totals[c.measure]);
    (void)fputs(",\"samples\":[\n", s->to);
    bool all = stacks(s, v, c.measure);
    (void)fputs("],\"weights\":[", s->to);
    for (size_t i = 0, k = 0; hpx_tree_next(v, c.measure, &i, &node, &value); k++) {
        if (k > 0) {
            (void)putc_unlocked(',', s->to);
        }
        hpx_json_number(s->to, value);
    }
    (void)fputs("]}", s->to);
    return all;
}

bool hpx_write_speedscope(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    struct speedscope s = {.tree = t, .to = to};
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    size_t n = hpx_tree_columns_from(t, c, of);
    bool all = hpx_functions_init(&s.functions, t);
    if (all) {
        (void)fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"hprofx@" HPX_VERSION
                    "\",\"activeProfileIndex\":0,",
                    to);
        if (t->filtered != 0) {
            (void)fputs("\"name\":", to);
            hpx_json_string(to, hpx_tree_text(t, t->filtered));
            (void)fputs(",", to);
        }
        (void)fputs("\n\"shared\":{\"frames\":[", to);
        frames(&s);
        (void)fputs("]},\n\"profiles\":[", to);
        for (size_t i = 0; i < n && all; i++) {
            (void)fputs(i == 0 ? "" : ",\n", to);
            all = profile(&s, of[i]);
        }
        (void)fputs("]}\n", to);
    }
    hpx_functions_fini(&s.functions);
    free(s.stack.items);
    return all;
}
