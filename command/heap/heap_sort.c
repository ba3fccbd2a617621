/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_sort.c: radix exchange: those with the highest bit that differs behind those without, then each part by the next bit. Ids of a heap
 * dump are sorted in long runs, which it leaves alone. */
#include "heap_sort.h"

#define SMALL 16
#define BITS  64

struct part {
    struct hpx_heap_entry *e;
    size_t n;
    int bit;
};

static void insert(struct hpx_heap_entry *e, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct hpx_heap_entry one = e[i];
        size_t k = i;
        for (; k > 0 && e[k - 1].key > one.key; k--) {
            e[k] = e[k - 1];
        }
        e[k] = one;
    }
}

/* How many do not have the bit; they come first. */
static size_t divide(struct hpx_heap_entry *e, size_t n, int bit)
{
    size_t low = 0, high = n;
    for (;;) {
        while (low < high && (e[low].key >> bit & 1) == 0) {
            low++;
        }
        while (low < high && (e[high - 1].key >> bit & 1) != 0) {
            high--;
        }
        if (low == high) {
            return low;
        }
        struct hpx_heap_entry one = e[low];
        e[low] = e[high - 1];
        e[high - 1] = one;
    }
}

void hpx_heap_sort(struct hpx_heap_entry *e, size_t n)
{
    struct part stack[BITS + 1];
    size_t depth = 0;
    uint64_t differ = 0;
    for (size_t i = 1; i < n; i++) {
        differ |= e[i].key ^ e[0].key;
    }
    if (differ != 0) {
        stack[depth++] = (struct part){e, n, BITS - 1 - __builtin_clzll(differ)};
    }
    while (depth > 0) {
        struct part p = stack[--depth];
        if (p.n <= SMALL || p.bit < 0) {
            insert(p.e, p.bit < 0 ? 0 : p.n);
            continue;
        }
        size_t low = divide(p.e, p.n, p.bit);
        stack[depth++] = (struct part){p.e + low, p.n - low, p.bit - 1}; /* one more for each bit at most */
        stack[depth++] = (struct part){p.e, low, p.bit - 1};
    }
}

size_t hpx_heap_sort_unique(struct hpx_heap_entry *e, size_t n)
{
    size_t kept = 0;
    hpx_heap_sort(e, n);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || e[kept - 1].key != e[i].key) {
            e[kept++] = e[i];
        } else if (e[i].b < e[kept - 1].b) {
            e[kept - 1] = e[i];
        }
    }
    return kept;
}
