/* SPDX-License-Identifier: BSD-2-Clause */
/* raw_walk.c: the walk of raw_walk.h. Source of the shapes: HotSpot's frame_x86.hpp, frame_x86.cpp. */
#include "raw_walk.h"
#include "code_cache.h"
#include "debug_info.h"
#include "frame_anchor.h"
#include "frame_names.h"
#include "structures.h"
#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)

#define WORD    sizeof(uintptr_t)
#define ENTRIES 4096 /* most calls from C into Java below each other */
#define SPILLED 16   /* words of arguments between the last frame of a virtual thread and the entry: with more the walk ends there */

/* Words from the frame pointer of an interpreted frame, which the tables do not have. Before JDK 9 a frame has no mirror of its class. */
enum { SENDER_SP = -1, LAST_SP = -2, METHOD = -3, BYTECODE = -8, BYTECODE_8 = -7 };

/* Constant after init. */
static struct {
    uint64_t call_stub, interpreter, buffer, limit; /* addresses of static fields; offsets in StubQueue */
    uintptr_t call_return, code, code_size;         /* what they have once the VM runs */
    uint64_t wrapper_anchor;                        /* in JavaCallWrapper */
    uint64_t const_method, const_method_size;       /* in Method; the size of ConstMethod */
    int wrapper, bytecode;                          /* words from the frame pointer */
    uint64_t entry_return;                          /* address of the static field; 0: not in the tables */
} shape;

const char *hpx_raw_walk_init(void)
{
    const struct hpx_vm_field all[] = {{"StubRoutines", "_call_stub_return_address", "static address", &shape.call_stub},
                                       {"AbstractInterpreter", "_code", "static StubQueue*", &shape.interpreter},
                                       {"StubQueue", "_stub_buffer", "address", &shape.buffer},
                                       {"StubQueue", "_buffer_limit", "int", &shape.limit},
                                       {"JavaCallWrapper", "_anchor", "JavaFrameAnchor", &shape.wrapper_anchor},
                                       {"Method", "_constMethod", "ConstMethod*", &shape.const_method}};
    uint64_t single;
    bool before_9 = hpx_structures_field(&(struct hpx_vm_field){"CodeCache", "_heap", "static CodeHeap*", &single});
    const char *why = hpx_code_cache_init_frames();
    shape.entry_return = 0;
    (void)hpx_structures_field(&(struct hpx_vm_field){"ContinuationEntry", "_return_pc", "static address", &shape.entry_return});
    why = why != NULL ? why : hpx_debug_info_init();
    why = why != NULL ? why : hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    shape.bytecode = before_9 ? BYTECODE_8 : BYTECODE;
    shape.const_method_size = hpx_structures_size("ConstMethod");
    if (why == NULL &&
        (!hpx_structures_constant("frame::entry_frame_call_wrapper_offset", &shape.wrapper) || shape.const_method_size == 0)) {
        return "the VM's tables have no shape of frames as expected";
    }
    return why;
}

const char *hpx_raw_walk_live(void)
{
    uintptr_t queue = hpx_vm_word((uintptr_t)shape.interpreter);
    shape.call_return = hpx_vm_word((uintptr_t)shape.call_stub);
    shape.code = queue != 0 ? hpx_vm_word(queue + shape.buffer) : 0;
    int32_t size = queue != 0 ? hpx_vm_int(queue + shape.limit) : 0;
    shape.code_size = size > 0 ? (uintptr_t)size : 0;
    bool code = hpx_code_cache_find_sig(shape.call_return).kind == HPX_BLOB_OTHER && shape.code_size > 0;
    struct hpx_blob first = hpx_code_cache_find_sig(shape.code), last = hpx_code_cache_find_sig(shape.code + shape.code_size - 1);
    return code && first.kind == HPX_BLOB_OTHER && first.start == last.start ? NULL : "the VM's interpreter and stubs are not in its code";
}

struct walk {
    const struct hpx_raw_thread *t;
    struct hpx_registers r; /* the frame that comes next; sp as its method left it, without arguments that an adapter added */
    struct hpx_raw_stack to;
    bool whole;                    /* there is no further frame */
    bool heap;                     /* frames in the heap were left out */
    enum hpx_raw_end gap;          /* why frames on top were; HPX_END_WHOLE: they were not */
    bool leaf;                     /* the frame on top has called C */
    enum hpx_raw_end end;          /* why a step failed */
    enum hpx_frame_place place;    /* of the frame that comes next, if it is compiled */
    struct hpx_frame_names *names; /* NULL: a hash will do */
    enum hpx_frame_place behind_stub;
    uint32_t broken; /* names above the first frame that is being deoptimized; UINT32_MAX: there is none */
};

static bool stop(struct walk *k, enum hpx_raw_end why)
{
    k->end = why;
    return false;
}

/* Of a caller at which the walk ends. */
static enum hpx_raw_end end_at(const struct hpx_code_frame *f)
{
    return f->kind == HPX_BLOB_NONE    ? HPX_END_NO_CODE
           : f->kind == HPX_BLOB_DEAD  ? HPX_END_DEAD_CODE
           : f->kind == HPX_BLOB_OTHER ? HPX_END_STUB
                                       : HPX_END_UNBUILT;
}

/* A bijection of each half for every word, so stacks that differ in one frame differ. */
static void add(struct walk *k, uint64_t word)
{
    k->to.lo = ((k->to.lo ^ word) << 29 | (k->to.lo ^ word) >> 35) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    k->to.hi = ((k->to.hi ^ word) << 37 | (k->to.hi ^ word) >> 27) * UINT64_C(0xd6e8feb86659fd93) + 3;
}

static uint64_t spread(uint64_t h)
{
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

/* A place for a frame: `words` words from `at` on are in the stack, above the frame before. */
static bool in_stack(const struct walk *k, uintptr_t at, uintptr_t low, uintptr_t words)
{
    return at % WORD == 0 && at >= low && at < k->t->stack_end && words <= (k->t->stack_end - at) / WORD;
}

static bool is_call_stub(uintptr_t pc)
{
    return pc == shape.call_return;
}

static bool is_interpreter(uintptr_t pc)
{
    return pc - shape.code < shape.code_size;
}

/* Up from a frame of a fixed size. */
static bool pop_frame(struct walk *k, int32_t words)
{
    if (words < 2 || !in_stack(k, k->r.sp, k->t->stack_low, (uintptr_t)words)) {
        return stop(k, HPX_END_STACK);
    }
    uintptr_t up = k->r.sp + (uintptr_t)words * WORD;
    k->r = (struct hpx_registers){hpx_vm_word(up - WORD), up, hpx_vm_word(up - 2 * WORD)};
    return true;
}

/* The code of a caller. If its frame is being deoptimized, the return address is that of a handler, and the frame keeps its own pc. */
static struct hpx_code_frame caller_of(const struct walk *k, const struct hpx_registers *r)
{
    struct hpx_code_frame f = hpx_code_cache_frame_sig(r->pc);
    if (f.original >= 0 && f.original % (int32_t)WORD == 0 && in_stack(k, r->sp + (uintptr_t)f.original, r->sp, 1)) {
        struct hpx_code_frame was = hpx_code_cache_frame_sig(hpx_vm_word(r->sp + (uintptr_t)f.original));
        f = was.start == f.start ? was : f;
    }
    return f;
}

/* The blob of the barrier's stubs, which do nothing else; 0: none has been met. Relaxed: any thread finds the same. */
static _Atomic uintptr_t barrier;

/* The thread has yielded, and came back with some of its frames: the last of them returns to a stub, the barrier, which fetches the rest
 * from the heap. Right below it is the frame of Continuation.enterSpecial. Which stub the barrier is the tables of 25 do not say. A method
 * that C called (an upcall) returns to a stub, too, but between that one and the entry are the frames of C and of its caller. of_method: *r
 * is where a method returns; else the stub must be one that was met. false, and *r stays: this is none, or the caller wants no part of a
 * stack. */
static bool is_barrier(const struct walk *k, struct hpx_registers *r, bool of_method)
{
    uintptr_t entry = k->t->past_barrier && shape.entry_return != 0 ? hpx_frame_anchor_continuation_sig(k->t->env) : 0;
    if (entry == 0 || !in_stack(k, entry, r->sp, 2) || entry - r->sp > SPILLED * WORD || is_call_stub(r->pc) || is_interpreter(r->pc)) {
        return false;
    }
    struct hpx_code_frame f = hpx_code_cache_frame_sig(r->pc);
    if (f.kind != HPX_BLOB_OTHER || (!of_method && f.start != atomic_load_explicit(&barrier, memory_order_relaxed))) {
        return false;
    }
    *r = (struct hpx_registers){hpx_vm_word((uintptr_t)shape.entry_return), entry, 0};
    return true;
}

/* A frame that stands for those that are left out here. */
static void leave_out(struct walk *k)
{
    if (k->names != NULL && k->behind_stub == HPX_FRAME_ANCHOR && k->names->n + 1 < k->names->most) {
        k->names->out[k->names->n++] = (struct hpx_ev_frame){-1, 0, HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED)};
    }
}

/* Those that the barrier fetches. */
static void leave_out_heap(struct walk *k)
{
    k->heap = true;
    add(k, UINT64_MAX - UINT32_MAX);
    leave_out(k);
}

/* Behind the frame of a method or of a stub, where the barrier may be. */
static void pass_barrier(struct walk *k)
{
    struct hpx_registers at = k->r;
    if (!is_barrier(k, &k->r, k->to.methods > 0)) {
        return;
    }
    if (k->to.methods > 0) {
        atomic_store_explicit(&barrier, hpx_code_cache_frame_sig(at.pc).start, memory_order_relaxed);
    }
    leave_out_heap(k);
}

static bool step_compiled(struct walk *k)
{
    pass_barrier(k);
    struct hpx_code_frame f = caller_of(k, &k->r);
    if (f.kind != HPX_BLOB_METHOD || !f.complete) {
        return stop(k, end_at(&f));
    }
    if (k->names != NULL && k->broken == UINT32_MAX && hpx_code_cache_frame_sig(k->r.pc).kind != HPX_BLOB_METHOD) {
        k->broken = k->names->n; /* its pc is a handler's */
    }
    if (k->names != NULL && !hpx_frame_names_compiled_sig(k->names, &f, k->place)) {
        return stop(k, HPX_END_DEBUG_INFORMATION);
    }
    add(k, (uint64_t)f.offset << 32 | (uint32_t)f.id);
    k->place = HPX_FRAME_CALLER;
    k->to.methods++;
    return pop_frame(k, f.size);
}

static uintptr_t bytecode_at(uintptr_t fp)
{
    return hpx_vm_word(fp + (uintptr_t)((intptr_t)shape.bytecode * (intptr_t)WORD));
}

/* Where the frame's method is; 0: the VM has not stored it, as in a native method. */
static uint64_t bytecode_of(uintptr_t at, uintptr_t method)
{
    uintptr_t constant = hpx_vm_word(method + shape.const_method), from = at - constant - shape.const_method_size;
    return from < 65536 ? from + 1 : 0;
}

static bool is_return(const struct walk *k, const struct hpx_registers *r)
{
    struct hpx_registers behind = *r;
    return is_call_stub(r->pc) || is_interpreter(r->pc) || caller_of(k, r).kind == HPX_BLOB_METHOD || is_barrier(k, &behind, true);
}

/* Compiled callers may have had their arguments moved by an adapter: the interpreter keeps where their stack pointer was. What
 * MethodHandle.linkToStatic and the like call in the interpreter has lost an argument since, so that it is a word too low. */
static bool sender_of(const struct walk *k, uintptr_t fp, struct hpx_registers *caller)
{
    uintptr_t up = fp + 2 * WORD, sender = hpx_vm_word(fp + (uintptr_t)(SENDER_SP * (intptr_t)WORD));
    *caller = (struct hpx_registers){hpx_vm_word(fp + WORD), sender, hpx_vm_word(fp)};
    if (sender == up - WORD && is_interpreter(caller->pc)) {
        caller->sp = up;
    }
    return in_stack(k, caller->sp, up, 0);
}

/* Who waits for a callee in the interpreter has stored its stack pointer. */
static bool waits(const struct walk *k, uintptr_t fp)
{
    uintptr_t at = fp + (uintptr_t)(LAST_SP * (intptr_t)WORD);
    return in_stack(k, at, k->r.sp, 1) && hpx_vm_word(at) != 0;
}

static bool step_interpreted(struct walk *k)
{
    uintptr_t fp = k->r.fp;
    /* below the stack pointer are words of dead frames: a frame that is being built has the method that was called here before */
    if (!in_stack(k, fp, k->r.sp, 2) || fp - k->r.sp < (uintptr_t)-shape.bytecode * WORD || fp - k->t->stack_low < 16 * WORD) {
        return stop(k, HPX_END_INTERPRETED);
    }
    struct hpx_registers caller;
    if (!sender_of(k, fp, &caller) || !is_return(k, &caller)) {
        return stop(k, HPX_END_INTERPRETED); /* its method must not be followed */
    }
    uintptr_t method = hpx_vm_word(fp + (uintptr_t)(METHOD * (intptr_t)WORD)), bytecode = bytecode_at(fp);
    if (method < 4096 || method % WORD != 0 || method >> 47 != 0) {
        return stop(k, HPX_END_INTERPRETED);
    }
    uint64_t id = hpx_code_cache_id_sig(method), place = bytecode_of(bytecode, method);
    if (id == 0 && place == 0) {
        return stop(k, HPX_END_INTERPRETED); /* perhaps no method: an old version of one has no id, but runs its own bytecode */
    }
    if (!hpx_frame_names_fits_sig(method, (fp - k->r.sp) / WORD)) {
        return stop(k, HPX_END_INTERPRETED); /* the frame pointer is that of a frame further out */
    }
    if (k->names != NULL) {
        hpx_frame_names_interpreted_sig(k->names, method, bytecode);
    }
    add(k, id != 0 ? id : method);
    add(k, place);
    k->place = HPX_FRAME_CALLER;
    k->to.methods++;
    k->r = caller;
    return true;
}

/* Where the caller of the frame on top is, in the order in which it is looked for. Each way counts only if it leads to the first Java
 * frame. The frame pointer may be that of a frame further out, whose caller would be found, and all between left out: it counts only of a
 * stub that the caller calls, and of the interpreter. */
enum {
    BY_SIZE,  /* behind a whole frame */
    AT_SP,    /* the frame is not built yet, or left already */
    ABOVE_SP, /* the same, but the frame pointer has been saved */
    BY_FP,    /* behind the frame pointer: code that has pushed more than its frame */
    UNMARKED, /* behind a whole frame, though the VM marks it as complete only later */
    PUSHED_1, /* the same below a word or two that an intrinsic has pushed */
    PUSHED_2,
    WAYS
};

/* A stub with a frame is called by compiled code. Anything else is deoptimization, which makes frames of the interpreter before it fills
 * them. */
static bool called_by_method(const struct walk *k)
{
    return caller_of(k, &k->r).kind == HPX_BLOB_METHOD;
}

/* Which stub, because the way to its caller may go wrong where its frame is half built, but for each stub in the same way. */
static void add_stub(struct walk *k, const struct hpx_code_frame *f, int way)
{
    add(k, f->start);
    add(k, UINT64_MAX - 1 - (uint64_t)way);
}

static bool leave_size(struct walk *k, int32_t words)
{
    return pop_frame(k, words) && (called_by_method(k) || stop(k, HPX_END_STUB));
}

/* The last Java frame that an anchor names may be a stub of a fixed size that a method called. There AsyncGetCallTrace breaks off. */
static bool leave_stub(struct walk *k)
{
    struct hpx_code_frame f = hpx_code_cache_frame_sig(k->r.pc);
    if (f.kind != HPX_BLOB_OTHER || is_interpreter(k->r.pc) || is_call_stub(k->r.pc)) {
        return true;
    }
    if (k->names != NULL && k->broken == UINT32_MAX) {
        k->broken = k->names->n;
    }
    add_stub(k, &f, BY_SIZE);
    return leave_size(k, f.size);
}

/* From C into Java: the wrapper below the frame has the anchor that was the thread's before. */
static bool step_entry(struct walk *k)
{
    uintptr_t fp = k->r.fp;
    if (!in_stack(k, fp, k->r.sp, 2) || fp - k->t->stack_low < 16 * WORD) {
        return stop(k, HPX_END_ENTRY);
    }
    uintptr_t wrapper = hpx_vm_word(fp + (uintptr_t)((intptr_t)shape.wrapper * (intptr_t)WORD));
    if (!in_stack(k, wrapper, fp, 8)) {
        return stop(k, HPX_END_ENTRY);
    }
    struct hpx_frame_anchor a = hpx_frame_anchor_at_sig(wrapper + shape.wrapper_anchor);
    add(k, UINT64_MAX);
    k->whole = a.sp == 0;
    if (!k->whole && !in_stack(k, a.sp, fp, 1)) {
        return stop(k, HPX_END_ENTRY);
    }
    k->r = (struct hpx_registers){k->whole || a.pc != 0 ? a.pc : hpx_vm_word(a.sp - WORD), a.sp, a.fp};
    return k->whole || leave_stub(k);
}

static bool step(struct walk *k)
{
    return is_call_stub(k->r.pc) ? step_entry(k) : is_interpreter(k->r.pc) ? step_interpreted(k) : step_compiled(k);
}

static bool is_full(const struct walk *k)
{
    return k->to.methods >= k->t->depth || (k->names != NULL && k->names->n >= k->names->most);
}

static bool go_down(struct walk *k)
{
    uintptr_t before = k->r.sp;
    for (int entries = 0; !k->whole && !is_full(k);) {
        entries += is_call_stub(k->r.pc);
        if (!step(k)) {
            return false;
        }
        if (entries > ENTRIES || (!k->whole && k->r.sp <= before)) {
            return stop(k, HPX_END_STACK);
        }
        before = k->r.sp;
    }
    return k->to.methods > 0 || stop(k, HPX_END_NO_JAVA);
}

/* ---- the frame on top ---- */

/* Where the call before the return address pc in f goes: a direct one, or, to what is far away, one by r10 or rax. 0: there is none. */
static uintptr_t callee_of(const struct hpx_code_frame *f, uintptr_t pc)
{
    const unsigned char *at = (const unsigned char *)pc; /* NOLINT(performance-no-int-to-ptr) */
    uint32_t room = f->kind == HPX_BLOB_METHOD ? f->code : f->offset;
    int32_t relative;
    uintptr_t absolute = 0;
    if (room >= 13 && at[-3] == 0x41 && at[-2] == 0xff && at[-1] == 0xd2 && at[-13] == 0x49 && at[-12] == 0xba) {
        memcpy(&absolute, at - 11, sizeof absolute);
    } else if (room >= 12 && at[-2] == 0xff && at[-1] == 0xd0 && at[-12] == 0x48 && at[-11] == 0xb8) {
        memcpy(&absolute, at - 10, sizeof absolute);
    } else if (room >= 5 && at[-5] == 0xe8) {
        memcpy(&relative, at - 4, sizeof relative);
        absolute = pc + (uintptr_t)(intptr_t)relative;
    }
    return absolute;
}

/* What the VM's code calls at r; 0: nothing that can be told. */
static uintptr_t called_at(const struct hpx_registers *r)
{
    struct hpx_code_frame f = hpx_code_cache_frame_sig(r->pc);
    return f.kind == HPX_BLOB_OTHER || (f.kind == HPX_BLOB_METHOD && f.complete) ? callee_of(&f, r->pc) : 0;
}

/* Behind the frame pointer. false: there is no frame. */
static bool hop(const struct walk *k, struct hpx_registers *r)
{
    bool up = in_stack(k, r->fp, r->sp, 2);
    if (up) {
        *r = (struct hpx_registers){hpx_vm_word(r->fp + WORD), r->fp + 2 * WORD, hpx_vm_word(r->fp)};
    }
    return up;
}

static bool pop_top(struct walk *k, const struct hpx_code_frame *f, int way)
{
    struct hpx_registers *r = &k->r;
    k->end = f->kind == HPX_BLOB_METHOD ? HPX_END_UNBUILT : HPX_END_STUB; /* if it fails */
    switch (way) {
    case BY_SIZE:
        return (f->kind == HPX_BLOB_OTHER || f->complete) && pop_frame(k, f->size);
    case AT_SP:
        if (!in_stack(k, r->sp, k->t->stack_low, 1)) {
            return false;
        }
        *r = (struct hpx_registers){hpx_vm_word(r->sp), r->sp + WORD, r->fp};
        return true;
    case ABOVE_SP:
        if (!in_stack(k, r->sp, k->t->stack_low, 2)) {
            return false;
        }
        *r = (struct hpx_registers){hpx_vm_word(r->sp + WORD), r->sp + 2 * WORD, hpx_vm_word(r->sp)};
        return true;
    case BY_FP:
        return f->kind == HPX_BLOB_OTHER && hop(k, r) && hpx_code_cache_frame_sig(called_at(r)).start == f->start;
    case UNMARKED:
    case PUSHED_1:
    case PUSHED_2:
        r->sp += (uintptr_t)(way - UNMARKED) * WORD;
        return f->kind == HPX_BLOB_METHOD && (way != UNMARKED || !f->complete) && pop_frame(k, f->size);
    default:
        return false;
    }
}

/* A method on top may be at any pc: those that mean the same are one. */
static bool add_top(struct walk *k, const struct hpx_code_frame *f, int way)
{
    enum hpx_frame_place whole = k->leaf ? k->behind_stub : HPX_FRAME_INTERRUPTED;
    enum hpx_frame_place place_of_frame = way == BY_SIZE || way >= UNMARKED ? whole : HPX_FRAME_UNBUILT;
    if (k->names != NULL && !hpx_frame_names_compiled_sig(k->names, f, place_of_frame)) {
        return stop(k, HPX_END_DEBUG_INFORMATION);
    }
    uint64_t place = f->complete ? hpx_debug_info_place_sig(f->start, f->code) : 0;
    add(k, place != 0 ? place : (uint64_t)f->offset << 32);
    add(k, (uint64_t)(way + (place != 0 ? WAYS : 0) + (k->leaf ? 2 * WAYS : 0)) << 32 | (uint32_t)f->id);
    k->to.methods++;
    return true;
}

/* What is on top of the frame that comes next; nothing is named yet. */
static void begin_again(struct walk *k, const struct walk *top, enum hpx_raw_top what)
{
    *k = *top;
    k->to.top = what;
    if (k->names != NULL) {
        k->names->n = 0;
    }
}

static bool from_code_by(struct walk *k, const struct hpx_code_frame *f, int way)
{
    if (f->kind == HPX_BLOB_METHOD) {
        return (way != BY_SIZE || f->complete || stop(k, HPX_END_UNBUILT)) && add_top(k, f, way) && pop_top(k, f, way) && go_down(k);
    }
    k->to.top = HPX_RAW_STUB;
    k->place = k->behind_stub;
    add_stub(k, f, way);
    return pop_top(k, f, way) && (f->size < 2 || called_by_method(k) || stop(k, HPX_END_STUB)) && go_down(k);
}

/* A return address at the stack pointer, or one word above: the frame may have been left. */
static bool may_be_left(const struct walk *k)
{
    struct hpx_registers r = {hpx_vm_word(k->r.sp), k->r.sp + WORD, k->r.fp};
    bool at_sp = is_return(k, &r);
    if (!at_sp && in_stack(k, k->r.sp, k->r.sp, 2)) {
        r = (struct hpx_registers){hpx_vm_word(k->r.sp + WORD), k->r.sp + 2 * WORD, hpx_vm_word(k->r.sp)};
        at_sp = is_return(k, &r);
    }
    return at_sp;
}

/* No way leads to the first Java frame. Where the frame on top is whole, those below it count as far as they go; of a method whose frame is
 * not built, or may have been left, only itself is certain. */
static void part_of(struct walk *k, const struct walk *top, const struct hpx_code_frame *f)
{
    begin_again(k, top, top->to.top);
    if (f->kind == HPX_BLOB_METHOD && (!f->complete || may_be_left(k))) {
        (void)(add_top(k, f, AT_SP) && stop(k, HPX_END_UNBUILT));
    } else if (f->kind == HPX_BLOB_METHOD || f->size >= 2) {
        (void)from_code_by(k, f, BY_SIZE);
    } else {
        (void)stop(k, f->kind == HPX_BLOB_DEAD ? HPX_END_DEAD_CODE : HPX_END_STUB);
    }
}

static bool from_code(struct walk *k, const struct hpx_code_frame *f)
{
    const struct walk top = *k;
    bool done = false;
    for (int way = BY_SIZE; way < WAYS && !done && (f->kind == HPX_BLOB_METHOD || f->kind == HPX_BLOB_OTHER); way++) {
        begin_again(k, &top, top.to.top);
        done = from_code_by(k, f, way);
    }
    if (!done && k->names != NULL) {
        part_of(k, &top, f);
    }
    return done;
}

/* ---- the interpreter ---- */

/* It builds a frame: the frame pointer is set, and where the stack pointer of the caller was is stored. A whole frame that could not be
 * read is none: its method would be left out. */
static bool pop_unbuilt(struct walk *k)
{
    uintptr_t fp = k->r.fp;
    if (!in_stack(k, fp, k->r.sp, 2) || fp == k->r.sp || fp - k->r.sp >= (uintptr_t)-shape.bytecode * WORD) {
        return false;
    }
    return sender_of(k, fp, &k->r);
}

/* A whole frame; or one that is being built or left, and then its caller. Where a frame begins, the frame pointer is still that of a method
 * of the interpreter that waits for it, with all that it has called in between: its frame is looked at last, and is not on top. */
static bool from_interpreter(struct walk *k)
{
    const struct walk top = *k;
    const struct hpx_code_frame none = {.kind = HPX_BLOB_OTHER};
    const bool waiting = waits(k, k->r.fp);
    k->to.top = HPX_RAW_INTERPRETED;
    bool done = !waiting && go_down(k);
    for (int way = AT_SP; way <= BY_FP && !done; way++) {
        begin_again(k, &top, HPX_RAW_INTERPRETED);
        add_stub(k, &none, way);
        k->place = HPX_FRAME_CALLER;
        done = (way < BY_FP ? pop_top(k, &none, way) : pop_unbuilt(k)) && go_down(k);
    }
    if (!done) {
        begin_again(k, &top, HPX_RAW_INTERPRETED);
        if (waiting) {
            k->gap = HPX_END_WAITING;
            leave_out(k);
        }
        done = go_down(k) && waiting; /* a part, if the frame on top is one */
    }
    return done;
}

/* ---- C that the VM's code calls as it calls Java: System.nanoTime and the like; no anchor says so ---- */

#define LEAF_BYTES 4096 /* a C function that is called so is not longer */
#define LEAF_HOPS  16   /* nor deeper */

/* r is where C was called. inside: a pc of the function that was called; 0: any. */
static bool calls_leaf(const struct hpx_registers *r, uintptr_t inside)
{
    uintptr_t callee = called_at(r);
    return callee != 0 && (inside == 0 || inside - callee < LEAF_BYTES) && hpx_code_cache_frame_sig(callee).kind == HPX_BLOB_NONE;
}

/* A stub calls C there by an address in a register, so what it calls is not known: a downcall. */
static bool calls_by_register(const struct hpx_registers *r)
{
    const unsigned char *at = (const unsigned char *)r->pc; /* NOLINT(performance-no-int-to-ptr) */
    struct hpx_code_frame f = hpx_code_cache_frame_sig(r->pc);
    return f.kind == HPX_BLOB_OTHER && f.size >= 2 && f.offset >= 3 && !is_interpreter(r->pc) && !is_call_stub(r->pc) && at[-2] == 0xff &&
           (at[-1] & 0xf8) == 0xd0;
}

/* The same, where its frame, which has the frame pointer, ends at the one that is still in its register. */
static bool calls_by_register_below(const struct hpx_registers *r)
{
    return calls_by_register(r) && r->sp + (uintptr_t)(hpx_code_cache_frame_sig(r->pc).size - 2) * WORD == r->fp;
}

/* The thread is in C that has no anchor. libjvm keeps frame pointers, but not in the first and last instructions of a function: there the
 * frame pointer is that of a frame further out, and the return address is at the stack pointer or one word above it. These, which may be
 * words of dead frames elsewhere, count only if the call leads to this function, and are asked before the chain of frame pointers. */
static bool find_leaf_caller(struct walk *k, struct hpx_registers *to)
{
    const struct hpx_registers *at = &k->t->at;
    struct hpx_registers r = *at;
    *to = *at;
    if (hop(k, to) && calls_leaf(to, at->pc)) {
        return true;
    }
    *to = (struct hpx_registers){hpx_vm_word(at->sp), at->sp + WORD, at->fp};
    if (calls_leaf(to, at->pc) || calls_by_register_below(to)) {
        return true;
    }
    if (in_stack(k, at->sp, at->sp, 2)) {
        *to = (struct hpx_registers){hpx_vm_word(at->sp + WORD), at->sp + 2 * WORD, hpx_vm_word(at->sp)};
        if (calls_leaf(to, at->pc) || calls_by_register_below(to)) {
            return true;
        }
    }
    for (int hops = 0; hops < LEAF_HOPS && hop(k, &r); hops++) {
        *to = r;
        if (is_barrier(k, to, false)) {
            leave_out_heap(k); /* it fetches frames */
            return true;
        }
        if (calls_leaf(to, 0) || calls_by_register(to)) {
            return true;
        }
        if (hpx_code_cache_frame_sig(r.pc).kind != HPX_BLOB_NONE) {
            break; /* other code of the VM has called it */
        }
    }
    return stop(k, HPX_END_NATIVE);
}

/* As if the call had returned. */
static bool from_leaf(struct walk *k)
{
    if (!find_leaf_caller(k, &k->r)) {
        return false;
    }
    struct hpx_code_frame f = hpx_code_cache_frame_sig(k->r.pc);
    if (is_interpreter(k->r.pc)) {
        k->to.top = HPX_RAW_INTERPRETED;
        return go_down(k);
    }
    k->leaf = true;
    return f.kind == HPX_BLOB_OTHER ? from_code(k, &f) : from_code_by(k, &f, BY_SIZE);
}

/* The stub is that of deoptimization: it has replaced the frame that called it by frames of the interpreter, which know their callers, and
 * fills them with their methods, the outermost first. */
static bool skip_unfilled(struct walk *k)
{
    while (is_interpreter(k->r.pc) && !waits(k, k->r.fp)) {
        uintptr_t fp = k->r.fp;
        if (k->gap == HPX_END_WHOLE) {
            k->gap = HPX_END_DEOPTIMIZATION;
            leave_out(k);
        }
        if (!in_stack(k, fp, k->r.sp, 2) || fp - k->r.sp < (uintptr_t)-LAST_SP * WORD) {
            return stop(k, HPX_END_INTERPRETED);
        }
        if (!sender_of(k, fp, &k->r) || !is_return(k, &k->r)) {
            return stop(k, HPX_END_INTERPRETED);
        }
    }
    return true;
}

/* From the last Java frame that the anchor names: a method, or a stub of a fixed size that a method called. */
static bool from_anchor(struct walk *k, const struct hpx_frame_anchor *a)
{
    if (!in_stack(k, a->sp, k->t->stack_low + WORD, 1)) {
        return stop(k, HPX_END_STACK);
    }
    k->r = (struct hpx_registers){a->pc != 0 ? a->pc : hpx_vm_word(a->sp - WORD), a->sp, a->fp};
    struct hpx_code_frame f = hpx_code_cache_frame_sig(k->r.pc);
    k->place = HPX_FRAME_ANCHOR;
    if (f.kind == HPX_BLOB_OTHER && !is_interpreter(k->r.pc)) {
        k->to.top = HPX_RAW_STUB_BY_ANCHOR;
        k->place = k->behind_stub;
        add_stub(k, &f, BY_SIZE);
        bool left = pop_frame(k, f.size);
        if (left && is_interpreter(k->r.pc) ? !skip_unfilled(k) : !left || (!called_by_method(k) && !stop(k, HPX_END_STUB))) {
            return false;
        }
    }
    return go_down(k);
}

/* From wherever the thread is. */
static bool walk(struct walk *k)
{
    const struct hpx_raw_thread *t = k->t;
    struct hpx_frame_anchor a = hpx_frame_anchor_read_sig(t->env);
    bool java = hpx_frame_anchor_state_sig(t->env) == HPX_VM_STATE_IN_JAVA, done;
    if (t->stack_end == 0) {
        return stop(k, HPX_END_STACK);
    }
    k->r = t->at;
    bool interpreter = java && is_interpreter(t->at.pc);
    struct hpx_code_frame f = {.kind = HPX_BLOB_NONE};
    if (java && !interpreter) {
        f = hpx_code_cache_frame_sig(t->at.pc);
    }
    bool by_anchor = !java || (a.sp != 0 && !interpreter && f.kind == HPX_BLOB_NONE);
    if (by_anchor) {
        done = a.sp != 0 ? from_anchor(k, &a) : stop(k, HPX_END_NO_JAVA);
    } else if (in_stack(k, t->at.sp, t->stack_low, 1)) {
        done = interpreter ? from_interpreter(k) : f.kind != HPX_BLOB_NONE ? from_code(k, &f) : from_leaf(k);
    } else {
        done = stop(k, HPX_END_STACK);
    }
    k->to.top = java && by_anchor ? HPX_RAW_NATIVE : k->to.top;
    k->end = !done ? k->end : k->gap != HPX_END_WHOLE ? k->gap : k->heap ? HPX_END_HEAP : HPX_END_WHOLE;
    return done && k->gap == HPX_END_WHOLE;
}

bool hpx_raw_walk_take_sig(const struct hpx_raw_thread *t, struct hpx_raw_stack *to)
{
    struct walk k = {.t = t, .to = {.lo = t->depth, .hi = ~(uint64_t)t->depth}};
    bool done = walk(&k);
    *to = (struct hpx_raw_stack){spread(k.to.lo), spread(k.to.hi), k.to.top, k.to.methods};
    return done;
}

int hpx_raw_walk_frames_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *out, enum hpx_raw_end *end)
{
    struct hpx_frame_names names = {.out = out, .most = t->depth};
    struct walk k = {.t = t, .names = &names, .behind_stub = HPX_FRAME_ANCHOR, .broken = UINT32_MAX};
    (void)walk(&k);
    *end = k.end;
    return (int)names.n;
}

int hpx_raw_walk_frames_behind_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *out, uint32_t *broken)
{
    struct hpx_frame_names names = {.out = out, .most = t->depth};
    struct walk k = {.t = t, .names = &names, .behind_stub = HPX_FRAME_INTERRUPTED, .broken = UINT32_MAX};
    bool done = walk(&k);
    *broken = k.broken;
    return done ? (int)names.n : 0;
}

#else

const char *hpx_raw_walk_init(void)
{
    return "this processor's frames are not known";
}

const char *hpx_raw_walk_live(void)
{
    return hpx_raw_walk_init();
}

bool hpx_raw_walk_take_sig(const struct hpx_raw_thread *t, struct hpx_raw_stack *to)
{
    (void)t, (void)to;
    return false;
}

int hpx_raw_walk_frames_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *out, enum hpx_raw_end *end)
{
    (void)t, (void)out;
    *end = HPX_END_NATIVE;
    return 0;
}

int hpx_raw_walk_frames_behind_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *out, uint32_t *broken)
{
    (void)t, (void)out;
    *broken = UINT32_MAX;
    return 0;
}

#endif
