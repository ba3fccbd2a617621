/* SPDX-License-Identifier: BSD-2-Clause */
/* owner_compare.c: the sums of owner_compare.h. */
#include "owner_compare.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static HPX_OF_SESSION struct {
    _Atomic uint64_t same, late, dead, stale, outdated, wrong;
} compared;

static bool among(uint64_t id, const struct hpx_ev_frame *frames, int n)
{
    while (n > 0 && frames[n - 1].method != id) {
        n--;
    }
    return n > 0;
}

/* Where the two differ, AsyncGetCallTrace decides: events are posted late, so the code may be another method's already. */
void hpx_owner_compare_sig(uint64_t by_event, uint64_t by_structures, enum hpx_blob_kind kind, const struct hpx_ev_frame *frames, int n)
{
    uint64_t id = by_structures;
    if (by_event == 0 && id == 0) {
        return;
    }
    _Atomic uint64_t *count = by_event == id                                        ? &compared.same
                              : by_event == 0                                       ? &compared.late
                              : kind == HPX_BLOB_DEAD                               ? &compared.dead
                              : kind != HPX_BLOB_METHOD                             ? &compared.stale
                              : among(id, frames, n) && !among(by_event, frames, n) ? &compared.outdated
                                                                                    : &compared.wrong;
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

void hpx_owner_compare_print(void)
{
    dprintf(STDERR_FILENO,
            "owners: %" PRIu64 " same, %" PRIu64 " late, %" PRIu64 " dead, %" PRIu64 " stale, %" PRIu64 " outdated, %" PRIu64 " wrong\n",
            compared.same, compared.late, compared.dead, compared.stale, compared.outdated, compared.wrong);
}
