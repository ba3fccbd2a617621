/* SPDX-License-Identifier: BSD-2-Clause */
/* symbolized_table.c: see symbolized_table.h. */
#include "symbolized_table.h"
#include "err.h"

int hpx_symbolized_init(struct hpx_symbolized *s, const struct hpx_strings *strings)
{
    *s = (struct hpx_symbolized){.strings = strings};
    hpx_vec_init(&s->methods, sizeof(struct hpx_method_rec));
    hpx_vec_init(&s->traces, sizeof(struct hpx_symbolized_trace));
    hpx_arena_init(&s->arena);
    struct hpx_trace_rec *empty = hpx_arena_alloc(&s->arena, sizeof(*empty), _Alignof(struct hpx_trace_rec));
    struct hpx_symbolized_trace *first = hpx_vec_push(&s->traces);
    if (!empty || !first || hpx_intern_init(&s->method_index, 0) != 0 || hpx_intern_init(&s->trace_index, 0) != 0) {
        hpx_symbolized_fini(s);
        return -HPX_E_NOMEM;
    }
    *empty = (struct hpx_trace_rec){.serial = HPX_SERIAL_TRACE};
    first->rec = empty;
    return 0;
}

void hpx_symbolized_fini(struct hpx_symbolized *s)
{
    hpx_intern_fini(&s->method_index);
    hpx_intern_fini(&s->trace_index);
    hpx_vec_fini(&s->methods);
    hpx_vec_fini(&s->traces);
    hpx_arena_fini(&s->arena);
    if (s->numbered) {
        hpx_id_map_fini(&s->frames);
    }
}

int hpx_symbolized_number_frames(struct hpx_symbolized *s)
{
    s->numbered = hpx_id_map_init(&s->frames) == 0;
    return s->numbered ? 0 : -HPX_E_NOMEM;
}

static struct hpx_text text_of(const struct hpx_symbolized *s, uint32_t string)
{
    const struct hpx_string *e = hpx_strings_at(s->strings, string);
    return (struct hpx_text){e->bytes, e->len};
}

uint32_t hpx_symbolized_method(struct hpx_symbolized *s, struct hpx_class_serial klass, uint32_t class_name, uint32_t name,
                               uint32_t signature, uint32_t source)
{
    uint32_t key[5] = {class_name, name, signature, source, klass.v};
    struct hpx_hash128 h = hpx_hash128(key, sizeof(key));
    uint32_t found = hpx_intern_find(&s->method_index, h);
    if (found != HPX_INTERN_NONE) {
        return found;
    }
    if (hpx_intern_reserve(&s->method_index) != 0) {
        return HPX_INTERN_NONE;
    }
    struct hpx_method_rec *r = hpx_vec_push(&s->methods);
    if (!r) {
        return HPX_INTERN_NONE;
    }
    *r =
        (struct hpx_method_rec){text_of(s, class_name), text_of(s, name), text_of(s, signature), text_of(s, source), klass, s->methods.len};
    hpx_intern_put(&s->method_index, h, s->methods.len - 1);
    return s->methods.len - 1;
}

static const struct hpx_method_rec *method_at(const struct hpx_symbolized *s, uint32_t method)
{
    return hpx_vec_at(&s->methods, method);
}

static uint32_t number_of(struct hpx_symbolized *s, const struct hpx_symbolized_frame *f)
{
    if (!s->numbered) {
        return 0;
    }
    uint64_t key = (uint64_t)f->method << 32 | (uint32_t)f->line;
    uint32_t n = hpx_id_map_find(&s->frames, key);
    n = n != HPX_INTERN_NONE ? n : hpx_id_map_bind(&s->frames, key);
    return n + 1; /* HPX_INTERN_NONE + 1 is 0 */
}

#ifndef NDEBUG
static bool same_trace(const struct hpx_symbolized *s, uint32_t trace, uint32_t thread, const struct hpx_symbolized_frame *frames,
                       uint32_t nframes)
{
    const struct hpx_trace_rec *r = hpx_symbolized_trace_at(s, trace)->rec;
    bool same = r->thread == thread && r->nframes == nframes;
    for (uint32_t i = 0; same && i < nframes; i++) {
        same = r->frames[i].method == method_at(s, frames[i].method) && r->frames[i].line == frames[i].line;
    }
    return same;
}
#endif

uint32_t hpx_symbolized_trace(struct hpx_symbolized *s, uint32_t thread, const struct hpx_symbolized_frame *frames, uint32_t nframes)
{
    if (nframes == 0 && thread == 0) {
        return 0;
    }
    struct hpx_hash128 h = hpx_hash128(frames, nframes * sizeof(*frames));
    if (thread) {
        uint64_t key[3] = {h.lo, h.hi, thread};
        h = hpx_hash128(key, sizeof(key));
    }
    uint32_t found = hpx_intern_find(&s->trace_index, h);
    if (found != HPX_INTERN_NONE) {
        assert(same_trace(s, found, thread, frames, nframes));
        return found;
    }
    struct hpx_symbolized_trace *e = hpx_intern_reserve(&s->trace_index) == 0 ? hpx_vec_push(&s->traces) : NULL;
    if (!e) {
        return HPX_INTERN_NONE;
    }
    struct hpx_trace_rec *r =
        hpx_arena_alloc(&s->arena, sizeof(*r) + (size_t)nframes * sizeof(r->frames[0]), _Alignof(struct hpx_trace_rec));
    if (!r) {
        s->traces.len--;
        return HPX_INTERN_NONE;
    }
    uint32_t number = s->traces.len - 1;
    r->serial = HPX_SERIAL_TRACE + number;
    r->thread = thread;
    r->nframes = nframes;
    for (uint32_t i = 0; i < nframes; i++) {
        r->frames[i] = (struct hpx_frame_rec){method_at(s, frames[i].method), frames[i].line, number_of(s, &frames[i])};
    }
    *e = (struct hpx_symbolized_trace){r, 0};
    hpx_intern_put(&s->trace_index, h, number);
    return number;
}

size_t hpx_symbolized_bytes(const struct hpx_symbolized *s)
{
    return hpx_intern_bytes(&s->method_index) + hpx_intern_bytes(&s->trace_index) + s->methods.bytes + s->traces.bytes + s->arena.bytes +
           (s->numbered ? hpx_id_map_bytes(&s->frames) : 0);
}
