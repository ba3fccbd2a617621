/* SPDX-License-Identifier: BSD-2-Clause */
/* list.c: see list.h. */
#include "list.h"
#include "budget.h"
#include <stdlib.h>

bool hpx_list_grow(struct hpx_list *l, size_t size)
{
    size_t cap = l->cap == 0 ? 32 : l->cap * 2, more = (cap - l->cap) * size;
    bool allowed = hpx_budget_take(more);
    void *grown = allowed ? realloc(l->items, cap * size) : NULL;
    if (grown != NULL) {
        l->items = grown;
        l->cap = cap;
    } else if (allowed) {
        hpx_budget_give(more);
    }
    return grown != NULL;
}

void *hpx_list_entry(struct hpx_seeded_map *map, struct hpx_list *l, size_t size, uint64_t key)
{
    uint32_t *index;
    if (hpx_seeded_map_add(map, key, &index) < 0) {
        return NULL;
    }
    if (*index == 0) { /* new, or there was no memory for its item before */
        void *item = hpx_list_push(l, size);
        *index = item != NULL ? (uint32_t)l->len : 0;
        return item;
    }
    return (char *)l->items + (size_t)(*index - 1) * size;
}
