/* SPDX-License-Identifier: BSD-2-Clause */
/* timed.c: see timed.h. */
#include "timed.h"
#include <stdlib.h>

#define NS_PER_MS UINT64_C(1000000)

static bool push(struct hpx_list *to, const struct hpx_timed *event)
{
    struct hpx_timed *slot = hpx_list_push(to, sizeof *slot);
    if (slot != NULL) {
        *slot = *event;
    }
    return slot != NULL;
}

uint64_t hpx_timed_begin(const struct hpx_tree *t, uint64_t at_ms, uint64_t lasted_ns)
{
    uint64_t zero = hpx_timed_zero(t), ns;
    if (at_ms < zero || __builtin_mul_overflow(at_ms - zero, NS_PER_MS, &ns)) {
        return at_ms < zero ? 0 : UINT64_MAX;
    }
    return ns > lasted_ns ? ns - lasted_ns : 0;
}

static uint64_t time_of(const struct hpx_tree *t, const struct hpx_tree_view *v, size_t i)
{
    const struct hpx_tree_moment *m = hpx_tree_moment_at(v, i);
    size_t length = hpx_tree_length(v);
    return hpx_timed_begin(t, m->at_ms, m->lasted && length < v->values ? hpx_tree_moment_values_at(v, i)[length] : 0);
}

size_t hpx_timed_sample(const struct hpx_tree_view *v, uint32_t node, uint32_t thread)
{
    size_t low = 0, high = v->samples.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct hpx_tree_sample *s = hpx_tree_sample_at(v, middle);
        bool before = s->node != node ? s->node < node : s->thread < thread;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    const struct hpx_tree_sample *s = low < v->samples.len ? hpx_tree_sample_at(v, low) : NULL;
    return s != NULL && s->node == node && s->thread == thread ? low : v->samples.len;
}

/* Equal ones keep their order, so that the file is always the same. */
static int in_order(const void *a, const void *b)
{
    const struct hpx_timed *x = a, *y = b;
    return x->thread != y->thread ? (x->thread > y->thread) - (x->thread < y->thread)
           : x->at_ns != y->at_ns ? (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns)
           : x->node != y->node   ? (x->node > y->node) - (x->node < y->node)
                                  : (x->value > y->value) - (x->value < y->value);
}

static void sort(const struct hpx_list *l, size_t from)
{
    if (l->len - from > 1) {
        qsort((struct hpx_timed *)l->items + from, l->len - from, sizeof(struct hpx_timed), in_order);
    }
}

/* rest: of each sample what no moment had so far. No moment has more than is left of its sample. */
static bool add_moments(struct hpx_list *to, const struct hpx_tree *t, struct hpx_tree_column c, uint64_t *rest)
{
    const struct hpx_tree_view *v = &t->views[c.view];
    bool threads = hpx_tree_has_threads(v), all = true;
    for (size_t i = 0; i < v->moments.len && all; i++) {
        const struct hpx_tree_moment *m = hpx_tree_moment_at(v, i);
        size_t sample = hpx_timed_sample(v, m->node, threads ? m->thread : 0);
        uint64_t value = hpx_tree_moment_values_at(v, i)[c.measure], left = sample < v->samples.len ? rest[sample] : 0;
        value = value < left ? value : left;
        if (value > 0) {
            rest[sample] -= value;
            all = push(to, &(struct hpx_timed){time_of(t, v, i), value, m->node, m->thread, true});
        }
    }
    return all;
}

bool hpx_timed_make(struct hpx_list *to, const struct hpx_tree *t, struct hpx_tree_column c)
{
    const struct hpx_tree_view *v = &t->views[c.view];
    size_t n = v->samples.len;
    uint64_t *rest = calloc(n + 1, sizeof *rest);
    bool all = rest != NULL;
    to->len = 0;
    for (size_t i = 0; i < n && all; i++) {
        rest[i] = hpx_tree_values_at(v, i)[c.measure];
    }
    all = all && add_moments(to, t, c, rest);
    size_t known = to->len;
    sort(to, 0);
    for (size_t i = 0; i < n && all; i++) {
        const struct hpx_tree_sample *s = hpx_tree_sample_at(v, i);
        all = rest[i] == 0 || push(to, &(struct hpx_timed){0, rest[i], s->node, s->thread, false});
    }
    free(rest);
    sort(to, known);
    return all;
}

size_t hpx_timed_end(const struct hpx_list *of, size_t at)
{
    const struct hpx_timed *first = hpx_timed_at(of, at);
    while (at < of->len && hpx_timed_at(of, at)->thread == first->thread && hpx_timed_at(of, at)->known == first->known) {
        at++;
    }
    return at;
}
