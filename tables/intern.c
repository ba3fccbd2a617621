/* SPDX-License-Identifier: BSD-2-Clause */
/* intern.c: slots of {lo, upper 32 bits of hi and the number}. */
#include "intern.h"

#define WORDS 2

static uint64_t word0(struct hpx_hash128 h)
{
    return h.lo ? h.lo : 1; /* 0 marks an empty slot */
}

static bool same(const void *key, const uint64_t *slot)
{
    const struct hpx_hash128 *h = key;
    return slot[0] == word0(*h) && slot[1] >> 32 == h->hi >> 32;
}

int hpx_intern_init(struct hpx_intern *t, uint32_t expected)
{
    return hpx_slots_init(&t->slots, WORDS, expected);
}

void hpx_intern_fini(struct hpx_intern *t)
{
    hpx_slots_fini(&t->slots, WORDS);
}

uint32_t hpx_intern_find(const struct hpx_intern *t, struct hpx_hash128 h)
{
    const uint64_t *slot = hpx_slots_find(&t->slots, WORDS, word0(h), same, &h);
    return slot ? (uint32_t)slot[1] : HPX_INTERN_NONE;
}

int hpx_intern_reserve(struct hpx_intern *t)
{
    return hpx_slots_reserve(&t->slots, WORDS);
}

void hpx_intern_put(struct hpx_intern *t, struct hpx_hash128 h, uint32_t id)
{
    hpx_slots_put(&t->slots, WORDS, word0(h))[1] = (h.hi >> 32 << 32) | id;
}

int hpx_intern_insert(struct hpx_intern *t, struct hpx_hash128 h, uint32_t id)
{
    int rc = hpx_intern_reserve(t);
    if (rc == 0) {
        hpx_intern_put(t, h, id);
    }
    return rc;
}
