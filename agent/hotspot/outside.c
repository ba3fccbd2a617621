/* SPDX-License-Identifier: BSD-2-Clause */
/* outside.c: the remedies of outside.h. */
#include "outside.h"
#include "code_owner.h"
#include "guard.h"
#include "internals.h"
#include "structures.h"
#include "stub_caller.h"
#include <inttypes.h>

enum { NO_FRAMES, NO_PC, BLOBS, PLACES = BLOBS + HPX_BLOB_OTHER + 1 }; /* where the last Java frame is */

static HPX_OF_SESSION _Atomic uint64_t failed[HPX_VM_STATES][PLACES]; /* relaxed: samples without a stack */

static void note(const struct hpx_asgct *w)
{
    hpx_guard_begin_read_sig();
    struct hpx_frame_anchor a = hpx_frame_anchor_read_sig(w->env);
    enum hpx_vm_state state = hpx_frame_anchor_state_sig(w->env);
    hpx_guard_end_read_sig();
    int place = a.sp == 0 ? NO_FRAMES : a.pc == 0 ? NO_PC : BLOBS + (int)hpx_code_owner_kind_sig(a.pc);
    atomic_fetch_add_explicit(&failed[state][place], w->weight, memory_order_relaxed);
}

#if defined(__x86_64__)

#define WORD sizeof(uintptr_t)

static bool in_stack(const struct hpx_asgct *w, uintptr_t sp)
{
    return sp % WORD == 0 && sp >= w->stack_low + 2 * WORD && sp < w->stack_end;
}

/* `a` is the anchor with the pc that the VM itself would store: it finds the return address of its call below the stack pointer. false:
 * there is none, or the anchor must stay as it is. */
static bool complete(const struct hpx_asgct *w, struct hpx_frame_anchor *was, struct hpx_frame_anchor *a)
{
    hpx_guard_begin_read_sig();
    bool may = hpx_frame_anchor_alone_sig(w->env, was) && in_stack(w, was->sp);
    *a = *was;
    a->pc = may ? hpx_vm_word(a->sp - WORD) : 0;
    hpx_guard_end_read_sig();
    return may && hpx_code_owner_known_sig(a->pc);
}

/* The frame that called the stub in which the anchor is. */
static bool caller(const struct hpx_asgct *w, const struct hpx_frame_anchor *a, struct hpx_frame_anchor *to)
{
    struct hpx_registers up;
    if (!hpx_stub_caller_find_sig(w, &(struct hpx_registers){a->pc, a->sp, a->fp}, &up)) {
        return false;
    }
    *to = (struct hpx_frame_anchor){up.sp, up.pc, up.fp};
    return true;
}

static int ask_from(const struct hpx_asgct *w, struct hpx_ev_frame *frames, void *context, struct hpx_frame_anchor anchor)
{
    hpx_frame_anchor_write_sig(w->env, anchor);
    return hpx_asgct_ask_sig(w, frames, context);
}

/* The anchor is as it was when this returns: whoever walks it later finds what the VM stored. */
static int ask_again(const struct hpx_asgct *w, struct hpx_frame_anchor *moved, struct hpx_ev_frame *frames, void *context, int first)
{
    struct hpx_frame_anchor was, a, up;
    if (!complete(w, &was, &a)) {
        return first;
    }
    *moved = was;
    atomic_signal_fence(memory_order_seq_cst); /* a fault puts back what *moved has */
    int n = ask_from(w, frames, context, a);
    if (n == -(int)HPX_UNKNOWN_NOT_WALKABLE_NOT_JAVA && caller(w, &a, &up)) {
        n = ask_from(w, frames, context, up);
    }
    hpx_outside_restore_sig(w, moved);
    return n;
}

#else

static int ask_again(const struct hpx_asgct *w, struct hpx_frame_anchor *moved, struct hpx_ev_frame *frames, void *context, int first)
{
    (void)w, (void)moved, (void)frames, (void)context;
    return first;
}

#endif

void hpx_outside_restore_sig(const struct hpx_asgct *w, struct hpx_frame_anchor *moved)
{
    if (moved->sp != 0) {
        hpx_frame_anchor_write_sig(w->env, *moved);
        atomic_signal_fence(memory_order_seq_cst);
        moved->sp = 0;
    }
}

int hpx_outside_ask_sig(const struct hpx_asgct *w, struct hpx_frame_anchor *moved, struct hpx_ev_frame *frames, void *context, int first)
{
    if (!hpx_internals_anchors_sig()) {
        return first;
    }
    int n = ask_again(w, moved, frames, context, first);
    if (n <= 0) {
        note(w);
    }
    return n;
}

void hpx_outside_lines(struct hpx_lines *to)
{
    static const char *const states[HPX_VM_STATES] = {"in_native", "in_VM", "in_Java", "blocked", "between"};
    static const char *const places[PLACES] = {"no_frames", "no_pc", "no_code", "compiled", "dead", "stub"};
    for (int s = 0; s < HPX_VM_STATES; s++) {
        for (int p = 0; p < PLACES; p++) {
            uint64_t n = atomic_load_explicit(&failed[s][p], memory_order_relaxed);
            if (n > 0) {
                hpx_lines_add(to, "hprofx: outside Java, %s, %s: %" PRIu64 "\n", states[s], places[p], n);
            }
        }
    }
}
