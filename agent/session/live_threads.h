/* SPDX-License-Identifier: BSD-2-Clause */
/* live_threads.h: the live threads by serial, for a stream that starts in the middle of the run.
 *
 * The writer's thread only. The caller owns the records and keeps them until they are removed. */
#ifndef HPX_LIVE_THREADS_H
#define HPX_LIVE_THREADS_H

#include "snapshot.h"

/* false without memory. */
bool hpx_live_threads_add(const struct hpx_thread_rec *rec);
/* NULL: no thread has this serial. */
const struct hpx_thread_rec *hpx_live_threads_find(uint32_t serial);
/* Removes and returns the record; NULL: there is none. */
const struct hpx_thread_rec *hpx_live_threads_remove(uint32_t serial);
/* Calls fn for every record, by ascending serial. */
void hpx_live_threads_each(void (*fn)(const struct hpx_thread_rec *rec));
/* Removes all records and calls fn for each, in no order. */
void hpx_live_threads_clear(void (*fn)(void *rec));

#endif
