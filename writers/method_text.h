/* SPDX-License-Identifier: BSD-2-Clause */
/* method_text.h: cache of methods as the text format prints them, so that escaping and copying three names happens once per method, not
 * once per frame. The writer's thread only. */
#ifndef HPX_METHOD_TEXT_H
#define HPX_METHOD_TEXT_H

#include "arena.h"
#include "snapshot.h"
#include "vec.h"

struct hpx_method_text {
    const char *bytes; /* "class.method(source:"; NULL: not made */
    uint32_t len;      /* at most HPX_METHOD_TEXT_MAX */
    uint32_t callable; /* of "class.method" */
};

#define HPX_METHOD_TEXT_MAX 6144u

struct hpx_method_texts {
    struct hpx_vec of; /* struct hpx_method_text, by the method's number */
    struct hpx_arena arena;
};

#define HPX_UNKNOWN_METHOD "<Unknown Method>"
#define HPX_UNKNOWN_SOURCE "<Unknown Source>"

void hpx_method_texts_init(struct hpx_method_texts *t);
void hpx_method_texts_fini(struct hpx_method_texts *t); /* none made afterwards */

const struct hpx_method_text *hpx_method_text_make(struct hpx_method_texts *t, const struct hpx_method_rec *m);
/* NULL: not cached (a method without a number or with long names, or no memory); format it directly. Valid until the next call. */
static inline const struct hpx_method_text *hpx_method_text(struct hpx_method_texts *t, const struct hpx_method_rec *m)
{
    const struct hpx_method_text *found = hpx_vec_find(&t->of, m->number);
    return hpx_likely(found != NULL && found->bytes != NULL) ? found : hpx_method_text_make(t, m);
}

#endif
