/* SPDX-License-Identifier: BSD-2-Clause */
/* shared_stacks.c: the table of shared_stacks.h. A place's turn is odd while a thread writes it. Every word of its row is stored with
 * release and loaded with acquire: a thread that has read a word of a new stack also sees that the turn has changed. */
#include "shared_stacks.h"
#include <stdatomic.h>
#include <sys/mman.h>

#define WAYS        4u
#define FRAMES_MOST 128u
#define CHECK       0u /* words of a row */
#define SHAPE       1u
#define FRAMES      2u

struct place {
    _Atomic uint32_t turn; /* 0: empty; odd: being written. acquire, release; relaxed: the second look */
    _Atomic uint32_t used; /* relaxed: a hint */
    _Atomic uint64_t lo;
};

struct set {
    struct place places[WAYS]; /* a cache line */
};

/* At the start of its mapping. All but `now` is constant. */
struct table {
    size_t bytes;
    struct set *sets;
    _Atomic uint64_t *rows;
    uint32_t n, most, row; /* sets; frames of a row; its words */
    _Atomic uint32_t now;  /* relaxed: stacks that were put */
};

static HPX_OF_SESSION _Atomic(struct table *) shared; /* release: begin; acquire: find, put. NULL: there is none */

void hpx_shared_stacks_begin(size_t bytes, uint32_t depth)
{
    const uint32_t most = depth < FRAMES_MOST ? depth : FRAMES_MOST, row = FRAMES + 2 * most;
    const size_t n = (bytes - sizeof(struct set)) / (sizeof(struct set) + (size_t)WAYS * row * sizeof(uint64_t));
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return;
    }
    struct table *t = p;
    static_assert(sizeof *t <= sizeof(struct set), "the sets begin at a cache line");
    t->bytes = bytes;
    t->sets = (struct set *)p + 1;
    t->rows = (_Atomic uint64_t *)(void *)(t->sets + n);
    t->n = (uint32_t)n;
    t->most = most;
    t->row = row;
    atomic_store_explicit(&shared, t, memory_order_release); /* partner: hpx_shared_stacks_find_sig(), hpx_shared_stacks_put_sig() */
}

void hpx_shared_stacks_end(bool inside)
{
    struct table *t = atomic_exchange_explicit(&shared, NULL, memory_order_relaxed);
    if (t != NULL && !inside) {
        (void)munmap(t, t->bytes);
    }
}

static uint32_t set_of(const struct table *t, const struct hpx_raw_stack *key)
{
    return (uint32_t)(key->lo % t->n);
}

static _Atomic uint64_t *row_of(const struct table *t, uint32_t set, uint32_t way)
{
    return t->rows + ((size_t)set * WAYS + way) * t->row;
}

static uint64_t load(_Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_acquire); /* partner: store() */
}

static void store(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

/* 0: it is another stack. What is read is one stack only if the place's turn stays the same. */
static int read_row(const struct table *t, _Atomic uint64_t *row, uint64_t check, struct hpx_ev_frame *frames, uint32_t room,
                    uint16_t *flags)
{
    uint64_t shape = load(&row[SHAPE]);
    uint32_t n = (uint32_t)shape;
    if (load(&row[CHECK]) != check || n > room || n > t->most) {
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        frames[i] = (struct hpx_ev_frame){(int32_t)load(&row[FRAMES + 2 * i]), 0, load(&row[FRAMES + 2 * i + 1])};
    }
    *flags = (uint16_t)(shape >> 32);
    return (int)n;
}

int hpx_shared_stacks_find_sig(const struct hpx_raw_stack *key, struct hpx_ev_frame *frames, uint32_t room, uint16_t *flags)
{
    const struct table *t = atomic_load_explicit(&shared, memory_order_acquire); /* partner: hpx_shared_stacks_begin() */
    const uint32_t set = t != NULL ? set_of(t, key) : 0;
    for (uint32_t way = 0; way < WAYS && t != NULL; way++) {
        struct place *at = &t->sets[set].places[way];
        uint32_t turn = atomic_load_explicit(&at->turn, memory_order_acquire); /* partner: put */
        int n = turn % 2 == 0 && load(&at->lo) == key->lo ? read_row(t, row_of(t, set, way), key->hi, frames, room, flags) : 0;
        if (n > 0 && atomic_load_explicit(&at->turn, memory_order_relaxed) == turn) {
            atomic_store_explicit(&at->used, atomic_load_explicit(&t->now, memory_order_relaxed), memory_order_relaxed);
            return n;
        }
    }
    return 0;
}

/* The place that the stack takes: its own, an empty one, or the one that was used longest ago. */
static uint32_t way_for(struct set *set, uint64_t lo, uint32_t now)
{
    uint32_t best = 0, age = 0;
    for (uint32_t way = 0; way < WAYS; way++) {
        struct place *at = &set->places[way];
        if (atomic_load_explicit(&at->turn, memory_order_acquire) == 0 || load(&at->lo) == lo) {
            return way;
        }
        uint32_t unused = now - atomic_load_explicit(&at->used, memory_order_relaxed);
        if (unused >= age) {
            best = way;
            age = unused;
        }
    }
    return best;
}

void hpx_shared_stacks_put_sig(const struct hpx_raw_stack *key, const struct hpx_ev_frame *frames, int n, uint16_t flags)
{
    struct table *t = atomic_load_explicit(&shared, memory_order_acquire); /* partner: hpx_shared_stacks_begin() */
    if (t == NULL || n <= 0 || (uint32_t)n > t->most) {
        return;
    }
    const uint32_t now = atomic_fetch_add_explicit(&t->now, 1, memory_order_relaxed) + 1, set = set_of(t, key);
    const uint32_t way = way_for(&t->sets[set], key->lo, now);
    struct place *at = &t->sets[set].places[way];
    _Atomic uint64_t *row = row_of(t, set, way);
    uint32_t turn = atomic_load_explicit(&at->turn, memory_order_relaxed);
    if (turn % 2 != 0 || !atomic_compare_exchange_strong_explicit(&at->turn, &turn, turn + 1, memory_order_acquire, memory_order_relaxed)) {
        return; /* another thread writes it */
    }
    store(&at->lo, key->lo);
    store(&row[CHECK], key->hi);
    store(&row[SHAPE], (uint64_t)flags << 32 | (uint32_t)n);
    for (uint32_t i = 0; i < (uint32_t)n; i++) {
        store(&row[FRAMES + 2 * i], (uint32_t)frames[i].bci);
        store(&row[FRAMES + 2 * i + 1], frames[i].method);
    }
    atomic_store_explicit(&at->used, now, memory_order_relaxed);
    atomic_store_explicit(&at->turn, turn + 2, memory_order_release); /* partner: find, and the next one that puts */
}
