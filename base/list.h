/* SPDX-License-Identifier: BSD-2-Clause */
/* list.h: a growing array. Its owner frees `items`. One thread. */
#ifndef HPX_LIST_H
#define HPX_LIST_H

#include "seeded_map.h"
#include <string.h>

struct hpx_list {
    void *items;
    size_t len, cap;
};

/* Room for one more item. false: no memory, or none is left of the budget (budget.h). */
bool hpx_list_grow(struct hpx_list *l, size_t size);
/* One more item of that size, cleared; NULL without memory. */
static inline void *hpx_list_push(struct hpx_list *l, size_t size)
{
    if (hpx_unlikely(l->len == l->cap) && !hpx_list_grow(l, size)) {
        return NULL;
    }
    return memset((char *)l->items + l->len++ * size, 0, size);
}
/* The item of a key in a list, made where there is none; NULL without memory. map: keys -> index + 1. */
void *hpx_list_entry(struct hpx_seeded_map *map, struct hpx_list *l, size_t size, uint64_t key);

#endif
