/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_sort.h: sorting in place by a 64-bit key, in at most 64 rounds whatever the keys are; equal keys in any order. Any thread. */
#ifndef HPX_HEAP_SORT_H
#define HPX_HEAP_SORT_H

#include "compiler.h"

struct hpx_heap_entry {
    uint64_t key;
    uint32_t a, b;
};

void hpx_heap_sort(struct hpx_heap_entry *e, size_t n);
/* Also keeps one of each key, that with the least b; returns how many those are. */
size_t hpx_heap_sort_unique(struct hpx_heap_entry *e, size_t n);

#endif
