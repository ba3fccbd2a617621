/* SPDX-License-Identifier: BSD-2-Clause */
/* string_table.h: every distinct byte string once, numbered densely from 1; 0 is "none". Bytes as from the JVM (modified UTF-8); the
 * writers convert them. Bytes are compared, not only hashes. Owner: the aggregator. The bytes never move or change, so a snapshot's
 * reader may keep pointers to them; it does not use the table itself. */
#ifndef HPX_STRING_TABLE_H
#define HPX_STRING_TABLE_H

#include "arena.h"
#include "slots.h"
#include "vec.h"

struct hpx_string {
    uint32_t len;
    char bytes[]; /* terminated by a 0 that `len` does not count */
};

struct hpx_strings {
    struct hpx_slots index;
    struct hpx_vec all; /* const struct hpx_string *; element 0 is "" */
    struct hpx_arena arena;
};

int hpx_strings_init(struct hpx_strings *s); /* 0, -HPX_E_NOMEM */
void hpx_strings_fini(struct hpx_strings *s);
/* The number of these bytes; 0 for n == 0, or without memory (which the caller counts). */
uint32_t hpx_strings_intern(struct hpx_strings *s, const char *bytes, size_t n);
static inline const struct hpx_string *hpx_strings_at(const struct hpx_strings *s, uint32_t id)
{
    return *(const struct hpx_string *const *)hpx_vec_at(&s->all, id);
}
static inline size_t hpx_strings_bytes(const struct hpx_strings *s)
{
    return s->index.bytes + s->all.bytes + s->arena.bytes;
}

#endif
