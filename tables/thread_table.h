/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_table.h: every thread that began, by the key of its messages; serials in the order of the beginnings. Owner: the aggregator; the
 * records are constant once made and never move. */
#ifndef HPX_THREAD_TABLE_H
#define HPX_THREAD_TABLE_H

#include "id_map.h"
#include "snapshot.h"

#define HPX_OBJECT_FIRST 0x50000001u

struct hpx_thread_entry {
    struct hpx_thread_rec rec;
    bool ended;
    bool untold; /* its start got no further: neither does its end, and its traces are the unknown thread's */
};

struct hpx_threads {
    struct hpx_id_map keys; /* key to the entry's number */
    struct hpx_vec all;     /* struct hpx_thread_entry; may be longer than `keys` by one that memory was short for */
};

int hpx_threads_init(struct hpx_threads *t); /* 0, -HPX_E_NOMEM */
void hpx_threads_fini(struct hpx_threads *t);
/* The thread of this key that has not ended, or NULL. */
struct hpx_thread_entry *hpx_threads_living(const struct hpx_threads *t, uint64_t key);
/* A new thread; rec's serial and object are set here. NULL without memory. */
struct hpx_thread_entry *hpx_threads_add(struct hpx_threads *t, uint64_t key, const struct hpx_thread_rec *rec);
static inline size_t hpx_threads_bytes(const struct hpx_threads *t)
{
    return hpx_id_map_bytes(&t->keys) + t->all.bytes;
}

#endif
