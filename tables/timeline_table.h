/* SPDX-License-Identifier: BSD-2-Clause */
/* timeline_table.h: a table of the model: when everything was that the other tables count (timeline=y).
 *
 * The way of a time: who writes a record calls hpx_time_put() before it (pipeline/aggregator.h), which puts HPX_EV_TIME into the ring; this
 * table remembers it for the thread of the ring; the table that counts the record calls hpx_timeline_add(). So the time is that of the
 * record, not that of the pass which reads it: a pass may come 100 ms later.
 *
 * A place is what an event is about, in the numbers of the table that counts it. A snapshot has events and places, and the places have
 * their printed forms. Owner: the aggregator. */
#ifndef HPX_TIMELINE_TABLE_H
#define HPX_TIMELINE_TABLE_H

#include "model_table.h"
#include "timeline_snapshot.h"

struct hpx_timeline;
/* Adds itself to the model, which owns it. zero_ns, zero_ms: the time 0, as hpx_clock_mono() and in ms since 1970. NULL without memory. */
struct hpx_timeline *hpx_timeline_create(struct hpx_model *m, uint64_t zero_ns, uint64_t zero_ms);

/* Fills in the printed form of to->id; false: no memory. */
typedef bool hpx_time_resolve(void *self, struct hpx_time_place *to);
/* Who knows the ids of a kind; CPU and GC need nobody. No effect without a timeline in the model. */
void hpx_timeline_source(struct hpx_model *m, enum hpx_time_kind kind, hpx_time_resolve *resolve, void *self);

/* An event of the thread with this serial, at the time of the last HPX_EV_TIME in the ring of t. l NULL: no effect. */
void hpx_timeline_add(struct hpx_timeline *l, const struct hpx_thread *t, enum hpx_time_kind kind, uint32_t serial, uint32_t id,
                      uint64_t count, uint64_t ns);
/* The same at a time of hpx_clock_mono(), of no thread. */
void hpx_timeline_at(struct hpx_timeline *l, uint64_t at_ns, enum hpx_time_kind kind, uint64_t ns);
/* NULL: there is none. */
static inline struct hpx_timeline *hpx_timeline_of(const struct hpx_model *m)
{
    return hpx_model_table(m, HPX_EV_TIME);
}

/* HPX_TAKE_RESET takes the events so far; every other take has none: what a peer is shown is in a later dump, and the journal keeps no
 * times. end_ns: now. NULL without memory: nothing was reset. */
struct hpx_timeline_snapshot *hpx_timeline_snapshot(struct hpx_timeline *l, enum hpx_take take, uint64_t end_ns);
/* Figures since the start. */
struct hpx_timeline_figures {
    uint64_t events, lost;     /* lost: samples, objects, blocks without memory or room */
    uint64_t bytes, coarse_ms; /* of the last snapshot: hpx_time_store */
};
struct hpx_timeline_figures hpx_timeline_figures(const struct hpx_timeline *l);

#endif
