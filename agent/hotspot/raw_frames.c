/* SPDX-License-Identifier: BSD-2-Clause */
/* raw_frames.c: the frames of raw_frames.h. What differs between processors is in processor.h. */
#include "raw_frames.h"
#include "code_cache.h"
#include "debug_info.h"
#include "frame_anchor.h"
#include "heap_objects.h"
#include "stack_chunk.h"
#include "structures.h"
#include <stdatomic.h>

#define WORD      sizeof(uintptr_t)
#define ENTRIES   4096 /* maximum of nested calls from C into Java */
#define CALL_STUB 256  /* bytes of the call stub before and behind its call, at most */
#define ARGUMENTS 256u /* words that it pushes, at most */
#define CHUNKS    4096 /* of a virtual thread, at most */
#define SPILLED   16   /* words of arguments between the last frame of a virtual thread and the entry: with more the walk ends there */

/* Constant after init. */
static struct {
    uint64_t unpacked, method, bci, first, size;    /* in vframeArray; in its elements; where they begin; size 0: not known */
    uint64_t call_stub, interpreter, buffer, limit; /* addresses of static fields; offsets in StubQueue */
    uintptr_t call_begin, call_return;              /* what they have once the VM runs: the call stub, behind its first two instructions */
    uintptr_t code, code_size;
    uint64_t wrapper_anchor; /* in JavaCallWrapper */
    int wrapper, bytecode;   /* words from the frame pointer */
    uint64_t barrier;        /* address of the static field; 0: not in the tables */
} shape;

/* The blob of the barrier's stubs, which do nothing else; 0: none has been met, or told by the tables (28). Relaxed: any thread finds the
 * same. */
static _Atomic uintptr_t barrier;

const char *hpx_frames_init(void)
{
    const struct hpx_vm_field all[] = {{"StubRoutines", "_call_stub_return_address", "static address", &shape.call_stub},
                                       {"AbstractInterpreter", "_code", "static StubQueue*", &shape.interpreter},
                                       {"StubQueue", "_stub_buffer", "address", &shape.buffer},
                                       {"StubQueue", "_buffer_limit", "int", &shape.limit},
                                       {"JavaCallWrapper", "_anchor", "JavaFrameAnchor", &shape.wrapper_anchor}};
    uint64_t single;
    bool before_9 = hpx_structures_field(&(struct hpx_vm_field){"CodeCache", "_heap", "static CodeHeap*", &single});
    const struct hpx_vm_field unpacked[] = {{"vframeArray", "_frames", "int", &shape.unpacked},
                                            {"vframeArrayElement", "_method", "Method*", &shape.method},
                                            {"vframeArrayElement", "_bci", "int", &shape.bci}};
    shape.size = hpx_structures_fields(unpacked, HPX_ARRAY_LEN(unpacked)) == NULL ? hpx_structures_size("vframeArrayElement") : 0;
    shape.first = hpx_structures_size("vframeArray") - shape.size; /* the first of them is its last field */
    shape.barrier = 0;
    (void)hpx_structures_field(&(struct hpx_vm_field){"StubRoutines", "_cont_returnBarrier", "static address", &shape.barrier});
    const char *why = HPX_FRAMES_KNOWN != 0 ? hpx_debug_info_init() : "this processor's frames are not known";
    why = why != NULL ? why : hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    shape.bytecode = before_9 ? HPX_BYTECODE_8 : HPX_BYTECODE;
    shape.wrapper = HPX_CALL_WRAPPER;
    if (why == NULL && !hpx_structures_constant("frame::entry_frame_call_wrapper_offset", &shape.wrapper) && shape.wrapper == 0) {
        return "the VM's tables have no shape of frames as expected";
    }
    return why;
}

/* Right before the call stub are other stubs. */
static uintptr_t call_stub_begin(uintptr_t back)
{
    struct hpx_code_frame f = hpx_code_cache_frame_sig(back);
    for (uint32_t n = sizeof hpx_enters; n <= CALL_STUB && n <= f.offset; n++) {
        const uint8_t *at = (const uint8_t *)back - n; /* NOLINT(performance-no-int-to-ptr) */
        size_t same = 0;
        while (same < sizeof hpx_enters && at[same] == hpx_enters[same]) {
            same++;
        }
        if (same == sizeof hpx_enters) {
            return (uintptr_t)at + same;
        }
    }
    return back;
}

const char *hpx_frames_live(void)
{
    uintptr_t queue = hpx_vm_word((uintptr_t)shape.interpreter);
    shape.call_return = hpx_vm_word((uintptr_t)shape.call_stub);
    shape.code = queue != 0 ? hpx_vm_word(queue + shape.buffer) : 0;
    int32_t size = queue != 0 ? hpx_vm_int(queue + shape.limit) : 0;
    shape.code_size = size > 0 ? (uintptr_t)size : 0;
    shape.call_begin = call_stub_begin(shape.call_return);
    if (shape.barrier != 0) {
        atomic_store_explicit(&barrier, hpx_code_cache_frame_sig(hpx_vm_word((uintptr_t)shape.barrier)).start, memory_order_relaxed);
    }
    bool code = hpx_code_cache_frame_sig(shape.call_return).kind == HPX_BLOB_OTHER && shape.code_size > 0;
    struct hpx_code_frame first = hpx_code_cache_frame_sig(shape.code), last = hpx_code_cache_frame_sig(shape.code + shape.code_size - 1);
    return code && first.kind == HPX_BLOB_OTHER && first.start == last.start ? NULL : "the VM's interpreter and stubs are not in its code";
}

/* Why the walk ends at this caller. */
static enum hpx_raw_end end_at(const struct hpx_code_frame *f)
{
    return f->kind == HPX_BLOB_NONE    ? HPX_END_NO_CODE
           : f->kind == HPX_BLOB_DEAD  ? HPX_END_DEAD_CODE
           : f->kind == HPX_BLOB_OTHER ? HPX_END_STUB
                                       : HPX_END_UNBUILT;
}

static bool is_call_stub(uintptr_t pc)
{
    return pc == shape.call_return;
}

bool hpx_frames_is_interpreter_sig(uintptr_t pc)
{
    return pc - shape.code < shape.code_size;
}

/* The frame pointer of the frame with this pc, as its callee has stored it. */
static uintptr_t link_at(const struct hpx_frames *k, uintptr_t at, uintptr_t pc)
{
    uintptr_t word = hpx_vm_word(at);
    return k->chunk && hpx_frames_is_interpreter_sig(pc) ? at + word * WORD : word;
}

/* To the frame that begins at `sp`, whose callee ended there. */
static void go_to(struct hpx_frames *k, uintptr_t sp)
{
    uintptr_t pc = hpx_return_address(hpx_vm_word(sp - WORD));
    k->r = (struct hpx_registers){pc, sp, link_at(k, sp - 2 * WORD, pc)};
}

bool hpx_frames_pop_sig(struct hpx_frames *k, int32_t words)
{
    if (words < 2 || !hpx_frames_in_stack(k, k->r.sp, k->low, (uintptr_t)words)) {
        return hpx_frames_stop(k, HPX_END_STACK);
    }
    go_to(k, k->r.sp + (uintptr_t)words * WORD);
    return true;
}

/* The stack of a chunk ends at `sp`. */
static bool is_end_of_chunk(const struct hpx_frames *k, uintptr_t sp)
{
    return k->chunk && sp + 2 * WORD >= k->high;
}

/* The code of a caller. If its frame is being deoptimized, the return address is that of a handler, and the frame keeps its own pc. */
static struct hpx_code_frame caller_of(const struct hpx_frames *k, const struct hpx_registers *r)
{
    struct hpx_code_frame f = hpx_code_cache_frame_sig(r->pc);
    if (f.original >= 0 && f.original % (int32_t)WORD == 0 && hpx_frames_in_stack(k, r->sp + (uintptr_t)f.original, r->sp, 1)) {
        struct hpx_code_frame was = hpx_code_cache_frame_sig(hpx_vm_word(r->sp + (uintptr_t)f.original));
        f = was.start == f.start ? was : f;
    }
    return f;
}

/* Right below the barrier is the frame of Continuation.enterSpecial. Which stub it is the tables of 25 do not say. A method that C called
 * (an upcall) returns to a stub, too, but between that one and the entry are the frames of C and of its caller. */
uintptr_t hpx_frames_at_barrier_sig(const struct hpx_frames *k, const struct hpx_registers *r, bool of_method)
{
    uintptr_t entry = !k->chunk && hpx_stack_chunk_known_sig() ? hpx_frame_anchor_continuation_sig(k->t->env) : 0;
    if (entry == 0 || !hpx_frames_in_stack(k, entry, r->sp, 5) || (of_method && entry - r->sp > SPILLED * WORD) || is_call_stub(r->pc) ||
        hpx_frames_is_interpreter_sig(r->pc)) {
        return 0;
    }
    struct hpx_code_frame f = hpx_code_cache_frame_sig(r->pc);
    bool stub = f.kind == HPX_BLOB_OTHER && (of_method || f.start == atomic_load_explicit(&barrier, memory_order_relaxed));
    return stub ? entry : 0;
}

static uint64_t add_place(uint64_t places, const struct hpx_stack_chunk *c)
{
    return (places ^ c->low) * UINT64_C(0x9e3779b97f4a7c15);
}

/* A thread in Java is not at a safepoint, where collections begin that move objects, or their references. One in the VM may be: where it
 * comes from native code, or has blocked, it is in the VM first, and then waits for the end of the safepoint. */
static bool runs(const struct hpx_frames *k)
{
    return hpx_frame_anchor_state_sig(k->t->env) == HPX_VM_STATE_IN_JAVA;
}

static bool may_move(const struct hpx_frames *k)
{
    return !runs(k) || hpx_heap_moves_while_running();
}

static bool may_read(const struct hpx_frames *k, uint32_t *collections)
{
    return hpx_stack_chunk_moment_sig(runs(k), collections);
}

static uintptr_t chunk_of(const struct hpx_frames *k, uintptr_t entry)
{
    return hpx_stack_chunk_of_sig(hpx_stack_chunk_continuation_sig(entry, runs(k)));
}

/* The chunks that were read are where they were. */
static bool finds_again(const struct hpx_frames *k)
{
    struct hpx_stack_chunk c = {.parent = chunk_of(k, k->entry)};
    uint64_t places = 0;
    for (uint32_t i = 0; i <= k->chunks; i++) {
        if (hpx_stack_chunk_open_sig(c.parent, &c) != HPX_CHUNK_FRAMES) {
            return false;
        }
        places = add_place(places, &c);
    }
    return places == k->places;
}

bool hpx_frames_are_there_sig(const struct hpx_frames *k)
{
    uint32_t collections;
    return may_read(k, &collections) && collections == k->collections && (!hpx_heap_moves_while_running() || finds_again(k));
}

/* The frame of a virtual thread's Continuation.enterSpecial is there, which a Java method has called, and there are frames in the heap. Any
 * stub may be above other words, which are not followed. */
static bool is_entry(const struct hpx_frames *k, uintptr_t entry, uintptr_t code)
{
    const struct hpx_code_frame f = hpx_code_cache_frame_sig(code);
    struct hpx_stack_chunk c;
    uint32_t collections;
    if (f.size < 6 || !hpx_frames_in_stack(k, entry, k->low, (uintptr_t)f.size) || !hpx_stack_chunk_is_virtual_sig(entry)) {
        return false;
    }
    const uintptr_t back = hpx_return_address(hpx_vm_word(entry + (uintptr_t)(f.size - 1) * WORD));
    if (!hpx_frames_is_interpreter_sig(back) && hpx_code_cache_frame_sig(back).kind != HPX_BLOB_METHOD) {
        return false;
    }
    (void)hpx_stack_chunk_reading_sig(may_move(k));
    const bool has = may_read(k, &collections) && hpx_stack_chunk_open_sig(chunk_of(k, entry), &c) == HPX_CHUNK_FRAMES;
    (void)hpx_stack_chunk_reading_sig(false);
    return has;
}

/* As hpx_frames_at_barrier_sig(), where it is not known yet which word of a thread has the entry. */
static uintptr_t find_entry(const struct hpx_frames *k, const struct hpx_registers *r)
{
    const uintptr_t code = hpx_frame_anchor_lacks_continuation_sig() && !k->chunk ? hpx_stack_chunk_entry_code_sig() : 0;
    if (code == 0 || is_call_stub(r->pc) || hpx_code_cache_frame_sig(r->pc).kind != HPX_BLOB_OTHER) {
        return 0;
    }
    for (uintptr_t at = r->sp; at <= r->sp + SPILLED * WORD; at += WORD) {
        if (is_entry(k, at, code)) {
            hpx_frame_anchor_learn_continuation_sig(k->t->env, at);
            break;
        }
    }
    return hpx_frames_at_barrier_sig(k, r, true);
}

void hpx_frames_leave_out_sig(struct hpx_frames *k)
{
    if (k->names != NULL && k->behind_stub == HPX_FRAME_ANCHOR && k->names->n + 1 < k->names->most) {
        k->names->out[k->names->n++] = (struct hpx_ev_frame){-1, 0, HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED)};
    }
}

static void enter_chunk(struct hpx_frames *k, const struct hpx_stack_chunk *c)
{
    k->places = add_place(k->places, c);
    k->low = c->low;
    k->high = c->end;
    k->parent = c->parent;
    k->chunk = true;
    k->floor = 0;
    go_to(k, c->sp);
}

bool hpx_frames_enter_chunk_sig(struct hpx_frames *k, uintptr_t oop)
{
    struct hpx_stack_chunk c;
    if (hpx_stack_chunk_open_sig(oop, &c) != HPX_CHUNK_FRAMES) {
        return false;
    }
    enter_chunk(k, &c);
    return true;
}

/* Where the thread yields, the chunk has the frames on the stack, too, as soon as its first one goes on where the method that yields was
 * called, which no frame before them can. They are compared: the VM tells where they are before it copies them. */
static void expect_copies(struct hpx_frames *k)
{
    if (k->first != 0 && k->to.methods > 1 && k->r.pc == k->second && hpx_stack_chunk_is_yield_sig(k->first)) {
        k->copied = k->to;
        k->to = k->one;
        k->kept = k->names;
        k->names = NULL;
    }
}

/* The walk does not come back from there. */
static bool cross(struct hpx_frames *k, uintptr_t entry)
{
    (void)hpx_stack_chunk_reading_sig(may_move(k));
    if (!may_read(k, &k->collections)) {
        return false;
    }
    atomic_thread_fence(memory_order_acquire); /* the chunk is read behind the look at the heap; no partner: the VM writes */
    if (!hpx_frames_enter_chunk_sig(k, chunk_of(k, entry))) {
        return false;
    }
    expect_copies(k);
    return true;
}

/* Behind these frames AsyncGetCallTrace has those of the carrier. */
static void note_carrier(struct hpx_frames *k)
{
    if (k->names != NULL && k->broken == UINT32_MAX) {
        k->broken = k->names->n;
        k->carrier = true;
    }
}

static bool leave_out_heap(struct hpx_frames *k)
{
    k->heap = true;
    hpx_frames_add(k, UINT64_MAX - UINT32_MAX);
    hpx_frames_leave_out_sig(k);
    return !k->t->whole || hpx_frames_stop(k, HPX_END_HEAP);
}

bool hpx_frames_cross_sig(struct hpx_frames *k, uintptr_t entry, bool fetches)
{
    note_carrier(k);
    k->entry = entry;
    k->mounted = k->names != NULL ? k->names->n : 0;
    k->whole = !cross(k, entry);
    k->place = HPX_FRAME_CALLER;
    return (!fetches && !k->whole) || leave_out_heap(k);
}

/* At the barrier: goes on behind it. */
static bool pass_barrier(struct hpx_frames *k, uintptr_t entry)
{
    const bool of_method = k->to.methods > 0;
    if (of_method) {
        atomic_store_explicit(&barrier, hpx_code_cache_frame_sig(k->r.pc).start, memory_order_relaxed);
    }
    return hpx_frames_cross_sig(k, entry, !of_method);
}

/* The frame of Continuation.enterSpecial: a virtual thread's frames end there. */
static bool is_lower_end(struct hpx_frames *k, const struct hpx_code_frame *f)
{
    if (k->chunk || f->start != hpx_stack_chunk_entry_code_sig() || !hpx_frames_in_stack(k, k->r.sp, k->low, 5)) {
        return false;
    }
    hpx_frame_anchor_learn_continuation_sig(k->t->env, k->r.sp);
    return hpx_stack_chunk_is_virtual_sig(k->r.sp);
}

static bool end_virtual(struct hpx_frames *k)
{
    note_carrier(k);
    k->whole = true;
    return !k->t->platform || hpx_frames_stop(k, HPX_END_ENTRY);
}

static bool step_compiled(struct hpx_frames *k)
{
    const uintptr_t entry = hpx_frames_at_barrier_sig(k, &k->r, k->to.methods > 0);
    if (entry != 0) {
        return pass_barrier(k, entry);
    }
    struct hpx_code_frame f = caller_of(k, &k->r);
    if (f.kind == HPX_BLOB_OTHER && k->to.methods > 0 && find_entry(k, &k->r) != 0) {
        return step_compiled(k);
    }
    if (f.kind != HPX_BLOB_METHOD || !f.complete) {
        return hpx_frames_stop(k, end_at(&f));
    }
    if (is_lower_end(k, &f)) { /* where the VM fetches or stores frames, the anchor may lead to it */
        return k->to.methods > 0 ? end_virtual(k) : hpx_frames_cross_sig(k, k->r.sp, true);
    }
    k->first = k->first != 0 ? k->first : f.start;
    if (k->names != NULL && k->broken == UINT32_MAX && hpx_code_cache_frame_sig(k->r.pc).kind != HPX_BLOB_METHOD) {
        k->broken = k->names->n; /* its pc is a handler's */
    }
    if (k->names != NULL && !hpx_frame_names_compiled_sig(k->names, &f, k->place)) {
        return hpx_frames_stop(k, HPX_END_DEBUG_INFORMATION);
    }
    hpx_frames_add(k, (uint64_t)f.offset << 32 | (uint32_t)f.id);
    k->place = HPX_FRAME_CALLER;
    k->to.methods++;
    return hpx_frames_pop_sig(k, f.size);
}

/* A word of the frame with this frame pointer. */
static uintptr_t word_at(uintptr_t fp, int words)
{
    return hpx_vm_word(fp + (uintptr_t)(words * (intptr_t)WORD));
}

bool hpx_frames_is_return_sig(const struct hpx_frames *k, const struct hpx_registers *r)
{
    return is_end_of_chunk(k, r->sp) || is_call_stub(r->pc) || hpx_frames_is_interpreter_sig(r->pc) ||
           caller_of(k, r).kind == HPX_BLOB_METHOD || hpx_frames_at_barrier_sig(k, r, true) != 0 || find_entry(k, r) != 0;
}

/* Compiled callers may have had their arguments moved by an adapter: the interpreter keeps where their stack pointer was. What
 * MethodHandle.linkToStatic and the like call in the interpreter has lost an argument since, so that it is a word too low. */
static bool sender_of(const struct hpx_frames *k, uintptr_t fp, struct hpx_registers *caller)
{
    uintptr_t up = fp + 2 * WORD, sender = word_at(fp, HPX_SENDER_SP), pc = hpx_return_address(hpx_vm_word(fp + WORD));
    sender = k->chunk ? fp + sender * WORD : sender;
    if (is_end_of_chunk(k, sender)) {
        *caller = (struct hpx_registers){0, k->high, 0};
        return true;
    }
    *caller = (struct hpx_registers){pc, sender, link_at(k, fp, pc)};
    if ((sender == up - WORD || HPX_SENDER_IS_OF_VM == 0) && hpx_frames_is_interpreter_sig(pc)) {
        caller->sp = up;
    }
    return hpx_frames_in_stack(k, caller->sp, up, 0);
}

uintptr_t hpx_frames_waits_sig(const struct hpx_frames *k, uintptr_t fp)
{
    uintptr_t at = fp + (uintptr_t)(HPX_LAST_SP * (intptr_t)WORD);
    uintptr_t sp = hpx_frames_in_stack(k, at, k->r.sp, 1) ? hpx_vm_word(at) : 0;
    return (intptr_t)sp < 0 ? fp + sp * WORD : sp; /* relative in JDK 22 and later */
}

static void add_interpreted(struct hpx_frames *k, uintptr_t method, uint64_t id, uint32_t place)
{
    if (k->names != NULL) {
        hpx_frame_names_interpreted_sig(k->names, method, place);
    }
    hpx_frames_add(k, id != 0 ? id : method);
    hpx_frames_add(k, place);
    k->place = HPX_FRAME_CALLER;
    k->to.methods++;
}

static bool step_interpreted(struct hpx_frames *k)
{
    uintptr_t fp = k->r.fp;
    /* below the stack pointer are words of dead frames: a frame that is being built has the method that was called here before */
    if (!hpx_frames_in_stack(k, fp, k->r.sp, 2) || fp - k->r.sp < (uintptr_t)-shape.bytecode * WORD ||
        (!k->chunk && fp - k->low < 16 * WORD)) {
        return hpx_frames_stop(k, HPX_END_INTERPRETED);
    }
    struct hpx_registers caller;
    if (!sender_of(k, fp, &caller) || !hpx_frames_is_return_sig(k, &caller)) {
        return hpx_frames_stop(k, HPX_END_INTERPRETED); /* its method must not be followed */
    }
    uintptr_t method = word_at(fp, HPX_METHOD);
    if (!hpx_vm_is_address(method)) {
        return hpx_frames_stop(k, HPX_END_INTERPRETED);
    }
    uint64_t id = hpx_code_cache_id_sig(method);
    uint32_t place = hpx_frame_names_place_sig(method, word_at(fp, shape.bytecode));
    if (id == 0 && place == 0) {
        return hpx_frames_stop(k, HPX_END_INTERPRETED); /* perhaps no method: an old version of one has no id, but runs its own bytecode */
    }
    if (!hpx_frame_names_fits_sig(method, (fp - k->r.sp) / WORD)) {
        return hpx_frames_stop(k, HPX_END_INTERPRETED); /* the frame pointer is that of a frame further out */
    }
    add_interpreted(k, method, id, place);
    k->r = caller;
    return true;
}

/* The frame pointer is set, and where the stack pointer of the caller was is stored. A whole frame that could not be read is none: its
 * method would be left out. */
bool hpx_frames_pop_unbuilt_sig(struct hpx_frames *k)
{
    uintptr_t fp = k->r.fp;
    if (!hpx_frames_in_stack(k, fp, k->r.sp, 2) || fp == k->r.sp || fp - k->r.sp >= (uintptr_t)-shape.bytecode * WORD) {
        return false;
    }
    return sender_of(k, fp, &k->r);
}

static bool to_sender(struct hpx_frames *k)
{
    return hpx_frames_in_stack(k, k->r.fp, k->r.sp, 2) && sender_of(k, k->r.fp, &k->r) && hpx_frames_is_return_sig(k, &k->r);
}

/* The methods of a vframeArray, the innermost first. */
struct unpacked {
    uintptr_t array;
    uint32_t n, at;
};

static bool element(const struct unpacked *u, uintptr_t *method, int32_t *bci)
{
    uintptr_t e = u->array + shape.first + u->at * shape.size;
    *method = u->at < u->n ? hpx_vm_word(e + shape.method) : 0;
    *bci = u->at < u->n ? hpx_vm_int(e + shape.bci) : 0;
    return hpx_vm_is_address(*method);
}

static struct unpacked unpacked_of(const struct hpx_frames *k)
{
    uintptr_t array = shape.size != 0 ? hpx_frame_anchor_unpacked_sig(k->t->env) : 0;
    int32_t n = array != 0 ? hpx_vm_int(array + shape.unpacked) : 0;
    return (struct unpacked){array, n > 0 && n <= ENTRIES ? (uint32_t)n : 0, 0};
}

/* Deoptimization has replaced a frame by frames of the interpreter, which know their callers, and fills them with their methods, the
 * outermost first: those that are filled must have the methods that the array has. The last one that is filled may have no bytecode yet. */
bool hpx_frames_fill_sig(struct hpx_frames *k)
{
    struct unpacked u = unpacked_of(k);
    const uint32_t named = k->names != NULL ? k->names->n : 0;
    bool known = true;
    for (uintptr_t method; hpx_frames_is_interpreter_sig(k->r.pc) && hpx_frames_waits_sig(k, k->r.fp) == 0; u.at++) {
        uintptr_t fp = k->r.fp;
        int32_t bci;
        known = known && element(&u, &method, &bci);
        if (known) {
            add_interpreted(k, method, hpx_code_cache_id_sig(method), bci >= 0 ? (uint32_t)bci + 1 : 0);
        }
        if (fp - k->r.sp < (uintptr_t)-HPX_LAST_SP * WORD || !to_sender(k)) {
            return hpx_frames_stop(k, HPX_END_INTERPRETED);
        }
    }
    uintptr_t method;
    int32_t bci;
    const bool filled =
        known && element(&u, &method, &bci) && hpx_frames_is_interpreter_sig(k->r.pc) && word_at(k->r.fp, HPX_METHOD) == method;
    known = known && (u.at == 0 || u.at == u.n || filled);
    if (filled) {
        add_interpreted(k, method, hpx_code_cache_id_sig(method), bci >= 0 ? (uint32_t)bci + 1 : 0);
    }
    if (filled && !to_sender(k)) {
        return hpx_frames_stop(k, HPX_END_INTERPRETED);
    }
    if (!known) {
        k->to.methods = 0;
        k->gap = HPX_END_DEOPTIMIZATION;
        if (k->names != NULL) {
            k->names->n = named;
        }
        hpx_frames_leave_out_sig(k);
    } else if (k->names != NULL && u.at > 0 && k->broken == UINT32_MAX) {
        k->broken = named; /* nor does AsyncGetCallTrace know them */
    }
    return true;
}

bool hpx_frames_called_by_method_sig(const struct hpx_frames *k)
{
    return caller_of(k, &k->r).kind == HPX_BLOB_METHOD;
}

void hpx_frames_add_stub_sig(struct hpx_frames *k, const struct hpx_code_frame *f, int way)
{
    hpx_frames_add(k, f->start);
    hpx_frames_add(k, UINT64_MAX - 1 - (uint64_t)way);
}

void hpx_frames_add_c(struct hpx_frames *k, const uint64_t *methods, uint32_t n)
{
    k->c += n;
    for (uint32_t i = 0; i < n; i++) {
        hpx_frames_add(k, methods[i]);
        if (k->names != NULL && k->names->n < k->names->most) {
            k->names->out[k->names->n++] = (struct hpx_ev_frame){-1, 0, methods[i]};
        }
    }
}

/* The frame exists from the end of the prologue, which stores the wrapper, to the end of the stub. Its caller is C. Compiled code may have
 * left its own frame pointer in the register; behind the call the frame has exactly its size. */
bool hpx_frames_in_call_stub_sig(struct hpx_frames *k)
{
    uintptr_t fp = k->r.fp;
    bool before = k->r.pc < shape.call_return;
    bool near = k->r.pc >= shape.call_begin && k->r.pc < shape.call_return + CALL_STUB && hpx_frames_in_stack(k, fp, k->r.sp, 2) &&
                fp - k->r.sp >= (uintptr_t)-shape.wrapper * WORD && fp - k->r.sp <= (HPX_ENTRY_WORDS + (before ? ARGUMENTS : 0)) * WORD &&
                hpx_code_cache_frame_sig(hpx_vm_word(fp + WORD)).kind == HPX_BLOB_NONE;
    k->r.pc = near ? shape.call_return : k->r.pc;
    return near;
}

/* The last Java frame that an anchor names may be a stub of a fixed size that a method called. There AsyncGetCallTrace breaks off. */
static bool leave_stub(struct hpx_frames *k)
{
    struct hpx_code_frame f = hpx_code_cache_frame_sig(k->r.pc);
    if (f.kind != HPX_BLOB_OTHER || hpx_frames_is_interpreter_sig(k->r.pc) || is_call_stub(k->r.pc)) {
        return true;
    }
    if (k->names != NULL && k->broken == UINT32_MAX) {
        k->broken = k->names->n;
    }
    hpx_frames_add_stub_sig(k, &f, 0);
    return hpx_frames_pop_sig(k, f.size) && (hpx_frames_called_by_method_sig(k) || hpx_frames_stop(k, HPX_END_STUB));
}

/* Those behind the frame of the call stub. */
HPX_NOINLINE static void add_between(struct hpx_frames *k, uintptr_t fp)
{
    const struct hpx_registers caller = {hpx_return_address(word_at(fp, 1)), fp + 2 * WORD, word_at(fp, 0)};
    uint64_t methods[HPX_EV_C_MOST];
    hpx_frames_add_c(k, methods, k->t->c.between_sig(k->t, &caller, methods, HPX_EV_C_MOST - k->c));
}

/* From C into Java: the wrapper below the frame has the anchor that was the thread's before. */
static bool step_entry(struct hpx_frames *k)
{
    uintptr_t fp = k->r.fp;
    if (!hpx_frames_in_stack(k, fp, k->r.sp, 2) || fp - k->low < 16 * WORD) {
        return hpx_frames_stop(k, HPX_END_ENTRY);
    }
    uintptr_t wrapper = word_at(fp, shape.wrapper);
    if (!hpx_frames_in_stack(k, wrapper, fp, 8)) {
        return hpx_frames_stop(k, HPX_END_ENTRY);
    }
    struct hpx_frame_anchor a = hpx_frame_anchor_at_sig(wrapper + shape.wrapper_anchor);
    hpx_frames_add(k, UINT64_MAX);
    k->whole = a.sp == 0;
    if (!k->whole && !hpx_frames_in_stack(k, a.sp, fp, 1)) {
        return hpx_frames_stop(k, HPX_END_ENTRY);
    }
    if (!k->whole && k->t->c.between_sig != NULL && k->c + 1 < HPX_EV_C_MOST) {
        add_between(k, fp);
    }
    k->r = (struct hpx_registers){k->whole || a.pc != 0 ? a.pc : hpx_return_address(hpx_vm_word(a.sp - WORD)), a.sp, a.fp};
    return k->whole || leave_stub(k);
}

/* Behind the last frame of a chunk are those of its parent; behind the last chunk is the entry. */
static bool next_chunk(struct hpx_frames *k)
{
    struct hpx_stack_chunk c;
    const enum hpx_stack_chunk_state state = k->parent != 0 ? hpx_stack_chunk_open_sig(k->parent, &c) : HPX_CHUNK_EMPTY;
    if (state == HPX_CHUNK_EMPTY) {
        return end_virtual(k);
    }
    if (state == HPX_CHUNK_FRAMES && k->chunks < CHUNKS) {
        k->chunks++;
        enter_chunk(k, &c);
        return true;
    }
    k->whole = true;
    return leave_out_heap(k);
}

static bool step(struct hpx_frames *k)
{
    if (k->to.methods == 1 && !k->chunk) {
        k->second = k->r.pc;
        k->one = k->to;
    }
    return is_end_of_chunk(k, k->r.sp)              ? next_chunk(k)
           : is_call_stub(k->r.pc)                  ? step_entry(k)
           : hpx_frames_is_interpreter_sig(k->r.pc) ? step_interpreted(k)
                                                    : step_compiled(k);
}

static bool is_full(const struct hpx_frames *k)
{
    return k->to.methods >= k->t->depth || (k->names != NULL && k->names->n >= k->names->most);
}

/* Behind the frames that are in both places. */
static bool compare_copies(struct hpx_frames *k, bool walked)
{
    const bool same = walked && k->to.lo == k->copied.lo && k->to.hi == k->copied.hi;
    k->names = k->kept;
    k->to = k->copied;
    k->copied.methods = 0;
    k->whole = k->whole || !same;
    return same || leave_out_heap(k);
}

bool hpx_frames_go_down_sig(struct hpx_frames *k)
{
    k->floor = k->r.sp;
    for (int entries = 0; !k->whole && !is_full(k);) {
        entries += is_call_stub(k->r.pc);
        bool went = step(k);
        if (k->copied.methods > 0 && (!went || k->whole || k->to.methods >= k->copied.methods)) {
            went = compare_copies(k, went);
        }
        if (!went) {
            return false;
        }
        if (entries > ENTRIES || (!k->whole && k->r.sp <= k->floor)) {
            return hpx_frames_stop(k, HPX_END_STACK);
        }
        k->floor = k->r.sp;
    }
    return k->to.methods > 0 || hpx_frames_stop(k, k->heap ? HPX_END_HEAP : HPX_END_NO_JAVA);
}
