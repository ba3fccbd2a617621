/* SPDX-License-Identifier: BSD-2-Clause */
/* intern.c: slots of {number, upper 32 bits of lo, hi}. */
#include "intern.h"

#define WORDS 4

static bool same(const void *key, const uint32_t *slot)
{
    const struct hpx_hash128 *h = key;
    return slot[1] == (uint32_t)(h->lo >> 32) && slot[2] == (uint32_t)h->hi && slot[3] == (uint32_t)(h->hi >> 32);
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
    const uint32_t *slot = hpx_slots_find(&t->slots, WORDS, (uint32_t)(h.lo >> 32), same, &h);
    return slot ? slot[0] - 1 : HPX_INTERN_NONE;
}

int hpx_intern_reserve(struct hpx_intern *t)
{
    return hpx_slots_reserve(&t->slots, WORDS, NULL, NULL);
}

void hpx_intern_put(struct hpx_intern *t, struct hpx_hash128 h, uint32_t id)
{
    uint32_t *slot = hpx_slots_put(&t->slots, WORDS, (uint32_t)(h.lo >> 32), id);
    slot[2] = (uint32_t)h.hi;
    slot[3] = (uint32_t)(h.hi >> 32);
}

int hpx_intern_insert(struct hpx_intern *t, struct hpx_hash128 h, uint32_t id)
{
    int rc = hpx_intern_reserve(t);
    if (rc == 0) {
        hpx_intern_put(t, h, id);
    }
    return rc;
}
