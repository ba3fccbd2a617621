/* SPDX-License-Identifier: BSD-2-Clause */
/* code_owner.h: which compiled method owns a pc, and what code lies there.
 *
 * Touches the VM's code cache (code_cache.h) while internals.h says so. Otherwise the code map answers (codemap.h), which the event
 * CompiledMethodLoad fills.
 *
 * The handler, under its guard; async-signal-safe. */
#ifndef HPX_CODE_OWNER_H
#define HPX_CODE_OWNER_H

#include "code_cache.h"
#include "event.h"

/* The method that owns pc, a jmethodID as a number; 0: unknown. */
uint64_t hpx_code_owner_find_sig(uintptr_t pc);
/* true if code at pc may be running: a method, a stub or the interpreter. */
bool hpx_code_owner_known_sig(uintptr_t pc);
/* The same of a pc that may be a dead word: the code stays at least until this thread reaches a safepoint. Of a method that is so in state
 * "in use": on its way to the dead the VM waits for all threads. Any other state may end meanwhile (until JDK 19). */
bool hpx_code_owner_stays_sig(uintptr_t pc);
/* What the code cache has at pc; NONE also if it is not read. */
enum hpx_blob_kind hpx_code_owner_kind_sig(uintptr_t pc);
/* Words of the frame of the stub at pc, with the return address; 0: no stub, or not known. */
int32_t hpx_code_owner_stub_frame_sig(uintptr_t pc);
/* AsyncGetCallTrace answered at pc; n: number of frames, 0 or less if there are none; whole: these are all. The first of these answers must
 * agree with the structures; if one does not, they are left for good. */
void hpx_code_owner_confirm_sig(uintptr_t pc, const struct hpx_ev_frame *frames, int n, bool whole);

#endif
