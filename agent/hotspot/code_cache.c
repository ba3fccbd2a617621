/* SPDX-License-Identifier: BSD-2-Clause */
/* code_cache.c: heaps, blocks and blobs of the code cache, and the jmethodID of a Method*. Contract: code_cache.h. */
#include "code_cache.h"
#include "structures.h"

#define HEAPS       8u
#define FREE        0xffu
#define HOPS        4096u /* a block of 64 MiB has that many at most */
#define LEAST_BLOCK 4u    /* log2 of the bytes of a segment */
#define MOST_BLOCK  12u

static struct {
    /* addresses of static fields */
    uint64_t heap, heaps, low, high;
    /* offsets */
    uint64_t array_length, array_data, memory, segmap, log2, space_low, space_high, used, block_header;
    uint64_t blob_name, blob_size, blob_frame, blob_code, blob_kind, method, state, compile_id, complete, stubs, original;
    struct hpx_method_ids ids;
    bool single, code_is_offset, has_kind, complete_is_short, has_original;
    int method_kind, most_alive; /* of CodeBlobKind, of nmethod._state */
    uint32_t n;
    uintptr_t at[HEAPS];
    /* of each heap, constant after live: where it and its map begin, log2 of its segments */
    struct {
        uintptr_t low, map;
        uint32_t log2;
    } of[HEAPS];
} cache;

static const char *find_heaps(void)
{
    const struct hpx_vm_field all[] = {
        {"CodeHeap", "_memory", "VirtualSpace", &cache.memory}, {"CodeHeap", "_segmap", "VirtualSpace", &cache.segmap},
        {"CodeHeap", "_log2_segment_size", "int", &cache.log2}, {"VirtualSpace", "_low", "char*", &cache.space_low},
        {"VirtualSpace", "_high", "char*", &cache.space_high},  {"HeapBlock::Header", "_used", "bool", &cache.used}};
    const struct hpx_vm_field segmented[] = {{"CodeCache", "_heaps", "static GrowableArray<CodeHeap*>*", &cache.heaps},
                                             {"CodeCache", "_low_bound", "static address", &cache.low},
                                             {"CodeCache", "_high_bound", "static address", &cache.high},
                                             {"GrowableArray<int>", "_data", "int*", &cache.array_data},
                                             {"GrowableArrayBase", "_len", "int", &cache.array_length},
                                             {"GenericGrowableArray", "_len", "int", &cache.array_length}}; /* JDK 11 */
    const char *why = hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    cache.block_header = hpx_structures_size("HeapBlock");
    if (why == NULL && (cache.block_header < 8 || cache.block_header > 64)) {
        return "the VM's tables have no HeapBlock as expected";
    }
    cache.single = hpx_structures_field(&(struct hpx_vm_field){"CodeCache", "_heap", "static CodeHeap*", &cache.heap}); /* JDK 8 alone */
    return why != NULL || cache.single ? why : hpx_structures_fields(segmented, HPX_ARRAY_LEN(segmented));
}

/* nmethod._state: 0 in use, then "not entrant" and before it, since JDK 9, "not used"; above them come states of the dead. */
static const char *find_state(void)
{
    const struct hpx_vm_field all[] = {{"nmethod", "_state", "volatile unsigned char", &cache.state},
                                       {"nmethod", "_state", "volatile signed char", &cache.state}};
    cache.most_alive = cache.single ? 1 : 2;
    return hpx_structures_fields(all, HPX_ARRAY_LEN(all));
}

static const char *find_blobs(void)
{
    enum { COMPLETE_SHORT = 4 };
    const struct hpx_vm_field all[] = {{"CodeBlob", "_name", "const char*", &cache.blob_name},
                                       {"CodeBlob", "_size", "int", &cache.blob_size},
                                       {"CodeBlob", "_frame_size", "int", &cache.blob_frame},
                                       {"CodeBlob", "_frame_complete_offset", "int", &cache.complete},
                                       {"CodeBlob", "_frame_complete_offset", "int16_t", &cache.complete}, /* JDK 24 to 27 */
                                       {"nmethod", "_compile_id", "int", &cache.compile_id},
                                       {"nmethod", "_stub_offset", "int", &cache.stubs},
                                       {"CompiledMethod", "_method", "Method*", &cache.method},
                                       {"nmethod", "_method", "Method*", &cache.method}}; /* JDK 8, 23 and later */
    const char *why = hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    cache.has_kind = hpx_structures_field(&(struct hpx_vm_field){"CodeBlob", "_kind", "CodeBlobKind", &cache.blob_kind}); /* JDK 24 */
    if (why == NULL && cache.has_kind && !hpx_structures_constant("CodeBlobKind::Nmethod", &cache.method_kind)) {
        return "the VM's tables have no CodeBlobKind::Nmethod";
    }
    cache.code_is_offset = !hpx_structures_field(&(struct hpx_vm_field){"CodeBlob", "_code_begin", "address", &cache.blob_code});
    if (why == NULL && cache.code_is_offset) {
        why = hpx_structures_fields(&(struct hpx_vm_field){"CodeBlob", "_code_offset", "int", &cache.blob_code}, 1);
    }
    cache.complete_is_short = hpx_structures_field(&all[COMPLETE_SHORT]);
    cache.has_original = hpx_structures_field(&(struct hpx_vm_field){"nmethod", "_orig_pc_offset", "int", &cache.original});
    return why != NULL ? why : find_state();
}

const char *hpx_method_ids_init(struct hpx_method_ids *to)
{
    const struct hpx_vm_field all[] = {{"Method", "_constMethod", "ConstMethod*", &to->constant},
                                       {"ConstMethod", "_method_idnum", "u2", &to->number},
                                       {"ConstMethod", "_constants", "ConstantPool*", &to->pool},
                                       {"ConstantPool", "_pool_holder", "InstanceKlass*", &to->holder},
                                       {"InstanceKlass", "_methods_jmethod_ids", "jmethodID*", &to->ids}};
    return hpx_structures_fields(all, HPX_ARRAY_LEN(all));
}

const char *hpx_code_cache_init(void)
{
    const char *why = find_heaps();
    why = why != NULL ? why : find_blobs();
    return why != NULL ? why : hpx_method_ids_init(&cache.ids);
}

static uintptr_t low_of(uintptr_t space)
{
    return hpx_vm_word(space + cache.space_low);
}

static uintptr_t high_of(uintptr_t space)
{
    return hpx_vm_word(space + cache.space_high);
}

/* Every heap lies within the bounds, overlaps none before it, and has a map entry for each of its segments. */
static bool sane(uint32_t i)
{
    uintptr_t heap = cache.at[i];
    if (heap == 0 || heap % sizeof(uintptr_t) != 0) {
        return false;
    }
    uintptr_t low = low_of(heap + cache.memory), high = high_of(heap + cache.memory);
    int32_t log2 = hpx_vm_int(heap + cache.log2);
    bool inside = cache.single || (low >= hpx_vm_word((uintptr_t)cache.low) && high <= hpx_vm_word((uintptr_t)cache.high));
    if (!inside || low == 0 || low >= high || log2 < (int32_t)LEAST_BLOCK || log2 > (int32_t)MOST_BLOCK) {
        return false;
    }
    for (uint32_t k = 0; k < i; k++) {
        if (low < high_of(cache.at[k] + cache.memory) && low_of(cache.at[k] + cache.memory) < high) {
            return false;
        }
    }
    uintptr_t map = low_of(heap + cache.segmap), map_end = high_of(heap + cache.segmap);
    cache.of[i].low = low;
    cache.of[i].map = map;
    cache.of[i].log2 = (uint32_t)log2;
    return map != 0 && map_end > map && map_end - map >= (high - low) >> log2;
}

const char *hpx_code_cache_live(void)
{
    cache.n = 0;
    if (cache.single) {
        cache.at[0] = hpx_vm_word((uintptr_t)cache.heap);
        cache.n = sane(0) ? 1 : 0;
        return cache.n == 1 ? NULL : "the VM's code heap has another shape";
    }
    uintptr_t array = hpx_vm_word((uintptr_t)cache.heaps);
    int32_t n = array != 0 ? hpx_vm_int(array + cache.array_length) : 0;
    uintptr_t data = array != 0 ? hpx_vm_word(array + cache.array_data) : 0;
    if (n < 1 || n > (int32_t)HEAPS || data == 0) {
        return "the VM's list of code heaps has another shape";
    }
    for (uint32_t i = 0; i < (uint32_t)n; i++) {
        cache.at[i] = hpx_vm_word(data + i * sizeof(uintptr_t));
        if (!sane(i)) {
            cache.n = 0;
            return "the VM's code heaps have another shape";
        }
        cache.n = i + 1;
    }
    return NULL;
}

/* The heap with the highest start that is not above pc. The caller compares its end. */
static uint32_t find_heap(uintptr_t pc)
{
    uint32_t best = cache.n;
    for (uint32_t h = 0; h < cache.n; h++) {
        if (pc >= cache.of[h].low && (best == cache.n || cache.of[h].low > cache.of[best].low)) {
            best = h;
        }
    }
    return best;
}

bool hpx_code_cache_has_sig(uintptr_t pc)
{
    uint32_t h = find_heap(pc);
    return h != cache.n && pc < high_of(cache.at[h] + cache.memory);
}

/* The block that holds pc: the map has the distance back to a block's first segment, in hops of less than FREE. 0: none. */
static uintptr_t find_block(uintptr_t pc)
{
    uint32_t h = find_heap(pc), hops = 0;
    if (h == cache.n || pc >= high_of(cache.at[h] + cache.memory)) {
        return 0;
    }
    uintptr_t low = cache.of[h].low, map = cache.of[h].map, i = (pc - low) >> cache.of[h].log2;
    if (map + i >= high_of(cache.at[h] + cache.segmap)) {
        return 0;
    }
    for (uint8_t back = hpx_vm_byte(map + i); back != 0; back = hpx_vm_byte(map + i)) {
        if (back == FREE || back > i || ++hops > HOPS) {
            return 0;
        }
        i -= back;
    }
    return low + (i << cache.of[h].log2);
}

/* Not strcmp: a fault must be in code of hprofx (guard.h). */
static bool is_text(const char *at, const char *text)
{
    while (*text != 0 && *at == *text) {
        at++, text++;
    }
    return *at == *text;
}

static bool is_method(uintptr_t blob, const char *name)
{
    return cache.has_kind ? hpx_vm_byte(blob + cache.blob_kind) == (uint8_t)cache.method_kind
                          : is_text(name, "nmethod") || is_text(name, "native nmethod");
}

static bool is_alive(uintptr_t blob)
{
    int8_t state = (int8_t)hpx_vm_byte(blob + cache.state);
    return state >= 0 && state <= cache.most_alive;
}

static uintptr_t code_of(uintptr_t blob)
{
    return cache.code_is_offset ? blob + (uintptr_t)hpx_vm_int(blob + cache.blob_code) : hpx_vm_word(blob + cache.blob_code);
}

/* The blob that holds pc; 0: none. */
static uintptr_t find_blob(uintptr_t pc)
{
    uintptr_t block = find_block(pc);
    if (block == 0 || hpx_vm_byte(block + cache.used) != 1) {
        return 0;
    }
    uintptr_t blob = block + cache.block_header;
    int32_t size = hpx_vm_int(blob + cache.blob_size);
    return size > 0 && pc - blob < (uintptr_t)size ? blob : 0;
}

/* In the section of handlers a pc does not tell where the method is: a frame that is being deoptimized returns there from everywhere. */
static void fill_method(struct hpx_code_frame *f, uintptr_t blob, uintptr_t pc)
{
    int32_t complete =
        cache.complete_is_short ? (int16_t)hpx_vm_half(blob + cache.complete) : hpx_vm_int(blob + cache.complete); /* -1: never */
    int32_t stubs = hpx_vm_int(blob + cache.stubs);
    uintptr_t code = code_of(blob);
    bool alive = is_alive(blob) && code > blob && pc >= code && stubs > 0, inside = alive && pc - blob < (uintptr_t)stubs;
    f->kind = inside ? HPX_BLOB_METHOD : HPX_BLOB_DEAD;
    f->original = alive && !inside && cache.has_original ? hpx_vm_int(blob + cache.original) : -1;
    f->id = hpx_vm_int(blob + cache.compile_id);
    f->code = (uint32_t)(pc - code);
    f->complete = complete >= 0 && f->code >= (uint32_t)complete;
}

struct hpx_code_frame hpx_code_cache_frame_sig(uintptr_t pc)
{
    struct hpx_code_frame f = {.kind = HPX_BLOB_NONE, .original = -1};
    uintptr_t blob = find_blob(pc);
    const char *name = blob != 0 ? (const char *)hpx_vm_word(blob + cache.blob_name) : NULL;
    if (name == NULL) {
        return f;
    }
    f.start = blob;
    f.offset = (uint32_t)(pc - blob);
    f.size = hpx_vm_int(blob + cache.blob_frame);
    if (is_method(blob, name)) {
        fill_method(&f, blob, pc);
    } else {
        f.kind = HPX_BLOB_OTHER;
        f.unpacks = is_text(name, "DeoptimizationBlob");
    }
    return f;
}

static void tell_of(uintptr_t block, void (*fn)(void *ctx, int32_t id, uint64_t bytes), void *ctx)
{
    uintptr_t blob = block + cache.block_header;
    const char *name = hpx_vm_byte(block + cache.used) == 1 ? (const char *)hpx_vm_word(blob + cache.blob_name) : NULL;
    int32_t size = name != NULL && is_method(blob, name) ? hpx_vm_int(blob + cache.blob_size) : 0;
    if (size > 0 && is_alive(blob)) {
        fn(ctx, hpx_vm_int(blob + cache.compile_id), (uint64_t)size);
    }
}

/* A heap may grow during the loop: its memory first, then its map. */
void hpx_code_cache_each(void (*fn)(void *ctx, int32_t id, uint64_t bytes), void *ctx)
{
    for (uint32_t h = 0; h < cache.n; h++) {
        uintptr_t heap = cache.at[h], low = low_of(heap + cache.memory), map = low_of(heap + cache.segmap);
        uint32_t log2 = (uint32_t)hpx_vm_int(heap + cache.log2);
        uintptr_t n = (high_of(heap + cache.memory) - low) >> log2, mapped = high_of(heap + cache.segmap) - map;
        for (uintptr_t i = 0; i < n && i < mapped; i++) {
            if (hpx_vm_byte(map + i) == 0) { /* the first segment of a block */
                tell_of(low + (i << log2), fn, ctx);
            }
        }
    }
}

uintptr_t hpx_code_cache_method_sig(uintptr_t start)
{
    return hpx_vm_word(start + cache.method);
}

/* The class keeps its ids in an array by the method's number; its first word is the length. */
uint64_t hpx_code_cache_id_sig(uintptr_t method)
{
    uintptr_t constant = hpx_vm_word(method + cache.ids.constant);
    uintptr_t pool = hpx_vm_is_address(constant) ? hpx_vm_word(constant + cache.ids.pool) : 0;
    uintptr_t holder = hpx_vm_is_address(pool) ? hpx_vm_word(pool + cache.ids.holder) : 0;
    uintptr_t ids = hpx_vm_is_address(holder) ? hpx_vm_word(holder + cache.ids.ids) : 0;
    if (!hpx_vm_is_address(ids)) {
        return 0;
    }
    uintptr_t number = hpx_vm_half(constant + cache.ids.number);
    return number < hpx_vm_word(ids) ? hpx_vm_word(ids + (number + 1) * sizeof(uintptr_t)) : 0;
}
