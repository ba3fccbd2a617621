/* SPDX-License-Identifier: BSD-2-Clause */
/* idmap.c: the hash map of ids and serials. */
#include "idmap.h"
#include "err.h"
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST 64

static uint64_t seed(void)
{
    static uint64_t value;
    if (value == 0 && getrandom(&value, sizeof(value), GRND_NONBLOCK) != (ssize_t)sizeof(value)) {
        value = (uint64_t)(uintptr_t)&value;
    }
    value |= 1;
    return value;
}

/* The finaliser of MurmurHash3: each bit of the key reaches each bit of the slot. */
static size_t slot_of(const struct hpx_idmap *m, uint64_t key)
{
    uint64_t h = key ^ seed();
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return (size_t)(h ^ (h >> 33)) & (m->cap - 1);
}

void hpx_idmap_init(struct hpx_idmap *m, bool with_values)
{
    *m = (struct hpx_idmap){.with_values = with_values};
}

void hpx_idmap_fini(struct hpx_idmap *m)
{
    free(m->keys);
    free(m->values);
    m->keys = NULL;
    m->values = NULL;
}

void hpx_idmap_clear(struct hpx_idmap *m)
{
    hpx_idmap_fini(m);
    hpx_idmap_init(m, m->with_values);
}

/* The slot of the key, or the free one where it belongs. */
static size_t probe(const struct hpx_idmap *m, uint64_t key)
{
    size_t i = slot_of(m, key);
    while (m->keys[i] != 0 && m->keys[i] != key) {
        i = (i + 1) & (m->cap - 1);
    }
    return i;
}

static int grow(struct hpx_idmap *m)
{
    struct hpx_idmap to = *m;
    to.cap = m->cap == 0 ? FIRST : m->cap * 2;
    to.keys = calloc(to.cap, sizeof(*to.keys));
    to.values = m->with_values ? calloc(to.cap, sizeof(*to.values)) : NULL;
    if (to.keys == NULL || (m->with_values && to.values == NULL)) {
        hpx_idmap_fini(&to);
        return -HPX_E_NOMEM;
    }
    for (size_t i = 0; i < m->cap; i++) {
        if (m->keys[i] != 0) {
            size_t j = probe(&to, m->keys[i]);
            to.keys[j] = m->keys[i];
            if (m->with_values) {
                to.values[j] = m->values[i];
            }
        }
    }
    hpx_idmap_fini(m);
    *m = to;
    return 0;
}

int hpx_idmap_add(struct hpx_idmap *m, uint64_t key, uint32_t **value)
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
    bool was = m->keys[i] == key;
    m->keys[i] = key;
    m->len += !was;
    if (value != NULL && m->with_values) {
        *value = &m->values[i];
    }
    return was ? 0 : 1;
}

bool hpx_idmap_has(const struct hpx_idmap *m, uint64_t key)
{
    return key == 0 ? m->has_zero : m->cap > 0 && m->keys[probe(m, key)] == key;
}

uint32_t *hpx_idmap_find(const struct hpx_idmap *m, uint64_t key)
{
    if (key == 0) {
        return m->has_zero ? (uint32_t *)(uintptr_t)&m->zero : NULL;
    }
    if (m->cap == 0) {
        return NULL;
    }
    size_t i = probe(m, key);
    return m->keys[i] == key ? &m->values[i] : NULL;
}
