/* SPDX-License-Identifier: BSD-2-Clause */
/* processor.h: what differs between processors: where an interrupted thread is, by the context of its signal handler, and the instructions
 * of HotSpot's SafeFetch, and of the shape of its frames, and how C is called, by the JDK's names. Source: frame_x86.hpp,
 * frame_aarch64.hpp, the macro assemblers; jdk.internal.foreign.abi. Touches nothing of the VM.
 *
 * The functions: only in a handler, async-signal-safe. On a processor that is not here nothing is known, and nothing that needs it is on.
 */
#ifndef HPX_PROCESSOR_H
#define HPX_PROCESSOR_H

#include "compiler.h"
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

/* Where a frame is: its pc, the stack pointer there, the frame pointer. */
struct hpx_registers {
    uintptr_t pc, sp, fp;
};

/* While the VM's code enters a method of the interpreter, in adapters and in the first instructions of the interpreter: where the method
 * returns to, unless that is on the stack, and the stack pointer of its caller behind the call. Where it begins and ends to handle an
 * exception for compiled code: where that was thrown. Elsewhere anything. */
struct hpx_entering {
    uintptr_t back, sender, thrown;
};

/* What a signal handler is given, if the registers are those at its first instruction; info_off: how far its siginfo_t is from where the
 * kernel puts it. */
struct hpx_registers_handler {
    uintptr_t sp, number, context, info_off;
};

/* Of a compiled method that was interrupted, how much of its frame is there. Only where HPX_CALL_PUSHES is 0: else it is not known. */
enum hpx_stage {
    HPX_STAGE_UNKNOWN,
    HPX_STAGE_NONE,  /* not begun, or left */
    HPX_STAGE_MOVED, /* the stack pointer is that of the frame, in which nothing is stored */
    HPX_STAGE_PAIR,  /* frame pointer and return address are stored, and at the stack pointer */
    HPX_STAGE_WHOLE,
};

/* Lists of downcall.c: HPX_ABI_IN and _OUT: the integer registers of arguments and of what is returned, _SCRATCH: those that stubs use.
 * HPX_ABI_OUT_KINDS: of registers that return something, with those of HPX_ABI_IN: 2. */

#if defined(__x86_64__)

#define HPX_ABI           "x64/X86_64Architecture"
#define HPX_ABI_IN        "rdi", "rsi", "rdx", "rcx", "r8", "r9"
#define HPX_ABI_OUT       "rax", "rdx"
#define HPX_ABI_OUT_KINDS 3 /* x87 too */
#define HPX_ABI_SCRATCH   "r10", "r11"

#define HPX_PROCESSOR_KNOWN 1
#define HPX_ADDRESS_BITS    47 /* of what a process can map */
/* What of a ucontext_t the kernel writes. */
#define HPX_REGISTERS_CONTEXT_BYTES (offsetof(ucontext_t, uc_sigmask) + sizeof(uint64_t))

static inline struct hpx_registers hpx_registers_load(const ucontext_t *u)
{
    const greg_t *r = u->uc_mcontext.gregs;
    return (struct hpx_registers){(uintptr_t)r[REG_RIP], (uintptr_t)r[REG_RSP], (uintptr_t)r[REG_RBP]};
}

static inline struct hpx_entering hpx_registers_entering(const ucontext_t *u)
{
    return (struct hpx_entering){(uintptr_t)u->uc_mcontext.gregs[REG_RAX], (uintptr_t)u->uc_mcontext.gregs[REG_R13],
                                 (uintptr_t)u->uc_mcontext.gregs[REG_RDX]};
}

static inline struct hpx_registers_handler hpx_registers_handler(const ucontext_t *u)
{
    const greg_t *r = u->uc_mcontext.gregs;
    uintptr_t sp = (uintptr_t)r[REG_RSP], context = (uintptr_t)r[REG_RDX];
    bool may = context == sp + sizeof(uintptr_t) && r[REG_RAX] == 0; /* from sp on, as the kernel puts it */
    return (struct hpx_registers_handler){sp, (uintptr_t)r[REG_RDI], context,
                                          may ? (uintptr_t)r[REG_RSI] - context - HPX_REGISTERS_CONTEXT_BYTES : 1};
}

/* SafeFetch32 and SafeFetchN load through rdi and return. They are a function of libjvm since 18 and in the later updates of 17 (rax holds
 * the value), a generated stub before (rsi, which held the value for the failure, then moved to rax). No byte is read behind one that
 * differs: the next may be on no page. */
static inline bool hpx_is_safefetch(const uint8_t *pc)
{
    static const struct {
        uint8_t n, bytes[8];
    } loads[] = {
        {3, {0x8b, 0x07, 0xc3}},
        {4, {0x48, 0x8b, 0x07, 0xc3}},
        {6, {0x8b, 0x37, 0x48, 0x8b, 0xc6, 0xc3}},
        {7, {0x48, 0x8b, 0x37, 0x48, 0x8b, 0xc6, 0xc3}},
    };
    for (size_t i = 0; i < HPX_ARRAY_LEN(loads); i++) {
        size_t k = 0;
        while (k < loads[i].n && pc[k] == loads[i].bytes[k]) {
            k++;
        }
        if (k == loads[i].n) {
            return true;
        }
    }
    return false;
}

/* HPX_FRAMES_KNOWN: raw_walk.h may be on. HPX_CALL_PUSHES: words that a call pushes: its return address. Else that is in the link register,
 * which is hpx_entering.back. */
#define HPX_FRAMES_KNOWN 1
#define HPX_CALL_PUSHES  1
#define HPX_C_TELLS_SP   1 /* behind the frame pointer of C is the stack pointer of its caller */
#define HPX_SENDER_IS_OF_VM                                                                                                                \
    1                       /* the stack pointer that a method of the interpreter has stored is that of its caller also where it is one    \
                             */
#define HPX_CALL_WRAPPER 0  /* words from the call stub's frame pointer to its JavaCallWrapper; 0: only the tables tell */
#define HPX_ENTRY_WORDS  12 /* of the call stub below its frame pointer, at most, without arguments */

/* Words from the frame pointer of an interpreted frame, which the tables do not have. Before JDK 9 a frame has no mirror of its class. */
enum { HPX_SENDER_SP = -1, HPX_LAST_SP = -2, HPX_METHOD = -3, HPX_BYTECODE = -8, HPX_BYTECODE_8 = -7 };

/* The call stub begins by pushing the frame pointer and setting it. */
static const uint8_t hpx_enters[] = {0x55, 0x48, 0x8b, 0xec};

static inline uintptr_t hpx_return_address(uintptr_t word)
{
    return word;
}

/* Where the call before the return address `at`, with `room` bytes of code before it, goes: a direct one, or, to what is far away, one by
 * r10 or rax. 0: there is none. */
static inline uintptr_t hpx_called_before(const uint8_t *at, uint32_t room)
{
    int32_t relative;
    uintptr_t absolute = 0;
    if (room >= 13 && at[-3] == 0x41 && at[-2] == 0xff && at[-1] == 0xd2 && at[-13] == 0x49 && at[-12] == 0xba) {
        memcpy(&absolute, at - 11, sizeof absolute);
    } else if (room >= 12 && at[-2] == 0xff && at[-1] == 0xd0 && at[-12] == 0x48 && at[-11] == 0xb8) {
        memcpy(&absolute, at - 10, sizeof absolute);
    } else if (room >= 5 && at[-5] == 0xe8) {
        memcpy(&relative, at - 4, sizeof relative);
        absolute = (uintptr_t)at + (uintptr_t)(intptr_t)relative;
    }
    return absolute;
}

static inline uintptr_t hpx_pushed_for_call(const uint8_t *at)
{
    (void)at;
    return 0;
}

/* The same by any register. */
static inline bool hpx_calls_by_register(const uint8_t *at, uint32_t room)
{
    return room >= 3 && at[-2] == 0xff && (at[-1] & 0xf8) == 0xd0;
}

static inline enum hpx_stage hpx_stage_at(const uint8_t *pc, bool complete)
{
    (void)pc, (void)complete;
    return HPX_STAGE_UNKNOWN;
}

#elif defined(__aarch64__)

#define HPX_ABI           "aarch64/AArch64Architecture"
#define HPX_ABI_IN        "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"
#define HPX_ABI_OUT       "r0", "r1"
#define HPX_ABI_OUT_KINDS 2
#define HPX_ABI_SCRATCH   "r9", "r10", "r11", "r12", "r13", "r14", "r15"

#define HPX_PROCESSOR_KNOWN         1
#define HPX_ADDRESS_BITS            48
#define HPX_REGISTERS_CONTEXT_BYTES (offsetof(ucontext_t, uc_mcontext) + sizeof(mcontext_t))

/* Pointer authentication signs return addresses, in the bits between those of an address and bit 55. */
static inline uintptr_t hpx_return_address(uintptr_t word)
{
    return word & ~(UINT64_C(0x7f) << HPX_ADDRESS_BITS);
}

static inline struct hpx_registers hpx_registers_load(const ucontext_t *u)
{
    return (struct hpx_registers){(uintptr_t)u->uc_mcontext.pc, (uintptr_t)u->uc_mcontext.sp, (uintptr_t)u->uc_mcontext.regs[29]};
}

static inline struct hpx_entering hpx_registers_entering(const ucontext_t *u)
{
    const unsigned long long *r = u->uc_mcontext.regs;
    uintptr_t sp = (uintptr_t)u->uc_mcontext.sp;
    bool newer = r[19] - sp < 4096; /* x13 until JDK 19, then x19; it is a little above the stack pointer */
    return (struct hpx_entering){hpx_return_address((uintptr_t)r[30]), (uintptr_t)(newer ? r[19] : r[13]), (uintptr_t)r[3]};
}

static inline struct hpx_registers_handler hpx_registers_handler(const ucontext_t *u)
{
    const unsigned long long *r = u->uc_mcontext.regs;
    uintptr_t sp = (uintptr_t)u->uc_mcontext.sp, context = (uintptr_t)r[2];
    return (struct hpx_registers_handler){sp, (uintptr_t)r[0], context, context == sp + sizeof(siginfo_t) ? (uintptr_t)r[1] - sp : 1};
}

/* Loads through x0 and returns: a function of libjvm, or a generated stub (w1, x1, which held the value for the failure, then moved to x0).
 */
static inline bool hpx_is_safefetch(const uint8_t *pc)
{
    static const uint32_t load_w = 0xb9400000, load_x = 0xf9400000, move = 0xaa0103e0, returns = 0xd65f03c0;
    uint32_t load, next, last;
    if ((uintptr_t)pc % 4 != 0) {
        return false;
    }
    memcpy(&load, pc, sizeof load);
    bool direct = load == load_w || load == load_x, moved = load == (load_w | 1) || load == (load_x | 1);
    if (!direct && !moved) {
        return false;
    }
    memcpy(&next, pc + 4, sizeof next);
    if (direct || next != move) {
        return direct && next == returns;
    }
    memcpy(&last, pc + 8, sizeof last);
    return last == returns;
}

#define HPX_FRAMES_KNOWN    1
#define HPX_CALL_PUSHES     0
#define HPX_C_TELLS_SP      0    /* the pair of frame pointer and return address is below what C stores */
#define HPX_SENDER_IS_OF_VM 0    /* a method of the interpreter reserves all of its stack, which its callee takes back */
#define HPX_CALL_WRAPPER    (-8) /* of every release; the tables have it for x86 only */
#define HPX_ENTRY_WORDS     32

enum { HPX_SENDER_SP = -1, HPX_LAST_SP = -2, HPX_METHOD = -3, HPX_BYTECODE = -9, HPX_BYTECODE_8 = -7 };

/* stp x29, x30, [sp, #-16]!; mov x29, sp */
static const uint8_t hpx_enters[] = {0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91};

static inline uint32_t hpx_instruction(const uint8_t *at)
{
    uint32_t is;
    memcpy(&is, at, sizeof is);
    return is;
}

/* A direct call. What is far away is called by a register. */
static inline uintptr_t hpx_called_before(const uint8_t *at, uint32_t room)
{
    uint32_t is = room >= 4 && (uintptr_t)at % 4 == 0 ? hpx_instruction(at - 4) : 0;
    uint32_t words = (is & 0x03ffffff) ^ 0x02000000; /* signed */
    return is >> 26 == 0x25 ? (uintptr_t)at - 4 + 4 * ((uintptr_t)words - 0x02000000) : 0;
}

static inline bool hpx_calls_by_register(const uint8_t *at, uint32_t room)
{
    return room >= 4 && (uintptr_t)at % 4 == 0 && (hpx_instruction(at - 4) & 0xfffffc1f) == 0xd63f0000; /* blr */
}

/* Bytes that the second compiler pushes before it calls C, and gives back right behind: stp xzr, x9, [sp, #-16]!; blr; add sp, sp, #16. */
static inline uintptr_t hpx_pushed_for_call(const uint8_t *at)
{
    bool aligned = (uintptr_t)at % 4 == 0;
    return aligned && hpx_instruction(at - 8) == 0xa9bf27ff && hpx_instruction(at) == 0x910043ff ? 16 : 0;
}

/* A frame is made by `sub sp; stp x29, x30, [sp, #n]`, a large one by `stp x29, x30, [sp, #-16]!; sub sp`, and left by `ldp x29, x30;
 * add sp` or `add sp; ldp x29, x30, [sp], #16`, a few instructions before `ret`. */
static inline enum hpx_stage hpx_stage_at(const uint8_t *pc, bool complete)
{
    enum { BEFORE_FRAME = 40, BEFORE_RETURN = 10 };
    for (int i = 0; i < (complete ? BEFORE_RETURN : BEFORE_FRAME); i++) {
        uint32_t is = hpx_instruction(pc + 4 * i);
        if (complete && is == 0xd65f03c0) {
            return HPX_STAGE_NONE; /* nothing gives the frame back before it */
        }
        if ((is & 0xffc07fff) == 0xa9007bfd) { /* stp x29, x30, [sp, #n] */
            return complete ? HPX_STAGE_WHOLE : i == 0 ? HPX_STAGE_MOVED : HPX_STAGE_NONE;
        }
        if (is == 0xa9bf7bfd) { /* the same, [sp, #-16]! */
            return complete ? HPX_STAGE_WHOLE : HPX_STAGE_NONE;
        }
        bool jumps = (is & 0xfc000000) == 0x14000000 || (is & 0xfffffc1f) == 0xd61f0000;
        bool of_sp = (is & 0xff0003ff) == 0x910003ff || is == 0xa8c17bfd || (is & 0xffc07fff) == 0xa9407bfd; /* add sp; ldp x29, x30 */
        if (complete && (jumps || of_sp)) {
            return of_sp && is == 0xa8c17bfd && i == 0 ? HPX_STAGE_PAIR : HPX_STAGE_WHOLE;
        }
        if (!complete && ((is & 0xff0003ff) == 0xd10003ff || (is & 0xffe0ffff) == 0xcb2063ff)) { /* sub sp: a pair comes next, or was */
            return i < BEFORE_FRAME - 1 && (hpx_instruction(pc + 4 * i + 4) & 0xffc07fff) == 0xa9007bfd ? HPX_STAGE_NONE : HPX_STAGE_PAIR;
        }
    }
    return HPX_STAGE_WHOLE;
}

#else

#define HPX_ABI           ""
#define HPX_ABI_IN        NULL
#define HPX_ABI_OUT       NULL
#define HPX_ABI_OUT_KINDS 2
#define HPX_ABI_SCRATCH   NULL

#define HPX_PROCESSOR_KNOWN         0
#define HPX_ADDRESS_BITS            63
#define HPX_REGISTERS_CONTEXT_BYTES sizeof(ucontext_t)

static inline struct hpx_registers hpx_registers_load(const ucontext_t *u)
{
    (void)u;
    return (struct hpx_registers){0, 0, 0};
}

static inline struct hpx_entering hpx_registers_entering(const ucontext_t *u)
{
    (void)u;
    return (struct hpx_entering){0, 0, 0};
}

static inline struct hpx_registers_handler hpx_registers_handler(const ucontext_t *u)
{
    (void)u;
    return (struct hpx_registers_handler){0, 0, 0, 1};
}

static inline bool hpx_is_safefetch(const uint8_t *pc)
{
    (void)pc;
    return false;
}

#define HPX_FRAMES_KNOWN    0
#define HPX_CALL_PUSHES     0
#define HPX_C_TELLS_SP      0
#define HPX_SENDER_IS_OF_VM 0
#define HPX_CALL_WRAPPER    0
#define HPX_ENTRY_WORDS     0

enum { HPX_SENDER_SP = -1, HPX_LAST_SP = -2, HPX_METHOD = -3, HPX_BYTECODE = -8, HPX_BYTECODE_8 = -7 };

static const uint8_t hpx_enters[1];

static inline uintptr_t hpx_return_address(uintptr_t word)
{
    return word;
}

static inline uintptr_t hpx_called_before(const uint8_t *at, uint32_t room)
{
    (void)at, (void)room;
    return 0;
}

static inline uintptr_t hpx_pushed_for_call(const uint8_t *at)
{
    (void)at;
    return 0;
}

static inline bool hpx_calls_by_register(const uint8_t *at, uint32_t room)
{
    (void)at, (void)room;
    return false;
}

static inline enum hpx_stage hpx_stage_at(const uint8_t *pc, bool complete)
{
    (void)pc, (void)complete;
    return HPX_STAGE_UNKNOWN;
}

#endif

/* 0: not known on this processor. */
static inline uintptr_t hpx_registers_pc(const ucontext_t *u)
{
    return hpx_registers_load(u).pc;
}

/* If u is at the first instruction of a signal handler, as the registers have it: the context that this handler is given, whose first
 * HPX_REGISTERS_CONTEXT_BYTES the caller finds in a stack before it reads them, and the signal. NULL: it is elsewhere. */
static inline ucontext_t *hpx_registers_handler_begins(const ucontext_t *u, int *sig)
{
    struct hpx_registers_handler h = hpx_registers_handler(u);
    *sig = (int)h.number;
    bool begins = h.info_off == 0 && h.number > 0 && h.number <= 64 && h.sp % sizeof(uintptr_t) == 0;
    return begins ? (ucontext_t *)h.context : NULL; /* NOLINT(performance-no-int-to-ptr) */
}

#endif
