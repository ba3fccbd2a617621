/* SPDX-License-Identifier: BSD-2-Clause */
/* write_speedscope.c: speedscope's own format (its schema: https://www.speedscope.app/file-format-schema.json): each column a profile of
 * the type "sampled", with as many weights as samples. A frame is a function, because speedscope takes two lines of a method for two
 * frames. It has no threads: they are roots of stacks.
 *
 * Before the columns stands, of every view whose times are known, each thread by itself: its axis is the time, with empty stacks in
 * between.
 */
#include "numbering.h"
#include "timed.h"
#include "writers.h"
#include <stdlib.h>

struct speedscope {
    const struct hpx_tree *tree;
    FILE *to;
    struct hpx_functions functions;
    struct hpx_numbering threads; /* of names: their frames follow those of functions */
    struct hpx_list stack, events;
    size_t profiles; /* so far */
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
    for (size_t i = 0; i < hpx_numbered(&s->threads); i++) {
        (void)fputs(",\n{\"name\":\"[", s->to);
        hpx_json_escaped(s->to, hpx_tree_text(s->tree, hpx_numbered_at(&s->threads, i)));
        (void)fputs("]\"}", s->to);
    }
}

/* thread 0: without one. */
static bool stack(struct speedscope *s, uint32_t node, uint32_t thread)
{
    size_t n;
    if (!hpx_tree_stack(s->tree, node, &s->stack, &n)) {
        return false;
    }
    const uint32_t *of = s->stack.items;
    (void)putc_unlocked('[', s->to);
    if (thread != 0) {
        hpx_json_number(s->to, s->functions.list.len + s->threads.of[thread] - 1);
    }
    for (size_t j = 0; j < n; j++) {
        if (j > 0 || thread != 0) {
            (void)putc_unlocked(',', s->to);
        }
        hpx_json_number(s->to, s->functions.of[of[j]]);
    }
    (void)fputs(n > 0 || thread != 0 ? "]" : "0]", s->to);
    return true;
}

static bool stacks(struct speedscope *s, const struct hpx_tree_view *v, size_t measure)
{
    bool all = true;
    for (size_t i = 0, k = 0; i < v->samples.len && all; i++) {
        if (hpx_tree_values_at(v, i)[measure] > 0) {
            (void)fputs(k++ == 0 ? "" : ",\n", s->to);
            all = stack(s, hpx_tree_sample_at(v, i)->node, hpx_tree_sample_at(v, i)->thread);
        }
    }
    return all;
}

static bool profile(struct speedscope *s, struct hpx_tree_column c)
{
    static const char *const units[] = {"none", "nanoseconds", "bytes", "none"};
    const struct hpx_tree_view *v = &s->tree->views[c.view];
    const struct hpx_tree_measure *m = &v->measures[c.measure];
    (void)fputs(s->profiles++ == 0 ? "" : ",\n", s->to);
    (void)fputs("{\"type\":\"sampled\",\"name\":", s->to);
    hpx_json_column(s->to, s->tree, c);
    (void)fprintf(s->to, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":", units[m->unit]);
    hpx_json_number(s->to, v->totals[c.measure]);
    (void)fputs(",\"samples\":[\n", s->to);
    bool all = stacks(s, v, c.measure);
    (void)fputs("],\"weights\":[", s->to);
    for (size_t i = 0, k = 0; i < v->samples.len; i++) {
        uint64_t value = hpx_tree_values_at(v, i)[c.measure];
        if (value > 0) {
            (void)fputs(k++ == 0 ? "" : ",", s->to);
            hpx_json_number(s->to, value);
        }
    }
    (void)fputs("]}", s->to);
    return all;
}

/* ---- times ---- */

/* The time before an event, from the end of the one before; 0: they touch, or overlap, because times are rounded. */
static uint64_t gap(const struct speedscope *s, size_t i, uint64_t *end)
{
    const struct hpx_timed *e = hpx_timed_at(&s->events, i);
    uint64_t blank = e->at_ns > *end ? e->at_ns - *end : 0;
    *end = hpx_tree_sum(hpx_tree_sum(*end, blank), e->value);
    return blank;
}

static bool one_thread(struct speedscope *s, struct hpx_tree_column c, size_t from, size_t to)
{
    bool all = true;
    uint64_t end = 0;
    size_t k = 0;
    uint32_t thread = hpx_timed_at(&s->events, from)->thread;
    (void)fputs(s->profiles++ == 0 ? "" : ",\n", s->to);
    (void)fputs("{\"type\":\"sampled\",\"name\":\"", s->to);
    hpx_json_escaped(s->to, s->tree->views[c.view].title);
    (void)fputs(" by time: ", s->to);
    hpx_json_escaped(s->to, thread != 0 ? hpx_tree_text(s->tree, thread) : "all threads");
    (void)fputs("\",\"unit\":\"nanoseconds\",\"startValue\":0,\"samples\":[\n", s->to);
    for (size_t i = from; i < to && all; i++) {
        (void)fputs(k++ == 0 ? "" : ",\n", s->to);
        (void)fputs(gap(s, i, &end) > 0 ? "[],\n" : "", s->to);
        all = stack(s, hpx_timed_at(&s->events, i)->node, 0);
    }
    (void)fputs("],\"weights\":[", s->to);
    end = 0;
    k = 0;
    for (size_t i = from; i < to; i++) {
        uint64_t blank = gap(s, i, &end);
        (void)fputs(k++ == 0 ? "" : ",", s->to);
        if (blank > 0) {
            hpx_json_number(s->to, blank);
            (void)putc_unlocked(',', s->to);
        }
        hpx_json_number(s->to, hpx_timed_at(&s->events, i)->value);
    }
    (void)fputs("],\"endValue\":", s->to);
    hpx_json_number(s->to, end);
    (void)putc_unlocked('}', s->to);
    return all;
}

/* Of a view whose values are times. */
static bool by_time(struct speedscope *s, size_t view)
{
    const struct hpx_tree_view *v = &s->tree->views[view];
    struct hpx_tree_column c = {view, hpx_tree_length(v)};
    bool all = v->moments.len == 0 || c.measure == v->values || hpx_timed_make(&s->events, s->tree, c);
    for (size_t from = 0, to; v->moments.len > 0 && c.measure < v->values && from < s->events.len && all; from = to) {
        to = hpx_timed_end(&s->events, from);
        all = !hpx_timed_at(&s->events, from)->known || one_thread(s, c, from, to);
    }
    return all;
}

static bool number_threads(struct speedscope *s)
{
    bool all = hpx_numbering_init(&s->threads, s->tree->names.len);
    for (size_t k = 0; k < HPX_VIEWS && all; k++) {
        const struct hpx_tree_view *v = &s->tree->views[k];
        for (size_t i = 0; i < v->samples.len && all; i++) {
            uint32_t thread = hpx_tree_sample_at(v, i)->thread;
            all = thread == 0 || hpx_number(&s->threads, thread) != 0;
        }
    }
    return all;
}

/* The view that was asked for first. */
static bool profiles(struct speedscope *s, struct hpx_tree_column first)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    size_t n = hpx_tree_columns_from(s->tree, first, of);
    bool all = n == 0 || by_time(s, of[0].view);
    for (size_t k = 0; k < HPX_VIEWS && all && n > 0; k++) {
        all = k == of[0].view || by_time(s, k);
    }
    for (size_t i = 0; i < n && all; i++) {
        all = profile(s, of[i]);
    }
    return all;
}

bool hpx_write_speedscope(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    struct speedscope s = {.tree = t, .to = to};
    bool functions = hpx_functions_init(&s.functions, t), all = number_threads(&s) && functions;
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
        all = profiles(&s, c);
        (void)fputs("]}\n", to);
    }
    hpx_functions_fini(&s.functions);
    hpx_numbering_fini(&s.threads);
    free(s.events.items);
    free(s.stack.items);
    return all;
}
