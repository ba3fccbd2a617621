/* SPDX-License-Identifier: BSD-2-Clause */
/* block_table.h: a table of the model: how long threads were blocked, by what and where (monitor=y).
 *
 * A place is a part (snapshot.h), a class and one or two stacks. Threads give places their ids (site_ids.h); the definition of an id may be
 * drained after its first use by another thread. Rows of a snapshot are places with equal printed forms. With stacks=sampled counts and
 * times are kept by class, exactly, and the places have estimates; a snapshot divides the exact ones among the places of the class.
 * Owner: the aggregator. */
#ifndef HPX_BLOCK_TABLE_H
#define HPX_BLOCK_TABLE_H

#include "model.h"

struct hpx_block_options {
    uint64_t interval_ns; /* stacks=sampled: mean blocked time for a stack; 0: every stack is taken */
    bool owners;          /* owner=y: every contention is in HPX_BLOCK_OWNERS, too, without an owner if it has none; not with interval_ns */
    /* An Object.wait began or ended. signature: of the monitor's class, valid as long as the model. NULL: nobody wants to know. */
    void (*wait)(struct hpx_text signature, int64_t ms, uint32_t thread, bool waited);
};

struct hpx_blocks;
/* Adds itself to the model, which owns it. NULL without memory. */
struct hpx_blocks *hpx_blocks_create(struct hpx_model *m, const struct hpx_block_options *o);

/* What was counted since the last reset. keep: does not reset. NULL without memory: nothing was reset. */
struct hpx_block_snapshot *hpx_blocks_snapshot(struct hpx_blocks *b, bool keep);

/* Since the start: waits that are over; what the tables of the parts have shown and will show; contentions without an owner. */
struct hpx_block_totals {
    uint64_t waits, wait_ns;
    uint64_t count[HPX_BLOCK_PARTS], ns[HPX_BLOCK_PARTS];
    uint64_t unowned; /* with `owners`: nobody owned the monitor any more, or the VM did not name who does */
};
struct hpx_block_totals hpx_blocks_totals(const struct hpx_blocks *b);

#endif
