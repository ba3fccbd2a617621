/* SPDX-License-Identifier: BSD-2-Clause */
/* carrier.h: the ring of a thread that carries virtual threads, into which these put their own waits (virtual_waits.h).
 *
 * It is made by the first record of its thread in a session; from then on a record takes no lock and no memory. */
#ifndef HPX_CARRIER_H
#define HPX_CARRIER_H

#include "event.h"

/* At load. mode: of the rings. */
void hpx_carrier_begin(const void *mode);
/* Room for the record of a wait with so many frames, in the ring of the calling thread. The caller is inside the gate, and commits it
 * before it leaves. NULL: the ring is full or there is no memory, and the time is lost, which is counted. */
struct hpx_ev_head *hpx_carrier_reserve(uint32_t most, uint64_t ns);
void hpx_carrier_commit(struct hpx_ev_head *ev, uint32_t frames);
/* The calling thread ends; inside the gate. */
void hpx_carrier_end(void);

#endif
