/* SPDX-License-Identifier: BSD-2-Clause */
/* outside.c: the counts of outside.h. */
#include "outside.h"
#include "code_owner.h"
#include "frame_anchor.h"
#include "guard.h"
#include "internals.h"
#include <inttypes.h>

enum { NO_FRAMES, NO_PC, BLOBS, PLACES = BLOBS + HPX_BLOB_OTHER + 1 }; /* where the last Java frame is */

static HPX_OF_SESSION _Atomic uint64_t failed[HPX_VM_STATES][PLACES]; /* relaxed: samples without a stack */

static int note(void *arg)
{
    const struct hpx_asgct *w = arg;
    hpx_guard_begin_read_sig();
    struct hpx_frame_anchor a = hpx_frame_anchor_read_sig(w->env);
    enum hpx_vm_state state = hpx_frame_anchor_state_sig(w->env);
    hpx_guard_end_read_sig();
    int place = a.sp == 0 ? NO_FRAMES : a.pc == 0 ? NO_PC : BLOBS + (int)hpx_code_owner_kind_sig(a.pc);
    atomic_fetch_add_explicit(&failed[state][place], w->weight, memory_order_relaxed);
    return 0;
}

void hpx_outside_note_sig(const struct hpx_asgct *w, int answer)
{
    bool outside = answer == -(int)HPX_UNKNOWN_NOT_JAVA || answer == -(int)HPX_UNKNOWN_NOT_WALKABLE_NOT_JAVA;
    if (outside && hpx_internals_anchors_sig() && hpx_guard_run_sig(note, (void *)(uintptr_t)w, &(int){0}) != HPX_GUARD_PASSED) {
        hpx_internals_leave_sig(HPX_INTERNALS_MISREAD);
    }
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
