/* SPDX-License-Identifier: BSD-2-Clause */
/* pauses.c: see pauses.h. */
#include "pauses.h"
#include "compiler.h"
#include <stdatomic.h>

#define PAUSES 1024u /* between two passes of the aggregator */

static HPX_OF_SESSION struct {
    struct {
        uint64_t end_ns, ns;
    } of[PAUSES];
    uint64_t begun_ns;      /* of the open one; 0: none. The collecting thread's */
    _Atomic uint32_t put;   /* release: hpx_pauses_end(); acquire: hpx_pauses_take(). Covers the entries below */
    _Atomic uint32_t taken; /* release: hpx_pauses_take(); acquire: hpx_pauses_end(). Covers their reuse */
    _Atomic uint64_t lost;  /* relaxed */
} pauses;

void hpx_pauses_begin(uint64_t at_ns)
{
    pauses.begun_ns = at_ns;
}

void hpx_pauses_end(uint64_t at_ns)
{
    uint32_t put = atomic_load_explicit(&pauses.put, memory_order_relaxed);
    uint64_t begun = pauses.begun_ns;
    pauses.begun_ns = 0;
    if (begun == 0) {
        return;
    }
    if (put - atomic_load_explicit(&pauses.taken, memory_order_acquire) == PAUSES) { /* partner: hpx_pauses_take() */
        atomic_fetch_add_explicit(&pauses.lost, 1, memory_order_relaxed);
        return;
    }
    pauses.of[put % PAUSES].end_ns = at_ns;
    pauses.of[put % PAUSES].ns = at_ns - begun;
    atomic_store_explicit(&pauses.put, put + 1, memory_order_release); /* partner: hpx_pauses_take() */
}

bool hpx_pauses_take(uint64_t *end_ns, uint64_t *ns)
{
    uint32_t taken = atomic_load_explicit(&pauses.taken, memory_order_relaxed);
    if (atomic_load_explicit(&pauses.put, memory_order_acquire) == taken) { /* partner: hpx_pauses_end() */
        return false;
    }
    *end_ns = pauses.of[taken % PAUSES].end_ns;
    *ns = pauses.of[taken % PAUSES].ns;
    atomic_store_explicit(&pauses.taken, taken + 1, memory_order_release); /* partner: hpx_pauses_end() */
    return true;
}

uint64_t hpx_pauses_lost(void)
{
    return atomic_load_explicit(&pauses.lost, memory_order_relaxed);
}
