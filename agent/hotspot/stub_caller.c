/* SPDX-License-Identifier: BSD-2-Clause */
/* stub_caller.c: the frame behind a stub's. */
#include "stub_caller.h"
#include "code_owner.h"

bool hpx_stub_caller_find_sig(const struct hpx_asgct *w, const struct hpx_registers *at, struct hpx_registers *up)
{
    int32_t words = hpx_code_owner_stub_frame_sig(at->pc);
    if (words < 2 || at->sp % sizeof(uintptr_t) != 0 || at->sp < w->stack_low || at->sp >= w->stack_end ||
        (uintptr_t)words > (w->stack_end - at->sp) / sizeof(uintptr_t)) {
        return false;
    }
    const uintptr_t *sp = (const uintptr_t *)at->sp + words;
    *up = (struct hpx_registers){sp[-1], (uintptr_t)sp, sp[-2]};
    return hpx_code_owner_stays_sig(up->pc);
}
