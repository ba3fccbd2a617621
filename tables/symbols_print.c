/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols_print.c: texts, and the printed forms of methods and traces. */
#include "java_name.h"
#include "symbols_internal.h"
#include <string.h>

struct hpx_text hpx_next_text(const char **at, const char *end)
{
    const char *start = *at;
    size_t left = (size_t)(end - start);
    const char *zero = left ? memchr(start, 0, left) : NULL;
    *at = zero ? zero + 1 : end;
    return (struct hpx_text){start, (uint32_t)((zero ? zero : end) - start)};
}

void *hpx_symbols_scratch(struct hpx_symbols *s, size_t n)
{
    return hpx_scratch(&s->stack, n);
}

uint32_t hpx_symbols_string(struct hpx_symbols *s, struct hpx_text text)
{
    return hpx_strings_intern(&s->strings, text.bytes, text.len);
}

struct hpx_text hpx_symbols_text(const struct hpx_symbols *s, uint32_t string)
{
    const struct hpx_string *t = hpx_strings_at(&s->strings, string);
    return (struct hpx_text){t->bytes, t->len};
}

uint32_t hpx_symbols_class_name(struct hpx_symbols *s, struct hpx_text signature)
{
    char *name = hpx_scratch(&s->name, HPX_JAVA_NAME_MAX((size_t)signature.len));
    return name ? hpx_strings_intern(&s->strings, name, hpx_java_name(name, signature.bytes, signature.len)) : 0;
}

bool hpx_symbols_announces(const struct hpx_symbols *s)
{
    return s->cfg.class_event != NULL;
}

struct hpx_class_serial hpx_symbols_new_serial(struct hpx_symbols *s)
{
    return (struct hpx_class_serial){s->cfg.class_event ? HPX_SERIAL_CLASS + ++s->class_serials : 0};
}

struct hpx_class_serial hpx_symbols_unknown_class(const struct hpx_symbols *s)
{
    return (struct hpx_class_serial){s->cfg.class_event ? HPX_SERIAL_CLASS : 0};
}

struct hpx_class_serial hpx_symbols_listed_class(struct hpx_symbols *s, uint64_t method, struct hpx_class_number number)
{
    uint32_t at;
    struct hpx_class_index klass = {0};
    if (method && s->cfg.class_event) {
        klass = hpx_methods_find(&s->methods, method, &at);
    }
    if (klass.v) {
        hpx_methods_class(&s->methods, klass)->listed = true;
        return hpx_methods_class(&s->methods, klass)->serial;
    }
    return s->cfg.class_event && s->cfg.class_numbers ? hpx_serial_of_class(number) : hpx_symbols_new_serial(s);
}

/* ---- methods and traces ---- */

uint32_t hpx_symbols_method(struct hpx_symbols *s, struct hpx_class_serial serial, uint32_t class_name, uint32_t source,
                            struct hpx_text name, struct hpx_text signature)
{
    uint32_t n = hpx_symbols_string(s, name), d = hpx_symbols_string(s, signature);
    bool missing = (!n && name.len > 0) || (!d && signature.len > 0);
    return missing ? HPX_INTERN_NONE : hpx_symbolized_method(&s->symbolized, serial, class_name, n, d, source);
}

const struct hpx_method_rec *hpx_symbols_method_rec(const struct hpx_symbols *s, uint32_t method)
{
    return hpx_vec_at(&s->symbolized.methods, method);
}

uint32_t hpx_symbols_pseudo(struct hpx_symbols *s, const char *name)
{
    uint32_t c = hpx_symbols_string(s, HPX_SYMBOLS_UNKNOWN);
    const struct hpx_text n = {name, (uint32_t)strlen(name)};
    return c ? hpx_symbols_method(s, hpx_symbols_unknown_class(s), c, 0, n, (struct hpx_text){0}) : HPX_INTERN_NONE;
}

uint32_t hpx_symbols_nameless(const struct hpx_symbols *s)
{
    return s->symbolized_unnamed;
}

uint32_t hpx_symbols_trace(struct hpx_symbols *s, uint32_t thread, const struct hpx_symbolized_frame *frames, uint32_t nframes)
{
    return hpx_symbolized_trace(&s->symbolized, thread, frames, nframes);
}

struct hpx_symbolized_trace *hpx_symbols_at(const struct hpx_symbols *s, uint32_t symbolized)
{
    return hpx_symbolized_trace_at(&s->symbolized, symbolized);
}

struct hpx_symbolized_trace *hpx_symbols_of_raw(const struct hpx_symbols *s, uint32_t raw)
{
    return hpx_symbols_at(s, hpx_traces_at(&s->traces, raw)->symbolized);
}

uint32_t hpx_symbols_place(struct hpx_symbols *s, struct hpx_class_serial serial, uint32_t class_name, uint32_t source,
                           struct hpx_text name, struct hpx_text signature, uint16_t line)
{
    uint32_t method = hpx_symbols_method(s, serial, class_name, source, name, s->cfg.signatures ? signature : (struct hpx_text){0});
    struct hpx_symbolized_frame frame = {method, s->cfg.lines && line > 0 ? line : HPX_LINE_UNKNOWN};
    return method != HPX_INTERN_NONE ? hpx_symbols_trace(s, 0, &frame, 1) : HPX_INTERN_NONE;
}

/* The last entry at or below bci. */
static int32_t line_of(const struct hpx_symbols *s, const struct hpx_raw_frame *f)
{
    const struct hpx_sampled *p = hpx_methods_sampled(&s->methods, f->method);
    int32_t bci = f->bci;
    if (p->native && s->cfg.class_event) {
        return HPX_LINE_NATIVE;
    }
    if (bci < 0) {
        return HPX_LINE_UNKNOWN;
    }
    uint32_t low = 0, high = p->nlines; /* entries below `low` begin at or below bci, those from `high` on above it */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->lines[middle].bci <= bci) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && p->lines[low - 1].line > 0 ? p->lines[low - 1].line : HPX_LINE_UNKNOWN;
}

/* The symbolized method, HPX_INTERN_NONE without memory; clears *settled when a later snapshot may show another. */
static uint32_t symbolize_method(struct hpx_symbols *s, uint32_t sampled, bool *settled)
{
    struct hpx_sampled *p = hpx_methods_sampled(&s->methods, sampled);
    const struct hpx_class *c = hpx_methods_class(&s->methods, p->klass);
    if (p->state != HPX_SAMPLED_SETTLED && p->state != HPX_SAMPLED_GONE) {
        *settled = false;
    }
    if (p->symbolized == HPX_INTERN_NONE && p->name && c->name) {
        p->symbolized = hpx_symbolized_method(&s->symbolized, c->serial, c->name, p->name, p->signature, c->source);
        if (p->symbolized == HPX_INTERN_NONE) {
            return HPX_INTERN_NONE;
        }
    }
    hpx_symbols_count_missing(s, sampled);
    if (p->symbolized != HPX_INTERN_NONE) {
        return p->symbolized;
    }
    return p->state == HPX_SAMPLED_GONE || p->state == HPX_SAMPLED_GAVE_UP ? s->symbolized_unloaded : s->symbolized_unnamed;
}

/* 0: the method has a name, or stands for none. */
static uint8_t nameless(const struct hpx_symbols *s, uint32_t sampled, uint32_t symbolized)
{
    if (symbolized == s->symbolized_unnamed || symbolized == s->symbolized_unloaded) {
        const struct hpx_sampled *p = hpx_methods_sampled(&s->methods, sampled);
        bool waits = p->state == HPX_SAMPLED_ASKED || p->state == HPX_SAMPLED_GAVE_UP;
        return 1 + (p->state == HPX_SAMPLED_GONE ? HPX_NAMELESS_UNLOADED : waits ? HPX_NAMELESS_UNANSWERED : HPX_NAMELESS_UNANNOUNCED);
    }
    return 0;
}

/* false without memory. */
static bool symbolize(struct hpx_symbols *s, struct hpx_raw *raw)
{
    struct hpx_symbolized_frame *frames = hpx_scratch(&s->stack, raw->nframes * sizeof(*frames));
    bool settled = true;
    raw->nameless = 0;
    for (uint32_t i = 0; frames && i < raw->nframes; i++) {
        const struct hpx_raw_frame *f = &raw->frames[i];
        frames[i] = (struct hpx_symbolized_frame){symbolize_method(s, f->method, &settled), line_of(s, f)};
        if (frames[i].method == HPX_INTERN_NONE) {
            return false;
        }
        raw->nameless = raw->nameless != 0 ? raw->nameless : nameless(s, f->method, frames[i].method);
    }
    uint32_t symbolized = frames ? hpx_symbolized_trace(&s->symbolized, raw->thread, frames, raw->nframes) : HPX_INTERN_NONE;
    if (symbolized != HPX_INTERN_NONE) {
        raw->symbolized = symbolized;
        raw->settled = settled;
    }
    return symbolized != HPX_INTERN_NONE;
}

bool hpx_symbols_print(struct hpx_symbols *s, uint32_t raw, uint32_t *to)
{
    struct hpx_raw *r = hpx_traces_at(&s->traces, raw);
    if (!r->settled && !symbolize(s, r)) {
        return false;
    }
    *to = r->symbolized;
    return true;
}

static struct hpx_text text_of(const char *text)
{
    return text ? (struct hpx_text){text, (uint32_t)strlen(text)} : (struct hpx_text){0};
}

static uint32_t named_method(struct hpx_symbols *s, const struct hpx_named_frame *f)
{
    uint32_t klass = hpx_symbols_class_name(s, text_of(f->class_signature)), source = hpx_symbols_string(s, text_of(f->source));
    bool numbered = s->cfg.class_event && f->class_number.v != 0;
    struct hpx_class_serial serial = numbered ? hpx_serial_of_class(f->class_number) : (struct hpx_class_serial){0};
    return klass ? hpx_symbols_method(s, serial, klass, source, text_of(f->name), text_of(s->cfg.signatures ? f->signature : NULL))
                 : HPX_INTERN_NONE;
}

const struct hpx_trace_rec *hpx_symbols_named_trace(struct hpx_symbols *s, const struct hpx_named_frame *named, uint32_t n)
{
    n = n < HPX_TRACE_FRAMES ? n : HPX_TRACE_FRAMES;
    struct hpx_symbolized_frame *frames = hpx_scratch(&s->stack, ((size_t)n + 1) * sizeof(*frames));
    for (uint32_t i = 0; frames && i < n; i++) {
        int32_t line = named[i].line > 0 && !s->cfg.lines ? HPX_LINE_UNKNOWN : named[i].line;
        frames[i] = (struct hpx_symbolized_frame){named_method(s, &named[i]), line};
        if (frames[i].method == HPX_INTERN_NONE) {
            return NULL;
        }
    }
    uint32_t trace = frames ? hpx_symbolized_trace(&s->symbolized, 0, frames, n) : HPX_INTERN_NONE;
    return trace != HPX_INTERN_NONE ? hpx_symbols_rec(s, trace) : NULL;
}
