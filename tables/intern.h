/* SPDX-License-Identifier: BSD-2-Clause */
/* intern.h: from a 128-bit hash to a dense number; the one hash table behind strings, methods and traces.
 *
 * Open addressing, 16 bytes a slot (64 + 32 bits of the hash and the number), the hash is trusted: no key memory is touched. Growth is
 * incremental: a second table of twice the size is filled while each insert moves a few slots, so no insert pays for a whole rehash. A miss
 * during growth looks into both. One owner thread (the aggregator); nobody else reads. */
#ifndef HPX_INTERN_H
#define HPX_INTERN_H

#include "hash.h"

struct hpx_intern_slot;

struct hpx_intern {
    struct hpx_intern_slot *slots, *old; /* old: being moved, NULL when not growing */
    uint64_t mask, old_mask, moved;
    uint64_t len;
    size_t bytes;
};

#define HPX_INTERN_NONE UINT32_MAX

/* expected: a hint, 0 for none. 0, -HPX_E_NOMEM. */
int hpx_intern_init(struct hpx_intern *t, uint32_t expected);
void hpx_intern_fini(struct hpx_intern *t);
/* The number stored under h, or HPX_INTERN_NONE. */
uint32_t hpx_intern_find(const struct hpx_intern *t, struct hpx_hash128 h);
/* Stores id under h, which the caller has just not found. 0, -HPX_E_NOMEM (nothing changed). */
int hpx_intern_insert(struct hpx_intern *t, struct hpx_hash128 h, uint32_t id);

#endif
