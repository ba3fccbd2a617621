/* SPDX-License-Identifier: BSD-2-Clause */
/* raw_walk.c: finds the caller of the frame that the signal interrupted, and walks from there. Contract: raw_walk.h. */
#include "raw_walk.h"
#include "code_cache.h"
#include "debug_info.h"
#include "frame_anchor.h"
#include "raw_frames.h"
#include "stack_chunk.h"
#include "structures.h"
#include <stdatomic.h>

#define WORD      sizeof(uintptr_t)
#define PAIR_NEAR 512 /* bytes that a stub pushes behind its frame pointer, at most */

/* Where the caller of the frame on top is, in the order in which it is looked for. Each way counts only if it leads to the first Java
 * frame. The frame pointer may be that of a frame further out, whose caller would be found, and all between left out: it counts only of a
 * stub that the caller calls, and of the interpreter; else it is asked last (from_entering()). */
enum {
    BY_SIZE,  /* behind a whole frame */
    AT_SP,    /* the frame is not built yet, or left already */
    ABOVE_SP, /* the same, but the frame pointer has been saved */
    MOVED,    /* the stack pointer is that of the frame, but nothing is saved: only where the processor's instructions tell */
    BY_FP,    /* behind the frame pointer: code that has pushed more than its frame */
    UNMARKED, /* behind a whole frame, though the VM marks it as complete only later */
    PUSHED_1, /* the same below a word or two that an intrinsic has pushed */
    PUSHED_2,
    PADDED, /* one above a word that aligns the stack: a stub without a frame that has called C */
    THROWN, /* the stack pointer is that of the caller: a stub that handles its exception has a frame later, or no longer */
    WAYS
};

static const uint8_t *code_at(uintptr_t pc)
{
    return (const uint8_t *)pc; /* NOLINT(performance-no-int-to-ptr) */
}

/* What the VM's code calls at r; 0: nothing that can be told. */
static uintptr_t called_at(const struct hpx_registers *r)
{
    struct hpx_code_frame f = hpx_code_cache_frame_sig(r->pc);
    uint32_t room = f.kind == HPX_BLOB_METHOD ? f.code : f.offset;
    return f.kind == HPX_BLOB_OTHER || (f.kind == HPX_BLOB_METHOD && f.complete) ? hpx_called_before(code_at(r->pc), room) : 0;
}

/* The caller of a frame whose pair of frame pointer and return address is at `pair`. */
static struct hpx_registers behind(uintptr_t pair)
{
    return (struct hpx_registers){hpx_return_address(hpx_vm_word(pair + WORD)), pair + 2 * WORD, hpx_vm_word(pair)};
}

/* The caller of a frame that is not begun, or left already. */
static struct hpx_registers caller_at_sp(const struct hpx_frames *k, const struct hpx_registers *r)
{
    uintptr_t back = HPX_CALL_PUSHES != 0 ? hpx_vm_word(r->sp) : k->t->entering.back;
    return (struct hpx_registers){back, r->sp + HPX_CALL_PUSHES * WORD, r->fp};
}

/* Behind the frame pointer. false: there is no frame. The stub that a compiled method calls as it is entered (nmethod entry barrier) has
 * pushed a word of ones before its frame, where the VM may store another stack pointer. */
static bool hop(const struct hpx_frames *k, struct hpx_registers *r)
{
    bool up = hpx_frames_in_stack(k, r->fp, r->sp, 2);
    if (up) {
        *r = behind(r->fp);
    }
    if (up && HPX_CALL_PUSHES != 0 && r->pc == UINTPTR_MAX && hpx_frames_in_stack(k, r->sp, r->sp, 1)) {
        r->pc = hpx_return_address(hpx_vm_word(r->sp));
        r->sp += WORD;
    }
    return up;
}

/* The stub of deoptimization that is given an exception begins with a return address of 0, saves all registers, and then stores the one
 * that it is given. */
static bool is_thrown(const struct hpx_frames *k, const struct hpx_code_frame *f, struct hpx_registers *r)
{
    uintptr_t thrown = f->unpacks && r->pc == 0 ? hpx_frame_anchor_thrown_sig(k->t->env) : 0;
    r->pc = thrown != 0 ? thrown : r->pc;
    return thrown != 0;
}

/* A stub has its frame: the pair that is at the frame pointer, close to the stack pointer, has the return address that is still in the link
 * register. */
static bool has_pair(const struct hpx_frames *k, const struct hpx_code_frame *f)
{
    return HPX_CALL_PUSHES == 0 && f->kind == HPX_BLOB_OTHER && f->start != 0 && k->r.fp - k->r.sp < PAIR_NEAR &&
           hpx_frames_in_stack(k, k->r.fp, k->r.sp, 2) && behind(k->r.fp).pc == k->t->entering.back;
}

/* A method calls something far away there: by a register, or by a jump in its own code. */
static bool calls_far(const struct hpx_registers *r)
{
    const struct hpx_code_frame f = hpx_code_cache_frame_sig(r->pc);
    return f.kind == HPX_BLOB_METHOD && f.complete &&
           (hpx_calls_by_register(code_at(r->pc), f.code) || hpx_code_cache_frame_sig(called_at(r)).start == f.start);
}

/* The link register does not say that another method is the caller. */
static bool returns_to(const struct hpx_frames *k, const struct hpx_registers *r)
{
    return k->t->entering.back == r->pc || hpx_code_cache_frame_sig(k->t->entering.back).kind != HPX_BLOB_METHOD;
}

/* Where a call pushes nothing: the frame is gone, or not there yet. Then the link register has the return address, which a whole frame
 * would have stored; in one that has called since, it is an address in its own code. */
static bool lacks_frame(const struct hpx_frames *k, const struct hpx_code_frame *f)
{
    if (HPX_CALL_PUSHES != 0 || k->leaf || f->size < 2) {
        return false;
    }
    const struct hpx_registers r = caller_at_sp(k, &k->r);
    const uintptr_t stored = k->r.sp + (uintptr_t)(f->size - 1) * WORD;
    return hpx_code_cache_frame_sig(r.pc).start != f->start && hpx_frames_is_return_sig(k, &r) &&
           (!hpx_frames_in_stack(k, stored, k->r.sp, 1) || hpx_return_address(hpx_vm_word(stored)) != r.pc);
}

static bool pop_top(struct hpx_frames *k, const struct hpx_code_frame *f, int way)
{
    struct hpx_registers *r = &k->r;
    k->end = f->kind == HPX_BLOB_METHOD ? HPX_END_UNBUILT : HPX_END_STUB; /* if it fails */
    switch (way) {
    case BY_SIZE:
        if ((f->kind != HPX_BLOB_OTHER && !f->complete) || lacks_frame(k, f) || !hpx_frames_pop_sig(k, f->size)) {
            return false;
        }
        break;
    case AT_SP:
        if (!hpx_frames_in_stack(k, r->sp, k->t->stack_low, 1) || has_pair(k, f)) {
            return false;
        }
        *r = caller_at_sp(k, r);
        break;
    case ABOVE_SP:
        if (!hpx_frames_in_stack(k, r->sp, k->t->stack_low, 2)) {
            return false;
        }
        *r = behind(r->sp);
        break;
    case MOVED:
        if (f->kind != HPX_BLOB_METHOD || f->size < 2 || !hpx_frames_in_stack(k, r->sp, k->t->stack_low, (uintptr_t)f->size)) {
            return false;
        }
        r->sp += (uintptr_t)f->size * WORD;
        *r = caller_at_sp(k, r);
        break;
    case BY_FP: {
        const bool pair = has_pair(k, f), near = HPX_CALL_PUSHES == 0 && f->start != 0 && r->fp - r->sp < PAIR_NEAR;
        return f->kind == HPX_BLOB_OTHER && hop(k, r) &&
               (pair || is_thrown(k, f, r) || hpx_code_cache_frame_sig(called_at(r)).start == f->start ||
                (near && calls_far(r) && returns_to(k, r)));
    }
    case UNMARKED:
    case PUSHED_1:
    case PUSHED_2:
        r->sp += (uintptr_t)(way - UNMARKED) * WORD;
        return f->kind == HPX_BLOB_METHOD && (way != UNMARKED || !f->complete) && hpx_frames_pop_sig(k, f->size);
    case PADDED:
        if (!k->leaf || f->kind != HPX_BLOB_OTHER || f->size >= 2 || !hpx_frames_in_stack(k, r->sp, k->t->stack_low, 2)) {
            return false;
        }
        *r = (struct hpx_registers){hpx_vm_word(r->sp + WORD), r->sp + 2 * WORD, r->fp};
        break;
    case THROWN:
        r->pc = k->t->entering.thrown;
        return f->kind == HPX_BLOB_OTHER && f->size >= 2 && !k->leaf;
    default:
        return false;
    }
    (void)is_thrown(k, f, r);
    return true;
}

/* The method on top may be at any pc. All pcs with the same debug information add the same to the hash. */
static bool add_top(struct hpx_frames *k, const struct hpx_code_frame *f, int way)
{
    enum hpx_frame_place whole = k->leaf ? k->behind_stub : HPX_FRAME_INTERRUPTED;
    enum hpx_frame_place place_of_frame = way == BY_SIZE || way >= UNMARKED ? whole : HPX_FRAME_UNBUILT;
    if (k->names != NULL && !hpx_frame_names_compiled_sig(k->names, f, place_of_frame)) {
        return hpx_frames_stop(k, HPX_END_DEBUG_INFORMATION);
    }
    uint64_t place = f->complete ? hpx_debug_info_place_sig(f->start, f->code) : 0;
    k->first = f->start;
    hpx_frames_add(k, place != 0 ? place : (uint64_t)f->offset << 32);
    hpx_frames_add(k, (uint64_t)(way + (place != 0 ? WAYS : 0) + (k->leaf ? 2 * WAYS : 0)) << 32 | (uint32_t)f->id);
    k->to.methods++;
    return true;
}

/* Restarts the walk at the frame on top, without names. */
static void begin_again(struct hpx_frames *k, const struct hpx_frames *top)
{
    *k = *top;
    if (k->names != NULL) {
        k->names->n = k->t->c.nabove;
    }
}

static bool from_code_by(struct hpx_frames *k, const struct hpx_code_frame *f, int way)
{
    if (f->kind == HPX_BLOB_METHOD) {
        return (way != BY_SIZE || f->complete || hpx_frames_stop(k, HPX_END_UNBUILT)) && add_top(k, f, way) && pop_top(k, f, way) &&
               hpx_frames_go_down_sig(k);
    }
    k->place = k->behind_stub;
    hpx_frames_add_stub_sig(k, f, way);
    return pop_top(k, f, way) && (f->size < 2 || hpx_frames_called_by_method_sig(k) || hpx_frames_stop(k, HPX_END_STUB)) &&
           hpx_frames_go_down_sig(k);
}

/* A return address at the stack pointer, or one word above: the frame may have been left. */
static bool may_be_left(const struct hpx_frames *k, const struct hpx_code_frame *f)
{
    if (HPX_CALL_PUSHES == 0) {
        return lacks_frame(k, f);
    }
    struct hpx_registers r = caller_at_sp(k, &k->r);
    bool at_sp = hpx_frames_is_return_sig(k, &r);
    if (!at_sp && hpx_frames_in_stack(k, k->r.sp, k->r.sp, 2)) {
        r = behind(k->r.sp);
        at_sp = hpx_frames_is_return_sig(k, &r);
    }
    return at_sp;
}

/* No way leads to the first Java frame. Where the frame on top is whole, those below it count as far as they go; of a method whose frame is
 * not built, or may have been left, only itself is certain. */
static void part_of(struct hpx_frames *k, const struct hpx_frames *top, const struct hpx_code_frame *f)
{
    begin_again(k, top);
    if (f->kind == HPX_BLOB_METHOD && (!f->complete || may_be_left(k, f))) {
        (void)(add_top(k, f, AT_SP) && hpx_frames_stop(k, HPX_END_UNBUILT));
    } else if (f->kind == HPX_BLOB_METHOD || (f->kind == HPX_BLOB_OTHER && f->size >= 2)) {
        (void)from_code_by(k, f, BY_SIZE);
    } else {
        (void)hpx_frames_stop(k, f->kind == HPX_BLOB_DEAD ? HPX_END_DEAD_CODE : HPX_END_STUB);
    }
}

/* A method of the interpreter is entered, by an adapter or directly. Where it returns to is on the stack, or taken from there, and where
 * the stack pointer of its caller was is known: that of the interpreter has stored the same. The registers may have been left as they are
 * by a method that a method of the interpreter has called, and all between would be left out: this way is the last one. */
static bool from_entering(struct hpx_frames *k, const struct hpx_frames *top, const struct hpx_code_frame *f)
{
    const struct hpx_registers *at = &top->r;
    uintptr_t sender = k->t->entering.sender;
    bool done = false;
    if (!hpx_frames_in_stack(k, sender, at->sp, 1) || sender - WORD < k->t->stack_low) {
        return false;
    }
    const uintptr_t back[] = {hpx_vm_word(at->sp), k->t->entering.back, hpx_vm_word(sender - WORD)};
    const size_t first = HPX_CALL_PUSHES != 0 ? 0 : 1, end = HPX_CALL_PUSHES != 0 ? HPX_ARRAY_LEN(back) : 2;
    for (size_t i = first; i < end && !done; i++) {
        begin_again(k, top);
        hpx_frames_add_stub_sig(k, f, WAYS);
        k->place = HPX_FRAME_CALLER;
        k->r = (struct hpx_registers){back[i], sender, at->fp};
        done = (hpx_frames_is_interpreter_sig(back[i]) ? hpx_frames_waits_sig(k, at->fp) == sender : hpx_frames_called_by_method_sig(k)) &&
               hpx_frames_go_down_sig(k);
    }
    return done;
}

/* The stub of deoptimization behind whose frame are those of the interpreter; it has a frame pointer, and aligns the stack before it calls
 * C. */
static bool from_unpacking(struct hpx_frames *k, const struct hpx_code_frame *f)
{
    const struct hpx_frames top = *k;
    uintptr_t size = k->r.fp + 2 * WORD - k->r.sp, least = (uintptr_t)f->size * WORD;
    hpx_frames_add_stub_sig(k, f, WAYS);
    bool done = size - least <= WORD && hop(k, &k->r) && hpx_frames_is_interpreter_sig(k->r.pc) && hpx_frames_fill_sig(k) &&
                hpx_frames_go_down_sig(k);
    if (!done) {
        begin_again(k, &top);
    }
    return done;
}

/* Whether a way makes sense at a stage of a method's frame. */
static bool may_go(enum hpx_stage stage, int way)
{
    switch (stage) {
    case HPX_STAGE_UNKNOWN:
        return way != MOVED;
    case HPX_STAGE_NONE:
        return way == AT_SP;
    case HPX_STAGE_MOVED:
        return way == MOVED;
    case HPX_STAGE_PAIR:
        return way == ABOVE_SP;
    case HPX_STAGE_WHOLE:
        return way == BY_SIZE || way >= UNMARKED;
    }
    return false;
}

static bool from_code(struct hpx_frames *k, const struct hpx_code_frame *f)
{
    const struct hpx_frames top = *k;
    const bool other = f->kind == HPX_BLOB_OTHER, method = f->kind == HPX_BLOB_METHOD;
    const uintptr_t entry = other ? hpx_frames_at_barrier_sig(k, &k->r, false) : 0;
    if (entry != 0) { /* it fetches frames from the heap; between it and the entry are dead ones */
        return hpx_frames_cross_sig(k, entry, true) && hpx_frames_go_down_sig(k);
    }
    enum hpx_stage stage = method && !k->leaf ? hpx_stage_at(code_at(k->r.pc), f->complete) : HPX_STAGE_UNKNOWN;
    if (stage == HPX_STAGE_WHOLE && (f->size < 2 || lacks_frame(k, f))) {
        stage = HPX_STAGE_NONE;
    }
    bool done = other && f->size >= 2 && from_unpacking(k, f);
    for (int way = BY_SIZE; way < WAYS && !done && (method || other); way++) {
        if (may_go(stage, way)) {
            begin_again(k, &top);
            done = from_code_by(k, f, way);
        }
    }
    if (!done && other) {
        begin_again(k, &top);
        done = (hpx_frames_in_call_stub_sig(k) && hpx_frames_go_down_sig(k)) || (f->size < 2 && !k->leaf && from_entering(k, &top, f));
    }
    if (!done && k->names != NULL) {
        part_of(k, &top, f);
    }
    return done;
}

/* ---- the interpreter ---- */

/* A whole frame; or one that is being built or left, and then its caller. Where a frame begins, the frame pointer is still that of a method
 * of the interpreter that waits for it, with all that it has called in between: its frame is on top only if its callee has just returned,
 * and else looked at last. */
static bool from_interpreter(struct hpx_frames *k)
{
    const struct hpx_frames top = *k;
    const struct hpx_code_frame none = {.kind = HPX_BLOB_OTHER};
    const uintptr_t waiting = hpx_frames_waits_sig(k, k->r.fp);
    const bool returned = waiting == k->r.sp || (k->r.sp > k->t->stack_low && hpx_vm_word(k->r.sp - WORD) == k->r.pc);
    bool done = ((waiting == 0 || returned) && hpx_frames_go_down_sig(k)) || from_entering(k, &top, &none);
    for (int way = AT_SP; way <= BY_FP && !done; way++) {
        begin_again(k, &top);
        hpx_frames_add_stub_sig(k, &none, way);
        k->place = HPX_FRAME_CALLER;
        done = (way < BY_FP ? pop_top(k, &none, way) : hpx_frames_pop_unbuilt_sig(k)) && hpx_frames_go_down_sig(k);
    }
    if (!done) {
        begin_again(k, &top);
        if (waiting != 0) {
            k->gap = HPX_END_WAITING;
            hpx_frames_leave_out_sig(k);
        }
        done = hpx_frames_go_down_sig(k) && waiting != 0; /* the walk has the frames of a method further out */
    }
    return done;
}

/* ---- C that the VM's code calls as it calls Java: System.nanoTime and the like; no anchor says so ---- */

#define LEAF_BYTES 4096 /* maximum length of a C function that is called this way */
#define LEAF_HOPS  16   /* maximum number of its C frames */

/* r is where C was called. inside: a pc of the function that was called; 0: any. */
static bool calls_leaf(const struct hpx_registers *r, uintptr_t inside)
{
    uintptr_t callee = called_at(r);
    return callee != 0 && (inside == 0 || inside - callee < LEAF_BYTES) && hpx_code_cache_frame_sig(callee).kind == HPX_BLOB_NONE;
}

/* A stub calls C there by an address in a register, so what it calls is not known: a downcall. */
static bool calls_by_register(const struct hpx_registers *r)
{
    struct hpx_code_frame f = hpx_code_cache_frame_sig(r->pc);
    return f.kind == HPX_BLOB_OTHER && f.size >= 2 && hpx_calls_by_register(code_at(r->pc), f.offset);
}

/* The same, where its frame, which has the frame pointer, ends at the one that is still in its register. */
static bool calls_by_register_below(const struct hpx_registers *r)
{
    return calls_by_register(r) && r->sp + (uintptr_t)(hpx_code_cache_frame_sig(r->pc).size - 2) * WORD == r->fp;
}

/* The thread is in C that has no anchor. libjvm keeps frame pointers, but not in the first and last instructions of a function: there the
 * frame pointer is that of a frame further out, and the return address is at the stack pointer or one word above it. These, which may be
 * words of dead frames elsewhere, count only if the call leads to this function, and are asked before the chain of frame pointers. */
static bool find_leaf_caller(struct hpx_frames *k, struct hpx_registers *to)
{
    const struct hpx_registers *at = &k->t->at;
    struct hpx_registers r = *at;
    *to = *at;
    if (hop(k, to) && calls_leaf(to, at->pc)) {
        return true;
    }
    *to = caller_at_sp(k, at);
    if (calls_leaf(to, at->pc) || calls_by_register_below(to)) {
        return true;
    }
    if (hpx_frames_in_stack(k, at->sp, at->sp, 2)) {
        *to = behind(at->sp);
        if (calls_leaf(to, at->pc) || calls_by_register_below(to)) {
            return true;
        }
    }
    for (int hops = 0; hops < LEAF_HOPS && hop(k, &r); hops++) {
        *to = r;
        if (calls_leaf(to, 0) || calls_by_register(to)) {
            return true;
        }
        if (hpx_code_cache_frame_sig(r.pc).kind != HPX_BLOB_NONE) {
            break; /* other code of the VM has called it */
        }
    }
    return hpx_frames_stop(k, HPX_END_NATIVE);
}

/* The same where C does not tell the stack pointer of its caller. Right after the call it is the caller's own, and the link register has
 * the return address; later the pairs lead to a stub, whose own pair tells it, or to the interpreter, which does not need it. */
static bool from_leaf_by_pairs(struct hpx_frames *k)
{
    struct hpx_registers *r = &k->r;
    struct hpx_code_frame f = hpx_code_cache_frame_sig(k->t->entering.back);
    const bool near = r->fp - r->sp < LEAF_BYTES && hpx_frames_in_stack(k, r->fp, r->sp, 2);
    if (f.kind != HPX_BLOB_NONE && !(near && behind(r->fp).pc == k->t->entering.back)) {
        *r = caller_at_sp(k, r);
        r->sp += f.kind == HPX_BLOB_METHOD ? hpx_pushed_for_call(code_at(r->pc)) : 0;
    } else {
        int hops = 0;
        do {
            f.kind = HPX_BLOB_NONE;
            if (++hops > LEAF_HOPS || !hop(k, r)) {
                break;
            }
            f = hpx_code_cache_frame_sig(r->pc);
        } while (f.kind == HPX_BLOB_NONE);
        if (f.kind == HPX_BLOB_METHOD) {
            f.kind = HPX_BLOB_NONE;
        }
    }
    if (hpx_frames_is_interpreter_sig(r->pc)) {
        return hpx_frames_go_down_sig(k);
    }
    if (f.kind == HPX_BLOB_METHOD) {
        k->leaf = true;
        return from_code_by(k, &f, BY_SIZE);
    }
    if (f.kind != HPX_BLOB_OTHER) {
        return hpx_frames_stop(k, HPX_END_NATIVE);
    }
    k->place = k->behind_stub;
    hpx_frames_add_stub_sig(k, &f, BY_FP);
    return hop(k, r) && (hpx_frames_called_by_method_sig(k) || hpx_frames_stop(k, HPX_END_NATIVE)) && hpx_frames_go_down_sig(k);
}

/* Continues as if the C function had returned. */
static bool from_leaf(struct hpx_frames *k)
{
    if (HPX_C_TELLS_SP == 0) {
        return from_leaf_by_pairs(k);
    }
    if (!find_leaf_caller(k, &k->r)) {
        return false;
    }
    struct hpx_code_frame f = hpx_code_cache_frame_sig(k->r.pc);
    if (hpx_frames_is_interpreter_sig(k->r.pc)) {
        return hpx_frames_go_down_sig(k);
    }
    k->leaf = true;
    return f.kind == HPX_BLOB_OTHER ? from_code(k, &f) : from_code_by(k, &f, BY_SIZE);
}

/* From the last Java frame that the anchor names: a method, or a stub of a fixed size that a method called. */
static bool from_anchor(struct hpx_frames *k, const struct hpx_frame_anchor *a)
{
    if (!hpx_frames_in_stack(k, a->sp, k->t->stack_low + WORD, 1)) {
        return hpx_frames_stop(k, HPX_END_STACK);
    }
    k->r = (struct hpx_registers){a->pc != 0 ? a->pc : hpx_return_address(hpx_vm_word(a->sp - WORD)), a->sp, a->fp};
    struct hpx_code_frame f = hpx_code_cache_frame_sig(k->r.pc);
    k->place = HPX_FRAME_ANCHOR;
    if (f.kind == HPX_BLOB_OTHER && !hpx_frames_is_interpreter_sig(k->r.pc)) {
        k->place = k->behind_stub;
        hpx_frames_add_stub_sig(k, &f, BY_SIZE);
        bool left = hpx_frames_pop_sig(k, f.size);
        if (left && hpx_frames_is_interpreter_sig(k->r.pc)
                ? !hpx_frames_fill_sig(k)
                : !left || (!hpx_frames_called_by_method_sig(k) && !hpx_frames_stop(k, HPX_END_STUB))) {
            return false;
        }
    }
    return hpx_frames_go_down_sig(k);
}

/* A collection may have moved the objects whose frames were read: only those on the stack count. */
static bool has_moved(struct hpx_frames *k)
{
    atomic_thread_fence(memory_order_acquire); /* the chunks were read before the look at the heap; no partner: the VM writes */
    bool moved = k->chunk && !hpx_frames_are_there_sig(k);
    if (moved) {
        k->heap = true;
        if (k->names != NULL) {
            k->names->n = k->mounted;
        }
        hpx_frames_leave_out_sig(k);
    }
    return moved;
}

/* Walks from the place where the thread is. */
static bool walk(struct hpx_frames *k)
{
    const struct hpx_raw_thread *t = k->t;
    struct hpx_frame_anchor a = hpx_frame_anchor_read_sig(t->env);
    bool java = hpx_frame_anchor_state_sig(t->env) == HPX_VM_STATE_IN_JAVA, done;
    if (t->stack_end == 0) {
        return hpx_frames_stop(k, HPX_END_STACK);
    }
    k->r = t->at;
    bool interpreter = java && hpx_frames_is_interpreter_sig(t->at.pc);
    struct hpx_code_frame f = {.kind = HPX_BLOB_NONE};
    if (java && !interpreter) {
        f = hpx_code_cache_frame_sig(t->at.pc);
    }
    /* the VM that puts frames in the heap lets the anchor lead behind them before it has done so */
    const bool behind = java && a.sp != 0 && a.sp == hpx_frame_anchor_continuation_sig(t->env);
    if (behind) { /* AsyncGetCallTrace has the carrier's frames alone */
        k->broken = 0;
        k->carrier = true;
    }
    const bool by_anchor = !java || (a.sp != 0 && !behind && !interpreter && f.kind == HPX_BLOB_NONE);
    if (by_anchor && a.sp == 0 && t->c.nabove > 0 && !t->c.called) { /* the stack is C alone */
        k->whole = done = true;
    } else if (by_anchor) {
        done = a.sp != 0 ? from_anchor(k, &a) : hpx_frames_stop(k, HPX_END_NO_JAVA);
    } else if (hpx_frames_in_stack(k, t->at.sp, t->stack_low, 1)) {
        done = interpreter ? from_interpreter(k) : f.kind != HPX_BLOB_NONE ? from_code(k, &f) : from_leaf(k);
    } else {
        done = hpx_frames_stop(k, HPX_END_STACK);
    }
    const bool moved = has_moved(k);
    done = done || moved;
    k->end = !done ? k->end : k->gap != HPX_END_WHOLE ? k->gap : k->heap ? HPX_END_HEAP : HPX_END_WHOLE;
    return done && !moved && k->gap == HPX_END_WHOLE;
}

static struct hpx_frames begun(const struct hpx_raw_thread *t, struct hpx_frame_names *names)
{
    struct hpx_frames k = {.t = t,
                           .low = t->stack_low,
                           .high = t->stack_end,
                           .broken = UINT32_MAX,
                           .to = {.lo = t->depth, .hi = ~(uint64_t)t->depth},
                           .names = names};
    hpx_frames_add_c(&k, t->c.above, t->c.nabove);
    return k;
}

static uint64_t spread(uint64_t h)
{
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

static struct hpx_raw_stack hash_of(const struct hpx_frames *k)
{
    return (struct hpx_raw_stack){spread(k->to.lo), spread(k->to.hi), k->to.methods};
}

bool hpx_raw_walk_take_sig(const struct hpx_raw_thread *t, struct hpx_raw_stack *to)
{
    struct hpx_frames k = begun(t, NULL);
    bool done = walk(&k);
    *to = hash_of(&k);
    return done;
}

static bool has_left_its_frame(uintptr_t pc)
{
    const struct hpx_code_frame f = hpx_code_cache_frame_sig(pc);
    const enum hpx_stage stage = f.kind == HPX_BLOB_METHOD && f.complete ? hpx_stage_at(code_at(pc), true) : HPX_STAGE_UNKNOWN;
    return stage == HPX_STAGE_NONE || stage == HPX_STAGE_PAIR;
}

int hpx_raw_walk_frames_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *out, enum hpx_raw_end *end, uint32_t *broken,
                            struct hpx_raw_stack *hash)
{
    struct hpx_frame_names names = {.out = out, .most = t->depth + t->c.room};
    struct hpx_frames k = begun(t, &names);
    k.behind_stub = broken == NULL ? HPX_FRAME_ANCHOR : HPX_FRAME_INTERRUPTED;
    bool whole = walk(&k);
    *end = k.end;
    if (hash != NULL) {
        k.names = NULL; /* there may be more names than compiled frames: the hash goes on behind the last name */
        whole = whole && (k.to.methods == 0 || hpx_frames_go_down_sig(&k)) && !has_moved(&k);
        *hash = whole ? hash_of(&k) : (struct hpx_raw_stack){0, 0, 0};
    }
    if (broken != NULL) {
        *broken = has_left_its_frame(t->at.pc) ? HPX_FRAME_IS_LEFT : k.broken | (k.carrier ? HPX_FRAME_OF_CARRIER : 0);
    }
    return (int)names.n;
}

int hpx_raw_walk_stopped_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *out, enum hpx_raw_end *end)
{
    struct hpx_frame_names names = {.out = out, .most = t->depth, .addresses = true};
    struct hpx_frames k = begun(t, &names);
    k.behind_stub = HPX_FRAME_ANCHOR;
    (void)walk(&k);
    *end = k.end;
    return (int)names.n;
}

int hpx_raw_walk_chunk_sig(uintptr_t chunk, uint32_t depth, struct hpx_ev_frame *out, enum hpx_raw_end *end)
{
    const struct hpx_raw_thread t = {.depth = depth};
    struct hpx_frame_names names = {.out = out, .most = depth, .addresses = true};
    struct hpx_frames k = begun(&t, &names);
    k.place = k.behind_stub = HPX_FRAME_ANCHOR;
    bool done = hpx_stack_chunk_known_sig() && hpx_frames_enter_chunk_sig(&k, chunk);
    if (!done) {
        *end = HPX_END_NO_JAVA;
        return 0;
    }
    struct hpx_code_frame f = hpx_code_cache_frame_sig(k.r.pc);
    if (f.kind == HPX_BLOB_OTHER && !hpx_frames_is_interpreter_sig(k.r.pc)) { /* a stub in which it blocked */
        done = hpx_frames_pop_sig(&k, f.size);
    }
    done = done && hpx_frames_go_down_sig(&k);
    *end = !done ? k.end : k.heap ? HPX_END_HEAP : HPX_END_WHOLE;
    return (int)names.n;
}
