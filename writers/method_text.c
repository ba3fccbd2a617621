/* SPDX-License-Identifier: BSD-2-Clause */
/* method_text.c: see method_text.h. */
#include "method_text.h"
#include "text.h"
#include <string.h>

#define NAMES 1000u             /* bytes of the three: what a text is made of, a byte being up to 6 */
#define LIMIT ((size_t)8 << 20) /* most bytes of cached texts; later ones are formatted every time */

static_assert(6 * NAMES + 64 <= HPX_METHOD_TEXT_MAX, "the longest text");

void hpx_method_texts_init(struct hpx_method_texts *t)
{
    memset(t, 0, sizeof(*t));
    hpx_vec_init(&t->of, sizeof(struct hpx_method_text));
    hpx_arena_init(&t->arena);
}

void hpx_method_texts_fini(struct hpx_method_texts *t)
{
    hpx_vec_fini(&t->of);
    hpx_arena_fini(&t->arena);
}

static char *put(char *to, struct hpx_text name, const char *missing)
{
    return name.len > 0 ? to + hpx_text_escape(to, name, false) : stpcpy(to, missing);
}

const struct hpx_method_text *hpx_method_text_make(struct hpx_method_texts *t, const struct hpx_method_rec *m)
{
    char text[HPX_METHOD_TEXT_MAX], *to = text, *callable;
    if (m->number == 0 || (uint64_t)m->class_name.len + m->name.len + m->source.len > NAMES || t->arena.bytes > LIMIT) {
        return NULL;
    }
    to = put(to, m->class_name, "");
    *to++ = '.';
    callable = to = put(to, m->name, HPX_UNKNOWN_METHOD);
    *to++ = '(';
    to = put(to, m->source, HPX_UNKNOWN_SOURCE);
    *to++ = ':';
    size_t n = (size_t)(to - text);
    struct hpx_method_text *of = hpx_vec_reach(&t->of, m->number);
    const char *bytes = of != NULL ? hpx_arena_copy(&t->arena, text, n) : NULL;
    if (bytes == NULL) {
        return NULL;
    }
    *of = (struct hpx_method_text){bytes, (uint32_t)n, (uint32_t)(callable - text)};
    return of;
}
