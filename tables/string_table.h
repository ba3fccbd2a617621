/* SPDX-License-Identifier: BSD-2-Clause */
/* string_table.h: each distinct byte string once, numbered densely from 1; 0 is "none". Bytes as the JVM gives them (modified UTF-8):
 * the writers turn them into what their format wants. Owner: the aggregator; a snapshot's reader may look up numbers it was handed. */
#ifndef HPX_STRING_TABLE_H
#define HPX_STRING_TABLE_H

#include "arena.h"
#include "intern.h"
#include "vec.h"

struct hpx_string {
    const char *bytes; /* terminated by a 0 that `len` does not count */
    uint32_t len;
};

struct hpx_strings {
    struct hpx_intern index;
    struct hpx_vec all; /* struct hpx_string; element 0 is "" */
    struct hpx_arena arena;
};

int hpx_strings_init(struct hpx_strings *s); /* 0, -HPX_E_NOMEM */
void hpx_strings_fini(struct hpx_strings *s);
/* The number of these bytes; 0 for n == 0, and for want of memory (the caller counts). */
uint32_t hpx_strings_intern(struct hpx_strings *s, const char *bytes, size_t n);
static inline const struct hpx_string *hpx_strings_at(const struct hpx_strings *s, uint32_t id)
{
    return (const struct hpx_string *)hpx_vec_at(&s->all, id);
}

#endif
