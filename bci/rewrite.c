/* SPDX-License-Identifier: BSD-2-Clause */
/* rewrite.c: rewrites a class: one walk checks its shape, a second one writes it. */
#include "rewriter.h"
#include <stdlib.h>

enum { ACC_NATIVE = 0x0100, ACC_ABSTRACT = 0x0400, ACC_MODULE = 0x8000 };
enum { METHOD_LEAST = 27 }; /* bytes of the shortest method with code */

#define TEXT(name, text) text,
static const char *const left_texts[] = {HPROFX_BCI_LEFT(TEXT)};
static const char *const bare_texts[] = {HPROFX_BCI_BARE(TEXT)};
#undef TEXT

const char *hprofx_bci_left_text(enum hprofx_bci_left left)
{
    return (unsigned)left < HPX_ARRAY_LEN(left_texts) ? left_texts[left] : "";
}

const char *hprofx_bci_bare_text(enum hprofx_bci_bare bare)
{
    return (unsigned)bare < HPX_ARRAY_LEN(bare_texts) ? bare_texts[bare] : "";
}

/* Parts of a class after the constant pool. */
struct shape {
    size_t methods, end; /* offsets of the first method and of the byte after the last */
    uint32_t method_n, with_code;
    struct hprofx_bci_name source;
};

struct told {
    struct hprofx_bci_method *at;
    uint32_t n;
};

/* Skips the attributes at *at. *found: offset of the last one with this name, 0: none; *found_n: how many have it. false: truncated. */
static bool skip_attributes(struct hpx_class *c, size_t *at, const char *name, size_t *found, uint32_t *found_n)
{
    *found = 0;
    *found_n = 0;
    if (c->n - *at < 2) {
        return false;
    }
    uint32_t n = hpx_u2(c->in + *at);
    *at += 2;
    for (uint32_t i = 0; i < n; i++) {
        if (c->n - *at < 6 || hpx_u4(c->in + *at + 2) > c->n - *at - 6) {
            return false;
        }
        if (name != NULL && hpx_name_is(hpx_utf8(c, hpx_u2(c->in + *at)), name)) {
            *found = *at;
            ++*found_n;
        }
        *at += 6 + (size_t)hpx_u4(c->in + *at + 2);
    }
    c->steps += n;
    return true;
}

/* Skips a field or method. code, code_n: its Code attribute, and how many it has. */
static bool skip_member(struct hpx_class *c, size_t *at, const char *name, size_t *code, uint32_t *code_n)
{
    if (c->n - *at < 8) {
        return false;
    }
    *at += 6;
    return skip_attributes(c, at, name, code, code_n);
}

static bool read_shape(struct hpx_class *c, struct shape *s)
{
    size_t at = c->cp_end, found;
    uint32_t n, found_n;
    if (c->n - at < 8) {
        return false;
    }
    c->result->access = hpx_u2(c->in + at);
    c->this_class = hpx_u2(c->in + at + 2);
    c->super_class = hpx_u2(c->in + at + 4);
    c->result->class_name = hpx_class_name(c, c->this_class);
    n = hpx_u2(c->in + at + 6);
    at += 8;
    if (c->n - at < 2 * (size_t)n + 2) {
        return false;
    }
    at += 2 * (size_t)n;
    n = hpx_u2(c->in + at);
    at += 2;
    for (uint32_t i = 0; i < n; i++) {
        if (!skip_member(c, &at, NULL, &found, &found_n)) {
            return false;
        }
    }
    if (c->n - at < 2) {
        return false;
    }
    c->steps += n;
    s->method_n = c->result->methods = hpx_u2(c->in + at);
    s->methods = at += 2;
    for (uint32_t i = 0; i < s->method_n; i++) {
        if (!skip_member(c, &at, "Code", &found, &found_n)) {
            return false;
        }
        s->with_code += found != 0;
    }
    c->steps += s->method_n;
    s->end = at;
    if (!skip_attributes(c, &at, "SourceFile", &found, &found_n) || at != c->n) {
        return false;
    }
    if (found != 0 && hpx_u4(c->in + found + 2) == 2) {
        s->source = hpx_utf8(c, hpx_u2(c->in + found + 6));
    }
    return true;
}

/* Limit of added constants, in times the input: 5 bytes per site, and a site has at least 2 bytes. */
static size_t pool_share(const struct hpx_class *c)
{
    return c->probes & HPROFX_BCI_SITES ? 4 : 1;
}

/* Reserved part of the output: rewritten methods may use GROWTH times the input, less the added constants and one copy of the input. */
static bool copy(struct hpx_class *c, size_t from, size_t to)
{
    c->body.limit = (HPROFX_BCI_GROWTH - pool_share(c)) * c->n;
    if (hpx_buf_reserve(&c->body, to - from) != 0) {
        return false;
    }
    memcpy(c->body.p + c->body.n, c->in + from, to - from);
    c->body.n += to - from;
    return true;
}

/* Rewrites a method with code, or copies it and counts the reason. false: no memory. */
static bool do_method(struct hpx_class *c, struct hpx_code *m, size_t at, size_t code, uint32_t code_n, size_t end)
{
    struct hprofx_bci_result *r = c->result;
    size_t body = c->body.n, pool = c->pool.n;
    uint32_t pool_count = c->pool_count, next_site = c->next_site;
    struct hpx_added added = c->added;
    r->with_code++;
    c->body.limit = (HPROFX_BCI_GROWTH - 1 - pool_share(c)) * c->n;
    int left = HPX_LEAVE(LIMIT);
    if (c->steps <= c->steps_max) {
        left = code_n != 1 || (m->m.access & (ACC_NATIVE | ACC_ABSTRACT)) || m->m.name.at == NULL || m->m.desc.at == NULL
                   ? HPX_LEAVE(MALFORMED)
                   : hpx_code_read(c, m, code, code + 6 + hpx_u4(c->in + code + 2));
    }
    if (left == 0) {
        left = hpx_method_rewrite(c, m, at, end);
    }
    if (left == 0) {
        r->rewritten++;
        r->numbered += (m->m.probes & HPROFX_BCI_CALLS) != 0;
        r->sites += m->site_n;
        r->objects += m->object_n;
        r->widened += m->widened;
        r->whole += m->whole && m->entry_n > 0;
        r->huge += m->len <= 8000 && m->new_len > 8000;
        if (m->m.bare && m->bare < HPROFX_BCI_BARE_COUNT) {
            r->bare[m->bare]++;
        }
        return true;
    }
    c->body.n = body;
    c->pool.n = pool;
    c->pool_count = pool_count;
    c->added = added;
    c->next_site = next_site;
    if (left < 0) {
        return false;
    }
    r->left[left - 1]++;
    return copy(c, at, end);
}

static bool do_methods(struct hpx_class *c, const struct shape *s, struct told *told)
{
    size_t at = s->methods;
    for (uint32_t i = 0; i < s->method_n; i++) {
        size_t start = at, code = 0;
        uint32_t code_n = 0;
        (void)skip_member(c, &at, "Code", &code, &code_n);
        if (code_n == 0) {
            if (!copy(c, start, at)) {
                return false;
            }
            continue;
        }
        struct hpx_code m = {.m = {.number = 0, .index = i, .class_name = c->result->class_name, .access = hpx_u2(c->in + start)}};
        m.m.name = hpx_utf8(c, hpx_u2(c->in + start + 2));
        m.m.desc = hpx_utf8(c, hpx_u2(c->in + start + 4));
        m.m.intrinsic = (c->probes & HPROFX_BCI_CALLS) != 0 && hpx_is_intrinsic(c, start, at);
        m.constructor = c->super_class != 0 && hpx_name_is(m.m.name, "<init>");
        uint32_t before = c->result->rewritten;
        if (!do_method(c, &m, start, code, code_n, at)) {
            return false;
        }
        if (told->at != NULL && c->result->rewritten > before) {
            m.m.source = s->source;
            told->at[told->n++] = m.m;
            if (c->opts->site != NULL && m.site_n > 0 && hpx_sites_note(c, &m, told->n - 1) != 0) {
                return false;
            }
        }
    }
    return true;
}

/* Allocates all memory of a call in one piece, except for the growing buffers. */
static bool get_memory(struct hpx_class *c)
{
    size_t longest = c->n < HPX_CODE_MAX ? c->n : HPX_CODE_MAX;
    size_t cp = c->cp_count * sizeof(*c->cp), events = (2 * longest + 2) * sizeof(*c->events);
    size_t map = (longest + 1) * sizeof(*c->map), flags = longest + 1;
    uint8_t *p = malloc(cp + events + map + flags);
    if (p == NULL) {
        return false;
    }
    c->memory = p;
    c->events = (struct hpx_event *)(void *)p;
    c->cp = (uint32_t *)(void *)(p + events);
    c->map = (uint16_t *)(void *)(p + events + cp);
    c->flags = p + events + cp + map;
    return true;
}

static bool get_buffers(struct hpx_class *c)
{
    c->body.cap = c->n * 2;
    c->body.limit = HPROFX_BCI_GROWTH * c->n;
    c->body.p = malloc(c->body.cap);
    c->pool.limit = hpx_pool_extension(c) + pool_share(c) * c->n;
    c->sites.limit = c->n / 2 * sizeof(struct hpx_site); /* a site has at least 2 bytes */
    c->scratch.limit = HPROFX_BCI_GROWTH * c->n;
    return c->body.p != NULL;
}

static int finish(struct hpx_class *c, uint8_t **out, size_t *m)
{
    size_t n = c->cp_end + c->pool.n + c->body.n;
    uint8_t *p = malloc(n);
    if (p == NULL) {
        c->why = "no memory";
        return 2;
    }
    memcpy(p, c->in, c->cp_end);
    hpx_put2(p + 8, c->pool_count);
    memcpy(p + c->cp_end, c->pool.p, c->pool.n);
    memcpy(p + c->cp_end + c->pool.n, c->body.p, c->body.n);
    *out = p;
    *m = n;
    return 0;
}

/* Writes everything from the first method on. */
static int write_class(struct hpx_class *c, const struct shape *s, uint8_t **out, size_t *m)
{
    struct told told = {NULL, 0};
    c->why = "no memory";
    if (c->opts->method != NULL || c->opts->site != NULL) {
        told.at = malloc(s->with_code * sizeof(*told.at));
        if (told.at == NULL) {
            return 2;
        }
    }
    bool calls = (c->probes & HPROFX_BCI_CALLS) != 0;
    c->result->first = calls && c->opts->number != NULL ? c->opts->number(c->opts->ctx, s->with_code) : c->opts->first;
    int how = 2;
    if (calls && c->result->first > INT32_MAX - s->with_code) {
        c->why = "no method numbers are left";
        how = 1;
    } else if (copy(c, c->cp_end, s->methods) && do_methods(c, s, &told)) {
        c->why = "no method was instrumented";
        how = 1;
    }
    if (how == 1 && c->result->rewritten > 0) {
        how = copy(c, s->end, c->n) ? finish(c, out, m) : 2;
    }
    for (uint32_t i = 0; how == 0 && c->opts->method != NULL && i < told.n; i++) {
        if (told.at[i].probes & HPROFX_BCI_CALLS) {
            c->opts->method(c->opts->ctx, &told.at[i]);
        }
    }
    if (how == 0) {
        hpx_sites_tell(c, told.at);
    }
    free(told.at);
    return how;
}

static int read_class(struct hpx_class *c, struct shape *s)
{
    if (c->n < 10 || hpx_u4(c->in) != 0xCAFEBABE) {
        c->why = "no class file";
        return 2;
    }
    if (c->n > INT32_MAX) {
        c->why = "a class file above 2 GiB";
        return 2;
    }
    c->major = c->result->major = hpx_u2(c->in + 6);
    c->result->minor = hpx_u2(c->in + 4);
    c->cp_count = hpx_u2(c->in + 8);
    c->steps_max = HPROFX_BCI_STEPS * (uint64_t)c->n;
    c->why = "no memory";
    if (!get_memory(c)) {
        return 2;
    }
    int how = hpx_pool_read(c);
    if (how != 0) {
        return how;
    }
    if (!read_shape(c, s) || c->result->class_name.at == NULL) {
        c->why = "fields, methods or attributes do not fit the file";
        return 2;
    }
    return 0;
}

static int rewrite(struct hpx_class *c, uint8_t **out, size_t *m)
{
    struct shape s = {0};
    int how = read_class(c, &s);
    if (how != 0) {
        return how;
    }
    c->why = NULL;
    if (c->major < 45 || (c->major == 45 && c->result->minor < 3)) {
        c->why = "a version older than 45.3, whose code has another layout";
    } else if (c->result->access & ACC_MODULE) {
        c->why = "a module";
    } else if (s.with_code == 0) {
        c->why = "no method has code";
    } else if (hpx_name_is(c->result->class_name, c->opts->tracker != NULL ? c->opts->tracker : HPROFX_BCI_TRACKER)) {
        c->why = "the tracker itself";
    }
    if (c->why != NULL) {
        return 1;
    }
    c->why = "no memory";
    if (!get_buffers(c)) {
        return 2;
    }
    return write_class(c, &s, out, m);
}

int hprofx_bci_rewrite(const struct hprofx_bci_opts *opts, const uint8_t *in, size_t n, uint8_t **out, size_t *m, const char **why)
{
    struct hprofx_bci_result unwanted;
    struct hpx_class c = {.opts = opts, .result = opts->result != NULL ? opts->result : &unwanted, .in = in, .n = n};
    c.probes = opts->probes != 0 ? opts->probes & (HPROFX_BCI_CALLS | HPROFX_BCI_SITES | HPROFX_BCI_OBJECTS | HPROFX_BCI_STORES)
                                 : HPROFX_BCI_CALLS;
    c.next_site = opts->first_site;
    memset(c.result, 0, sizeof(*c.result));
    *out = NULL;
    *m = 0;
    int how = rewrite(&c, out, m);
    *why = how == 0 ? NULL : c.why;
    c.result->steps = c.steps;
    free(c.memory);
    free(c.pool.p);
    free(c.body.p);
    free(c.scratch.p);
    free(c.sites.p);
    free(c.tramps);
    return how;
}
