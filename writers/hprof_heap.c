/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_heap.c: see hprof_heap.h. A segment is put together in a buffer, so its length is known before it is written. */
#include "hprof_heap.h"
#include <stdlib.h>

enum { TAG_SEGMENT = 0x1C, TAG_DUMP_END = 0x2C };
enum { SUB_CLASS = 0x20, SUB_INSTANCE = 0x21, SUB_OBJECTS = 0x22, SUB_PRIMITIVES = 0x23 };

static void put(struct hpx_binary *w, const uint8_t *record, const uint8_t *end)
{
    hpx_out_bytes(w->out, record, (size_t)(end - record));
}

/* ---- segments ---- */

static void put_head(struct hpx_heap *h, uint8_t tag, uint32_t length)
{
    uint8_t record[HPX_BINARY_SMALL];
    hpx_out_room(h->w->out, (size_t)9 + length);
    put(h->w, record, hpx_binary_head(h->w, record, tag, length));
}

static void end_segment(struct hpx_heap *h)
{
    h->refused += !hpx_binary_end_record(h->w);
}

static void put_segment(struct hpx_heap *h)
{
    if (h->used > 0) { /* readers take an empty one for damage */
        put_head(h, TAG_SEGMENT, (uint32_t)h->used);
        hpx_out_bytes(h->w->out, h->buffer, h->used);
        h->used = 0;
        end_segment(h);
    }
}

/* What follows is one sub-record of n bytes. */
static void begin_sub(struct hpx_heap *h, uint32_t n)
{
    if (n > HPX_HEAP_SEGMENT - h->used) {
        put_segment(h);
    }
    if (n > HPX_HEAP_SEGMENT) {
        h->direct = n;
        put_head(h, TAG_SEGMENT, n);
    }
}

static void add(struct hpx_heap *h, const void *p, size_t n)
{
    if (h->direct > 0) {
        hpx_out_bytes(h->w->out, p, n);
        h->direct -= (uint32_t)n;
        if (h->direct == 0) {
            end_segment(h);
        }
    } else if (n > 0) {
        memcpy(h->buffer + h->used, p, n);
        h->used += n;
    }
}

static void add_to(struct hpx_heap *h, const uint8_t *from, const uint8_t *end)
{
    add(h, from, (size_t)(end - from));
}

int hpx_heap_begin(struct hpx_heap *h, struct hpx_binary *w)
{
    *h = (struct hpx_heap){.w = w, .buffer = malloc(HPX_HEAP_SEGMENT)};
    return h->buffer != NULL ? 0 : -HPX_E_NOMEM;
}

void hpx_heap_end(struct hpx_heap *h)
{
    put_segment(h);
    put_head(h, TAG_DUMP_END, 0);
    (void)hpx_binary_end_record(h->w);
    free(h->buffer);
    h->buffer = NULL;
}

void hpx_heap_root(struct hpx_heap *h, enum hpx_heap_root kind, uint64_t object, uint64_t a, uint32_t b)
{
    uint8_t sub[HPX_BINARY_SMALL], *at = hpx_binary_id(h->w, hpx_be1(sub, (uint8_t)kind), object);
    switch (kind) {
    case HPX_ROOT_JNI_GLOBAL:
        at = hpx_binary_id(h->w, at, a);
        break;
    case HPX_ROOT_JNI_LOCAL:
    case HPX_ROOT_JAVA_FRAME:
    case HPX_ROOT_THREAD_OBJECT:
        at = hpx_be4(hpx_be4(at, (uint32_t)a), b);
        break;
    case HPX_ROOT_NATIVE_STACK:
    case HPX_ROOT_THREAD_BLOCK:
        at = hpx_be4(at, (uint32_t)a);
        break;
    default:
        break;
    }
    begin_sub(h, (uint32_t)(at - sub));
    add_to(h, sub, at);
}

/* ---- classes ---- */

static uint32_t size_of(const struct hpx_heap *h, uint8_t type)
{
    static const uint8_t sizes[] = {[HPX_HEAP_BOOLEAN] = 1, [HPX_HEAP_CHAR] = 2,  [HPX_HEAP_FLOAT] = 4, [HPX_HEAP_DOUBLE] = 8,
                                    [HPX_HEAP_BYTE] = 1,    [HPX_HEAP_SHORT] = 2, [HPX_HEAP_INT] = 4,   [HPX_HEAP_LONG] = 8};
    return type == HPX_HEAP_OBJECT ? h->w->id_size : sizes[type];
}

static uint8_t *put_value(const struct hpx_heap *h, uint8_t *at, const struct hpx_heap_value *v)
{
    uint32_t size = size_of(h, v->type);
    (void)hpx_be8(at, v->value << (64 - 8 * size)); /* the last bytes are written over */
    return at + size;
}

static uint32_t values_size(const struct hpx_heap *h, const struct hpx_heap_value *v, uint32_t n, uint32_t head)
{
    uint32_t sum = 2; /* 2 + 65535 x (8 + 1 + 8): three of them are far from 2^32 */
    for (uint32_t i = 0; i < n; i++) {
        sum += head + 1 + size_of(h, v[i].type);
    }
    return sum;
}

static void add_count(struct hpx_heap *h, uint16_t n)
{
    uint8_t sub[2];
    add_to(h, sub, hpx_be2(sub, n));
}

void hpx_heap_class(struct hpx_heap *h, const struct hpx_heap_class *c)
{
    uint8_t sub[HPX_BINARY_SMALL], *at;
    uint32_t ids = h->w->id_size;
    uint32_t n = 1 + 7 * ids + 8 + values_size(h, c->constants, c->nconstants, 2) + values_size(h, c->statics, c->nstatics, ids) + 2 +
                 c->nfields * (ids + 1);
    begin_sub(h, n);
    at = hpx_be4(hpx_binary_id(h->w, hpx_be1(sub, SUB_CLASS), c->object), c->trace);
    const uint64_t others[] = {c->super, c->loader, c->signers, c->domain, 0, 0};
    for (size_t i = 0; i < HPX_ARRAY_LEN(others); i++) {
        at = hpx_binary_id(h->w, at, others[i]);
    }
    add_to(h, sub, hpx_be4(at, c->instance_size));
    add_count(h, c->nconstants);
    for (uint32_t i = 0; i < c->nconstants; i++) {
        at = hpx_be1(hpx_be2(sub, (uint16_t)c->constants[i].name), c->constants[i].type);
        add_to(h, sub, put_value(h, at, &c->constants[i]));
    }
    add_count(h, c->nstatics);
    for (uint32_t i = 0; i < c->nstatics; i++) {
        at = hpx_be1(hpx_binary_id(h->w, sub, c->statics[i].name), c->statics[i].type);
        add_to(h, sub, put_value(h, at, &c->statics[i]));
    }
    add_count(h, c->nfields);
    for (uint32_t i = 0; i < c->nfields; i++) {
        add_to(h, sub, hpx_be1(hpx_binary_id(h->w, sub, c->fields[i].name), c->fields[i].type));
    }
}

/* ---- objects ---- */

void hpx_heap_instance(struct hpx_heap *h, uint64_t object, uint32_t trace, uint64_t klass, const void *values, uint32_t n)
{
    uint8_t sub[HPX_BINARY_SMALL], *at = hpx_be4(hpx_binary_id(h->w, hpx_be1(sub, SUB_INSTANCE), object), trace);
    at = hpx_be4(hpx_binary_id(h->w, at, klass), n); /* at most 65535 fields a class: far from 2^32 */
    begin_sub(h, (uint32_t)(at - sub) + n);
    add_to(h, sub, at);
    add(h, values, n);
}

uint32_t hpx_heap_objects(struct hpx_heap *h, uint64_t object, uint32_t trace, uint64_t klass, const uint64_t *elements, uint32_t n)
{
    uint8_t sub[HPX_BINARY_SMALL], *at = hpx_be4(hpx_binary_id(h->w, hpx_be1(sub, SUB_OBJECTS), object), trace);
    uint32_t head = 9 + 2 * h->w->id_size;
    n = hpx_binary_fit(n, head, h->w->id_size);
    at = hpx_binary_id(h->w, hpx_be4(at, n), klass);
    begin_sub(h, head + n * h->w->id_size);
    add_to(h, sub, at);
    for (uint32_t i = 0; i < n; i++) {
        add_to(h, sub, hpx_binary_id(h->w, sub, elements[i]));
    }
    return n;
}

uint32_t hpx_heap_primitives(struct hpx_heap *h, uint64_t object, uint32_t trace, enum hpx_heap_type type, const void *elements, uint32_t n)
{
    uint8_t sub[HPX_BINARY_SMALL], *at = hpx_be4(hpx_binary_id(h->w, hpx_be1(sub, SUB_PRIMITIVES), object), trace);
    uint32_t head = 10 + h->w->id_size, size = size_of(h, (uint8_t)type);
    n = hpx_binary_fit(n, head, size);
    at = hpx_be1(hpx_be4(at, n), (uint8_t)type);
    begin_sub(h, head + n * size);
    add_to(h, sub, at);
    add(h, elements, (size_t)n * size);
    return n;
}
