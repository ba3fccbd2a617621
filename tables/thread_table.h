/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_table.h: the live threads, by the key of their messages; serials in the order of their starts. Owner: the aggregator.
 *
 * A thread that has ended is removed: its lines are in the file, and traces name it by its serial. So a run with a million short threads
 * needs only as many entries as threads live at the same time. */
#ifndef HPX_THREAD_TABLE_H
#define HPX_THREAD_TABLE_H

#include "model_msg.h"
#include "slots.h"
#include "vec.h"

struct hpx_thread_entry {
    uint64_t key;
    struct hpx_msg_thread_start *said;   /* NULL: a free entry, or not kept */
    struct hpx_msg_thread_name *renamed; /* its newest name; NULL: the first one */
    uint32_t serial;
    uint32_t next_free; /* of a free entry: number + 1 of the next one, 0: none */
};

struct hpx_threads {
    struct hpx_slots index; /* {number + 1, hash of the key} */
    struct hpx_vec all;     /* struct hpx_thread_entry */
    uint32_t free;          /* number + 1 of a free entry, 0: none */
    uint32_t begun;
    size_t said_bytes;
};

int hpx_threads_init(struct hpx_threads *t); /* 0, -HPX_E_NOMEM */
void hpx_threads_fini(struct hpx_threads *t);
/* Adds a thread with this key, which no live thread has. serial: 0: the next one. Returns its serial; 0 without memory (nothing changed).
 */
uint32_t hpx_threads_add(struct hpx_threads *t, uint64_t key, uint32_t serial);
/* The table takes over the start message of this live thread, until the thread ends. */
void hpx_threads_keep(struct hpx_threads *t, uint64_t key, struct hpx_msg_thread_start *said);
/* As keep, for the newest name of a live thread. Its entry, until the next call; NULL: none with this key and serial has a start message.
 */
const struct hpx_thread_entry *hpx_threads_rename(struct hpx_threads *t, uint64_t key, uint32_t serial,
                                                  struct hpx_msg_thread_name *renamed);
/* Writes the entries with a message to `to`, in the order of the starts, at most t->all.len; returns their number. */
uint32_t hpx_threads_list(const struct hpx_threads *t, const struct hpx_thread_entry **to);
/* Removes the thread; returns its serial, which is never reused; 0: no such thread. */
uint32_t hpx_threads_remove(struct hpx_threads *t, uint64_t key);
static inline size_t hpx_threads_bytes(const struct hpx_threads *t)
{
    return t->index.bytes + t->all.bytes + t->said_bytes;
}

#endif
