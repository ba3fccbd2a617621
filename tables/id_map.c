/* SPDX-License-Identifier: BSD-2-Clause */
/* id_map.c: slots of {32 bits of the mixed key, number + 1}; the key itself is compared in `keys`. */
#include "id_map.h"

#define WORDS 1

struct probe {
    const struct hpx_id_map *map;
    uint64_t key, tag;
};

/* Keys are addresses or small counters: their entropy must reach the upper half, which chooses the place. */
static uint64_t tag_of(uint64_t key)
{
    uint64_t x = key + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) >> 32;
}

static bool same(const void *key, const uint64_t *slot)
{
    const struct probe *p = key;
    return *slot >> 32 == p->tag && hpx_id_map_key(p->map, (uint32_t)*slot - 1) == p->key;
}

static uint64_t *find(const struct hpx_id_map *m, uint64_t key, uint64_t tag)
{
    struct probe p = {m, key, tag};
    return hpx_slots_find(&m->slots, WORDS, tag << 32, same, &p);
}

int hpx_id_map_init(struct hpx_id_map *m)
{
    hpx_vec_init(&m->keys, sizeof(uint64_t));
    return hpx_slots_init(&m->slots, WORDS, 0);
}

void hpx_id_map_fini(struct hpx_id_map *m)
{
    hpx_slots_fini(&m->slots, WORDS);
    hpx_vec_fini(&m->keys);
}

uint32_t hpx_id_map_find(const struct hpx_id_map *m, uint64_t key)
{
    const uint64_t *slot = find(m, key, tag_of(key));
    return slot ? (uint32_t)*slot - 1 : HPX_INTERN_NONE;
}

uint32_t hpx_id_map_bind(struct hpx_id_map *m, uint64_t key)
{
    uint64_t tag = tag_of(key);
    uint64_t *slot = find(m, key, tag);
    if (!slot && hpx_slots_reserve(&m->slots, WORDS) != 0) {
        return HPX_INTERN_NONE;
    }
    uint64_t *k = hpx_vec_push(&m->keys);
    if (!k) {
        return HPX_INTERN_NONE;
    }
    *k = key;
    uint64_t word = tag << 32 | m->keys.len; /* number + 1: never 0 */
    if (slot) {
        *slot = word;
    } else {
        (void)hpx_slots_put(&m->slots, WORDS, word);
    }
    return m->keys.len - 1;
}
