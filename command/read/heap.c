/* SPDX-License-Identifier: BSD-2-Clause */
/* heap.c: the layout of heap dumps in binary files. */
#include "binary.h"
#include <inttypes.h>

#define ELEMENTS_PIECE ((size_t)64 << 10) /* whole elements of either size */

static void root(struct hpx_bin *b, int sub)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_ROOT, .root = {.sub = sub, .frame = -1}};
    ev.root.object = hpx_bin_id(b);
    switch (sub) {
    case HPX_ROOT_JNI_GLOBAL:
        ev.root.reference = hpx_bin_id(b);
        break;
    case HPX_ROOT_JNI_LOCAL:
    case HPX_ROOT_JAVA_FRAME:
        ev.root.thread = hpx_bin_u4(b);
        ev.root.frame = (int32_t)hpx_bin_u4(b);
        break;
    case HPX_ROOT_NATIVE_STACK:
    case HPX_ROOT_THREAD_BLOCK:
        ev.root.thread = hpx_bin_u4(b);
        break;
    case HPX_ROOT_THREAD_OBJECT:
        ev.root.thread = hpx_bin_u4(b);
        ev.root.trace = hpx_bin_u4(b);
        break;
    default:
        break;
    }
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
    switch (size) {
    case 1:
        return hpx_bin_u1(b);
    case 2:
        return hpx_bin_u2(b);
    case 4:
        return hpx_bin_u4(b);
    case 8:
        return hpx_bin_u8(b);
    default:
        return 0;
    }
}

/* Tells each entry of one of the three lists of a class; returns the bytes that instances need for them. */
static uint64_t fields(struct hpx_bin *b, int of)
{
    uint64_t bytes = 0;
    for (uint32_t n = hpx_bin_u2(b); n > 0 && b->status == HPX_RD_SOUND; n--) {
        struct hpx_rd_event ev = {.kind = HPX_RD_FIELD};
        ev.field.of = of;
        ev.field.name = of == HPX_FIELD_CONSTANT ? hpx_bin_u2(b) : hpx_bin_id(b);
        uint32_t size = type(b, &ev.field.type);
        if (of != HPX_FIELD_INSTANCE) {
            ev.field.value = value(b, size);
        }
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
    (void)hpx_bin_id(b); /* reserved */
    (void)hpx_bin_id(b);
    ev.object.length = hpx_bin_u4(b);
    (void)fields(b, HPX_FIELD_CONSTANT);
    (void)fields(b, HPX_FIELD_STATIC);
    ev.object.bytes = fields(b, HPX_FIELD_INSTANCE);
    hpx_bin_emit(b, &ev);
}

/* Tells n bytes in pieces of at most `piece` bytes. */
static void contents(struct hpx_bin *b, uint64_t n, size_t piece)
{
    while (b->status == HPX_RD_SOUND && n > 0) {
        struct hpx_rd_event ev = {.kind = HPX_RD_CONTENTS};
        ev.contents.n = n < piece ? (size_t)n : piece;
        if (hpx_source_ahead(b->r->source, ev.contents.n) < ev.contents.n) {
            hpx_bin_skip(b, n); /* which finds the end */
            return;
        }
        ev.contents.p = hpx_source_bytes(b->r->source);
        hpx_bin_emit(b, &ev);
        hpx_bin_skip(b, ev.contents.n);
        n -= ev.contents.n;
    }
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
        contents(b, ev.object.length, HPX_RD_INSTANCE_MAX);
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
    if (objects) {
        contents(b, ev.object.bytes, ELEMENTS_PIECE);
    } else {
        hpx_bin_skip(b, ev.object.bytes);
    }
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
        if (b->left == 0 && b->status == HPX_RD_SOUND) {
            b->status = hpx_reader_note(b->r, HPX_NOTE_SEGMENT_EMPTY, b->at, 0);
        }
        while (b->status == HPX_RD_SOUND && b->left > 0) {
            sub_record(b);
        }
        b->at = b->record_at;
    }
    ev.kind = HPX_RD_HEAP_END;
    hpx_bin_emit(b, &ev);
}
