/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols_names.c: names of classes and methods: announcements, requests and answers. */
#include "java_name.h"
#include "symbols_internal.h"
#include <stdlib.h>
#include <string.h>

static bool is_c(const struct hpx_symbols *s, uint32_t sampled)
{
    return sampled >= s->methods.npseudo && hpx_ev_is_c(hpx_methods_id(&s->methods, sampled));
}

static bool is_named(const struct hpx_symbols *s, const struct hpx_sampled *p)
{
    return p->name && hpx_methods_class(&s->methods, p->klass)->name;
}

/* Requests the missing names and lines of a method, or marks it as settled if nothing is missing. */
static void ask(struct hpx_symbols *s, uint32_t sampled)
{
    struct hpx_sampled *p = hpx_methods_sampled(&s->methods, sampled);
    const bool c = is_c(s, sampled);
    if (p->klass.v == 0 && !c) {
        p->state = HPX_SAMPLED_NO_CLASS;
        return;
    }
    bool want_name = c || !is_named(s, p), want_lines = s->cfg.lines || s->cfg.class_event; /* the answer also tells whether it is native */
    if (!want_name && !want_lines) {
        p->state = HPX_SAMPLED_SETTLED;
        return;
    }
    const struct hpx_msg_class *said = hpx_methods_class(&s->methods, p->klass)->said;
    uint64_t ref = said ? said->ref : 0;
    struct hpx_msg_resolve *r = (ref || c) && s->cfg.request ? hpx_msg_new(HPX_MSG_RESOLVE, sizeof(*r)) : NULL;
    if (!r) {
        p->state = HPX_SAMPLED_GONE;
        return;
    }
    r->method = sampled;
    r->want_name = want_name;
    r->want_lines = want_lines;
    r->ref = ref;
    r->id = hpx_methods_id(&s->methods, sampled);
    p->state = HPX_SAMPLED_ASKED;
    s->unresolved++;
    s->cfg.request(s->cfg.ctx, &r->m);
}

/* Takes the names of the class and of its method number `method` from the announcement. Names that are not there, or for which there is no
 * memory, are requested. */
static void take_said(struct hpx_symbols *s, struct hpx_sampled *p, uint32_t method)
{
    struct hpx_class *c = hpx_methods_class(&s->methods, p->klass);
    if (!c->said->named) {
        return;
    }
    const char *at = c->said->text, *end = at + c->said->text_len;
    struct hpx_text class_signature = hpx_next_text(&at, end), source = hpx_next_text(&at, end);
    if (!c->name) {
        c->name = hpx_symbols_class_name(s, class_signature);
        c->source = hpx_symbols_string(s, source);
    }
    for (uint32_t i = 0; i < 2 * method; i++) {
        (void)hpx_next_text(&at, end);
    }
    p->name = hpx_symbols_string(s, hpx_next_text(&at, end));
    struct hpx_text signature = hpx_next_text(&at, end);
    p->signature = s->cfg.signatures ? hpx_symbols_string(s, signature) : 0;
}

uint32_t hpx_symbols_sampled(struct hpx_symbols *s, uint64_t id)
{
    if (id == 0) {
        s->look.wanted = true;
        return HPX_PSEUDO_METHOD;
    }
    if (id == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED)) {
        return hpx_symbols_own(s, HPX_UNKNOWN_TRUNCATED) ? HPX_UNKNOWN_TRUNCATED : HPX_INTERN_NONE;
    }
    if (id > HPX_EV_METHOD_OF(HPX_UNKNOWN_COUNT)) {
        return (uint32_t)(UINT64_MAX - id); /* HPX_EV_METHOD_OF(cause): the first sampled records stand for the causes */
    }
    uint32_t sampled = hpx_methods_sampled_find(&s->methods, id);
    if (sampled != HPX_INTERN_NONE) {
        return sampled;
    }
    uint32_t at;
    struct hpx_class_index klass = hpx_methods_find(&s->methods, id, &at);
    sampled = hpx_methods_sample(&s->methods, id, klass);
    if (sampled == HPX_INTERN_NONE) {
        return sampled;
    }
    if (klass.v) {
        take_said(s, hpx_methods_sampled(&s->methods, sampled), at);
    }
    s->look.wanted |= klass.v == 0 && !hpx_ev_is_c(id);
    ask(s, sampled);
    return sampled;
}

/* A class announces an id that was sampled before. The method was unknown, or the id now means another method. */
static void announce_sampled(struct hpx_symbols *s, uint32_t sampled, struct hpx_class_index klass, uint32_t at)
{
    if (hpx_methods_sampled(&s->methods, sampled)->klass.v) {
        hpx_methods_stale(&s->methods, sampled);
        return;
    }
    hpx_methods_adopt(&s->methods, sampled, klass);
    take_said(s, hpx_methods_sampled(&s->methods, sampled), at);
    ask(s, sampled);
}

bool hpx_symbols_announce_class(struct hpx_symbols *s, struct hpx_class_index klass, bool unloaded)
{
    struct hpx_class *c = hpx_methods_class(&s->methods, klass);
    struct hpx_class_rec rec = {.serial = c->serial, .in_traces = unloaded && c->nsampled > 0};
    if (!unloaded) {
        const char *at = c->said->text;
        struct hpx_text signature = hpx_next_text(&at, at + c->said->text_len);
        char *name = c->said->named ? hpx_scratch(&s->name, HPX_JAVA_NAME_MAX((size_t)signature.len)) : NULL;
        if (!name) {
            return true; /* the writer announces the class when a frame names it */
        }
        rec.name = (struct hpx_text){name, (uint32_t)hpx_java_name(name, signature.bytes, signature.len)};
    }
    return s->cfg.class_event(s->cfg.ctx, &rec, unloaded);
}

void hpx_symbols_class(struct hpx_symbols *s, struct hpx_msg_class *msg)
{
    if (msg->looked_for && hpx_symbols_look_drops(s, msg)) {
        return;
    }
    bool kept = msg->nmethods || s->cfg.class_event;
    struct hpx_class_index klass = kept ? hpx_methods_new_class(&s->methods, msg) : (struct hpx_class_index){0};
    bool complete = klass.v || !msg->nmethods;
    if (klass.v) {
        hpx_methods_class(&s->methods, klass)->look = s->look.made;
    }
    if (klass.v && s->cfg.class_event) {
        bool numbered = s->cfg.class_numbers && msg->number.v != 0;
        hpx_methods_class(&s->methods, klass)->serial = numbered ? hpx_serial_of_class(msg->number) : hpx_symbols_new_serial(s);
        (void)hpx_symbols_announce_class(s, klass, false);
    }
    for (uint32_t i = 0; klass.v && i < msg->nmethods; i++) {
        if (msg->ids[i] == 0) {
            continue;
        }
        complete = hpx_methods_announce(&s->methods, klass, msg->ids[i]) && complete;
        uint32_t sampled = hpx_methods_sampled_find(&s->methods, msg->ids[i]);
        if (sampled != HPX_INTERN_NONE && hpx_methods_sampled(&s->methods, sampled)->klass.v != klass.v) {
            announce_sampled(s, sampled, klass, i);
        }
    }
    if (!complete) {
        hpx_count(s->cfg.counters, HPX_C_CLASSES_UNNAMED, 1);
    }
    if (!klass.v) {
        free(msg);
    }
}

/* false without memory. */
static bool take_lines(struct hpx_symbols *s, struct hpx_sampled *p, const struct hpx_msg_resolved *msg)
{
    if (!s->cfg.lines || msg->nlines == 0 || p->nlines > 0) {
        return true;
    }
    struct hpx_line *lines = hpx_arena_alloc(&s->lines, msg->nlines * sizeof(*lines), _Alignof(struct hpx_line));
    if (!lines) {
        return false;
    }
    memcpy(lines, msg->lines, msg->nlines * sizeof(*lines));
    p->lines = lines;
    p->nlines = msg->nlines;
    return true;
}

static void take_names(struct hpx_symbols *s, struct hpx_sampled *p, const struct hpx_msg_resolved *msg)
{
    const char *at = msg->text, *end = at + msg->text_len;
    struct hpx_class *c = hpx_methods_class(&s->methods, p->klass);
    struct hpx_text class_signature = hpx_next_text(&at, end), source = hpx_next_text(&at, end);
    struct hpx_text name = hpx_next_text(&at, end), signature = hpx_next_text(&at, end);
    if (!c->name) {
        c->name = hpx_symbols_class_name(s, class_signature);
        c->source = hpx_symbols_string(s, source);
    }
    if (!p->name) {
        p->name = hpx_symbols_string(s, name);
        p->signature = s->cfg.signatures ? hpx_symbols_string(s, signature) : 0;
    }
}

/* The class of functions of this library, which has one serial in an output. NULL without memory. */
static const struct hpx_library_class *library_class(struct hpx_symbols *s, struct hpx_text text)
{
    const uint32_t name = hpx_symbols_string(s, text);
    for (uint32_t i = 0; i < s->libraries.len; i++) {
        const struct hpx_library_class *l = hpx_vec_at(&s->libraries, i);
        if (l->name == name) {
            return l;
        }
    }
    struct hpx_library_class *l = name ? hpx_vec_push(&s->libraries) : NULL;
    if (l) {
        *l = (struct hpx_library_class){name, hpx_symbols_new_serial(s)};
    }
    return l;
}

static void take_c(struct hpx_symbols *s, uint32_t sampled, const struct hpx_msg_resolved *msg)
{
    struct hpx_sampled *p = hpx_methods_sampled(&s->methods, sampled);
    const char *at = msg->text, *end = at + msg->text_len;
    struct hpx_text library = hpx_next_text(&at, end), name = hpx_next_text(&at, end);
    const struct hpx_library_class *c = name.len > 0 ? library_class(s, library) : NULL;
    p->native = true;
    if (c) {
        const uint32_t source = hpx_symbols_string(s, (struct hpx_text){"Native Method", 13});
        p->symbolized = hpx_symbols_method(s, c->serial, c->name, source, name, (struct hpx_text){0});
        p->state = p->symbolized != HPX_INTERN_NONE ? HPX_SAMPLED_SETTLED : HPX_SAMPLED_GONE;
    }
}

/* Returns the method of an answer, in the state GONE: what the answer lacks stays missing. NULL: no method waits for this answer. */
static struct hpx_sampled *answered(struct hpx_symbols *s, uint32_t method)
{
    struct hpx_sampled *p = method < s->methods.sampled.len ? hpx_methods_sampled(&s->methods, method) : NULL;
    if (!p || (p->state != HPX_SAMPLED_ASKED && p->state != HPX_SAMPLED_GAVE_UP)) {
        return NULL;
    }
    if (p->state == HPX_SAMPLED_ASKED) {
        s->unresolved--;
    }
    p->state = HPX_SAMPLED_GONE;
    return p;
}

void hpx_symbols_refused(struct hpx_symbols *s, const struct hpx_msg_resolve *msg)
{
    (void)answered(s, msg->method);
}

void hpx_symbols_resolved(struct hpx_symbols *s, const struct hpx_msg_resolved *msg)
{
    struct hpx_sampled *p = answered(s, msg->method);
    if (!p) {
        return;
    }
    if (is_c(s, msg->method)) {
        take_c(s, msg->method, msg);
        return;
    }
    p->native = msg->native;
    if (msg->named) {
        take_names(s, p, msg);
    }
    /* Names that cannot be stored for lack of memory stay missing, as if the class were unloaded. */
    if (take_lines(s, p, msg) && is_named(s, p)) {
        p->state = HPX_SAMPLED_SETTLED;
    }
}

void hpx_symbols_count_missing(struct hpx_symbols *s, uint32_t sampled)
{
    struct hpx_sampled *p = hpx_methods_sampled(&s->methods, sampled);
    bool lost = p->state == HPX_SAMPLED_GONE || p->state == HPX_SAMPLED_GAVE_UP;
    bool unnamed = sampled == HPX_PSEUDO_METHOD || p->state == HPX_SAMPLED_NO_CLASS || (lost && !is_named(s, p));
    if (unnamed && !p->unnamed_counted) {
        p->unnamed_counted = true;
        hpx_count(s->cfg.counters, HPX_C_METHODS_UNNAMED, 1);
    } else if (lost && !unnamed && s->cfg.lines && !p->unlined_counted) {
        p->unlined_counted = true;
        hpx_count(s->cfg.counters, HPX_C_METHODS_UNLINED, 1);
    }
}

void hpx_symbols_give_up(struct hpx_symbols *s)
{
    for (uint32_t i = 0; i < s->methods.sampled.len && s->unresolved > 0; i++) {
        struct hpx_sampled *p = hpx_methods_sampled(&s->methods, i);
        if (p->state == HPX_SAMPLED_ASKED) {
            p->state = HPX_SAMPLED_GAVE_UP;
            s->unresolved--;
            hpx_symbols_count_missing(s, i);
        }
    }
}
