/* SPDX-License-Identifier: BSD-2-Clause */
/* stub_caller.h: one frame up from the middle of a stub.
 *
 * Touches the code cache, which says how large the stub's frame is (code_owner.h), and the thread's own stack. Where the structures are off
 * there is no answer. In the handler, under its guard; async-signal-safe. */
#ifndef HPX_STUB_CALLER_H
#define HPX_STUB_CALLER_H

#include "asgct.h"
#include "registers.h"

/* The caller of the stub that `at` is in, in the middle of the stub: its frame has a fixed size. false: no stub, or no code called it
 * that stays (code_owner.h). */
bool hpx_stub_caller_find_sig(const struct hpx_asgct *w, const struct hpx_registers *at, struct hpx_registers *up);

#endif
