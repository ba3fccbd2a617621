/* SPDX-License-Identifier: BSD-2-Clause */
/* registers.h: where an interrupted thread is, by the context of its signal handler. Touches nothing of the VM.
 *
 * Only in the handler. Async-signal-safe. */
#ifndef HPX_REGISTERS_H
#define HPX_REGISTERS_H

#include "compiler.h"
#include <ucontext.h>

/* Where a frame is: its pc, the stack pointer there, the frame pointer. */
struct hpx_registers {
    uintptr_t pc, sp, fp;
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

#endif
