/* SPDX-License-Identifier: BSD-2-Clause */
/* heap.c: the layout of heap dumps in binary files. */
#include "binary.h"
#include <inttypes.h>

#define PIECE ((uint64_t)64 << 10) /* of an array */

static void root(struct hpx_bin *b, int sub)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_ROOT, .root = {.sub = sub}};
    static const struct {
        int sub;
        size_t ids, bytes; /* behind the object */
    } more[] = {{HPX_ROOT_JNI_GLOBAL, 1, 0},   {HPX_ROOT_JNI_LOCAL, 0, 8},    {HPX_ROOT_JAVA_FRAME, 0, 8},
                {HPX_ROOT_NATIVE_STACK, 0, 4}, {HPX_ROOT_THREAD_BLOCK, 0, 4}, {HPX_ROOT_THREAD_OBJECT, 0, 8}};
    size_t n = 0;
    for (size_t i = 0; i < HPX_ARRAY_LEN(more); i++) {
        n += more[i].sub == sub ? more[i].ids * b->id_size + more[i].bytes : 0;
    }
    ev.root.id = hpx_bin_id(b);
    (void)hpx_bin_take(b, n);
    hpx_bin_emit(b, &ev);
}

/* A type, and its size in bytes. */
static uint32_t type(struct hpx_bin *b, int *t)
{
    *t = (int)hpx_bin_u1(b);
    uint32_t size = hpx_type_size(*t, b->id_size);
    if (b->status == HPX_RD_SOUND && size == 0) {
        b->status = hpx_reader_break(b->r, b->at, 0, "%s with the unknown basic type %d", b->what, *t);
    }
    return size;
}

static uint64_t value(struct hpx_bin *b, uint32_t size)
{
    return size == 1 ? hpx_bin_u1(b) : size == 2 ? hpx_bin_u2(b) : size == 4 ? hpx_bin_u4(b) : size == 8 ? hpx_bin_u8(b) : 0;
}

/* One of the three lists of a class; returns the bytes that instances need for them. */
static uint64_t fields(struct hpx_bin *b, enum hpx_rd_field_of of)
{
    uint64_t bytes = 0;
    for (uint32_t n = hpx_bin_u2(b); n > 0 && b->status == HPX_RD_SOUND; n--) {
        struct hpx_rd_event ev = {.kind = HPX_RD_FIELD, .field = {.of = of}};
        ev.field.name = of == HPX_RD_CONSTANT ? hpx_bin_u2(b) : hpx_bin_id(b);
        uint32_t size = type(b, &ev.field.type);
        ev.field.value = of == HPX_RD_DECLARED ? 0 : value(b, size);
        bytes += size;
        hpx_bin_emit(b, &ev);
    }
    return bytes;
}

static void class_dump(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_CLASS};
    ev.object.id = ev.object.class_id = hpx_bin_id(b);
    ev.object.trace = hpx_bin_u4(b);
    ev.object.super = hpx_bin_id(b);
    ev.object.loader = hpx_bin_id(b);
    ev.object.signers = hpx_bin_id(b);
    ev.object.domain = hpx_bin_id(b);
    (void)hpx_bin_id(b); /* reserved, both */
    (void)hpx_bin_id(b);
    ev.object.length = hpx_bin_u4(b);
    (void)fields(b, HPX_RD_CONSTANT);
    (void)fields(b, HPX_RD_STATIC);
    ev.object.bytes = fields(b, HPX_RD_DECLARED);
    hpx_bin_emit(b, &ev);
}

/* Goes over the n bytes of an object, of which whoever wants them is told, at most `most` at a time. */
static void contents(struct hpx_bin *b, uint64_t n, uint64_t most)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_CONTENT};
    while (b->r->contents && b->status == HPX_RD_SOUND && n > 0) {
        ev.content.n = (size_t)(n < most ? n : most);
        if (ev.content.n > HPX_SOURCE_MAX || hpx_source_ahead(b->r->source, ev.content.n) < ev.content.n) {
            break; /* an instance as no JVM has it; or the file ends, as skipping finds */
        }
        ev.content.p = hpx_source_bytes(b->r->source);
        hpx_bin_emit(b, &ev);
        hpx_bin_skip(b, ev.content.n);
        n -= ev.content.n;
    }
    hpx_bin_skip(b, n);
}

static void instance(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_INSTANCE};
    ev.object.id = hpx_bin_id(b);
    ev.object.trace = hpx_bin_u4(b);
    ev.object.class_id = hpx_bin_id(b);
    ev.object.length = ev.object.bytes = hpx_bin_u4(b);
    if (hpx_bin_holds(b, ev.object.length)) {
        hpx_bin_emit(b, &ev);
        contents(b, ev.object.length, UINT64_MAX);
    }
}

static void array(struct hpx_bin *b, bool objects)
{
    struct hpx_rd_event ev = {.kind = objects ? HPX_RD_OBJECTS : HPX_RD_PRIMITIVES};
    int t = HPX_TYPE_OBJECT;
    uint32_t size = b->id_size;
    ev.object.id = hpx_bin_id(b);
    ev.object.trace = hpx_bin_u4(b);
    ev.object.length = hpx_bin_u4(b);
    if (objects) {
        ev.object.class_id = hpx_bin_id(b);
    } else {
        size = type(b, &t);
        if (b->status == HPX_RD_SOUND && t == HPX_TYPE_OBJECT) {
            b->status = hpx_reader_break(b->r, b->at, 0, "%s with objects in it", b->what);
        }
    }
    ev.object.type = (uint32_t)t;
    ev.object.bytes = ev.object.length * size;
    if (!hpx_bin_holds(b, ev.object.bytes)) {
        return;
    }
    hpx_bin_emit(b, &ev);
    contents(b, ev.object.bytes, PIECE);
}

static void sub_record(struct hpx_bin *b)
{
    b->at = hpx_source_offset(b->r->source);
    int sub = (int)hpx_bin_u1(b);
    if (b->status != HPX_RD_SOUND) {
        return;
    }
    b->what = hpx_sub_name(sub);
    if (b->what == NULL) {
        b->status = hpx_reader_break(b->r, b->at, 0, "a record with the unknown tag 0x%02x inside a heap dump", (unsigned)sub);
        return;
    }
    switch (sub) {
    case HPX_SUB_CLASS:
        class_dump(b);
        break;
    case HPX_SUB_INSTANCE:
        instance(b);
        break;
    case HPX_SUB_OBJECTS:
        array(b, true);
        break;
    case HPX_SUB_PRIMITIVES:
        array(b, false);
        break;
    default:
        root(b, sub);
        break;
    }
}

void hpx_bin_heap(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_HEAP, .heap = {.tag = b->tag, .ended = b->tag != HPX_TAG_SEGMENT}};
    if (b->minor == 1 && b->tag != HPX_TAG_HEAP_DUMP) {
        b->status = hpx_reader_break(b->r, b->at, 0, "%s in a file that says 1.0.1", b->what);
        return;
    }
    if (b->tag != HPX_TAG_HEAP_END) {
        hpx_bin_emit(b, &ev);
        while (b->status == HPX_RD_SOUND && b->left > 0) {
            sub_record(b);
        }
        b->at = b->record_at;
    }
    ev.kind = HPX_RD_HEAP_END;
    hpx_bin_emit(b, &ev);
}
