/* SPDX-License-Identifier: BSD-2-Clause */
/* write_shared.c: what the writers share. */
#include "writers.h"
#include <string.h>

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
    (void)putc_unlocked('"', to);
    hpx_json_escaped(to, t->views[c.view].title);
    (void)fputs(": ", to);
    hpx_json_escaped(to, t->views[c.view].measures[c.measure].title);
    (void)putc_unlocked('"', to);
}
