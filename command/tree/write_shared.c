/* SPDX-License-Identifier: BSD-2-Clause */
/* write_shared.c: what the writers share. */
#include "words.h"
#include "writers.h"
#include <string.h>

#define MICROSECOND UINT64_C(1000)
#define MILLISECOND UINT64_C(1000000)

const char *hpx_tree_amount(const struct hpx_tree_measure *m, uint64_t v)
{
    static char ring[4][24];
    static unsigned next;
    if (m->unit == HPX_UNIT_BYTES) {
        return hpx_words_size(v);
    }
    if (m->unit != HPX_UNIT_NS) {
        return hpx_words_number(v);
    }
    if (v == 0 || v >= MILLISECOND * 10) {
        return hpx_words_seconds(v / MICROSECOND);
    }
    char *text = ring[next++ % 4];
    (void)snprintf(text, sizeof ring[0], "%.2f ms", (double)v / (double)MILLISECOND);
    return text;
}

bool hpx_tree_stack(const struct hpx_tree *t, uint32_t node, struct hpx_list *stack, size_t *n)
{
    stack->len = 0;
    for (; node != 0; node = hpx_tree_node_at(t, node)->parent) {
        uint32_t *slot = hpx_list_push(stack, sizeof *slot);
        if (slot == NULL) {
            return false;
        }
        *slot = hpx_tree_node_at(t, node)->frame;
    }
    uint32_t *frames = stack->items;
    for (size_t i = 0, k = stack->len; i + 1 < k; i++) {
        uint32_t swap = frames[i];
        frames[i] = frames[--k];
        frames[k] = swap;
    }
    *n = stack->len;
    return true;
}

bool hpx_tree_next(const struct hpx_tree_view *v, size_t measure, size_t *i, uint32_t *node, uint64_t *value)
{
    for (*value = 0; *value == 0 && *i < v->samples.len;) {
        *node = hpx_tree_sample_at(v, *i)->node;
        do {
            *value = hpx_tree_sum(*value, hpx_tree_values_at(v, (*i)++)[measure]);
        } while (*i < v->samples.len && hpx_tree_sample_at(v, *i)->node == *node);
    }
    return *value > 0;
}

size_t hpx_tree_columns_from(const struct hpx_tree *t, struct hpx_tree_column first, struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES])
{
    size_t n = hpx_tree_columns(t, of), at = 0;
    while (at < n && (of[at].view != first.view || of[at].measure != first.measure)) {
        at++;
    }
    if (at < n) {
        memmove(of + 1, of, at * sizeof *of);
        of[0] = first;
    }
    return n;
}

void hpx_json_column(FILE *to, const struct hpx_tree *t, struct hpx_tree_column c)
{
    const struct hpx_tree_view *v = &t->views[c.view];
    const struct hpx_tree_measure *m = &v->measures[c.measure];
    (void)putc_unlocked('"', to);
    hpx_json_escaped(to, v->title);
    (void)fputs(": ", to);
    hpx_json_escaped(to, m->title);
    if (v->before[c.measure] > 0) {
        (void)fprintf(to, " (%s of %s)", hpx_tree_amount(m, v->totals[c.measure]), hpx_tree_amount(m, v->before[c.measure]));
    }
    (void)putc_unlocked('"', to);
}
