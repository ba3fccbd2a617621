/* SPDX-License-Identifier: BSD-2-Clause */
/* owner_compare.h: for -Dcompare_owners=true (docs/testing.md): counts how often structures and event name the same owner of a sampled pc.
 *
 * Touches nothing. */
#ifndef HPX_OWNER_COMPARE_H
#define HPX_OWNER_COMPARE_H

#include "code_cache.h"
#include "event.h"

/* Owners are jmethodIDs as numbers, 0: none; kind: of the pc, by structures; n: frames that AsyncGetCallTrace found there. In the handler.
 */
void hpx_owner_compare_sig(uint64_t by_event, uint64_t by_structures, enum hpx_blob_kind kind, const struct hpx_ev_frame *frames, int n);
/* Writes the sums to stderr. */
void hpx_owner_compare_print(void);

#endif
