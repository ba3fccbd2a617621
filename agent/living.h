/* SPDX-License-Identifier: BSD-2-Clause */
/* living.h: the threads that live, by serial, for a stream that begins anew in the middle of the run.
 *
 * The writer's thread only. Records are the caller's: they stay where they are until they are taken out. */
#ifndef HPX_LIVING_H
#define HPX_LIVING_H

#include "snapshot.h"

/* false without memory. */
bool hpx_living_add(const struct hpx_thread_rec *rec);
/* NULL: none of this serial. */
const struct hpx_thread_rec *hpx_living_find(uint32_t serial);
/* Takes it out; NULL: there is none. */
const struct hpx_thread_rec *hpx_living_remove(uint32_t serial);
/* In the order of their serials. */
void hpx_living_each(void (*fn)(const struct hpx_thread_rec *rec));
/* Takes all of them out; fn(rec) for each, in no order. */
void hpx_living_end(void (*fn)(void *rec));

#endif
