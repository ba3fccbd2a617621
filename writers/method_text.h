/* SPDX-License-Identifier: BSD-2-Clause */
/* method_text.h: methods as the text format shows them, each put together once: escapes are made and three names copied for the first frame
 * of a method, not for each. The writer's thread only. */
#ifndef HPX_METHOD_TEXT_H
#define HPX_METHOD_TEXT_H

#include "arena.h"
#include "numbered.h"
#include "snapshot.h"
#include <string.h>

struct hpx_method_text {
    const char *bytes; /* "class.method(source:", readable up to a multiple of HPX_METHOD_BLOCK; NULL: not made */
    uint32_t len;      /* at most HPX_METHOD_TEXT_MAX */
    uint32_t callable; /* of "class.method" */
};

#define HPX_METHOD_BLOCK    32u
#define HPX_METHOD_TEXT_MAX 6144u

struct hpx_method_texts { /* zero, or after init: none made */
    struct hpx_numbered of;
    struct hpx_arena arena;
};

#define HPX_UNKNOWN_METHOD "<Unknown Method>"
#define HPX_UNKNOWN_SOURCE "<Unknown Source>"

void hpx_method_texts_init(struct hpx_method_texts *t);
void hpx_method_texts_fini(struct hpx_method_texts *t); /* none made afterwards */

const struct hpx_method_text *hpx_method_text_make(struct hpx_method_texts *t, const struct hpx_method_rec *m);
/* NULL: put it together yourself: a method without a number, with long names, or no memory. Good until the next call. */
static inline const struct hpx_method_text *hpx_method_text(struct hpx_method_texts *t, const struct hpx_method_rec *m)
{
    const struct hpx_method_text *found = hpx_numbered_at(&t->of, m->number, sizeof(*found));
    return hpx_likely(found != NULL && found->bytes != NULL) ? found : hpx_method_text_make(t, m);
}

/* n bytes, by whole blocks: both sides may be read or written up to the end of the last one. Returns the place behind the n bytes. */
static inline char *hpx_method_text_copy(char *to, const char *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += HPX_METHOD_BLOCK) {
        memcpy(to + i, from + i, HPX_METHOD_BLOCK);
    }
    return to + n;
}

#endif
