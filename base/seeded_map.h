/* SPDX-License-Identifier: BSD-2-Clause */
/* seeded_map.h: 64-bit keys with an optional 32-bit value each, which lies behind its key; open addressing, at most three quarters full: 11
 * to 22 bytes a key without values, 16 to 32 with. The hash has a seed of the process, so that a file cannot be made to collide. One
 * thread.
 */
#ifndef HPX_SEEDED_MAP_H
#define HPX_SEEDED_MAP_H

#include "compiler.h"

struct hpx_seeded_map {
    unsigned char *slots; /* of 8 or 12 bytes; key 0: free */
    size_t cap, len;      /* len: without key 0 */
    uint32_t zero;        /* value of key 0 */
    bool has_zero, with_values;
};

void hpx_seeded_map_init(struct hpx_seeded_map *m, bool with_values);
void hpx_seeded_map_fini(struct hpx_seeded_map *m);
/* Empty, and its memory given back. */
void hpx_seeded_map_clear(struct hpx_seeded_map *m);
/* Of its memory. */
size_t hpx_seeded_map_bytes(const struct hpx_seeded_map *m);

/* 1: added; 0: it was there; -HPX_E_NOMEM: no memory, or none is left of the budget (budget.h). *value, where the map has values and value
 * is not NULL: where the value of the key is, 0 if new; good until the next add. */
int hpx_seeded_map_add(struct hpx_seeded_map *m, uint64_t key, uint32_t **value);
bool hpx_seeded_map_has(const struct hpx_seeded_map *m, uint64_t key);
/* The value of a key; NULL: not there. */
uint32_t *hpx_seeded_map_find(const struct hpx_seeded_map *m, uint64_t key);

#endif
