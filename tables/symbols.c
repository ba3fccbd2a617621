/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols.c: life of the symbols, their messages, raw traces. */
#include "site_ids.h"
#include "symbols_internal.h"
#include <stdlib.h>
#include <string.h>

static const char *const unknown_names[] = {
#define HPX_UNKNOWN_NAME(sym, name) name,
    HPX_UNKNOWNS(HPX_UNKNOWN_NAME)
#undef HPX_UNKNOWN_NAME
};

void *hpx_scratch(struct hpx_scratch *of, size_t n)
{
    if (of->size < n || !of->at) {
        size_t size = of->size ? of->size : 4096;
        while (size < n) {
            size *= 2;
        }
        void *p = malloc(size);
        if (!p) {
            return NULL;
        }
        free(of->at);
        of->at = p;
        of->size = size;
    }
    return of->at;
}

/* Made at the start, so that a loss can be shown when memory is short. */
static bool make_pseudos(struct hpx_symbols *s)
{
    s->symbolized_unnamed = hpx_symbols_pseudo(s, "method");
    s->symbolized_unloaded = hpx_symbols_pseudo(s, "unloaded_class");
    if (s->symbolized_unloaded == HPX_INTERN_NONE) {
        return false;
    }
    for (uint32_t i = 0; i <= HPX_PSEUDO_METHOD; i++) {
        uint32_t symbolized = i < HPX_UNKNOWN_COUNT ? hpx_symbols_pseudo(s, unknown_names[i]) : s->symbolized_unnamed;
        struct hpx_sampled *p = symbolized != HPX_INTERN_NONE ? hpx_methods_pseudo(&s->methods) : NULL;
        if (!p) {
            return false;
        }
        p->symbolized = i != HPX_UNKNOWN_TRUNCATED ? symbolized : HPX_INTERN_NONE;
    }
    return hpx_methods_pseudo(&s->methods) != NULL; /* HPX_PSEUDO_STALLED */
}

struct hpx_symbols *hpx_symbols_create(const struct hpx_symbols_config *cfg)
{
    struct hpx_symbols *s = calloc(1, sizeof(*s));
    if (!s) {
        return NULL;
    }
    s->cfg = *cfg;
    s->class_serials = cfg->class_numbers ? HPX_SITE_MOST : 0; /* new serials are then above those of numbers */
    hpx_symbols_sweep_init(s);
    hpx_arena_init(&s->lines);
    hpx_vec_init(&s->libraries, sizeof(struct hpx_library_class));
    if (hpx_strings_init(&s->strings) != 0 || hpx_methods_init(&s->methods) != 0 || hpx_traces_init(&s->traces) != 0 ||
        hpx_symbolized_init(&s->symbolized, &s->strings) != 0 || !make_pseudos(s) ||
        (cfg->class_event && hpx_symbolized_number_frames(&s->symbolized) != 0)) {
        hpx_symbols_destroy(s);
        return NULL;
    }
    return s;
}

void hpx_symbols_destroy(struct hpx_symbols *s)
{
    if (!s) {
        return;
    }
    hpx_strings_fini(&s->strings);
    hpx_methods_fini(&s->methods);
    hpx_traces_fini(&s->traces);
    hpx_symbolized_fini(&s->symbolized);
    hpx_arena_fini(&s->lines);
    hpx_vec_fini(&s->libraries);
    free(s->sweep.back);
    free(s->stack.at);
    free(s->name.at);
    free(s);
}

bool hpx_symbols_message(struct hpx_symbols *s, struct hpx_msg *msg)
{
    switch (msg->kind) {
    case HPX_MSG_CLASS:
        hpx_symbols_class(s, (struct hpx_msg_class *)(void *)msg);
        return true;
    case HPX_MSG_SWEPT:
        hpx_symbols_swept(s, (struct hpx_msg_sweep *)(void *)msg);
        return true;
    case HPX_MSG_RESOLVED:
        hpx_symbols_resolved(s, (const struct hpx_msg_resolved *)(const void *)msg);
        break;
    case HPX_MSG_LOOK:
        hpx_symbols_looked(s, (const struct hpx_msg_look *)(const void *)msg);
        break;
    case HPX_MSG_RESOLVE:
        hpx_symbols_refused(s, (const struct hpx_msg_resolve *)(const void *)msg);
        break;
    default:
        return false;
    }
    free(msg);
    return true;
}

bool hpx_symbols_replay(struct hpx_symbols *s)
{
    bool announced = true;
    for (uint32_t i = 1; s->cfg.class_event && i < s->methods.classes.len; i++) {
        if (hpx_methods_class(&s->methods, (struct hpx_class_index){i})->said) {
            announced = hpx_symbols_announce_class(s, (struct hpx_class_index){i}, false) && announced;
        }
    }
    return announced;
}

/* ---- raw traces ---- */

uint32_t hpx_symbols_thread(const struct hpx_symbols *s, uint32_t serial)
{
    return s->cfg.thread_in_traces ? serial : 0;
}

bool hpx_symbols_same_frames(const struct hpx_symbols *s, const struct hpx_raw *raw, const struct hpx_ev_frame *frames, uint32_t nframes)
{
    bool same = raw->nframes == nframes;
    for (uint32_t i = 0; same && i < nframes; i++) {
        const struct hpx_raw_frame *f = &raw->frames[i];
        uint64_t id = f->method < HPX_UNKNOWN_COUNT ? HPX_EV_METHOD_OF(f->method) : hpx_methods_id(&s->methods, f->method);
        same = id == frames[i].method && f->bci == frames[i].bci;
    }
    return same;
}

/* The hash under which a stack is kept: that of its frames, and what else makes stacks different. */
static struct hpx_hash128 raw_key(const struct hpx_symbols *s, uint64_t lo, uint64_t hi, uint32_t thread)
{
    if (!thread && !s->methods.generation) {
        return (struct hpx_hash128){lo, hi};
    }
    uint64_t key[4] = {lo, hi, thread, s->methods.generation};
    return hpx_hash128(key, sizeof(key));
}

uint32_t hpx_symbols_stack(struct hpx_symbols *s, const struct hpx_ev_hash *hash, const struct hpx_ev_frame *frames, uint32_t nframes,
                           uint32_t thread)
{
    struct hpx_hash128 h = raw_key(s, hash->lo, hash->hi, thread);
    uint32_t raw = hpx_traces_find(&s->traces, h);
    if (raw != HPX_INTERN_NONE) {
        assert(hpx_symbols_same_frames(s, hpx_traces_at(&s->traces, raw), frames, nframes));
        return raw;
    }
    struct hpx_raw_frame *to = hpx_scratch(&s->stack, nframes * sizeof(*to));
    if (!to) {
        return HPX_INTERN_NONE;
    }
    for (uint32_t i = 0; i < nframes; i++) {
        to[i] = (struct hpx_raw_frame){hpx_symbols_sampled(s, frames[i].method), frames[i].bci};
        if (to[i].method == HPX_INTERN_NONE) {
            return HPX_INTERN_NONE;
        }
    }
    return hpx_traces_add(&s->traces, h, to, nframes, thread);
}

static uint32_t one_pseudo(struct hpx_symbols *s, uint32_t sampled, uint32_t thread)
{
    const struct hpx_raw_frame frame = {sampled, -1};
    const uint64_t key[3] = {HPX_EV_SAMPLE_UNKNOWN, sampled, thread}; /* 24 bytes: no stack is hashed over as many */
    struct hpx_hash128 h = hpx_hash128(key, sizeof(key));
    uint32_t raw = hpx_traces_find(&s->traces, h);
    return raw != HPX_INTERN_NONE ? raw : hpx_traces_add(&s->traces, h, &frame, 1, thread);
}

uint32_t hpx_symbols_no_stack(struct hpx_symbols *s, enum hpx_unknown why, uint32_t thread)
{
    if (why == HPX_UNKNOWN_TRUNCATED && !hpx_symbols_own(s, HPX_UNKNOWN_TRUNCATED)) {
        return HPX_INTERN_NONE;
    }
    return one_pseudo(s, (uint32_t)why < HPX_UNKNOWN_COUNT ? why : HPX_UNKNOWN_OTHER, thread);
}

/* Its class is not hprofx.unknown, whose rows are samples that lack their stack. */
bool hpx_symbols_own(struct hpx_symbols *s, uint32_t pseudo)
{
    struct hpx_sampled *p = hpx_methods_sampled(&s->methods, pseudo);
    if (p->symbolized == HPX_INTERN_NONE) {
        const struct hpx_text name = pseudo == HPX_PSEUDO_STALLED ? (struct hpx_text){"stalled", 7} : (struct hpx_text){"truncated", 9};
        uint32_t c = hpx_symbols_string(s, (struct hpx_text){"hprofx", 6});
        s->own_class = s->own_class.v != 0 ? s->own_class : hpx_symbols_new_serial(s);
        p->symbolized = c ? hpx_symbols_method(s, s->own_class, c, 0, name, (struct hpx_text){0}) : HPX_INTERN_NONE;
    }
    return p->symbolized != HPX_INTERN_NONE;
}

uint32_t hpx_symbols_stalled(struct hpx_symbols *s, uint32_t thread)
{
    return hpx_symbols_own(s, HPX_PSEUDO_STALLED) ? one_pseudo(s, HPX_PSEUDO_STALLED, thread) : HPX_INTERN_NONE;
}

bool hpx_symbols_is_unknown(const struct hpx_symbols *s, uint32_t raw)
{
    const struct hpx_raw *r = hpx_traces_at(&s->traces, raw);
    return r->nframes == 1 && r->frames[0].method < HPX_UNKNOWN_COUNT && r->frames[0].method != HPX_UNKNOWN_NO_JAVA;
}

uint32_t hpx_symbols_lacks_name(const struct hpx_symbols *s, uint32_t raw)
{
    return hpx_traces_at(&s->traces, raw)->nameless;
}

uint32_t hpx_symbols_raws(const struct hpx_symbols *s)
{
    return s->traces.raws.len;
}

/* ---- figures ---- */

uint32_t hpx_symbols_unresolved(const struct hpx_symbols *s)
{
    return s->unresolved + (s->sweep.wanted || s->sweep.awaited);
}

uint32_t hpx_symbols_classes(const struct hpx_symbols *s)
{
    return s->methods.live;
}

size_t hpx_symbols_trace_bytes(const struct hpx_symbols *s)
{
    return hpx_strings_bytes(&s->strings) + s->methods.sampled.bytes + hpx_id_map_bytes(&s->methods.ids) + hpx_traces_bytes(&s->traces) +
           hpx_symbolized_bytes(&s->symbolized) + s->lines.bytes;
}

size_t hpx_symbols_bytes(const struct hpx_symbols *s)
{
    return sizeof(*s) + hpx_symbols_trace_bytes(s) + hpx_methods_announced_bytes(&s->methods) + s->stack.size + s->name.size;
}
