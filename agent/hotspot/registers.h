/* SPDX-License-Identifier: BSD-2-Clause */
/* registers.h: where an interrupted thread is, by the context of its signal handler. Touches nothing of the VM.
 *
 * Only in the handler. Async-signal-safe. */
#ifndef HPX_REGISTERS_H
#define HPX_REGISTERS_H

#include "compiler.h"
#include <signal.h>
#include <stddef.h>
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

/* 0: not known on this processor. */
static inline uintptr_t hpx_registers_pc(const ucontext_t *u)
{
#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)u->uc_mcontext.pc;
#else
    (void)u;
    return 0;
#endif
}

/* x86-64 only: elsewhere nothing is loaded or stored. */
static inline struct hpx_registers hpx_registers_load(const ucontext_t *u)
{
    struct hpx_registers r = {0, 0, 0};
#if defined(__x86_64__)
    r.pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
    r.sp = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
    r.fp = (uintptr_t)u->uc_mcontext.gregs[REG_RBP];
#else
    (void)u;
#endif
    return r;
}

static inline struct hpx_entering hpx_registers_entering(const ucontext_t *u)
{
#if defined(__x86_64__)
    return (struct hpx_entering){(uintptr_t)u->uc_mcontext.gregs[REG_RAX], (uintptr_t)u->uc_mcontext.gregs[REG_R13],
                                 (uintptr_t)u->uc_mcontext.gregs[REG_RDX]};
#else
    (void)u;
    return (struct hpx_entering){0, 0, 0};
#endif
}

static inline void hpx_registers_store(ucontext_t *u, const struct hpx_registers *r)
{
#if defined(__x86_64__)
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)r->pc;
    u->uc_mcontext.gregs[REG_RSP] = (greg_t)r->sp;
    u->uc_mcontext.gregs[REG_RBP] = (greg_t)r->fp;
#else
    (void)u, (void)r;
#endif
}

/* If u is at the first instruction of a signal handler, as the registers have it: the context that this handler is given, whose first
 * HPX_REGISTERS_CONTEXT_BYTES the caller finds in a stack before it reads them, and the signal. NULL: it is elsewhere. */
static inline ucontext_t *hpx_registers_handler_begins(const ucontext_t *u, int *sig)
{
    uintptr_t sp = 0, number = 0, info = 1, context = 0; /* info: from sp on, as the kernel puts it */
#if defined(__x86_64__)
#define HPX_REGISTERS_CONTEXT_BYTES (offsetof(ucontext_t, uc_sigmask) + sizeof(uint64_t))
    const greg_t *r = u->uc_mcontext.gregs;
    sp = (uintptr_t)r[REG_RSP];
    number = (uintptr_t)r[REG_RDI];
    context = (uintptr_t)r[REG_RDX];
    info = context == sp + sizeof(uintptr_t) && r[REG_RAX] == 0 ? (uintptr_t)r[REG_RSI] - context - HPX_REGISTERS_CONTEXT_BYTES : 1;
#elif defined(__aarch64__)
#define HPX_REGISTERS_CONTEXT_BYTES (offsetof(ucontext_t, uc_mcontext) + sizeof(mcontext_t))
    const unsigned long long *r = u->uc_mcontext.regs;
    sp = (uintptr_t)u->uc_mcontext.sp;
    number = (uintptr_t)r[0];
    context = (uintptr_t)r[2];
    info = context == sp + sizeof(siginfo_t) ? (uintptr_t)r[1] - sp : 1;
#else
#define HPX_REGISTERS_CONTEXT_BYTES sizeof(ucontext_t)
    (void)u;
#endif
    *sig = (int)number;
    return info == 0 && number > 0 && number <= 64 && sp % sizeof(uintptr_t) == 0 ? (ucontext_t *)context
                                                                                  : NULL; /* NOLINT(performance-no-int-to-ptr) */
}

#endif
