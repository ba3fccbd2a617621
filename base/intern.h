/* SPDX-License-Identifier: BSD-2-Clause */
/* intern.h: from a 128-bit hash to a number.
 *
 * 16 bytes a slot (96 bits of the hash and the number), the hash is trusted: no key memory is touched. Growth: slots.h. Only the owner
 * thread reads and writes. */
#ifndef HPX_INTERN_H
#define HPX_INTERN_H

#include "hash.h"
#include "slots.h"

struct hpx_intern {
    struct hpx_slots slots;
};

#define HPX_INTERN_NONE UINT32_MAX

/* expected: a hint, 0 for none. 0, -HPX_E_NOMEM. */
int hpx_intern_init(struct hpx_intern *t, uint32_t expected);
void hpx_intern_fini(struct hpx_intern *t);
/* The number stored under h, or HPX_INTERN_NONE. */
uint32_t hpx_intern_find(const struct hpx_intern *t, struct hpx_hash128 h);
/* Makes room for one hpx_intern_put(), which then cannot fail. 0, -HPX_E_NOMEM (the table stays usable). */
int hpx_intern_reserve(struct hpx_intern *t);
/* Stores id under h, which the caller has just not found, after a successful reserve. */
void hpx_intern_put(struct hpx_intern *t, struct hpx_hash128 h, uint32_t id);
/* Both. 0, -HPX_E_NOMEM (nothing stored). */
int hpx_intern_insert(struct hpx_intern *t, struct hpx_hash128 h, uint32_t id);
static inline size_t hpx_intern_bytes(const struct hpx_intern *t)
{
    return t->slots.bytes;
}

#endif
