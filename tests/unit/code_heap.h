/* SPDX-License-Identifier: BSD-2-Clause */
/* code_heap.h: code heaps as the VM lays them out, in memory of the test, and the tables that describe them for one JDK.
 *
 * For test_code_cache.c, test_code_sum.c and java_stack.h. One struct serves all versions: a member that a version lacks
 * is not in its tables. */
#ifndef CODE_HEAP_H
#define CODE_HEAP_H

#include "compiler.h"
#include "vm_tables.h"
#include <stdlib.h>
#include <string.h>

#define FREE_SEGMENT 0xffu
#define MOST_HEAPS   9u
#define NMETHOD_KIND 1

enum jdk { JDK_8, JDK_9, JDK_11, JDK_17, JDK_25 };

struct space {
    uint64_t before;
    uintptr_t low, high;
};

struct heap {
    struct space memory;
    int32_t log2;
    struct space map;
};

struct block {
    uint64_t length;
    uint8_t used, more[7];
};

struct blob {
    const char *name;
    int32_t size, frame_size;
    uintptr_t code_begin;
    int32_t code_offset;
    uint8_t kind, state;
    int32_t compile_id;
    uintptr_t method;
    int32_t complete, stubs, pcs, behind_pcs; /* the last two: java_stack.h */
    int16_t short_complete;
    uintptr_t immutable;
    int32_t immutable_size;
    /* java_stack.h */
    int32_t metadata, scopes, mutable_size, relocation;
    uintptr_t scopes_begin, mutable;
};

struct heap_array {
    int32_t length, capacity;
    struct heap **data;
};

static struct heap heaps[MOST_HEAPS];
static struct heap *heap_list[MOST_HEAPS];
static struct heap_array heap_array = {.capacity = MOST_HEAPS, .data = heap_list};
static struct heap_array *heaps_field = &heap_array;
static uintptr_t low_bound, high_bound;

static void describe_heaps(enum jdk jdk)
{
    vm_tables_field("CodeHeap", "_memory", "VirtualSpace", offsetof(struct heap, memory));
    vm_tables_field("CodeHeap", "_segmap", "VirtualSpace", offsetof(struct heap, map));
    vm_tables_field("CodeHeap", "_log2_segment_size", "int", offsetof(struct heap, log2));
    vm_tables_field("VirtualSpace", "_low", "char*", offsetof(struct space, low));
    vm_tables_field("VirtualSpace", "_high", "char*", offsetof(struct space, high));
    vm_tables_field("HeapBlock::Header", "_used", "bool", offsetof(struct block, used));
    vm_tables_type("HeapBlock", sizeof(struct block));
    vm_tables_type("HeapBlock::Header", sizeof(struct block));
    vm_tables_type("CodeHeap", sizeof(struct heap));
    vm_tables_type("VirtualSpace", sizeof(struct space));
    if (jdk == JDK_8) {
        vm_tables_static("CodeCache", "_heap", "CodeHeap*", &heap_list[0]);
        return;
    }
    vm_tables_static("CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", &heaps_field);
    vm_tables_static("CodeCache", "_low_bound", "address", &low_bound);
    vm_tables_static("CodeCache", "_high_bound", "address", &high_bound);
    vm_tables_field("GrowableArray<int>", "_data", "int*", offsetof(struct heap_array, data));
    const char *base = jdk <= JDK_11 ? "GenericGrowableArray" : "GrowableArrayBase";
    vm_tables_field(base, "_len", "int", offsetof(struct heap_array, length));
    vm_tables_type(base, sizeof(struct heap_array));
    vm_tables_type("GrowableArray<int>", sizeof(struct heap_array));
}

static void describe_blobs(enum jdk jdk)
{
    vm_tables_field("CodeBlob", "_name", "const char*", offsetof(struct blob, name));
    vm_tables_field("CodeBlob", "_size", "int", offsetof(struct blob, size));
    vm_tables_field("CodeBlob", "_frame_size", "int", offsetof(struct blob, frame_size));
    vm_tables_type("CodeBlob", sizeof(struct blob));
    vm_tables_type("CompiledMethod", sizeof(struct blob));
    vm_tables_type("nmethod", sizeof(struct blob));
    if (jdk > JDK_8 && jdk < JDK_25) {
        vm_tables_field("CodeBlob", "_code_begin", "address", offsetof(struct blob, code_begin));
        vm_tables_field("CompiledMethod", "_method", "Method*", offsetof(struct blob, method));
    } else {
        vm_tables_field("CodeBlob", "_code_offset", "int", offsetof(struct blob, code_offset));
        vm_tables_field("nmethod", "_method", "Method*", offsetof(struct blob, method));
    }
    vm_tables_field("nmethod", "_state", jdk <= JDK_9 ? "volatile unsigned char" : "volatile signed char", offsetof(struct blob, state));
    vm_tables_field("nmethod", "_stub_offset", "int", offsetof(struct blob, stubs));
    if (jdk == JDK_25) {
        vm_tables_field("CodeBlob", "_frame_complete_offset", "int16_t", offsetof(struct blob, short_complete));
    } else {
        vm_tables_field("CodeBlob", "_frame_complete_offset", "int", offsetof(struct blob, complete));
    }
    vm_tables_field("nmethod", "_compile_id", "int", offsetof(struct blob, compile_id));
    if (jdk == JDK_25) {
        vm_tables_field("CodeBlob", "_kind", "CodeBlobKind", offsetof(struct blob, kind));
        vm_tables_constant("CodeBlobKind::Nmethod", NMETHOD_KIND);
    }
}

/* What leads from a Method to its jmethodID. */
struct holder {
    uint64_t before;
    uintptr_t *ids; /* [0]: how many follow */
};

struct pool {
    uint64_t before[2];
    struct holder *holder;
};

struct const_method {
    uint64_t before;
    struct pool *constants;
    uint16_t before_number, number, behind_number;
    uint16_t code_size, max_stack; /* java_stack.h */
};

struct method {
    uint64_t before;
    struct const_method *constant;
    uint32_t flags; /* java_stack.h */
    uintptr_t code; /* test_raw_walk.c */
};

static void describe_ids(void)
{
    vm_tables_field("Method", "_constMethod", "ConstMethod*", offsetof(struct method, constant));
    vm_tables_field("ConstMethod", "_method_idnum", "u2", offsetof(struct const_method, number));
    vm_tables_field("ConstMethod", "_constants", "ConstantPool*", offsetof(struct const_method, constants));
    vm_tables_field("ConstantPool", "_pool_holder", "InstanceKlass*", offsetof(struct pool, holder));
    vm_tables_field("InstanceKlass", "_methods_jmethod_ids", "jmethodID*", offsetof(struct holder, ids));
    vm_tables_type("Method", sizeof(struct method));
    vm_tables_type("ConstMethod", sizeof(struct const_method));
    vm_tables_type("ConstantPool", sizeof(struct pool));
    vm_tables_type("InstanceKlass", sizeof(struct holder));
}

static void describe(enum jdk jdk)
{
    describe_heaps(jdk);
    describe_blobs(jdk);
    describe_ids();
    vm_tables_constant("any", 1);
}

/* Heap h of n free segments of 1 << log2 bytes from `low`; the map has no byte too many, so that tools see a read behind it. */
static struct heap *add_heap_at(uint32_t h, uintptr_t low, uint32_t n, int32_t log2)
{
    unsigned char *map = malloc(n);
    assert_non_null(map);
    memset(map, FREE_SEGMENT, n);
    free((void *)heaps[h].map.low);
    heaps[h] =
        (struct heap){.memory = {0, low, low + ((uintptr_t)n << log2)}, .log2 = log2, .map = {0, (uintptr_t)map, (uintptr_t)map + n}};
    heap_list[h] = &heaps[h];
    heap_array.length = (int32_t)h + 1;
    low_bound = h == 0 || low < low_bound ? low : low_bound;
    high_bound = h == 0 || heaps[h].memory.high > high_bound ? heaps[h].memory.high : high_bound;
    return &heaps[h];
}

static inline struct heap *add_heap(uint32_t h, uint32_t n, int32_t log2)
{
    void *memory = calloc(n, (size_t)1 << log2);
    assert_non_null(memory);
    return add_heap_at(h, (uintptr_t)memory, n, log2);
}

static unsigned char *map_of(const struct heap *heap)
{
    return (unsigned char *)heap->map.low;
}

static uintptr_t segment(const struct heap *heap, uint32_t i)
{
    return heap->memory.low + ((uintptr_t)i << heap->log2);
}

/* A used block of n segments from the first one, in the map as HotSpot writes it: 0, 1, ... 0xfe, 1, 2, ... The blob is empty. */
static struct blob *add_block(const struct heap *heap, uint32_t from, uint32_t n)
{
    unsigned char back = 0;
    for (uint32_t i = 0; i < n; i++) {
        map_of(heap)[from + i] = back++;
        back = back == FREE_SEGMENT ? 1 : back;
    }
    struct block *block = (struct block *)segment(heap, from);
    *block = (struct block){.length = n, .used = 1};
    return (struct blob *)(block + 1);
}

/* A living method there; its code begins `code` bytes behind the blob's start, the blob has `size`. */
static inline struct blob *add_method(const struct heap *heap, uint32_t from, uint32_t n, int32_t code, int32_t size, const void *method)
{
    struct blob *blob = add_block(heap, from, n);
    *blob = (struct blob){.name = "nmethod",
                          .size = size,
                          .frame_size = 12,
                          .code_begin = (uintptr_t)blob + (uintptr_t)code,
                          .code_offset = code,
                          .kind = NMETHOD_KIND,
                          .stubs = size,
                          .method = (uintptr_t)method};
    return blob;
}

#endif
