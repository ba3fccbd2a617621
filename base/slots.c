/* SPDX-License-Identifier: BSD-2-Clause */
/* slots.c: memory of the slots, and their growth. */
#include "slots.h"
#include "err.h"
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096u /* a smaller page than the system's only makes madvise refuse: the memory then stays until the free */
/* Larger memory is a mapping of small pages, zeroed when first touched: clearing a huge page takes longer than an insert may. */
#define MAPPED (64u << 10)
#define DROP   (64u << 10) /* pages are given back in pieces of at least this size */

static void *pages_new(size_t n)
{
    if (n < MAPPED) {
        return calloc(1, n);
    }
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(p, n, MADV_NOHUGEPAGE);
    return p;
}

static void pages_free(void *p, size_t n)
{
    if (n < MAPPED) {
        free(p);
    } else {
        (void)munmap(p, n);
    }
}

/* Nobody reads the bytes [from, to) of p, which has n, any more. */
static void pages_drop(void *p, size_t n, size_t from, size_t to)
{
    from = (from + PAGE - 1) & ~(size_t)(PAGE - 1);
    to &= ~(size_t)(PAGE - 1);
    if (n >= MAPPED && from < to) {
        (void)madvise((char *)p + from, to - from, MADV_DONTNEED);
    }
}

static size_t size_of(uint64_t mask, unsigned words)
{
    return (size_t)(mask + 1) * words * sizeof(uint32_t);
}

int hpx_slots_init(struct hpx_slots *s, unsigned words, uint32_t expected)
{
    uint64_t n = HPX_SLOTS_FIRST;
    while (n / 4 * 3 < expected) {
        n *= 2;
    }
    *s = (struct hpx_slots){.mask = n - 1};
    s->now = pages_new(size_of(s->mask, words));
    if (!s->now) {
        return -HPX_E_NOMEM;
    }
    s->bytes = size_of(s->mask, words);
    return 0;
}

void hpx_slots_fini(struct hpx_slots *s, unsigned words)
{
    if (s->now) {
        pages_free(s->now, size_of(s->mask, words));
    }
    if (s->old) {
        pages_free(s->old, size_of(s->old_mask, words));
    }
    *s = (struct hpx_slots){0};
}

static void move_one(struct hpx_slots *s, unsigned words, const uint32_t *from, uint32_t hash)
{
    uint32_t *to = hpx_slots_put(s, words, hash, from[0] - 1);
    s->len--; /* it was counted when it came */
    for (unsigned w = 2; w < words; w++) {
        to[w] = from[w];
    }
}

static void move_some(struct hpx_slots *s, unsigned words, hpx_slot_hash hash, const void *ctx)
{
    for (unsigned k = 0; k < HPX_SLOTS_MOVE; k++) {
        const uint32_t *from = s->old + s->moved * words;
        if (*from == HPX_SLOTS_REMOVED) {
            s->len--;
            s->removed--;
        } else if (*from) {
            move_one(s, words, from, words > 1 ? from[1] : hash(ctx, from[0] - 1));
        }
        s->moved++;
    }
    size_t passed = (size_t)s->moved * words * sizeof(uint32_t);
    if (s->moved > s->old_mask) {
        pages_free(s->old, size_of(s->old_mask, words));
        s->bytes -= size_of(s->old_mask, words);
        s->old = NULL;
    } else if (passed - s->dropped >= DROP) {
        /* Freed piece by piece, because unmapping a large table at once would be the pause that growth avoids. */
        pages_drop(s->old, size_of(s->old_mask, words), s->dropped, passed);
        s->dropped = passed;
    }
}

static bool begin_growth(struct hpx_slots *s, unsigned words)
{
    uint64_t mask = s->removed < s->len / 2 ? s->mask * 2 + 1 : s->mask;
    if (mask > UINT32_MAX) {
        return false; /* the hash has 32 bits */
    }
    uint32_t *bigger = pages_new(size_of(mask, words));
    if (!bigger) {
        return false;
    }
    s->old = s->now;
    s->old_mask = s->mask;
    s->moved = s->dropped = 0;
    s->now = bigger;
    s->mask = mask;
    s->bytes += size_of(mask, words);
    return true;
}

int hpx_slots_reserve(struct hpx_slots *s, unsigned words, hpx_slot_hash hash, const void *ctx)
{
    uint64_t size = s->mask + 1;
    /* Growth ends after size / HPX_SLOTS_MOVE inserts, long before the next one is due: old is NULL here whenever the load is high. */
    if (!s->old && s->len >= size / 4 * 3 && !begin_growth(s, words) && s->len >= size / 8 * 7) {
        return -HPX_E_NOMEM;
    }
    if (s->old) {
        move_some(s, words, hash, ctx);
    }
    return 0;
}
