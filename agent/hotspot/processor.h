/* SPDX-License-Identifier: BSD-2-Clause */
/* processor.h: what differs between processors: where an interrupted thread is, by the context of its signal handler, and the instructions
 * of HotSpot's SafeFetch. Touches nothing of the VM.
 *
 * Only in a handler. Async-signal-safe. On a processor that is not here nothing is known, and nothing that needs it is on. */
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

#if defined(__x86_64__)

#define HPX_PROCESSOR_KNOWN 1
#define HPX_ADDRESS_BITS    47 /* of what a process can map */
/* What of a ucontext_t the kernel writes. */
#define HPX_REGISTERS_CONTEXT_BYTES (offsetof(ucontext_t, uc_sigmask) + sizeof(uint64_t))

static inline struct hpx_registers hpx_registers_load(const ucontext_t *u)
{
    const greg_t *r = u->uc_mcontext.gregs;
    return (struct hpx_registers){(uintptr_t)r[REG_RIP], (uintptr_t)r[REG_RSP], (uintptr_t)r[REG_RBP]};
}

static inline void hpx_registers_store(ucontext_t *u, const struct hpx_registers *r)
{
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)r->pc;
    u->uc_mcontext.gregs[REG_RSP] = (greg_t)r->sp;
    u->uc_mcontext.gregs[REG_RBP] = (greg_t)r->fp;
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

#elif defined(__aarch64__)

#define HPX_PROCESSOR_KNOWN         1
#define HPX_ADDRESS_BITS            48
#define HPX_REGISTERS_CONTEXT_BYTES (offsetof(ucontext_t, uc_mcontext) + sizeof(mcontext_t))

static inline struct hpx_registers hpx_registers_load(const ucontext_t *u)
{
    return (struct hpx_registers){(uintptr_t)u->uc_mcontext.pc, (uintptr_t)u->uc_mcontext.sp, (uintptr_t)u->uc_mcontext.regs[29]};
}

static inline void hpx_registers_store(ucontext_t *u, const struct hpx_registers *r)
{
    u->uc_mcontext.pc = r->pc;
    u->uc_mcontext.sp = r->sp;
    u->uc_mcontext.regs[29] = r->fp;
}

static inline struct hpx_entering hpx_registers_entering(const ucontext_t *u)
{
    (void)u;
    return (struct hpx_entering){0, 0, 0}; /* no walk reads it yet */
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

#else

#define HPX_PROCESSOR_KNOWN         0
#define HPX_ADDRESS_BITS            63
#define HPX_REGISTERS_CONTEXT_BYTES sizeof(ucontext_t)

static inline struct hpx_registers hpx_registers_load(const ucontext_t *u)
{
    (void)u;
    return (struct hpx_registers){0, 0, 0};
}

static inline void hpx_registers_store(ucontext_t *u, const struct hpx_registers *r)
{
    (void)u, (void)r;
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
