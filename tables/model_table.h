/* SPDX-License-Identifier: BSD-2-Clause */
/* model_table.h: a table of the model, which handles a range of event kinds. The aggregator calls everything here.
 *
 * To add one: its kinds in pipeline/event.h, a constant struct hpx_table, and hpx_model_add_table() after the model is created. */
#ifndef HPX_MODEL_TABLE_H
#define HPX_MODEL_TABLE_H

#include "event.h"
#include "lane.h"
#include "thread.h"

struct hpx_table {
    uint16_t first, last; /* kinds of its events, inclusive; ranges of tables do not overlap */
    /* Applies events of t from ev on, which is of one of its kinds; returns the first one that it has not applied, at most `end`.
     * Records between ev and end are whole; some are PADs. */
    const struct hpx_ev_head *(*apply)(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *end);
    /* Applies and frees a message of this table; false: not one of them, untouched. NULL: it has no messages. */
    bool (*message)(void *self, struct hpx_msg *msg);
    void (*pass_end)(void *self); /* NULL: nothing */
    void (*thread_gone)(void *self,
                        struct hpx_thread *t); /* called for every thread of the aggregator, whatever its events were; may be NULL */
    size_t (*bytes)(const void *self);         /* held */
};

#define HPX_TABLES_MAX   8u
#define HPX_TABLES_KINDS 64u /* kinds above have no table */

struct hpx_model;
/* Before the first event. `table` is constant, the caller owns self. */
void hpx_model_add_table(struct hpx_model *m, const struct hpx_table *table, void *self);

#endif
