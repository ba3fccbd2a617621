/* SPDX-License-Identifier: BSD-2-Clause */
/* codemap.c: the table of codemap.h. */
#include "codemap.h"
#include <stdatomic.h>
#include <sys/mman.h>

#define STUB          UINT64_MAX /* no jmethodID: those are addresses or, from JDK 26 on, counted from 1 */
#define GRANULE_SHIFT 6
#define CHUNK_SHIFT   20
#define WINDOW_SHIFT  32
#define CHUNK_ENTRIES (1u << (CHUNK_SHIFT - GRANULE_SHIFT))
#define CHUNKS        (1u << (WINDOW_SHIFT - CHUNK_SHIFT))

struct chunk {
    _Atomic uint64_t owner[CHUNK_ENTRIES]; /* relaxed: one word, read for itself */
};

static _Atomic uintptr_t window;               /* 0: no code seen yet. relaxed: constant once set, and chunks carry the order */
static _Atomic(struct chunk *) chunks[CHUNKS]; /* release: publish(); acquire: find_chunk(). Covers the cleared entries. */

/* Half of the window on either side of the first code: the code cache is one reservation of at most 2 GiB. */
static uintptr_t window_start(uintptr_t code)
{
    uintptr_t start = atomic_load_explicit(&window, memory_order_relaxed);
    if (start == 0) {
        uintptr_t half = (uintptr_t)1 << (WINDOW_SHIFT - 1);
        uintptr_t mine = (code > half ? code - half : 0) & ~(((uintptr_t)1 << CHUNK_SHIFT) - 1);
        mine = mine ? mine : (uintptr_t)1 << CHUNK_SHIFT;
        start = atomic_compare_exchange_strong_explicit(&window, &start, mine, memory_order_relaxed, memory_order_relaxed) ? mine : start;
    }
    return start;
}

static struct chunk *find_chunk(uintptr_t start, uintptr_t pc)
{
    return start == 0 || pc < start || (pc - start) >> WINDOW_SHIFT
               ? NULL
               : atomic_load_explicit(&chunks[(pc - start) >> CHUNK_SHIFT], memory_order_acquire);
}

static struct chunk *make_chunk(uintptr_t start, uintptr_t pc)
{
    if (pc < start || (pc - start) >> WINDOW_SHIFT) {
        return NULL;
    }
    _Atomic(struct chunk *) *place = &chunks[(pc - start) >> CHUNK_SHIFT];
    struct chunk *have = atomic_load_explicit(place, memory_order_acquire);
    if (have != NULL) {
        return have;
    }
    void *fresh = mmap(NULL, sizeof(struct chunk), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED) {
        return NULL;
    }
    if (atomic_compare_exchange_strong_explicit(place, &have, fresh, memory_order_release, memory_order_acquire)) {
        return fresh;
    }
    munmap(fresh, sizeof(struct chunk));
    return have;
}

static _Atomic uint64_t *entry(struct chunk *c, uintptr_t start, uintptr_t pc)
{
    return &c->owner[((pc - start) >> GRANULE_SHIFT) % CHUNK_ENTRIES];
}

void hpx_codemap_add(const void *code, size_t size, uint64_t method)
{
    uintptr_t from = (uintptr_t)code, start = window_start(from);
    if (size == 0) {
        return;
    }
    for (uintptr_t pc = from & ~(((uintptr_t)1 << GRANULE_SHIFT) - 1); pc < from + size; pc += (uintptr_t)1 << GRANULE_SHIFT) {
        struct chunk *c = make_chunk(start, pc);
        if (c != NULL) {
            atomic_store_explicit(entry(c, start, pc), method ? method : STUB, memory_order_relaxed);
        }
    }
}

void hpx_codemap_remove(const void *code, uint64_t method)
{
    uintptr_t from = (uintptr_t)code, start = atomic_load_explicit(&window, memory_order_relaxed);
    for (uintptr_t pc = from & ~(((uintptr_t)1 << GRANULE_SHIFT) - 1);; pc += (uintptr_t)1 << GRANULE_SHIFT) {
        struct chunk *c = find_chunk(start, pc);
        uint64_t mine = method;
        if (c == NULL ||
            !atomic_compare_exchange_strong_explicit(entry(c, start, pc), &mine, 0, memory_order_relaxed, memory_order_relaxed)) {
            return;
        }
    }
}

static uint64_t entry_at(uintptr_t pc)
{
    uintptr_t start = atomic_load_explicit(&window, memory_order_relaxed);
    struct chunk *c = find_chunk(start, pc);
    return c != NULL ? atomic_load_explicit(entry(c, start, pc), memory_order_relaxed) : 0;
}

uint64_t hpx_codemap_owner(uintptr_t pc)
{
    uint64_t owner = entry_at(pc);
    return owner == STUB ? 0 : owner;
}

bool hpx_codemap_known(uintptr_t pc)
{
    return entry_at(pc) != 0;
}
