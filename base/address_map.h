/* SPDX-License-Identifier: BSD-2-Clause */
/* address_map.h: a hash map from words (addresses, thread ids) to small numbers, in mapped memory: no malloc and no lock, as the
 * callbacks of a heap walk need. One thread. It only grows. */
#ifndef HPX_ADDRESS_MAP_H
#define HPX_ADDRESS_MAP_H

#include "compiler.h"

struct hpx_address_map {
    struct hpx_address_entry {
        uint64_t key; /* 0: free */
        uint64_t value;
    } * at;
    uint64_t len, room; /* room: a power of two, or 0 */
};

/* The entry of this key, which is not 0; NULL: none. Valid until the next put. */
static inline struct hpx_address_entry *hpx_address_map_find(const struct hpx_address_map *m, uint64_t key)
{
    for (uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> 32; m->room != 0; i++) {
        struct hpx_address_entry *e = &m->at[i & (m->room - 1)];
        if (e->key == key) {
            return e;
        }
        if (e->key == 0) {
            break;
        }
    }
    return NULL;
}
/* The entry of this key, which is not 0; a new one has the value 0. NULL: no memory. Valid until the next put. */
struct hpx_address_entry *hpx_address_map_put(struct hpx_address_map *m, uint64_t key);
/* Unmaps it. A cleared struct is an empty map. */
void hpx_address_map_fini(struct hpx_address_map *m);

#endif
