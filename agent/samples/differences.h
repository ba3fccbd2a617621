/* SPDX-License-Identifier: BSD-2-Clause */
/* differences.h: whether what is compared differs too often, lately.
 *
 * Old comparisons lose weight, so that a change late in a long session counts as much as one at its begin. Any thread, handlers: two
 * relaxed atomic adds; the sums may be off by what other threads add meanwhile. */
#ifndef HPX_DIFFERENCES_H
#define HPX_DIFFERENCES_H

#include "compiler.h"
#include <stdatomic.h>

#define HPX_DIFFERENCES_WINDOW 4096u
#define HPX_DIFFERENCES_FEW    8u /* that may have another reason */

struct hpx_differences {
    _Atomic uint32_t n, bad; /* relaxed */
};

/* n more were compared, `bad` of them differ. true: more than a few of the window do, and more than one in `share`. */
static inline bool hpx_differences_add_sig(struct hpx_differences *d, uint32_t n, uint32_t bad, uint32_t share)
{
    uint32_t all = atomic_fetch_add_explicit(&d->n, n, memory_order_relaxed) + n;
    uint32_t wrong =
        bad > 0 ? atomic_fetch_add_explicit(&d->bad, bad, memory_order_relaxed) + bad : atomic_load_explicit(&d->bad, memory_order_relaxed);
    if (all >= 2 * HPX_DIFFERENCES_WINDOW) {
        atomic_store_explicit(&d->n, all / 2, memory_order_relaxed);
        atomic_store_explicit(&d->bad, wrong / 2, memory_order_relaxed);
    }
    return wrong > HPX_DIFFERENCES_FEW && wrong > all / share;
}

#endif
