/* SPDX-License-Identifier: BSD-2-Clause */
/* model_table.h: a table of the model, which handles a range of event kinds, and what the model offers to it. The aggregator calls
 * everything here.
 *
 * To add one: its kinds in pipeline/event.h, a constant struct hpx_model_table, and hpx_model_add_table() after the model is created. Its
 * names and stacks are those of symbols.h. */
#ifndef HPX_MODEL_TABLE_H
#define HPX_MODEL_TABLE_H

#include "model.h"
#include "vec.h"

struct hpx_model_table {
    uint16_t first, last; /* kinds of its events, inclusive; ranges of tables do not overlap */
    /* Applies events of t from ev on, which is of one of its kinds; returns the first one that it has not applied, at most `end`. */
    const struct hpx_ev_head *(*apply)(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *end);
    /* Applies and frees a message of this table; false: not one of them, untouched. NULL: it has no messages. */
    bool (*message)(void *self, struct hpx_msg *msg);
    void (*pass_end)(void *self); /* NULL: nothing */
    /* Called for every thread of the aggregator, whatever its events were; may be NULL. */
    void (*thread_gone)(void *self, struct hpx_thread *t);
    /* Writes its traces beside the raw ones of the symbols to `to`, and returns their number; to is NULL: only returns it. UINT32_MAX: no
     * memory. NULL: it has none. */
    uint32_t (*traces)(void *self, struct hpx_row *to);
    size_t (*bytes)(const void *self); /* held */
    void (*destroy)(void *self);       /* by hpx_model_destroy(); NULL: the caller owns self */
};

#define HPX_TABLES_MAX   8u
#define HPX_TABLES_KINDS 64u /* kinds above have no table */

/* Before the first event. `table` is constant. */
void hpx_model_add_table(struct hpx_model *m, const struct hpx_model_table *table, void *self);
/* The table that handles these events; NULL: there is none. */
void *hpx_model_table(const struct hpx_model *m, enum hpx_ev_kind kind);

/* false: ev is not whole, and nothing can be read behind it. */
static inline bool hpx_model_table_whole(const struct hpx_ev_head *ev, const struct hpx_ev_head *end)
{
    bool whole = ev->units > 0 && ev->units <= end - ev;
    assert(whole);
    return whole;
}
/* ev is before the end, of one of these kinds, and whole. */
static inline bool hpx_model_table_has(const struct hpx_ev_head *ev, const struct hpx_ev_head *end, uint16_t first, uint16_t last)
{
    return ev < end && ev->kind >= first && ev->kind <= last && hpx_model_table_whole(ev, end);
}

/* There is a journal: hpx_model_keep_journal(). */
bool hpx_model_journal(const struct hpx_model *m);
/* Extends `past`, what dumps and the journal have of the rows, to `len`. false: no memory, and `take` is the journal's. Without memory for
 * a dump the journal lacks the counts beyond the end of `past`, which the table counts. */
bool hpx_model_reach_past(const struct hpx_model *m, struct hpx_vec *past, uint32_t len, enum hpx_take take);

#endif
