/* SPDX-License-Identifier: BSD-2-Clause */
/* id_map.h: from a 64-bit key (a jmethodID) to a dense number; exact, 4 bytes a slot and 8 a number.
 *
 * Entries are never removed. Only the owner thread reads and writes. */
#ifndef HPX_ID_MAP_H
#define HPX_ID_MAP_H

#include "intern.h"
#include "vec.h"

struct hpx_id_map {
    struct hpx_slots slots;
    struct hpx_vec keys; /* uint64_t: the key of each number */
};

/* Keys are addresses or small counters: their entropy must reach the bits that choose the place. */
static inline uint32_t hpx_id_hash(uint64_t key)
{
    uint64_t x = key + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((x ^ (x >> 31)) >> 32);
}

int hpx_id_map_init(struct hpx_id_map *m); /* 0, -HPX_E_NOMEM */
void hpx_id_map_fini(struct hpx_id_map *m);
/* The number last bound to the key, or HPX_INTERN_NONE. */
uint32_t hpx_id_map_find(const struct hpx_id_map *m, uint64_t key);
/* Binds the key to the next number and returns it; an earlier number of the key keeps the key but is no longer found. HPX_INTERN_NONE
 * without memory (nothing changed). */
uint32_t hpx_id_map_bind(struct hpx_id_map *m, uint64_t key);
static inline uint64_t hpx_id_map_key(const struct hpx_id_map *m, uint32_t number)
{
    return *(const uint64_t *)hpx_vec_at(&m->keys, number);
}
static inline size_t hpx_id_map_bytes(const struct hpx_id_map *m)
{
    return m->slots.bytes + m->keys.bytes;
}

#endif
