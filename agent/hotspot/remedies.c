/* SPDX-License-Identifier: BSD-2-Clause */
/* remedies.c: the remedies of remedies.h.
 *
 * AsyncGetCallTrace gives up where it cannot parse the top frame: the pc at the entry or return of compiled code, in a stub that pushed a
 * register, in an interpreter frame being built, in the VM below a call whose anchor is not complete. Each remedy pretends that the
 * innermost frame has returned (return address at sp, at sp + 8, or behind the frame pointer, followed while it leads through native
 * frames) and asks again. Only an address in live code is accepted: HotSpot ends the process when it is asked about a method that was
 * made a zombie, and dead words of a stack are full of them. */
#include "remedies.h"
#include "code_owner.h"
#include "registers.h"
#include "stub_caller.h"
#include <string.h>

#if defined(__x86_64__)

#define HOPS     48 /* frames that the frame pointer is followed through */
#define ASKS     6  /* of these frames, the ones that AsyncGetCallTrace is called for */
#define SEARCHED 64 /* words of the stack that are looked at for a stub */

static uintptr_t word(uintptr_t at)
{
    return *(const uintptr_t *)at;
}

/* The return address lies `up` words above sp: the pc is at an entry or return, or in a stub that pushed the frame pointer. */
static bool pop(const struct hpx_asgct *w, const struct hpx_registers *now, unsigned up, struct hpx_registers *r)
{
    uintptr_t at = now->sp + up * sizeof(uintptr_t);
    if ((now->sp & 7) || at + 8 > w->stack_end) {
        return false;
    }
    *r = (struct hpx_registers){word(at), at + 8, up == 0 ? now->fp : word(now->sp)};
    return hpx_code_owner_stays_sig(r->pc);
}

/* One frame up the chain of frame pointers. */
static bool hop(const struct hpx_asgct *w, struct hpx_registers *r)
{
    if ((r->fp & 7) || r->fp < r->sp || r->fp > w->stack_end - 16) {
        return false;
    }
    *r = (struct hpx_registers){word(r->fp + 8), r->fp + 16, word(r->fp)};
    return true;
}

/* One try: pretends to be at r. The frames go where the skipped one can be put in front. */
static int ask_at(const struct hpx_asgct *w, struct hpx_ev_frame *frames, ucontext_t *u, const struct hpx_registers *r)
{
    hpx_registers_store(u, r);
    return hpx_asgct_ask_sig(w, frames + 1, u);
}

/* Compiled code in the middle of a method: an intrinsic has pushed a word or two (String.compareTo does). */
static int ask_pushed(const struct hpx_asgct *w, struct hpx_ev_frame *frames, ucontext_t *u, const struct hpx_registers *was)
{
    int n = 0;
    for (unsigned pushed = 1; pushed <= 2 && n <= 0; pushed++) {
        struct hpx_registers r = *was;
        r.sp += pushed * sizeof(uintptr_t);
        hpx_registers_store(u, &r);
        n = hpx_asgct_ask_sig(w, frames, u);
    }
    return n;
}

/* The same return address with the stack pointers that a caller may have left: as it is, with words pushed for a stub, or (the callee was
 * entered from compiled code through an adapter that moved the arguments) as the interpreter keeps it. */
static int ask_caller(const struct hpx_asgct *w, struct hpx_ev_frame *frames, ucontext_t *u, const struct hpx_registers *r,
                      uintptr_t sender_sp)
{
    uintptr_t sps[] = {r->sp, sender_sp, r->sp + 8, r->sp + 16};
    for (size_t k = 0; k < HPX_ARRAY_LEN(sps); k++) {
        struct hpx_registers at = {r->pc, sps[k], r->fp};
        if ((at.sp & 7) == 0 && at.sp >= r->sp && at.sp < w->stack_end) {
            int n = ask_at(w, frames, u, &at);
            if (n > 0) {
                return n;
            }
        }
    }
    return 0;
}

/* Native code below Java code, or a stub: the first caller that can be walked. A stub is no frame that AsyncGetCallTrace knows. */
static int ask_callers(const struct hpx_asgct *w, struct hpx_ev_frame *frames, ucontext_t *u, const struct hpx_registers *was)
{
    struct hpx_registers r = *was;
    for (int hops = 0, asked = 0; hops < HOPS && asked < ASKS; hops++) {
        uintptr_t fp = r.fp;
        if (!hop(w, &r)) {
            break;
        }
        if (hpx_code_owner_stays_sig(r.pc)) {
            struct hpx_registers up;
            int n = hpx_stub_caller_find_sig(w, &r, &up) ? ask_at(w, frames, u, &up) : 0;
            n = n > 0 ? n : ask_caller(w, frames, u, &r, word(fp - 8));
            if (n > 0) {
                return n;
            }
            asked++;
        }
    }
    return 0;
}

/* Native code that keeps no frame pointers, called from a stub: a word that lies in a stub, with a caller just where the size of the stub's
 * frame says, is not there by chance. */
static int ask_stub_caller(const struct hpx_asgct *w, struct hpx_ev_frame *frames, ucontext_t *u, const struct hpx_registers *was)
{
    struct hpx_registers at = *was, up;
    for (int i = 0, asked = 0; i < SEARCHED && asked < ASKS && at.sp + sizeof(uintptr_t) < w->stack_end; i++) {
        at.pc = word(at.sp);
        at.sp += sizeof(uintptr_t);
        if (hpx_stub_caller_find_sig(w, &at, &up)) {
            int n = ask_at(w, frames, u, &up);
            if (n > 0) {
                return n;
            }
            asked++;
        }
    }
    return 0;
}

/* Puts the method that owns the original pc on top of n frames at frames + 1: its time must not go to its caller. */
static int with_owner(const struct hpx_asgct *w, struct hpx_ev_frame *frames, int n, uint64_t owner)
{
    if (owner == 0) {
        memmove(frames, frames + 1, (size_t)n * sizeof *frames);
        return n;
    }
    frames[0] = (struct hpx_ev_frame){-1, 0, owner};
    return n < (int)w->depth ? n + 1 : (int)w->depth;
}

int hpx_remedies_ask_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, ucontext_t *u, int first)
{
    struct hpx_registers was = hpx_registers_load(u), r;
    if (was.sp < w->stack_low || was.sp >= w->stack_end) {
        return first; /* on a stack that is not the thread's own: its bounds are not known */
    }
    uint64_t owner = hpx_code_owner_find_sig(was.pc);
    int n = 0, pushed = 0;
    for (unsigned up = 0; up < 2 && n <= 0 && hpx_code_owner_known_sig(was.pc); up++) {
        n = pop(w, &was, up, &r) ? ask_at(w, frames, u, &r) : 0;
    }
    if (n <= 0 && owner != 0) {
        pushed = ask_pushed(w, frames, u, &was);
    }
    if (n <= 0 && pushed <= 0) {
        n = ask_callers(w, frames, u, &was);
    }
    if (n <= 0 && pushed <= 0) {
        n = hpx_stub_caller_find_sig(w, &was, &r) ? ask_at(w, frames, u, &r) : ask_stub_caller(w, frames, u, &was);
    }
    hpx_registers_store(u, &was);
    return pushed > 0 ? pushed : n > 0 ? with_owner(w, frames, n, owner) : first;
}

#else

/* No remedies where none was measured: the cause is counted and shown. */
int hpx_remedies_ask_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, ucontext_t *u, int first)
{
    (void)w, (void)frames, (void)u;
    return first;
}

#endif
