/* SPDX-License-Identifier: BSD-2-Clause */
/* output.h: the writer's thread: it alone touches the output, fed by the aggregator through a lane, so draining never waits for a disk. */
#ifndef HPX_OUTPUT_H
#define HPX_OUTPUT_H

#include "agent.h"
#include "dump.h"
#include "report.h"

/* Opens the output that the options name and prepares the lane. At load. 0, -HPX_E_IO (err->msg is the original's sentence), -HPX_E_NOMEM.
 */
int hpx_output_init(struct hpx_err *err);
/* VMInit: starts the thread, which writes the header. 0; -HPX_E_SYS: the output holds the header and is closed. */
int hpx_output_start(struct hpx_err *err);

/* Aggregator: in order. The record is copied. false: no memory, counted. */
bool hpx_output_thread_event(const struct hpx_thread_rec *rec, bool end);
bool hpx_output_class_event(const struct hpx_class_rec *rec, bool unloaded);
/* Aggregator: one dump, on request or (wish NULL) the last one. Takes over the snapshots, of which the mode's alone is not NULL (none:
 * there was no memory for it). With split=y one on request goes to a file of its own, behind what the model tells again of. false: no
 * memory to pass it on: nothing was taken over; never the first time for the last one, which has its message from the start. */
bool hpx_output_dump(struct hpx_snapshot *s, struct hpx_call_snapshot *calls, const struct hpx_report *r, const struct hpx_dump_wish *wish);
/* Aggregator: gives up what could not be passed on: said, the snapshots are taken over. */
void hpx_output_leave_out(struct hpx_snapshot *s, struct hpx_call_snapshot *calls, const struct hpx_dump_wish *wish);
/* Aggregator: a table for the journal, of everything (`whole`) or of what was counted since the last one; empty: nothing happens. Takes
 * over the snapshots. */
void hpx_output_journal(struct hpx_snapshot *samples, struct hpx_call_snapshot *calls, bool whole);
/* Aggregator: the last table is not yet written. */
bool hpx_output_journal_waits(void);
/* Messages that wait for the writer's thread, about. Any thread. */
uint64_t hpx_output_behind(void);
/* Nothing more comes; the summary of the report (NULL: none) is said on stderr when all is written. Aggregator, or VMInit if there is none.
 */
void hpx_output_end(const struct hpx_report *r);

/* VMDeath: waits until the end is written. Gives up, says so and returns false when nothing has moved for `stall_ns`. */
bool hpx_output_wait(uint64_t stall_ns);
/* In the child of a fork; async-signal-safe. */
void hpx_output_forget(void);
uint64_t hpx_output_cpu(void);

#endif
