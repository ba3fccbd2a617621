/* SPDX-License-Identifier: BSD-2-Clause */
/* code_owner.c: finds the method or stub at a pc, in the code cache or, if the VM's structures are off, in the code map (codemap.h). */
#include "code_owner.h"
#include "codemap.h"
#include "guard.h"
#include "internals.h"
#include "owner_compare.h"
#include <stdatomic.h>

#define CONFIRMS 256 /* the first answers of AsyncGetCallTrace, which are compared with the code cache */

static HPX_OF_SESSION _Atomic int confirmed; /* relaxed: number of answers that agreed */

static struct hpx_blob blob_at(uintptr_t pc)
{
    hpx_guard_begin_read_sig();
    struct hpx_blob b = hpx_code_cache_find_sig(pc);
    hpx_guard_end_read_sig();
    return b;
}

static uint64_t id_of(const struct hpx_blob *b)
{
    if (b->kind != HPX_BLOB_METHOD) {
        return 0;
    }
    hpx_guard_begin_read_sig();
    uint64_t id = hpx_code_cache_id_sig(b->method);
    hpx_guard_end_read_sig();
    return id;
}

uint64_t hpx_code_owner_find_sig(uintptr_t pc)
{
    if (!hpx_internals_on_sig()) {
        return hpx_codemap_owner(pc);
    }
    struct hpx_blob b = blob_at(pc);
    return id_of(&b);
}

bool hpx_code_owner_known_sig(uintptr_t pc)
{
    if (!hpx_internals_on_sig()) {
        return hpx_codemap_known(pc);
    }
    struct hpx_blob b = blob_at(pc);
    return b.kind == HPX_BLOB_METHOD || (b.kind == HPX_BLOB_OTHER && hpx_codemap_known(pc));
}

bool hpx_code_owner_stays_sig(uintptr_t pc)
{
    if (!hpx_internals_on_sig()) {
        return hpx_codemap_known(pc);
    }
    struct hpx_blob b = blob_at(pc);
    return b.kind == HPX_BLOB_METHOD ? b.in_use : b.kind == HPX_BLOB_OTHER && hpx_codemap_known(pc);
}

enum hpx_blob_kind hpx_code_owner_kind_sig(uintptr_t pc)
{
    return hpx_internals_on_sig() ? blob_at(pc).kind : HPX_BLOB_NONE;
}

int32_t hpx_code_owner_stub_frame_sig(uintptr_t pc)
{
    struct hpx_blob b = hpx_internals_on_sig() ? blob_at(pc) : (struct hpx_blob){.kind = HPX_BLOB_NONE};
    return b.kind == HPX_BLOB_OTHER ? b.frame_size : 0;
}

void hpx_code_owner_confirm_sig(uintptr_t pc, const struct hpx_ev_frame *frames, int n, bool whole)
{
#ifdef HPX_COMPARE_OWNERS
    struct hpx_blob seen = hpx_internals_on_sig() ? blob_at(pc) : (struct hpx_blob){.kind = HPX_BLOB_NONE};
    hpx_owner_compare_sig(hpx_codemap_owner(pc), id_of(&seen), seen.kind, frames, n);
#endif
    if (n <= 0 || !whole || atomic_load_explicit(&confirmed, memory_order_relaxed) >= CONFIRMS || !hpx_internals_on_sig()) {
        return;
    }
    struct hpx_blob b = blob_at(pc);
    if (b.kind != HPX_BLOB_METHOD && b.kind != HPX_BLOB_DEAD) {
        return;
    }
    uint64_t id = id_of(&b);
    for (int i = 0; i < n && b.kind == HPX_BLOB_METHOD; i++) {
        if (frames[i].method == id) {
            atomic_fetch_add_explicit(&confirmed, 1, memory_order_relaxed);
            return;
        }
    }
    hpx_internals_leave_sig("the VM's code cache names another method than AsyncGetCallTrace");
}
