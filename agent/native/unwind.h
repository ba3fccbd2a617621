/* SPDX-License-Identifier: BSD-2-Clause */
/* unwind.h: walks the C frames of a stack: by the tables of its libraries (unwind_table.h), by frame pointers where there is none.
 *
 * The walk ends where the VM's code has called C, or where a thread has begun. It reads the stack above the stack pointer: between the
 * bounds of the thread's stack, or, where the program runs on one of its own (a coroutine, sigaltstack), a constant number of bytes above
 * the stack pointer, which may fault; and, on top, the call before a return address, which may be unmapped meanwhile. */
#ifndef HPX_UNWIND_H
#define HPX_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* A frame: where it is or goes on. */
struct hpx_unwind_at {
    uintptr_t pc, sp, fp;
    uintptr_t base; /* rbx, which some code has as its frame pointer; of x86-64 */
    uintptr_t link; /* the link register; of a processor that has one */
};

/* Why a walk ended; X(SYMBOL, name in the report). */
#define HPX_UNWIND_ENDS(X)                                                                                                                 \
    X(CODE, "code of the VM")                                                                                                              \
    X(OUTERMOST, "outermost") /* the function with which the thread began */                                                               \
    X(MOST, "too many frames")                                                                                                             \
    X(STACK, "outside the stack")  /* a frame that is not above the one before it, or not on the stack */                                  \
    X(NO_LIBRARY, "no library")    /* a caller that is no code of a library */                                                             \
    X(NO_TABLE, "no unwind table") /* code about which no table says anything, and the frame pointer leads nowhere */

enum hpx_unwind_end {
#define HPX_UNWIND_END_ENUM(sym, name) HPX_UNWIND_END_##sym,
    HPX_UNWIND_ENDS(HPX_UNWIND_END_ENUM)
#undef HPX_UNWIND_END_ENUM
        HPX_UNWIND_ENDS_N
};

/* A C function: its library, and the distance of its begin from the library's base; else, of no library that is known, where the frame is
 * in it. */
struct hpx_unwind_place {
    uint32_t library;  /* its number; 0: none */
    uintptr_t address; /* from the base; of no library from 0 */
};

struct hpx_unwind_walk {
    uintptr_t stack_low, stack_end;    /* of the thread's stack; 0: not known */
    bool (*is_code_sig)(uintptr_t pc); /* of the VM; NULL: it has none */
    struct hpx_unwind_at at;           /* where it begins; then where it ended */
    bool interrupted;                  /* at.pc is no return address */
    int n;                             /* places so far, also where a read has faulted */
    enum hpx_unwind_end end;
};

/* Where the context of a signal handler was interrupted. Async-signal-safe. */
struct hpx_unwind_at hpx_unwind_load_sig(const ucontext_t *u);
/* The places of the frames, the innermost first, at most `most`, which is not 0. Under a guard: any word of the stack may be wrong.
 * Async-signal-safe. */
void hpx_unwind_walk_sig(struct hpx_unwind_walk *w, struct hpx_unwind_place *places, int most);

#endif
