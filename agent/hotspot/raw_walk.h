/* SPDX-License-Identifier: BSD-2-Clause */
/* raw_walk.h: walks the Java stack of the interrupted thread by the VM's own structures: first as far as telling two stacks apart needs,
 * and, if the stack is new, once more for its names.
 *
 * Touches the code cache (code_cache.h), the thread's anchor (frame_anchor.h) and its stack, StubRoutines, the range of the interpreter,
 * JavaCallWrapper, ContinuationEntry, Method and ConstMethod, debug information, and the code before a return address; reads only. On JDK 8
 * to 28, x86-64.
 *
 * What a frame adds to the hash decides what AsyncGetCallTrace says of it, whatever the VM did between two samples:
 * - a compiled method: number of its compilation, offset of the pc. Code that reuses the place of other code has another number; code that
 *   moves keeps both; a redefined class makes the VM throw away whatever compiled its methods.
 * - an interpreted one: jmethodID and place of the bytecode. Unlike a Method* an id is never used again, and it is what the answer has.
 * - a stub on top: which one, and how its caller was found; it is in no answer.
 * Where a pc does not say so much (dead code) the walk ends without a result. Frames of a virtual thread that are still in the heap are in
 * no answer: AsyncGetCallTrace goes on at its carrier, too. */
#ifndef HPX_RAW_WALK_H
#define HPX_RAW_WALK_H

#include "event.h"
#include "registers.h"

/* What is on top of the first method. How AsyncGetCallTrace is asked then decides where in that method its answer is. */
enum hpx_raw_top {
    HPX_RAW_METHOD,         /* nothing: the thread runs it, or has left it for a native method, or for C without an anchor */
    HPX_RAW_INTERPRETED,    /* nothing: the thread is in the interpreter, whose frame may be half built, or in C that it called so */
    HPX_RAW_STUB,           /* a stub, by the registers */
    HPX_RAW_STUB_BY_ANCHOR, /* the same, by the anchor */
    HPX_RAW_NATIVE          /* C that the method or a stub called without leaving Java, by the anchor */
};

struct hpx_raw_stack {
    uint64_t lo, hi; /* of all frames and of the depth that was asked for: with `top`, trusted as identity */
    enum hpx_raw_top top;
    uint32_t methods; /* frames of methods; a compiled one stands for at least one frame of an answer */
};

/* Which stack. */
struct hpx_raw_thread {
    const void *env; /* JNIEnv of the thread */
    uintptr_t stack_low, stack_end;
    uint32_t depth;    /* most frames of methods that matter */
    bool past_barrier; /* go on at the carrier where frames of a virtual thread are in the heap; else there is no result */
    struct hpx_registers at;
};

/* At load, after those of code_cache.h and frame_anchor.h: finds the names. NULL, or why there is no raw walk; as of
 * hpx_structures_fields(). */
const char *hpx_raw_walk_init(void);

/* VMInit, after that of code_cache.h, under the guard: where the interpreter and the way from C into Java are. NULL, or what contradicts:
 * then there is no raw walk. */
const char *hpx_raw_walk_live(void);

/* In the handler of that thread, under its guard as a read of structures, where anchors may be read (internals.h). true: *to has the stack
 * down to its first Java frame, or `depth` frames of methods. Any word of the stack may be wrong: what it leads to is read only if it is
 * in the code cache, or in the stack above it; a Method* may fault. Async-signal-safe. */
bool hpx_raw_walk_take_sig(const struct hpx_raw_thread *t, struct hpx_raw_stack *to);

/* Names the frames of the same stack as AsyncGetCallTrace does: leaf first, with inlined methods, `pad` 0. One frame differs: of a method
 * that called a stub this gives the place of the call, and AsyncGetCallTrace the place after it, which may be in another inlined method.
 * out: room for t->depth. Returns their number, at most t->depth; 0: the stack is not whole, or something on it cannot be named (a method
 * without a jmethodID, debug information that makes no sense). Then the caller asks as if there were no raw walks. The frames of out are
 * undefined then. When and where: as hpx_raw_walk_take_sig(), where internals.h allows names; for another thread only while that does not
 * move. */
int hpx_raw_walk_frames_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *out);
/* The same, with what comes behind the call, to compare the two. *broken: frames above the first one that the VM is deoptimizing, or above
 * the first stub that called C that called Java: there AsyncGetCallTrace ends its answer without saying so. UINT32_MAX: there is none. */
int hpx_raw_walk_frames_behind_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *out, uint32_t *broken);

#endif
