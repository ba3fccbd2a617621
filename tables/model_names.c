/* SPDX-License-Identifier: BSD-2-Clause */
/* model_names.c: names of classes and methods: announcements, requests and answers. */
#include "java_name.h"
#include "model_internal.h"
#include <stdlib.h>
#include <string.h>

struct hpx_text hpx_model_next_text(const char **at, const char *end)
{
    const char *start = *at;
    size_t left = (size_t)(end - start);
    const char *zero = left ? memchr(start, 0, left) : NULL;
    *at = zero ? zero + 1 : end;
    return (struct hpx_text){start, (uint32_t)((zero ? zero : end) - start)};
}

static uint32_t intern_text(struct hpx_model *m, struct hpx_text t)
{
    return hpx_strings_intern(&m->strings, t.bytes, t.len);
}

/* 0 without memory: the class then has no name, which is requested when it is sampled. */
uint32_t hpx_model_class_name(struct hpx_model *m, struct hpx_text signature)
{
    char *name = hpx_model_scratch(&m->name, HPX_JAVA_NAME_MAX((size_t)signature.len));
    return name ? hpx_strings_intern(&m->strings, name, hpx_java_name(name, signature.bytes, signature.len)) : 0;
}

static bool is_named(const struct hpx_model *m, const struct hpx_sampled *s)
{
    return s->name && hpx_methods_class(&m->methods, s->klass)->name;
}

/* Requests the missing names and lines of a method, or marks it as settled if nothing is missing. */
static void ask(struct hpx_model *m, uint32_t sampled)
{
    struct hpx_sampled *s = hpx_methods_sampled(&m->methods, sampled);
    if (s->klass == 0) {
        s->state = HPX_SAMPLED_NO_CLASS;
        return;
    }
    bool want_name = !is_named(m, s), want_lines = m->cfg.lines || m->cfg.class_event; /* the answer also tells whether it is native */
    if (!want_name && !want_lines) {
        s->state = HPX_SAMPLED_SETTLED;
        return;
    }
    const struct hpx_msg_class *said = hpx_methods_class(&m->methods, s->klass)->said;
    uint64_t ref = said ? said->ref : 0;
    struct hpx_msg_resolve *r = ref && m->cfg.request ? hpx_msg_new(HPX_MSG_RESOLVE, sizeof(*r)) : NULL;
    if (!r) {
        s->state = HPX_SAMPLED_GONE;
        return;
    }
    r->method = sampled;
    r->want_name = want_name;
    r->want_lines = want_lines;
    r->ref = ref;
    r->id = hpx_methods_id(&m->methods, sampled);
    s->state = HPX_SAMPLED_ASKED;
    m->unresolved++;
    m->cfg.request(m->cfg.ctx, &r->m);
}

/* Takes the names of the class and of its method number `method` from the announcement. Anything that could not be interned is requested
 * again later. */
static void take_said(struct hpx_model *m, struct hpx_sampled *s, uint32_t method)
{
    struct hpx_class *c = hpx_methods_class(&m->methods, s->klass);
    if (!c->said->named) {
        return;
    }
    const char *at = c->said->text, *end = at + c->said->text_len;
    struct hpx_text class_signature = hpx_model_next_text(&at, end), source = hpx_model_next_text(&at, end);
    if (!c->name) {
        c->name = hpx_model_class_name(m, class_signature);
        c->source = intern_text(m, source);
    }
    for (uint32_t i = 0; i < 2 * method; i++) {
        (void)hpx_model_next_text(&at, end);
    }
    s->name = intern_text(m, hpx_model_next_text(&at, end));
    struct hpx_text signature = hpx_model_next_text(&at, end);
    s->signature = m->cfg.signatures ? intern_text(m, signature) : 0;
}

uint32_t hpx_model_sampled(struct hpx_model *m, uint64_t id)
{
    if (id == 0) {
        return HPX_PSEUDO_METHOD;
    }
    if (id > HPX_EV_METHOD_OF(HPX_UNKNOWN_COUNT)) {
        return (uint32_t)(UINT64_MAX - id); /* HPX_EV_METHOD_OF(cause): the first sampled records stand for the causes */
    }
    uint32_t sampled = hpx_methods_sampled_find(&m->methods, id);
    if (sampled != HPX_INTERN_NONE) {
        return sampled;
    }
    uint32_t at, klass = hpx_methods_find(&m->methods, id, &at);
    sampled = hpx_methods_sample(&m->methods, id, klass);
    if (sampled == HPX_INTERN_NONE) {
        return sampled;
    }
    if (klass) {
        take_said(m, hpx_methods_sampled(&m->methods, sampled), at);
    }
    ask(m, sampled);
    return sampled;
}

/* A class announces an id that was sampled before. The method was unknown, or the id now means another method. */
static void announce_sampled(struct hpx_model *m, uint32_t sampled, uint32_t klass, uint32_t at)
{
    if (hpx_methods_sampled(&m->methods, sampled)->klass) {
        hpx_methods_stale(&m->methods, sampled);
        return;
    }
    hpx_methods_adopt(&m->methods, sampled, klass);
    take_said(m, hpx_methods_sampled(&m->methods, sampled), at);
    ask(m, sampled);
}

bool hpx_model_announce_class(struct hpx_model *m, uint32_t klass, bool unloaded)
{
    struct hpx_class *c = hpx_methods_class(&m->methods, klass);
    struct hpx_class_rec rec = {.serial = c->serial, .in_traces = unloaded && c->nsampled > 0};
    if (!unloaded) {
        const char *at = c->said->text;
        struct hpx_text signature = hpx_model_next_text(&at, at + c->said->text_len);
        char *name = c->said->named ? hpx_model_scratch(&m->name, HPX_JAVA_NAME_MAX((size_t)signature.len)) : NULL;
        if (!name) {
            return true; /* the writer announces the class when a frame names it */
        }
        rec.name = (struct hpx_text){name, (uint32_t)hpx_java_name(name, signature.bytes, signature.len)};
    }
    return m->cfg.class_event(m->cfg.ctx, &rec, unloaded);
}

void hpx_model_class(struct hpx_model *m, struct hpx_msg_class *msg)
{
    uint32_t klass = msg->nmethods || m->cfg.class_event ? hpx_methods_new_class(&m->methods, msg) : 0;
    bool complete = klass || !msg->nmethods;
    if (klass && m->cfg.class_event) {
        uint32_t number = m->cfg.class_numbers && msg->number != 0 ? msg->number : ++m->class_serials;
        hpx_methods_class(&m->methods, klass)->serial = HPX_SERIAL_CLASS + number;
        (void)hpx_model_announce_class(m, klass, false);
    }
    for (uint32_t i = 0; klass && i < msg->nmethods; i++) {
        if (msg->ids[i] == 0) {
            continue;
        }
        complete = hpx_methods_announce(&m->methods, klass, msg->ids[i]) && complete;
        uint32_t sampled = hpx_methods_sampled_find(&m->methods, msg->ids[i]);
        if (sampled != HPX_INTERN_NONE && hpx_methods_sampled(&m->methods, sampled)->klass != klass) {
            announce_sampled(m, sampled, klass, i);
        }
    }
    if (!complete) {
        hpx_count(&m->counters, HPX_C_CLASSES_UNNAMED, 1);
    }
    if (!klass) {
        free(msg);
    }
}

/* false without memory. */
static bool take_lines(struct hpx_model *m, struct hpx_sampled *s, const struct hpx_msg_resolved *msg)
{
    if (!m->cfg.lines || msg->nlines == 0 || s->nlines > 0) {
        return true;
    }
    struct hpx_line *lines = hpx_arena_alloc(&m->lines, msg->nlines * sizeof(*lines), _Alignof(struct hpx_line));
    if (!lines) {
        return false;
    }
    memcpy(lines, msg->lines, msg->nlines * sizeof(*lines));
    s->lines = lines;
    s->nlines = msg->nlines;
    return true;
}

static void take_names(struct hpx_model *m, struct hpx_sampled *s, const struct hpx_msg_resolved *msg)
{
    const char *at = msg->text, *end = at + msg->text_len;
    struct hpx_class *c = hpx_methods_class(&m->methods, s->klass);
    struct hpx_text class_signature = hpx_model_next_text(&at, end), source = hpx_model_next_text(&at, end);
    struct hpx_text name = hpx_model_next_text(&at, end), signature = hpx_model_next_text(&at, end);
    if (!c->name) {
        c->name = hpx_model_class_name(m, class_signature);
        c->source = intern_text(m, source);
    }
    if (!s->name) {
        s->name = intern_text(m, name);
        s->signature = m->cfg.signatures ? intern_text(m, signature) : 0;
    }
}

/* Returns the method of an answer, in the state GONE: what the answer lacks stays missing. NULL: no method waits for this answer. */
static struct hpx_sampled *answered(struct hpx_model *m, uint32_t method)
{
    struct hpx_sampled *s = method < m->methods.sampled.len ? hpx_methods_sampled(&m->methods, method) : NULL;
    if (!s || (s->state != HPX_SAMPLED_ASKED && s->state != HPX_SAMPLED_GAVE_UP)) {
        return NULL;
    }
    if (s->state == HPX_SAMPLED_ASKED) {
        m->unresolved--;
    }
    s->state = HPX_SAMPLED_GONE;
    return s;
}

void hpx_model_refused(struct hpx_model *m, const struct hpx_msg_resolve *msg)
{
    (void)answered(m, msg->method);
}

void hpx_model_resolved(struct hpx_model *m, const struct hpx_msg_resolved *msg)
{
    struct hpx_sampled *s = answered(m, msg->method);
    if (!s) {
        return;
    }
    s->native = msg->native;
    if (msg->named) {
        take_names(m, s, msg);
    }
    /* Names that cannot be stored for lack of memory stay missing, as if the class were unloaded. */
    if (take_lines(m, s, msg) && is_named(m, s)) {
        s->state = HPX_SAMPLED_SETTLED;
    }
}

void hpx_model_count_missing(struct hpx_model *m, uint32_t sampled)
{
    struct hpx_sampled *s = hpx_methods_sampled(&m->methods, sampled);
    bool lost = s->state == HPX_SAMPLED_GONE || s->state == HPX_SAMPLED_GAVE_UP;
    bool unnamed = sampled == HPX_PSEUDO_METHOD || s->state == HPX_SAMPLED_NO_CLASS || (lost && !is_named(m, s));
    if (unnamed && !s->unnamed_counted) {
        s->unnamed_counted = true;
        hpx_count(&m->counters, HPX_C_METHODS_UNNAMED, 1);
    } else if (lost && !unnamed && m->cfg.lines && !s->unlined_counted) {
        s->unlined_counted = true;
        hpx_count(&m->counters, HPX_C_METHODS_UNLINED, 1);
    }
}

void hpx_model_give_up(struct hpx_model *m)
{
    for (uint32_t i = 0; i < m->methods.sampled.len && m->unresolved > 0; i++) {
        struct hpx_sampled *s = hpx_methods_sampled(&m->methods, i);
        if (s->state == HPX_SAMPLED_ASKED) {
            s->state = HPX_SAMPLED_GAVE_UP;
            m->unresolved--;
            hpx_model_count_missing(m, i);
        }
    }
}
