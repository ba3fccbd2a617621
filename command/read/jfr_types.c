/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_types.c: see jfr_types.h. */
#include "jfr_types.h"
#include "big_endian.h"
#include "budget.h"
#include "utf8_put.h"
#include <stdlib.h>

#define DEEPEST        16 /* levels of types, constants and elements: recordings have 5 */
#define STEPS_PER_BYTE UINT64_C(32)
#define TEXT_PER_STEP  16  /* bytes of a string that are copied: a constant may be named by every event */
#define NAME           256 /* of a type, with the 0: a longer one is none that is wanted */
#define WORD           32  /* of all other words */

/* ---- bytes ---- */

static const uint8_t *take(struct hpx_jfr_in *in, size_t n)
{
    const uint8_t *at = in->at;
    if ((size_t)(in->end - in->at) < n) {
        in->broken = true;
        in->at = in->end;
        return NULL;
    }
    in->at += n;
    return at;
}

static uint64_t byte(struct hpx_jfr_in *in)
{
    const uint8_t *p = take(in, 1);
    return p != NULL ? *p : 0;
}

/* Eight groups of seven bits, the lowest first, then a byte. */
static uint64_t packed(struct hpx_jfr_in *in)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 56; shift += 7) {
        uint64_t b = byte(in);
        v |= (b & 0x7f) << shift;
        if ((b & 0x80) == 0) {
            return v;
        }
    }
    return v | byte(in) << 56;
}

uint64_t hpx_jfr_long(struct hpx_jfr_in *in)
{
    const uint8_t *p = in->raw ? take(in, 8) : NULL;
    return !in->raw ? packed(in) : p != NULL ? hpx_get_be8(p) : 0;
}

uint32_t hpx_jfr_int(struct hpx_jfr_in *in)
{
    const uint8_t *p = in->raw ? take(in, 4) : NULL;
    return !in->raw ? (uint32_t)packed(in) : p != NULL ? hpx_get_be4(p) : 0;
}

static uint64_t small(struct hpx_jfr_in *in)
{
    const uint8_t *p = in->raw ? take(in, 2) : NULL;
    return !in->raw ? packed(in) & 0xffff : p != NULL ? hpx_get_be2(p) : 0;
}

/* One of the steps that are left. */
static bool step(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in)
{
    in->broken |= c->steps == 0;
    c->steps -= c->steps > 0;
    return !in->broken;
}

/* ---- strings ---- */

enum { NONE, EMPTY, CONSTANT, UTF8, CHARS, LATIN1 };

struct text {
    char *to;
    size_t n, room; /* without the 0 */
};

static void put(struct text *t, uint32_t c)
{
    char b[4];
    size_t n = hpx_utf8_put(b, c);
    if (t->room - t->n >= n) {
        memcpy(t->to + t->n, b, n);
        t->n += n;
    } else {
        t->room = t->n; /* nothing behind a character that does not fit */
    }
}

/* UTF-16: a pair of surrogates is a character, and one alone is what UTF-8 has no character for. What does not fit is not even read. */
static void put_chars(struct hpx_jfr_in *in, uint32_t n, struct text *t)
{
    uint32_t high = 0;
    for (uint32_t i = 0; i < n && !in->broken && t->n < t->room; i++) {
        uint32_t c = (uint32_t)small(in);
        bool pair = high != 0 && c >= 0xdc00 && c < 0xe000;
        if (high != 0 && !pair) {
            put(t, 0xfffd);
        }
        bool is_high = c >= 0xd800 && c < 0xdc00, alone = !pair && c >= 0xdc00 && c < 0xe000;
        if (!is_high) {
            put(t, pair ? 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00) : alone ? 0xfffd : c);
        }
        high = is_high ? c : 0;
    }
    if (high != 0) {
        put(t, 0xfffd);
    }
}

/* Where the constant is. */
static bool find(const struct hpx_jfr_chunk *c, uint32_t type, uint64_t key, struct hpx_jfr_in *in)
{
    const uint32_t *at = type != 0 ? hpx_seeded_map_find(&hpx_jfr_type_at(c, type)->pool, key) : NULL;
    if (at != NULL) {
        *in = (struct hpx_jfr_in){.at = c->bytes + *at, .end = c->bytes + c->n, .raw = c->raw};
    }
    return at != NULL;
}

/* t: NULL to skip it. Whether it is a string, and not null. */
static bool string(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in, struct text *t, unsigned depth)
{
    uint64_t kind = byte(in);
    uint32_t n = kind >= UTF8 && kind <= LATIN1 ? hpx_jfr_int(in) : 0;
    uint64_t key = kind == CONSTANT ? hpx_jfr_long(in) : 0;
    struct hpx_jfr_in other;
    if (t != NULL && n > 0) {
        const uint64_t cost = (n < t->room ? n : t->room) / TEXT_PER_STEP;
        in->broken |= c->steps < cost;
        c->steps -= c->steps < cost ? c->steps : cost;
        if (in->broken) {
            return false;
        }
    }
    if (kind == CONSTANT && t != NULL) {
        return depth < DEEPEST && find(c, c->string, key, &other) && string(c, &other, t, depth + 1);
    }
    if (kind == CHARS && t != NULL) {
        put_chars(in, n, t);
    }
    for (uint32_t i = 0; kind == CHARS && t == NULL && i < n && !in->broken; i++) {
        (void)small(in);
    }
    const uint8_t *p = kind == UTF8 || kind == LATIN1 ? take(in, n) : NULL;
    for (uint32_t i = 0; p != NULL && t != NULL && i < n && t->n < t->room; i++) {
        if (kind == LATIN1) {
            put(t, p[i]);
        } else {
            t->to[t->n++] = (char)p[i];
        }
    }
    in->broken |= kind > LATIN1;
    return kind != NONE && !in->broken;
}

static bool text_of(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in, uint32_t type, struct text *t, unsigned depth)
{
    const struct hpx_jfr_type *of = hpx_jfr_type_at(c, type);
    const struct hpx_jfr_field *f = (const struct hpx_jfr_field *)c->fields.items + of->first;
    if (of->basic == HPX_JFR_STRING) {
        return string(c, in, t, depth);
    }
    if (of->basic != HPX_JFR_STRUCT || of->fields == 0 || f->type == 0 || f->array || depth >= DEEPEST) {
        return false;
    }
    struct hpx_jfr_in other;
    return f->pool ? find(c, f->type, hpx_jfr_long(in), &other) && text_of(c, &other, f->type, t, depth + 1)
                   : text_of(c, in, f->type, t, depth + 1);
}

bool hpx_jfr_open(struct hpx_jfr_chunk *c, const struct hpx_jfr_value *v, struct hpx_jfr_in *in)
{
    if (v->f == NULL || v->f->type == 0 || v->f->array) {
        return false;
    }
    if (v->f->pool) {
        return find(c, v->f->type, v->n, in);
    }
    *in = (struct hpx_jfr_in){.at = v->at, .end = c->bytes + c->n, .raw = c->raw};
    return true;
}

bool hpx_jfr_text(struct hpx_jfr_chunk *c, const struct hpx_jfr_value *v, char *to, size_t room)
{
    struct hpx_jfr_in in;
    struct text t = {to, 0, room - 1};
    bool is = hpx_jfr_open(c, v, &in) && text_of(c, &in, v->f->type, &t, 0);
    to[is ? t.n : 0] = '\0';
    return is;
}

/* A string of the metadata. */
static void name_of(struct hpx_jfr_chunk *c, uint32_t name, char *to, size_t room)
{
    struct text t = {to, 0, room - 1};
    struct hpx_jfr_in in = {.end = c->bytes + c->n, .raw = c->raw};
    if (name < c->strings.len) {
        in.at = c->bytes + ((const uint32_t *)c->strings.items)[name];
        (void)string(c, &in, &t, 0);
    }
    to[t.n] = '\0';
}

static bool is(struct hpx_jfr_chunk *c, uint32_t name, const char *word)
{
    char text[WORD];
    name_of(c, name, text, sizeof text);
    return strcmp(text, word) == 0;
}

void hpx_jfr_type_name(struct hpx_jfr_chunk *c, const struct hpx_jfr_type *t, char *to, size_t room)
{
    char text[NAME];
    name_of(c, t->name, text, sizeof text);
    size_t n = strnlen(text, room - 1);
    memcpy(to, text, n);
    to[n] = '\0';
}

/* ---- metadata: a tree of elements with attributes ---- */

enum element { OTHER, CLASS, FIELD, ANNOTATION };

static void *push(struct hpx_jfr_chunk *c, struct hpx_list *l, size_t size)
{
    void *item = hpx_list_push(l, size);
    c->no_memory |= item == NULL;
    return item;
}

static bool strings(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in)
{
    for (uint32_t left = hpx_jfr_int(in); left > 0 && !in->broken; left--) {
        uint32_t *at = push(c, &c->strings, sizeof *at);
        if (at == NULL) {
            return false;
        }
        *at = (uint32_t)(in->at - c->bytes);
        (void)string(c, in, NULL, 0);
    }
    return !in->broken;
}

static enum hpx_jfr_basic basic_of(const char *name)
{
    static const struct {
        const char *name;
        enum hpx_jfr_basic basic;
    } all[] = {{"boolean", HPX_JFR_BYTE}, {"byte", HPX_JFR_BYTE},     {"char", HPX_JFR_SHORT},
               {"short", HPX_JFR_SHORT},  {"int", HPX_JFR_INT},       {"long", HPX_JFR_LONG},
               {"float", HPX_JFR_FLOAT},  {"double", HPX_JFR_DOUBLE}, {"java.lang.String", HPX_JFR_STRING}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        if (strcmp(all[i].name, name) == 0) {
            return all[i].basic;
        }
    }
    return HPX_JFR_STRUCT;
}

static uint64_t number_of(struct hpx_jfr_chunk *c, uint32_t name)
{
    char text[WORD];
    name_of(c, name, text, sizeof text);
    return strtoull(text, NULL, 10);
}

/* "2 NANOSECONDS" of jdk.jfr.Timespan; other annotations have other values. */
static enum hpx_jfr_unit unit_of(struct hpx_jfr_chunk *c, uint32_t name)
{
    static const char *const words[] = {"TICKS", "NANOSECONDS", "MICROSECONDS", "MILLISECONDS", "SECONDS"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(words); i++) {
        if (is(c, name, words[i])) {
            return (enum hpx_jfr_unit)(HPX_JFR_TICKS + i);
        }
    }
    return HPX_JFR_PLAIN;
}

static struct hpx_jfr_type *last_type(struct hpx_jfr_chunk *c)
{
    return c->types.len > 0 ? hpx_jfr_type_at(c, (uint32_t)c->types.len) : NULL;
}

static struct hpx_jfr_field *last_field(struct hpx_jfr_chunk *c)
{
    const struct hpx_jfr_type *t = last_type(c);
    return t != NULL && t->fields > 0 ? (struct hpx_jfr_field *)c->fields.items + t->first + t->fields - 1 : NULL;
}

/* Makes what the element declares. Fields stand within their class, and annotations of fields within these. */
static enum element begin(struct hpx_jfr_chunk *c, uint32_t name, enum element within)
{
    struct hpx_jfr_type *t = last_type(c);
    if (is(c, name, "class")) {
        t = push(c, &c->types, sizeof *t);
        if (t != NULL) {
            t->first = c->fields.len;
            hpx_seeded_map_init(&t->pool, true);
        }
        return CLASS;
    }
    if (is(c, name, "field") && within == CLASS && t != NULL) {
        t->fields += push(c, &c->fields, sizeof(struct hpx_jfr_field)) != NULL;
        return FIELD;
    }
    return is(c, name, "annotation") && within == FIELD ? ANNOTATION : OTHER;
}

static void attribute(struct hpx_jfr_chunk *c, enum element of, uint32_t key, uint32_t value)
{
    struct hpx_jfr_type *t = last_type(c);
    struct hpx_jfr_field *f = last_field(c);
    if (of == CLASS && is(c, key, "id")) {
        t->id = number_of(c, value);
    } else if (of == CLASS && is(c, key, "name")) {
        char text[NAME];
        name_of(c, value, text, sizeof text);
        t->name = value;
        t->basic = basic_of(text);
    } else if (f == NULL) {
        return; /* a class may stand within a field, where nobody expects it */
    } else if (of == FIELD && is(c, key, "name")) {
        f->name = value;
    } else if (of == FIELD && is(c, key, "class")) {
        f->type_id = number_of(c, value);
    } else if (of == FIELD && is(c, key, "constantPool")) {
        f->pool = is(c, value, "true");
    } else if (of == FIELD && is(c, key, "dimension")) {
        f->array = number_of(c, value) > 0;
    } else if (of == ANNOTATION && is(c, key, "value") && f->unit == HPX_JFR_PLAIN) {
        f->unit = unit_of(c, value);
    }
}

static bool elements(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in)
{
    struct {
        uint32_t left; /* elements */
        enum element within;
    } level[DEEPEST] = {{1, OTHER}};
    for (size_t depth = 0; !in->broken && !c->no_memory;) {
        while (level[depth].left == 0) {
            if (depth-- == 0) {
                return true;
            }
        }
        level[depth].left--;
        enum element is_a = begin(c, hpx_jfr_int(in), level[depth].within);
        for (uint32_t left = hpx_jfr_int(in); left > 0 && !in->broken && !c->no_memory && step(c, in); left--) {
            uint32_t key = hpx_jfr_int(in), value = hpx_jfr_int(in);
            attribute(c, is_a, key, value);
        }
        uint32_t children = hpx_jfr_int(in);
        in->broken |= children > 0 && depth + 1 == DEEPEST;
        if (children > 0 && !in->broken) {
            depth++;
            level[depth].left = children;
            level[depth].within = is_a;
        }
    }
    return false;
}

/* Types may be declared behind the fields that have them. */
static void link_types(struct hpx_jfr_chunk *c)
{
    for (uint32_t i = 1; i <= c->types.len; i++) {
        const struct hpx_jfr_type *t = hpx_jfr_type_at(c, i);
        uint32_t *slot = NULL;
        int added = hpx_seeded_map_add(&c->type_of, t->id, &slot);
        c->no_memory |= added < 0;
        if (added > 0) {
            *slot = i;
        }
        c->string = t->basic == HPX_JFR_STRING ? i : c->string;
    }
    for (size_t i = 0; i < c->fields.len; i++) {
        struct hpx_jfr_field *f = (struct hpx_jfr_field *)c->fields.items + i;
        f->type = hpx_jfr_type_of(c, f->type_id);
    }
}

bool hpx_jfr_metadata(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in)
{
    (void)hpx_jfr_long(in); /* start, duration, id */
    (void)hpx_jfr_long(in);
    (void)hpx_jfr_long(in);
    if (in->broken || !strings(c, in) || !elements(c, in)) {
        return false;
    }
    link_types(c);
    return !c->no_memory;
}

void hpx_jfr_chunk_init(struct hpx_jfr_chunk *c, const uint8_t *bytes, size_t n, bool raw, uint64_t spare)
{
    *c = (struct hpx_jfr_chunk){.bytes = bytes, .n = n, .raw = raw, .steps = spare + STEPS_PER_BYTE * n};
    hpx_seeded_map_init(&c->type_of, true);
}

void hpx_jfr_chunk_fini(struct hpx_jfr_chunk *c)
{
    struct hpx_list *lists[] = {&c->strings, &c->types, &c->fields};
    for (uint32_t i = 1; i <= c->types.len; i++) {
        hpx_seeded_map_fini(&hpx_jfr_type_at(c, i)->pool);
    }
    hpx_seeded_map_fini(&c->type_of);
    const size_t sizes[] = {sizeof(uint32_t), sizeof(struct hpx_jfr_type), sizeof(struct hpx_jfr_field)};
    for (size_t i = 0; i < HPX_ARRAY_LEN(lists); i++) {
        hpx_budget_give(lists[i]->cap * sizes[i]);
        free(lists[i]->items);
    }
}

/* ---- values ---- */

static bool skip(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in, uint32_t type, unsigned depth);

static bool skip_field(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in, const struct hpx_jfr_field *f, unsigned depth)
{
    uint32_t n = f->array ? hpx_jfr_int(in) : 1;
    for (; n > 0 && step(c, in); n--) {
        if (f->pool) {
            (void)hpx_jfr_long(in);
        } else if (!skip(c, in, f->type, depth)) {
            return false;
        }
    }
    return !in->broken;
}

/* It calls itself to DEEPEST. */
static bool skip(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in, uint32_t type, unsigned depth)
{
    static const uint8_t widths[] = {
        [HPX_JFR_BYTE] = 1, [HPX_JFR_SHORT] = 2, [HPX_JFR_INT] = 4, [HPX_JFR_LONG] = 8, [HPX_JFR_FLOAT] = 4, [HPX_JFR_DOUBLE] = 8};
    const struct hpx_jfr_type *t = type != 0 && depth < DEEPEST ? hpx_jfr_type_at(c, type) : NULL;
    in->broken |= t == NULL;
    if (in->broken) {
        return false;
    }
    if (t->basic == HPX_JFR_STRING) {
        (void)string(c, in, NULL, 0);
    } else if (t->basic == HPX_JFR_STRUCT) {
        for (size_t i = 0; i < t->fields && !in->broken; i++) {
            (void)skip_field(c, in, (const struct hpx_jfr_field *)c->fields.items + t->first + i, depth + 1);
        }
    } else if (!in->raw && t->basic >= HPX_JFR_SHORT && t->basic <= HPX_JFR_LONG) {
        (void)packed(in);
    } else {
        (void)take(in, widths[t->basic]);
    }
    return !in->broken;
}

bool hpx_jfr_constants(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in)
{
    (void)hpx_jfr_long(in); /* start, duration, where the one before is */
    (void)hpx_jfr_long(in);
    (void)hpx_jfr_long(in);
    (void)byte(in); /* what it is for */
    for (uint32_t pools = hpx_jfr_int(in); pools > 0 && step(c, in); pools--) {
        uint32_t type = hpx_jfr_type_of(c, hpx_jfr_long(in));
        for (uint32_t n = hpx_jfr_int(in); n > 0 && step(c, in); n--) {
            uint64_t key = hpx_jfr_long(in);
            uint32_t *slot = NULL, at = (uint32_t)(in->at - c->bytes);
            if (!skip(c, in, type, 0)) {
                return false;
            }
            int added = hpx_seeded_map_add(&hpx_jfr_type_at(c, type)->pool, key, &slot);
            c->no_memory |= added < 0;
            if (added > 0) {
                *slot = at;
            }
            if (c->no_memory) {
                return false;
            }
        }
    }
    return !in->broken;
}

static void shape(struct hpx_jfr_chunk *c, struct hpx_jfr_type *t, const struct hpx_jfr_shape *s)
{
    for (size_t i = 0; i < t->fields; i++) {
        struct hpx_jfr_field *f = (struct hpx_jfr_field *)c->fields.items + t->first + i;
        char name[WORD];
        name_of(c, f->name, name, sizeof name);
        f->slot = 0;
        for (uint8_t k = 0; k < HPX_JFR_SHAPE && s->names[k] != NULL; k++) {
            f->slot = strcmp(s->names[k], name) == 0 ? k + 1 : f->slot;
        }
    }
    const uint64_t cost = HPX_JFR_SHAPE * (uint64_t)t->fields; /* each is compared with as many names */
    c->steps -= c->steps < cost ? c->steps : cost;
    t->shape = s;
}

static uint64_t integer(const struct hpx_jfr_chunk *c, struct hpx_jfr_in *in, const struct hpx_jfr_field *f)
{
    switch (hpx_jfr_type_at(c, f->type)->basic) {
    case HPX_JFR_BYTE:
        return byte(in);
    case HPX_JFR_SHORT:
        return small(in);
    case HPX_JFR_INT:
        return (uint64_t)(int64_t)(int32_t)hpx_jfr_int(in);
    default:
        return hpx_jfr_long(in);
    }
}

static bool is_integer(const struct hpx_jfr_chunk *c, const struct hpx_jfr_field *f)
{
    enum hpx_jfr_basic basic = f->type != 0 ? hpx_jfr_type_at(c, f->type)->basic : HPX_JFR_STRUCT;
    return basic >= HPX_JFR_BYTE && basic <= HPX_JFR_LONG;
}

bool hpx_jfr_take(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in, uint32_t type, const struct hpx_jfr_shape *s, struct hpx_jfr_value *to)
{
    struct hpx_jfr_type *t = hpx_jfr_type_at(c, type);
    for (size_t i = 0; i < HPX_JFR_SHAPE && s->names[i] != NULL; i++) {
        to[i] = (struct hpx_jfr_value){NULL, 0, NULL};
    }
    if (t->shape != s) {
        shape(c, t, s);
    }
    for (size_t i = 0; i < t->fields && step(c, in); i++) {
        const struct hpx_jfr_field *f = (const struct hpx_jfr_field *)c->fields.items + t->first + i;
        struct hpx_jfr_value *v = f->slot != 0 ? to + f->slot - 1 : NULL;
        if (v != NULL) {
            *v = (struct hpx_jfr_value){.f = f, .at = in->at};
        }
        if (v != NULL && !f->array && (f->pool || is_integer(c, f))) {
            v->n = f->pool ? hpx_jfr_long(in) : integer(c, in, f);
        } else {
            (void)skip_field(c, in, f, 0);
        }
    }
    return !in->broken;
}
