/* SPDX-License-Identifier: BSD-2-Clause */
/* java_stack.h: a thread with a Java stack made by hand, as HotSpot lays out its frames on this processor, in the code of code_heap.h: two
 * compiled methods with debug information, a stub, the interpreter, the way from C into Java.
 *
 * For test_raw_walk.c, test_frame_names.c and fuzz_frames.c. */
#ifndef JAVA_STACK_H
#define JAVA_STACK_H

#include "code_cache.h"
#include "code_heap.h"
#include "frame_anchor.h"
#include "frame_names.h"
#include "raw_frames.h"
#include "scopes.h"

#define LOG2  7
#define CODE  256 /* a blob's code begins there */
#define STUBS 800 /* and its handlers */
#define WORDS 64u /* of the stack */
#define DEPTH 16u

/* Behind them, until JDK 22, the tables of a method; then its end. */
enum { METADATA = 832, SCOPES = METADATA + 32, DESCS = SCOPES + 64, SIZE = DESCS + 32 };

/* Words from the frame pointer of the call stub to its wrapper: by the tables, where the processor does not tell. */
enum { WRAPPER = HPX_CALL_WRAPPER != 0 ? HPX_CALL_WRAPPER : -6 };

enum { IN_NATIVE = 4, IN_VM = 6, IN_JAVA = 8, BLOCKED = 10 };

struct anchor {
    uintptr_t sp, pc, fp;
};

/* A thread and the stack that it runs on; the wrapper of its first call into Java lies at the end. */
static struct {
    struct anchor anchor;
    uint64_t env;
    int32_t state;
    uintptr_t continuation, thrown, unpacked;
} thread = {.state = IN_NATIVE};
static uintptr_t stack[WORDS];
/* What deoptimization fills frames with. */
struct element {
    uintptr_t method;
    int32_t bci;
};
static struct {
    uint64_t before;
    int32_t n;
    struct element elements[2]; /* the VM declares one */
} unpacked;
static struct {
    uint64_t before;
    struct anchor anchor;
} *const wrapper = (void *)&stack[WORDS - 8];

struct desc {
    int32_t pc, scope;
};

static struct {
    uint64_t before;
    uintptr_t buffer;
    int32_t limit;
} queue;
static void *queue_field = &queue;
static uintptr_t call_return, entry_return;

/* Methods: the interpreted one, those of methods[0] and methods[1], one that is inlined. Its number is its place in `ids`. */
enum { INTERPRETED, FIRST, SECOND, INLINED, JAVAS };
static uintptr_t ids[JAVAS + 1] = {JAVAS, 0x7f0000001000, 0x7f0000002000, 0x7f0000003000, 0x7f0000004000};
static struct holder holder = {.ids = ids};
static struct pool pool = {.holder = &holder};
static struct const_method constants[JAVAS];
static struct method javas[JAVAS];

static struct blob *methods[2], *stub;
static int32_t release;
/* Of each compiled method: where the VM looks for them, and how much is filled. */
static struct tables {
    struct desc *descs; /* 4 */
    uint8_t *scopes;    /* 64 */
    uintptr_t *metadata;
    uint32_t filled, least; /* least: the smallest byte of a number */
} tables[2];
/* JDK 25: outside of the method. */
static struct {
    struct desc descs[4];
    uint8_t scopes[64];
} immutable[2];
static uintptr_t mutable[2][5];

static inline void describe_frames(enum jdk jdk)
{
    if (jdk == JDK_25) {
        vm_tables_field("nmethod", "_immutable_data", "address", offsetof(struct blob, immutable));
        vm_tables_field("nmethod", "_immutable_data_size", "int", offsetof(struct blob, immutable_size));
    }
    vm_tables_field("nmethod", "_scopes_pcs_offset", "int", offsetof(struct blob, pcs));
    vm_tables_field("nmethod", jdk == JDK_25 ? "_scopes_data_offset" : "_dependencies_offset", "int", offsetof(struct blob, behind_pcs));
    vm_tables_field("PcDesc", "_pc_offset", "int", offsetof(struct desc, pc));
    vm_tables_field("PcDesc", "_scope_decode_offset", "int", offsetof(struct desc, scope));
    vm_tables_type("PcDesc", sizeof(struct desc));
    vm_tables_static("StubRoutines", "_call_stub_return_address", "address", &call_return);
    vm_tables_static("AbstractInterpreter", "_code", "StubQueue*", &queue_field);
    vm_tables_field("StubQueue", "_stub_buffer", "address", 8);
    vm_tables_field("StubQueue", "_buffer_limit", "int", 16);
    vm_tables_type("StubQueue", sizeof queue);
    vm_tables_field("JavaCallWrapper", "_anchor", "JavaFrameAnchor", 8);
    vm_tables_type("JavaCallWrapper", sizeof *wrapper);
    if (HPX_CALL_WRAPPER == 0) {
        vm_tables_constant("frame::entry_frame_call_wrapper_offset", WRAPPER);
    }
}

static inline void describe_thread(enum jdk jdk)
{
    if (jdk == JDK_25) {
        vm_tables_field("JavaThread", "_cont_entry", "ContinuationEntry*", offsetof(__typeof__(thread), continuation));
        vm_tables_static("ContinuationEntry", "_return_pc", "address", &entry_return);
    }
    vm_tables_field("JavaThread", "_anchor", "JavaFrameAnchor", 0);
    vm_tables_field("JavaThread", "_exception_pc", "address", offsetof(__typeof__(thread), thrown));
    vm_tables_field("JavaThread", "_vframe_array_head", "vframeArray*", offsetof(__typeof__(thread), unpacked));
    vm_tables_field("vframeArray", "_frames", "int", offsetof(__typeof__(unpacked), n));
    vm_tables_type("vframeArray", offsetof(__typeof__(unpacked), elements[1]));
    vm_tables_field("vframeArrayElement", "_method", "Method*", offsetof(struct element, method));
    vm_tables_field("vframeArrayElement", "_bci", "int", offsetof(struct element, bci));
    vm_tables_type("vframeArrayElement", sizeof(struct element));
    vm_tables_field("JavaThread", "_thread_state", "JavaThreadState", 32);
    vm_tables_field("JavaFrameAnchor", "_last_Java_sp", "intptr_t*", 0);
    vm_tables_field("JavaFrameAnchor", "_last_Java_pc", "address", 8);
    vm_tables_field("JavaFrameAnchor", "_last_Java_fp", "intptr_t*", 16);
    vm_tables_type("JavaThread", sizeof thread);
    vm_tables_type("JavaFrameAnchor", sizeof(struct anchor));
    vm_tables_constant("_thread_in_native", IN_NATIVE);
    vm_tables_constant("_thread_in_vm", IN_VM);
    vm_tables_constant("_thread_in_Java", IN_JAVA);
    vm_tables_constant("_thread_blocked", BLOCKED);
}

static inline void describe_names(enum jdk jdk)
{
    vm_tables_static("Abstract_VM_Version", "_vm_major_version", "int", &release);
    vm_tables_field("Method", "_access_flags", "AccessFlags", offsetof(struct method, flags));
    vm_tables_field("ConstMethod", "_code_size", "u2", offsetof(struct const_method, code_size));
    vm_tables_field("ConstMethod", "_max_stack", "u2", offsetof(struct const_method, max_stack));
    if (jdk == JDK_25) {
        vm_tables_field("CodeBlob", "_mutable_data", "address", offsetof(struct blob, mutable));
        vm_tables_field("CodeBlob", "_mutable_data_size", "int", offsetof(struct blob, mutable_size));
        vm_tables_field("CodeBlob", "_relocation_size", "int", offsetof(struct blob, relocation));
        return;
    }
    vm_tables_field("nmethod", "_metadata_offset", "int", offsetof(struct blob, metadata));
    if (jdk == JDK_8) {
        vm_tables_field("nmethod", "_scopes_data_offset", "int", offsetof(struct blob, scopes));
    } else {
        vm_tables_field("CompiledMethod", "_scopes_data_begin", "address", offsetof(struct blob, scopes_begin));
    }
}

/* Places, scopes and metadata of methods[i], which are empty. */
static inline void lay_tables(enum jdk jdk, int i)
{
    struct blob *b = methods[i];
    char *base = (char *)b;
    tables[i] = (struct tables){(struct desc *)(base + DESCS), (uint8_t *)base + SCOPES, (uintptr_t *)(base + METADATA), 1,
                                jdk != JDK_8 && release >= 20};
    b->pcs = DESCS;
    b->behind_pcs = DESCS + (int32_t)sizeof(struct desc[4]);
    b->metadata = METADATA;
    b->scopes = SCOPES;
    b->scopes_begin = (uintptr_t)base + SCOPES;
    if (jdk == JDK_25) {
        tables[i] = (struct tables){immutable[i].descs, immutable[i].scopes, mutable[i] + 1, 1, 1};
        b->immutable = (uintptr_t)&immutable[i];
        b->immutable_size = sizeof immutable[i];
        b->pcs = 0;
        b->behind_pcs = sizeof immutable[i].descs;
        b->mutable = (uintptr_t) mutable[i];
        b->mutable_size = sizeof mutable[i];
        b->relocation = sizeof(uintptr_t);
    }
    for (int m = 0; m < JAVAS; m++) {
        tables[i].metadata[m] = (uintptr_t)&javas[m];
    }
}

/* UNSIGNED5, by an encoder of its own. */
static inline void put_number(struct tables *t, uint32_t number)
{
    uint32_t least = t->least, most = 192 - least; /* numbers below it are one byte */
    for (; number >= most; number = (number - most) >> 6) {
        t->scopes[t->filled++] = (uint8_t)(192 + ((number - most) & 63));
    }
    t->scopes[t->filled++] = (uint8_t)(number + least);
}

/* A scope of methods[i]; its offset. caller: a scope, 0: none. */
static inline int32_t put_scope(int i, int32_t caller, int java, int32_t bci)
{
    struct tables *t = &tables[i];
    int32_t at = (int32_t)t->filled;
    put_number(t, (uint32_t)caller);
    put_number(t, (uint32_t)java + 1);
    put_number(t, (uint32_t)bci + 1);
    assert_true(t->filled <= 64);
    return at;
}

/* The places of methods[i]. */
static inline void put_places(int i, int32_t pc1, int32_t scope1, int32_t pc2, int32_t scope2, int32_t pc3, int32_t scope3)
{
    const struct desc all[4] = {{-1, 0}, {pc1, scope1}, {pc2, scope2}, {pc3, scope3}};
    memcpy(tables[i].descs, all, sizeof all);
}

/* Two methods of frames of 4 words, a stub of 6, the interpreter and the way from C. The first method has the bytecodes 7 up to 40, 9 up to
 * 60 and 7 again up to 400; the second one 3 at 100. */
static inline void begin_release(enum jdk jdk, int32_t of)
{
    const struct heap *heap = add_heap(0, 64, LOG2);
    release = of;
    for (uint16_t m = 0; m < JAVAS; m++) {
        constants[m] = (struct const_method){.constants = &pool, .number = m, .code_size = 50, .max_stack = 4};
        javas[m] = (struct method){.constant = &constants[m]};
    }
    for (int i = 0; i < 2; i++) {
        methods[i] = add_method(heap, 8 + 8 * (uint32_t)i, 8, CODE, SIZE, &javas[FIRST + i]);
        methods[i]->frame_size = 4;
        methods[i]->compile_id = 100 + i;
        methods[i]->complete = methods[i]->short_complete = 16;
        methods[i]->stubs = STUBS;
        lay_tables(jdk, i);
    }
    stub = add_block(heap, 32, 8);
    *stub = (struct blob){.name = "stub", .size = SIZE, .frame_size = 6, .kind = 6};
    struct blob *rest = add_block(heap, 40, 8);
    *rest = (struct blob){.name = "rest", .size = SIZE, .kind = 2};
    queue.buffer = (uintptr_t)rest + CODE;
    queue.limit = 256;
    call_return = (uintptr_t)rest + SIZE - 8;
    memcpy((void *)(call_return - 40), hpx_enters, sizeof hpx_enters); /* the call stub begins */
    int32_t seven = put_scope(0, 0, FIRST, 7), nine = put_scope(0, 0, FIRST, 9), three = put_scope(1, 0, SECOND, 3);
    put_places(0, 40, seven, 60, nine, 400, seven);
    put_places(1, 100, three, 500, three, 600, three);
    describe(jdk);
    describe_frames(jdk);
    describe_thread(jdk);
    describe_names(jdk);
    vm_tables_type_of("ConstMethod")->size = sizeof constants[0];
    assert_null(hpx_code_cache_init());
    assert_null(hpx_frame_anchor_init());
    assert_null(hpx_frames_init());
    assert_null(hpx_frame_names_init());
    assert_null(hpx_code_cache_live());
    assert_null(hpx_frame_anchor_check(&thread.env, (uintptr_t)&thread));
    assert_null(hpx_frames_live());
    assert_null(hpx_scopes_live());
    thread.state = IN_JAVA;
    thread.thrown = thread.unpacked = 0;
}

/* JDK 8 counts the releases of HotSpot. */
static inline void begin(enum jdk jdk)
{
    static const int32_t releases[] = {[JDK_8] = 25, [JDK_11] = 11, [JDK_17] = 17, [JDK_25] = 25};
    begin_release(jdk, releases[jdk]);
}

static inline uintptr_t at(const struct blob *blob, uintptr_t offset)
{
    return (uintptr_t)blob + CODE + offset;
}

static inline uintptr_t address(uint32_t word)
{
    return (uintptr_t)&stack[word];
}

/* The frame of the call stub at word 48: its frame pointer is 50, and the wrapper is found from there. */
static inline void put_entry(void)
{
    stack[50 + WRAPPER] = (uintptr_t)wrapper;
    wrapper->anchor = (struct anchor){0, 0, 0};
}

/* A compiled frame of 4 words from `word` on, which returns to pc and had `fp`. */
static inline void put_compiled(uint32_t word, uintptr_t pc, uintptr_t fp)
{
    stack[word + 3] = pc;
    stack[word + 2] = fp;
}

/* An interpreted frame whose frame pointer is `word`; its caller had `fp` and, for an adapter, its stack pointer at `sender`. */
static inline void put_interpreted(uint32_t word, uintptr_t pc, uintptr_t fp, uint32_t sender, uint32_t bci, int bytecode)
{
    stack[word + 1] = pc;
    stack[word] = fp;
    stack[word - 1] = address(sender);
    stack[word - 3] = (uintptr_t)&javas[INTERPRETED];
    stack[word + (uint32_t)bytecode] = (uintptr_t)(&constants[INTERPRETED] + 1) + bci;
}

static inline struct hpx_raw_thread thread_at(uintptr_t pc, uint32_t sp, uintptr_t fp)
{
    return (struct hpx_raw_thread){
        .env = &thread.env, .stack_low = address(0), .stack_end = address(WORDS), .depth = DEPTH, .at = {pc, address(sp), fp}};
}

static inline bool walk(uintptr_t pc, uint32_t sp, uintptr_t fp, struct hpx_raw_stack *to)
{
    struct hpx_raw_thread t = thread_at(pc, sp, fp);
    return hpx_raw_walk_take_sig(&t, to);
}

#endif
