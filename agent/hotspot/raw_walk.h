/* SPDX-License-Identifier: BSD-2-Clause */
/* raw_walk.h: walks the Java stack of the interrupted thread by the VM's own structures: first as far as telling two stacks apart needs,
 * and, if the stack is new, once more for its names.
 *
 * Touches the code cache (code_cache.h), the thread's anchor (frame_anchor.h) and its stack, StubRoutines, the range of the interpreter,
 * JavaCallWrapper, what stack_chunk.h touches, vframeArray, Method and ConstMethod, debug information, and the code before a return
 * address; reads only. On JDK 8 to 28, x86-64 and 64-bit Arm.
 *
 * What a frame adds to the hash decides how it is named, whatever the VM did between two samples:
 * - a compiled method: number of its compilation, offset of the pc. Code that reuses the place of other code has another number; code that
 *   moves keeps both; a redefined class makes the VM throw away whatever compiled its methods.
 * - an interpreted one: jmethodID and place of the bytecode. Unlike a Method* an id is never used again. A method without an id has none
 *   in its name either, and a stack with such a frame is not to be remembered.
 * - a stub on top: which one, and how its caller was found; it has no name.
 * Where a pc does not say so much (dead code) the walk ends. The frames of a virtual thread that are still in the heap (stack_chunk.h)
 * belong to its stack, and add what they add on a stack; those of its carrier do not. */
#ifndef HPX_RAW_WALK_H
#define HPX_RAW_WALK_H

#include "event.h"
#include "processor.h"

/* Why a walk ended; X(SYMBOL, name in the report). */
#define HPX_RAW_ENDS(X)                                                                                                                    \
    X(WHOLE, "whole")             /* at the first Java frame, or at the depth that was asked for */                                        \
    X(HEAP, "frames_in_the_heap") /* the same, but frames of a virtual thread are left out: in the heap, or on their way from there */     \
    X(DEOPTIMIZATION, "deoptimization") /* the VM replaces the frames on top, and by which is not known; those below are there */          \
    X(WAITING,                                                                                                                             \
      "interpreter") /* the frame on top is not built, and who has called it is not known: the frames of a method further out are there */ \
    X(NO_JAVA, "no_Java_frame")               /* the thread is outside Java, and came from nowhere in it */                                \
    X(NATIVE, "native_code")                  /* in C that has no anchor, and no call of the VM's code leads to it */                      \
    X(NO_CODE, "no_code")                     /* a caller that is no code */                                                               \
    X(DEAD_CODE, "dead_code")                 /* or code of a method that is no longer in use */                                           \
    X(STUB, "stub")                           /* or a stub that no method has called so */                                                 \
    X(UNBUILT, "unbuilt_frame")               /* or a place in a method that no call returns to */                                         \
    X(INTERPRETED, "interpreted_frame")       /* what should be a frame of the interpreter is none */                                      \
    X(ENTRY, "entry_frame")                   /* the same where C has called Java */                                                       \
    X(STACK, "outside_the_stack")             /* a frame that is not above the one before it, or not on the stack */                       \
    X(DEBUG_INFORMATION, "debug_information") /* it makes no sense */                                                                      \
    X(FAULT, "fault")                         /* a read of it faulted: whoever has called says so */

enum hpx_raw_end {
#define HPX_RAW_END_ENUM(sym, name) HPX_END_##sym,
    HPX_RAW_ENDS(HPX_RAW_END_ENUM)
#undef HPX_RAW_END_ENUM
        HPX_ENDS
};

struct hpx_raw_stack {
    uint64_t lo, hi;  /* of all frames and of the depth that was asked for; trusted as identity */
    uint32_t methods; /* frames of methods; a compiled one stands for at least one frame of an answer */
};

struct hpx_raw_thread;

/* The frames of C of a stack, by their methods: HPX_EV_METHOD_OF_C, HPX_EV_METHOD_OF_ADDRESS, or HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED)
 * behind one of these, where some are left out. */
struct hpx_raw_c {
    const uint64_t *above; /* above those of Java, the innermost first */
    uint32_t nabove;       /* their number */
    bool called;           /* code of the VM has called the outermost of them: there is Java, too */
    uint32_t room;         /* frames that `out` has room for besides `depth`, for these and for what between_sig finds */
    /* The frames behind this one, which has called Java, down to the VM's code that has called C, at most `most` > 1; NULL: none. */
    uint32_t (*between_sig)(const struct hpx_raw_thread *t, const struct hpx_registers *at, uint64_t *methods, uint32_t most);
};

/* Which stack. */
struct hpx_raw_thread {
    const void *env; /* JNIEnv of the thread */
    uintptr_t stack_low, stack_end;
    uint32_t depth;  /* most frames of methods that matter */
    bool whole;      /* frames in the heap that cannot be read end the walk; else it is as if the last one before them were the first */
    bool platform;   /* the walk ends if the thread carries a virtual one, whose frames it would have */
    uint32_t states; /* for async_stack.h: bits by enum hpx_vm_state, in which alone it is walked; 0: in all */
    struct hpx_registers at;
    struct hpx_entering entering;
    struct hpx_raw_c c; /* no frames of C belong to it: 0 */
};

/* In the handler of that thread, under its guard as a read of structures, where anchors may be read (internals.h). true: *to has the stack
 * down to its first Java frame, or `depth` frames of methods. Any word of the stack may be wrong: what it leads to is read only if it is
 * in the code cache, or in the stack above it; a Method* may fault. Async-signal-safe. */
bool hpx_raw_walk_take_sig(const struct hpx_raw_thread *t, struct hpx_raw_stack *to);

/* Names the frames of the same stack: leaf first, with inlined methods, `pad` 0, `method` 0 for one without a jmethodID. out: room for
 * t->depth + t->c.room. Returns their number, at most so many; *end says what that number of frames is: all, or those down to where the
 * walk could not go on. With HPX_END_HEAP, HPX_END_DEOPTIMIZATION and HPX_END_WAITING one frame HPX_UNKNOWN_TRUNCATED stands where frames
 * are left out. When and where: as hpx_raw_walk_take_sig(), where internals.h allows names; for another thread only while that does not
 * move.
 *
 * broken: NULL; else the frames are as AsyncGetCallTrace names them, to compare the two: of a method that called a stub it gives the place
 * after the call, which may be in another inlined method, and nothing stands for frames that are left out. *broken: frames above the first
 * one that the VM is deoptimizing, or above the first stub that called C that called Java: there it ends its answer without saying so.
 * UINT32_MAX: it does not. HPX_FRAME_IS_LEFT: the method on top has given its frame back and is about to return, and the instructions say
 * so (64-bit Arm): AsyncGetCallTrace goes by the size of that frame all the same, and leaves callers out. HPX_FRAME_OF_CARRIER and a number
 * of frames: behind these it goes on with those of the carrier, whatever the virtual thread has in the heap.
 *
 * hash: NULL, or receives what hpx_raw_walk_take_sig() gives for what this walk has seen; 0 methods: it has no hash. Another walk may have
 * seen something else: a collection may have begun, or ended, in between. */
#define HPX_FRAME_IS_LEFT    (UINT32_MAX - 1)
#define HPX_FRAME_OF_CARRIER (1u << 30)
int hpx_raw_walk_frames_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *out, enum hpx_raw_end *end, uint32_t *broken,
                            struct hpx_raw_stack *hash);

/* Names the frames of a virtual thread that is not mounted, in the same way: those in the chunk at this address, the first one of its
 * continuation (hpx_stack_chunk_of_sig()), and in the chunks behind it. out: room for `depth`. When: as stack_chunk.h says. Where: any
 * thread, or a copy of the process, as a read of structures. `method` is a Method*, also of a method without a jmethodID. */
int hpx_raw_walk_chunk_sig(uintptr_t chunk, uint32_t depth, struct hpx_ev_frame *out, enum hpx_raw_end *end);
/* The same of a thread whose stack it is, in a copy of the process. */
int hpx_raw_walk_stopped_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *out, enum hpx_raw_end *end);

#endif
