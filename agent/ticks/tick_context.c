/* SPDX-License-Identifier: BSD-2-Clause */
/* tick_context.c: the contexts of tick_context.h, which the kernel's own table of handlers confirms. */
#include "tick_context.h"
#include "counters.h"
#include "handler.h"
#include "processor.h"
#include <signal.h>

#define MOST 3 /* handlers on top of each other */

static bool is_inside(uintptr_t at, size_t n, uintptr_t low, uintptr_t end)
{
    return at >= low && at < end && n <= end - at;
}

/* In the thread's stack, or in the other one that it has for handlers. */
static bool is_stack(const struct hpx_mode_thread *s, const ucontext_t *u, uintptr_t at)
{
    uintptr_t other = (uintptr_t)u->uc_stack.ss_sp;
    return is_inside(at, HPX_REGISTERS_CONTEXT_BYTES, s->stack_low, s->stack_end) ||
           is_inside(at, HPX_REGISTERS_CONTEXT_BYTES, other, other + u->uc_stack.ss_size);
}

void *hpx_tick_context_sig(struct hpx_mode_thread *s, void *context)
{
    ucontext_t *u = context;
    for (int i = 0; i < MOST; i++) {
        int sig;
        ucontext_t *below = hpx_registers_handler_begins(u, &sig);
        if (below == NULL || !is_stack(s, u, (uintptr_t)below) || !hpx_handler_begins_sig(sig, hpx_registers_pc(u))) {
            break;
        }
        u = below;
    }
    hpx_count(&s->base.counters, HPX_C_SIGNALS_NESTED, u != context);
    return u;
}
