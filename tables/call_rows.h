/* SPDX-License-Identifier: BSD-2-Clause */
/* call_rows.h: a table of the model: exact calls (cpu=times, cpu=old): applies their events to a call table (call_table.h), names the
 * methods that the rewriter numbered, and makes rows. Owner: the aggregator, unless stated otherwise. */
#ifndef HPX_CALL_ROWS_H
#define HPX_CALL_ROWS_H

#include "call_table.h"
#include "model.h"

struct hpx_call_options {
    bool signatures;             /* overloads are different methods (cpu=old); else they print alike and are merged */
    uint32_t depth;              /* frames of a trace */
    uint32_t inner_ns, outer_ns; /* of a probe pair: call_table.h */
    bool times_from_ticks;       /* times are those of ticks: call_table.h */
    bool counted;                /* methods have counters: hpx_call_rows_counted() */
};

/* Methods that have counters of their own with times=counts are below the last of these numbers; all others share it. */
#define HPX_CALL_COUNTERS (1u << 20)

struct hpx_call_rows;
/* Adds itself to the model, which owns it. NULL without memory. */
struct hpx_call_rows *hpx_call_rows_create(struct hpx_model *m, const struct hpx_call_options *o);

/* Sets the cost of a pair of probes, as inner_ns and outer_ns, if it becomes known later. Before the first event; any thread. */
void hpx_call_rows_probes(struct hpx_call_rows *r, uint32_t inner_ns, uint32_t outer_ns);
/* At a dump, in pass_end, for a thread whose records were drained up to p->at (hpx_sink.tail): counts its pending events, once. Also for
 * a retired thread that did not flush, before hpx_model_thread_gone(). */
void hpx_call_rows_pending(struct hpx_call_rows *r, struct hpx_thread *t, const struct hpx_calls_pending *p);
/* At a dump: the time of t's probe clock now, for its open calls. No effect with times_from_ticks. */
void hpx_call_rows_time(struct hpx_call_rows *r, struct hpx_thread *t, uint64_t now);
/* The call table, into which drainers' tables are merged before a snapshot (hpx_calltab_merge()). */
struct hpx_calltab *hpx_call_rows_table(struct hpx_call_rows *r);
/* *to: the number of the symbolized trace of a node. false without memory. */
bool hpx_call_rows_print(struct hpx_call_rows *r, uint32_t node, uint32_t *to);

/* With `counted`: the counters of the methods so far, of n numbers: what they have more than at the last call are calls of each method,
 * without callers and time. Those without memory, or whose method is not announced yet, count at a later call. The last one takes all, and
 * counts as lost what there is no memory for. */
void hpx_call_rows_counted(struct hpx_call_rows *r, const uint64_t *counts, uint32_t n, bool last);

/* Rows in no order; NULL without memory: nothing was reset. HPX_TAKE_NEW takes only the first HPX_JOURNAL_SLICE changed traces, so that the
 * step is short for tables of any size. The others wait in order. */
struct hpx_call_snapshot *hpx_call_rows_snapshot(struct hpx_call_rows *r, enum hpx_take take);
/* Number of changed traces that wait. */
uint32_t hpx_call_rows_waiting(const struct hpx_call_rows *r);
/* Sets the costs to 0. */
void hpx_call_rows_clear(struct hpx_call_rows *r);

#endif
