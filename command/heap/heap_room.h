/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_room.h: arrays of one entry per object, and lists, within the budget of the thread (budget.h). */
#ifndef HPX_HEAP_ROOM_H
#define HPX_HEAP_ROOM_H

#include "budget.h"
#include "err.h"
#include "list.h"
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HPX_HEAP_LARGE_PAGE ((uintptr_t)2 << 20)

/* Arrays that are read here and there miss the TLB half as often with pages of 2 MiB. Without them it works, too. */
static inline void hpx_heap_large_pages(void *p, uint64_t bytes)
{
    const uintptr_t page = (uintptr_t)getpagesize(), from = (uintptr_t)p & ~(page - 1),
                    to = ((uintptr_t)p + (uintptr_t)bytes) & ~(page - 1);
    if (p != NULL && bytes >= 2 * HPX_HEAP_LARGE_PAGE) { /* all of the mapping: a part would make two of it, which cannot grow in place */
        (void)madvise((char *)p - ((uintptr_t)p - from), to + page - from, MADV_HUGEPAGE);
    }
}

/* NULL: no memory, and err says so. */
static inline void *hpx_heap_room(uint64_t n, size_t size, struct hpx_err *err)
{
    void *p = n < SIZE_MAX / 2 / size && hpx_budget_take(n * size) ? malloc((size_t)n * size + 1) : NULL;
    if (p == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "%s", hpx_budget_why());
    } else {
        hpx_heap_large_pages(p, n * size);
    }
    return p;
}

/* p may be NULL. */
static inline void hpx_heap_room_free(void *p, uint64_t n, size_t size)
{
    hpx_budget_give(p != NULL ? n * size : 0);
    free(p);
}

/* A list of items of that size, which is empty then. */
static inline void hpx_heap_list_free(struct hpx_list *l, size_t size)
{
    hpx_heap_room_free(l->items, l->cap, size);
    *l = (struct hpx_list){0};
}

#endif
