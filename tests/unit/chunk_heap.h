/* SPDX-License-Identifier: BSD-2-Clause */
/* chunk_heap.h: a Java heap with a continuation and chunks of its stack, in memory of the test, and the tables that describe them.
 *
 * For test_stack_chunk.c and test_raw_walk.c. */
#ifndef CHUNK_HEAP_H
#define CHUNK_HEAP_H

#include "heap_objects.h"
#include "stack_chunk.h"
#include "vm_flags.h"
#include "vm_tables.h"
#include <string.h>

#define CHUNK_WORDS 64

static struct {
    HPX_ALIGNED(8) uint16_t length;
    char body[64];
} chunk_name;

static struct chunk_klass {
    uint64_t before;
    int32_t layout;
    void *name;
} chunk_klass, other_klass;

/* A reference is a word; of 4 bytes it is the lower half of one. */
struct chunk {
    uintptr_t mark;
    struct chunk_klass *klass;
    int32_t size, sp, bottom, pad;
    uintptr_t parent;
    uintptr_t stack[CHUNK_WORDS];
};
static struct chunk chunks[3];
static struct {
    uintptr_t mark, klass, tail;
} continuation;

static struct {
    uint64_t before;
    uint32_t collections;
    uint8_t active;
} java_heap;
static void *java_heap_at = &java_heap;
static uintptr_t oop_base;
static int32_t oop_shift;

static uintptr_t bad_mask, good_mask, pointer_shift, offset_mask;
static struct {
    uintptr_t *bad, *good, *shift, *offsets;
} masks = {&bad_mask, &good_mask, &pointer_shift, &offset_mask};
static void *masks_at = &masks;

static const char *flags_on = ""; /* names with blanks around them */

bool hpx_vm_flag(const char *name, bool otherwise)
{
    char with_blanks[64];
    (void)otherwise;
    snprintf(with_blanks, sizeof with_blanks, " %s ", name);
    return strstr(flags_on, with_blanks) != NULL;
}

static inline struct hpx_stack_chunk_layout chunk_layout(uint64_t enters, uint64_t yields)
{
    return (struct hpx_stack_chunk_layout){.chunk = (uintptr_t)&chunk_klass,
                                           .size = offsetof(struct chunk, size),
                                           .sp = offsetof(struct chunk, sp),
                                           .bottom = offsetof(struct chunk, bottom),
                                           .parent = offsetof(struct chunk, parent),
                                           .tail = 16,
                                           .enters = enters,
                                           .yields = yields};
}

static inline void describe_chunks(void)
{
    vm_tables_type("Klass", sizeof(struct chunk_klass));
    vm_tables_type("Symbol", sizeof chunk_name);
    vm_tables_type("CollectedHeap", sizeof java_heap);
    vm_tables_type("oopDesc", 16);
    vm_tables_type("ZGlobalsForVMStructs", sizeof masks);
    vm_tables_field("Klass", "_layout_helper", "jint", offsetof(struct chunk_klass, layout));
    vm_tables_field("Klass", "_name", "Symbol*", offsetof(struct chunk_klass, name));
    vm_tables_field("Symbol", "_length", "u2", 0);
    vm_tables_field("Symbol", "_body", NULL, offsetof(__typeof__(chunk_name), body));
    vm_tables_static("Universe", "_collectedHeap", "CollectedHeap*", &java_heap_at);
    vm_tables_field("CollectedHeap", "_total_collections", "unsigned int", offsetof(__typeof__(java_heap), collections));
    vm_tables_field("CollectedHeap", "_is_stw_gc_active", "bool", offsetof(__typeof__(java_heap), active));
    vm_tables_field("oopDesc", "_metadata._klass", "Klass*", offsetof(struct chunk, klass));
    vm_tables_static("CompressedOops", "_base", "address", &oop_base);
    vm_tables_static("CompressedOops", "_shift", "int", &oop_shift);
    vm_tables_static("ZGlobalsForVMStructs", "_instance_p", "ZGlobalsForVMStructs*", &masks_at);
    vm_tables_field("ZGlobalsForVMStructs", "_ZPointerLoadBadMask", "uintptr_t*", 0);
    vm_tables_field("ZGlobalsForVMStructs", "_ZPointerLoadGoodMask", "uintptr_t*", sizeof(uintptr_t));
    vm_tables_field("ZGlobalsForVMStructs", "_ZPointerLoadShift", "size_t*", 2 * sizeof(uintptr_t));
    vm_tables_field("ZGlobalsForVMStructs", "_ZAddressOffsetMask", "uintptr_t*", 3 * sizeof(uintptr_t));
    strcpy(chunk_name.body, "jdk/internal/vm/StackChunk");
    chunk_name.length = (uint16_t)strlen(chunk_name.body);
    chunk_klass = (struct chunk_klass){.layout = offsetof(struct chunk, stack) | 1, .name = &chunk_name};
    other_klass = chunk_klass;
    continuation.tail = (uintptr_t)&chunks[0];
    for (size_t i = 0; i < HPX_ARRAY_LEN(chunks); i++) {
        chunks[i] = (struct chunk){.mark = 1, .klass = &chunk_klass, .size = CHUNK_WORDS, .sp = CHUNK_WORDS, .bottom = CHUNK_WORDS};
    }
}

#endif
