/* SPDX-License-Identifier: BSD-2-Clause */
/* slots.h: open addressing that grows without a pause: the slots of every hash table (intern, id_map, string_table, method_table,
 * thread_table, call_table).
 *
 * A slot is `words` 32-bit words; word 0 is a number + 1, or 0 in an empty slot; the hash chooses the place (linear probing). A removed
 * slot stays in its chain as HPX_SLOTS_REMOVED until its table is replaced. At 3/4 load a new table of twice the size starts, or of the
 * same size if half of the slots are removed ones; every insert then moves HPX_SLOTS_MOVE slots of the old table, in order, and frees
 * pages that are moved completely. Slots of the old table below `moved` are in the new one; the others are searched in both. Only the
 * owner thread reads and writes. */
#ifndef HPX_SLOTS_H
#define HPX_SLOTS_H

#include "compiler.h"

#define HPX_SLOTS_MOVE    8u
#define HPX_SLOTS_FIRST   64u
#define HPX_SLOTS_REMOVED UINT32_MAX /* in word 0: above any number + 1 (vec.h) */

struct hpx_slots {
    uint32_t *now, *old; /* old: being moved, NULL when not growing */
    uint64_t mask, old_mask;
    uint64_t moved;   /* old slots below it are moved */
    uint64_t dropped; /* old bytes below it are given back */
    uint64_t len;     /* slots in use, removed ones included */
    uint64_t removed; /* of them */
    size_t bytes;     /* of both */
};

/* true if this slot, which is not empty, is the wanted one; must be false for removed slots. */
typedef bool (*hpx_slot_eq)(const void *key, const uint32_t *slot);
typedef uint32_t (*hpx_slot_hash)(const void *ctx, uint32_t number);

/* expected: a hint, 0 for none. 0, -HPX_E_NOMEM. */
int hpx_slots_init(struct hpx_slots *s, unsigned words, uint32_t expected);
void hpx_slots_fini(struct hpx_slots *s, unsigned words);
/* Makes room for one more, so that the next hpx_slots_put() cannot fail, and moves old slots. `hash` and `ctx`: for slots of one word.
 * 0, -HPX_E_NOMEM (the table stays usable). */
int hpx_slots_reserve(struct hpx_slots *s, unsigned words, hpx_slot_hash hash, const void *ctx);

/* In the old table: pages below `moved` are freed, so the search of a chain that began there starts at `moved`; slots in between are
 * moved. */
static inline __attribute__((always_inline)) uint32_t *hpx_slots_find_old(const struct hpx_slots *s, unsigned words, uint32_t hash,
                                                                          hpx_slot_eq eq, const void *key)
{
    uint64_t size = s->old_mask + 1, i = hash & s->old_mask;
    if (i < s->moved) {
        i = s->moved;
    }
    for (uint64_t left = size - s->moved; left > 0; left--) {
        uint32_t *p = s->old + i * words;
        if (!*p) {
            return NULL;
        }
        if (eq(key, p)) {
            return p;
        }
        if (++i == size) {
            i = s->moved;
        }
    }
    return NULL;
}

/* The slot that `eq` accepts, or NULL. */
static inline __attribute__((always_inline)) uint32_t *hpx_slots_find(const struct hpx_slots *s, unsigned words, uint32_t hash,
                                                                      hpx_slot_eq eq, const void *key)
{
    uint32_t *p;
    for (uint64_t i = hash & s->mask; *(p = s->now + i * words); i = (i + 1) & s->mask) {
        if (eq(key, p)) {
            return p;
        }
    }
    return hpx_likely(!s->old) ? NULL : hpx_slots_find_old(s, words, hash, eq, key);
}

/* The slot for something that is in neither table, after a successful reserve; its words above [1] are the caller's to fill. */
static inline uint32_t *hpx_slots_put(struct hpx_slots *s, unsigned words, uint32_t hash, uint32_t number)
{
    uint32_t *p;
    for (uint64_t i = hash & s->mask; *(p = s->now + i * words);) {
        i = (i + 1) & s->mask;
    }
    p[0] = number + 1;
    if (words > 1) {
        p[1] = hash;
    }
    s->len++;
    return p;
}

/* p: what find or put returned, with no call but finds since. */
static inline void hpx_slots_remove(struct hpx_slots *s, uint32_t *p)
{
    *p = HPX_SLOTS_REMOVED;
    s->removed++;
}

#endif
