/* SPDX-License-Identifier: BSD-2-Clause */
/* slots.h: open addressing that grows without a pause: what intern, id_map and string_table share. Included by their .c files and tests.
 *
 * A slot is `words` 32-bit words; word 0 is a number + 1, or 0 in an empty slot; the hash chooses the place (linear probing). A removed
 * slot stays in its chain as HPX_SLOTS_REMOVED until its table is replaced. At 3/4 load a table of twice the size begins, or of the same
 * size when half of the slots are removed ones; each insert then moves HPX_SLOTS_MOVE slots of the old table, in order, and pages that were
 * moved are given back. Slots of the old table below `moved` are in the new one; those above are looked for in both. One owner thread;
 * nobody else reads. */
#ifndef HPX_SLOTS_H
#define HPX_SLOTS_H

#include "compiler.h"

#define HPX_SLOTS_MOVE    8u
#define HPX_SLOTS_FIRST   64u
#define HPX_SLOTS_REMOVED UINT32_MAX /* in word 0: above any number + 1 (vec.h) */

struct hpx_slots {
    uint32_t *now, *old; /* old: being moved, NULL when not growing */
    uint64_t mask, old_mask;
    uint64_t moved;      /* old slots below it are moved */
    uint64_t dropped;    /* old bytes below it are given back */
    uint64_t len;        /* slots in use, removed ones included */
    uint64_t removed;    /* of them */
    size_t bytes;        /* of both */
    uint64_t last_moved; /* old slots that the last reserve looked at: the bound that the tests check */
};

/* Whether this slot, which is not empty, is the one sought. Where slots are removed it is asked about those, too, and refuses them. */
typedef bool (*hpx_slot_eq)(const void *key, const uint32_t *slot);
typedef uint32_t (*hpx_slot_hash)(const void *ctx, uint32_t number);

/* expected: a hint, 0 for none. 0, -HPX_E_NOMEM. */
int hpx_slots_init(struct hpx_slots *s, unsigned words, uint32_t expected);
void hpx_slots_fini(struct hpx_slots *s, unsigned words);
/* Room for one more, so that the next hpx_slots_put() cannot fail; does one insert's share of the moving. `hash` and `ctx`: for slots of
 * one word. 0, -HPX_E_NOMEM (still usable). */
int hpx_slots_reserve(struct hpx_slots *s, unsigned words, hpx_slot_hash hash, const void *ctx);

/* In the old table: the pages below `moved` are gone, so a chain that began there is entered at `moved`; what lay between is moved. */
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
