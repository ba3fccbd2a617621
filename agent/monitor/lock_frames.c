/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_frames.c: see lock_frames.h. */
#include "lock_frames.h"
#include "method_kinds.h"

#define GAP 2u /* frames of other classes between those of a lock: ForkJoinPool.managedBlock */

static HPX_OF_SESSION _Atomic uint64_t known[HPX_METHOD_KINDS]; /* relaxed: method_kinds.c */

uint32_t hpx_lock_frames(const struct hpx_ev_frame *frames, uint32_t n)
{
    static const char *const locks[] = {"Ljava/util/concurrent/locks/", "Lsun/misc/Unsafe;", "Ljdk/internal/misc/Unsafe;", NULL};
    uint32_t last = 0; /* of the lock's frames */
    for (uint32_t i = 0; i < n && i < HPX_LOCK_FRAMES && i <= last + GAP + 1; i++) {
        last = hpx_method_kind(known, locks, frames[i].method) != 0 ? i : last;
    }
    return last;
}
