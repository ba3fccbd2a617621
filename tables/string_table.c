/* SPDX-License-Identifier: BSD-2-Clause */
/* string_table.c: slots of {number, 32 bits of the hash}; the bytes are compared. */
#include "string_table.h"
#include "err.h"
#include "hash.h"
#include <string.h>

#define WORDS 2

struct probe {
    const struct hpx_strings *strings;
    const char *bytes;
    size_t len;
    uint32_t hash;
};

static bool same(const void *key, const uint32_t *slot)
{
    const struct probe *p = key;
    if (slot[1] != p->hash) {
        return false;
    }
    const struct hpx_string *s = hpx_strings_at(p->strings, slot[0] - 1);
    return s->len == p->len && memcmp(s->bytes, p->bytes, p->len) == 0;
}

/* The number of a new string; 0 without memory. */
static uint32_t add(struct hpx_strings *s, const char *bytes, uint32_t n)
{
    const struct hpx_string **at = hpx_vec_push(&s->all);
    if (!at) {
        return 0;
    }
    struct hpx_string *copy = hpx_arena_alloc(&s->arena, sizeof(*copy) + n + 1, _Alignof(struct hpx_string));
    if (!copy) {
        s->all.len--; /* the arena, which takes nothing back, is asked last */
        return 0;
    }
    copy->len = n;
    memcpy(copy->bytes, bytes, n);
    copy->bytes[n] = 0;
    *at = copy;
    return s->all.len - 1;
}

int hpx_strings_init(struct hpx_strings *s)
{
    *s = (struct hpx_strings){0};
    hpx_vec_init(&s->all, sizeof(struct hpx_string *));
    hpx_arena_init(&s->arena);
    (void)add(s, "", 0);
    if (s->all.len != 1 || hpx_slots_init(&s->index, WORDS, 0) != 0) {
        hpx_strings_fini(s);
        return -HPX_E_NOMEM;
    }
    return 0;
}

void hpx_strings_fini(struct hpx_strings *s)
{
    hpx_slots_fini(&s->index, WORDS);
    hpx_vec_fini(&s->all);
    hpx_arena_fini(&s->arena);
}

uint32_t hpx_strings_intern(struct hpx_strings *s, const char *bytes, size_t n)
{
    if (n == 0 || n > INT32_MAX) {
        return 0;
    }
    struct probe p = {s, bytes, n, (uint32_t)(hpx_hash128(bytes, n).lo >> 32)};
    const uint32_t *slot = hpx_slots_find(&s->index, WORDS, p.hash, same, &p);
    if (slot) {
        return slot[0] - 1;
    }
    if (hpx_slots_reserve(&s->index, WORDS, NULL, NULL) != 0) {
        return 0;
    }
    uint32_t id = add(s, bytes, (uint32_t)n);
    if (id) {
        (void)hpx_slots_put(&s->index, WORDS, p.hash, id);
    }
    return id;
}
