/* SPDX-License-Identifier: BSD-2-Clause */
/* id_map.c: slots of a number alone; the key is compared in `keys`, and hashed from there when its slot moves. */
#include "id_map.h"

#define WORDS 1

struct probe {
    const struct hpx_id_map *map;
    uint64_t key;
};

static uint32_t hash_of_number(const void *ctx, uint32_t number)
{
    return hpx_id_hash(hpx_id_map_key(ctx, number));
}

static bool same(const void *key, const uint32_t *slot)
{
    const struct probe *p = key;
    return hpx_id_map_key(p->map, *slot - 1) == p->key;
}

static uint32_t *find(const struct hpx_id_map *m, uint64_t key)
{
    struct probe p = {m, key};
    return hpx_slots_find(&m->slots, WORDS, hpx_id_hash(key), same, &p);
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
    const uint32_t *slot = find(m, key);
    return slot ? *slot - 1 : HPX_INTERN_NONE;
}

uint32_t hpx_id_map_bind(struct hpx_id_map *m, uint64_t key)
{
    uint32_t *slot = find(m, key);
    if (!slot && hpx_slots_reserve(&m->slots, WORDS, hash_of_number, m) != 0) {
        return HPX_INTERN_NONE;
    }
    uint64_t *k = hpx_vec_push(&m->keys);
    if (!k) {
        return HPX_INTERN_NONE;
    }
    *k = key;
    uint32_t number = m->keys.len - 1;
    if (slot) {
        *slot = number + 1;
    } else {
        (void)hpx_slots_put(&m->slots, WORDS, hpx_id_hash(key), number);
    }
    return number;
}
