/* SPDX-License-Identifier: BSD-2-Clause */
/* time_store.h: events in the order in which they came, each with its time: about five bytes an event, at most `most` bytes in all.
 *
 * Blocks of 64 KiB, each readable alone: an event is the difference to the one before. Beyond `most` the oldest blocks fall to the
 * resolution of a second; when a quarter of all is left of the finer ones, seconds fall to 10 s, then to a minute, 10 minutes, an hour.
 * Events of one thread and place in the same unit become one there, with the sums of their counts and times; its time is the unit's begin.
 * So all sums stay. Only where everything has fallen to an hour and there is still too much do the oldest events go, which are counted.
 *
 * One owner at a time: the aggregator fills it, the writer's thread reads what a snapshot took. */
#ifndef HPX_TIME_STORE_H
#define HPX_TIME_STORE_H

#include "compiler.h"

#define HPX_TIME_STORE_MOST   ((size_t)64 << 20)
#define HPX_TIME_STORE_BLOCK  ((size_t)64 << 10) /* bytes of a block, its head included */
#define HPX_TIME_STORE_LEVELS 6u                 /* resolutions */

struct hpx_time_event {
    uint64_t ms; /* since the store's zero */
    uint32_t thread, place;
    uint64_t count, ns;
};

struct hpx_time_block;

struct hpx_time_store {
    struct hpx_time_block *first, *last;
    size_t most, bytes;                   /* of the blocks; most: 0: HPX_TIME_STORE_MOST */
    size_t blocks[HPX_TIME_STORE_LEVELS]; /* of each resolution */
    uint64_t events;                      /* that are in it */
    uint64_t lost;                        /* counts of events that had to go, or for which there was no memory */
    uint64_t coarse_ms;                   /* events before this time may have fallen; 0: none has */
    struct hpx_time_event *scratch;       /* of a fall */
};

/* Zeroed memory is an empty store. Frees the blocks. */
void hpx_time_store_fini(struct hpx_time_store *s);
/* Without memory the event is lost, which is counted. */
void hpx_time_store_add(struct hpx_time_store *s, const struct hpx_time_event *e);
/* What s has becomes that of `to`, which was empty; s is empty then. */
void hpx_time_store_take(struct hpx_time_store *s, struct hpx_time_store *to);

struct hpx_time_reader {
    const struct hpx_time_block *block;
    size_t at;
    struct hpx_time_event before;
};

struct hpx_time_reader hpx_time_store_read(const struct hpx_time_store *s);
/* The next event, in the order of the store; those of several threads are not sorted by time. false: there is none. */
bool hpx_time_next(struct hpx_time_reader *r, struct hpx_time_event *to);
/* Of the block from which the last event came, in ms: 1, or what it has fallen to. */
uint64_t hpx_time_unit(const struct hpx_time_reader *r);

#endif
