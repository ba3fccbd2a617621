/* SPDX-License-Identifier: BSD-2-Clause */
/* string_table.c: slots of {32 bits of the hash, number}; the bytes are compared. */
#include "string_table.h"
#include "err.h"
#include "hash.h"
#include <string.h>

#define WORDS 1

struct probe {
    const struct hpx_strings *strings;
    const char *bytes;
    size_t len;
    uint64_t tag;
};

static bool same(const void *key, const uint64_t *slot)
{
    const struct probe *p = key;
    if (*slot >> 32 != p->tag) {
        return false;
    }
    const struct hpx_string *s = hpx_strings_at(p->strings, (uint32_t)*slot);
    return s->len == p->len && memcmp(s->bytes, p->bytes, p->len) == 0;
}

int hpx_strings_init(struct hpx_strings *s)
{
    *s = (struct hpx_strings){0};
    hpx_vec_init(&s->all, sizeof(struct hpx_string));
    hpx_arena_init(&s->arena);
    struct hpx_string *none = hpx_vec_push(&s->all);
    if (!none || hpx_slots_init(&s->index, WORDS, 0) != 0) {
        hpx_strings_fini(s);
        return -HPX_E_NOMEM;
    }
    none->bytes = "";
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
    struct probe p = {s, bytes, n, hpx_hash128(bytes, n).hi >> 32};
    const uint64_t *slot = hpx_slots_find(&s->index, WORDS, p.tag << 32, same, &p);
    if (slot) {
        return (uint32_t)*slot;
    }
    if (hpx_slots_reserve(&s->index, WORDS) != 0) {
        return 0;
    }
    struct hpx_string *e = hpx_vec_push(&s->all);
    if (!e) {
        return 0;
    }
    *e = (struct hpx_string){hpx_arena_copy(&s->arena, bytes, n), (uint32_t)n};
    if (!e->bytes) {
        s->all.len--; /* last of all, so that failing calls do not fill the arena */
        return 0;
    }
    uint32_t id = s->all.len - 1;
    (void)hpx_slots_put(&s->index, WORDS, p.tag << 32 | id);
    return id;
}
