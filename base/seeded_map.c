/* SPDX-License-Identifier: BSD-2-Clause */
/* seeded_map.c: the hash map of ids and serials. */
#include "seeded_map.h"
#include "budget.h"
#include "err.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST 64
#define KEY   sizeof(uint64_t)

__extension__ typedef unsigned __int128 u128;

static uint64_t seed[2]; /* set before the first slot of any map; maps of several threads have the same */

static void make_seed(void)
{
    if (getrandom(seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
        seed[0] = seed[1] = (uint64_t)(uintptr_t)&seed;
    }
    seed[1] |= 1;
}

static void sow(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_seed);
}

/* Both halves of a product with a number that nobody knows: each bit of the key reaches each bit of the slot. */
static inline size_t slot_of(const struct hpx_seeded_map *m, uint64_t key)
{
    u128 h = (u128)(key ^ seed[0]) * seed[1];
    return (size_t)((uint64_t)h ^ (uint64_t)(h >> 64)) & (m->cap - 1);
}

void hpx_seeded_map_init(struct hpx_seeded_map *m, bool with_values)
{
    *m = (struct hpx_seeded_map){.with_values = with_values};
}

static inline size_t slot_size(const struct hpx_seeded_map *m)
{
    return m->with_values ? KEY + sizeof(uint32_t) : KEY;
}

size_t hpx_seeded_map_bytes(const struct hpx_seeded_map *m)
{
    return m->cap * slot_size(m);
}

void hpx_seeded_map_fini(struct hpx_seeded_map *m)
{
    hpx_budget_give(m->slots != NULL ? hpx_seeded_map_bytes(m) : 0);
    free(m->slots);
    m->slots = NULL;
}

void hpx_seeded_map_clear(struct hpx_seeded_map *m)
{
    hpx_seeded_map_fini(m);
    hpx_seeded_map_init(m, m->with_values);
}

static inline unsigned char *slot_at(const struct hpx_seeded_map *m, size_t i)
{
    return m->slots + i * slot_size(m);
}

static inline uint64_t key_at(const struct hpx_seeded_map *m, size_t i)
{
    uint64_t key;
    memcpy(&key, slot_at(m, i), KEY);
    return key;
}

static inline uint32_t *value_at(const struct hpx_seeded_map *m, size_t i)
{
    return (uint32_t *)(void *)(slot_at(m, i) + KEY); /* slots of 12 bytes: aligned */
}

/* The slot of the key, or the free one where it belongs. */
static inline size_t probe(const struct hpx_seeded_map *m, uint64_t key)
{
    size_t i = slot_of(m, key);
    for (uint64_t there; (there = key_at(m, i)) != 0 && there != key;) {
        i = (i + 1) & (m->cap - 1);
    }
    return i;
}

static int grow(struct hpx_seeded_map *m)
{
    struct hpx_seeded_map to = *m;
    sow();
    to.cap = m->cap == 0 ? FIRST : m->cap * 2;
    bool allowed = hpx_budget_take(hpx_seeded_map_bytes(&to));
    to.slots = allowed ? calloc(to.cap, slot_size(m)) : NULL;
    if (to.slots == NULL) {
        hpx_budget_give(allowed ? hpx_seeded_map_bytes(&to) : 0);
        return -HPX_E_NOMEM;
    }
    for (size_t i = 0; i < m->cap; i++) {
        uint64_t key = key_at(m, i);
        if (key != 0) {
            memcpy(slot_at(&to, probe(&to, key)), slot_at(m, i), slot_size(m));
        }
    }
    hpx_seeded_map_fini(m);
    *m = to;
    return 0;
}

int hpx_seeded_map_add(struct hpx_seeded_map *m, uint64_t key, uint32_t **value)
{
    if (key == 0) {
        bool was = m->has_zero;
        m->has_zero = true;
        if (value != NULL) {
            *value = &m->zero;
        }
        return was ? 0 : 1;
    }
    if (m->len >= m->cap / 4 * 3 && grow(m) != 0) {
        return -HPX_E_NOMEM;
    }
    size_t i = probe(m, key);
    bool was = key_at(m, i) == key;
    if (!was) {
        memcpy(slot_at(m, i), &key, KEY);
        m->len++;
    }
    if (value != NULL && m->with_values) {
        *value = value_at(m, i);
    }
    return was ? 0 : 1;
}

bool hpx_seeded_map_has(const struct hpx_seeded_map *m, uint64_t key)
{
    return key == 0 ? m->has_zero : m->cap > 0 && key_at(m, probe(m, key)) == key;
}

uint32_t *hpx_seeded_map_find(const struct hpx_seeded_map *m, uint64_t key)
{
    if (key == 0) {
        return m->has_zero ? (uint32_t *)(uintptr_t)&m->zero : NULL;
    }
    if (m->cap == 0) {
        return NULL;
    }
    size_t i = probe(m, key);
    return key_at(m, i) == key ? value_at(m, i) : NULL;
}
