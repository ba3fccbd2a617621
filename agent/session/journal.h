/* SPDX-License-Identifier: BSD-2-Clause */
/* journal.h: NAME.journal.part, the file beside the output from which hprofx recover rebuilds NAME after a kill.
 *
 * Self-contained and append-only: header, threads, then a table of the new counts every HPX_JOURNAL_TABLE_NS or later. The tables add up
 * to all samples and calls, whatever requested dumps have reset; allocation sites are not in it. So every prefix that ends with a whole
 * record is a valid file. When the journal grows too long, a new one with one table of everything is written to NAME.journal.new.part and
 * renamed. The journal is removed at a clean end, and kept if the output could not be written.
 *
 * Called by the writer's thread unless stated otherwise. Only regular files have a journal. A failure prints one line; profiling
 * continues without a journal. */
#ifndef HPX_JOURNAL_H
#define HPX_JOURNAL_H

#include "stream.h"

#define HPX_JOURNAL_TABLE_NS (600ull * 1000 * 1000) /* with the wait for names and a pass: a table every second */

/* At load: sets the names, creates nothing. name: of the output, whose opener has already renamed the files of a killed run. */
void hpx_journal_init(const char *name);
/* Any thread: whether tables are wanted. */
bool hpx_journal_on(void);
/* The aggregator: true once if the next table must hold everything; the caller then posts it. */
bool hpx_journal_take_anew(void);
/* Any thread: the next table must hold everything. */
void hpx_journal_want_anew(void);
/* Any thread: a table had no memory or lacks counts. Reported once; the next table holds everything. */
void hpx_journal_no_memory(void);

/* Starts a new journal, with the times of the output's header. NULL: failed, which is reported. */
struct hpx_stream *hpx_journal_begin(struct timespec wall, uint64_t mono_ns);
/* The current journal; NULL if there is none. */
struct hpx_stream *hpx_journal_stream(void);
/* Writes a table; the first table of a journal also renames the file. */
void hpx_journal_table(const struct hpx_parts *parts);
/* The disk is full: truncates the journal for the output (reported) and ends it. false: this freed nothing. */
bool hpx_journal_give_up(void);
/* The remedy for an incomplete output, for the message about it; NULL: the journal does not help. */
const char *hpx_journal_remedy(void);
/* Removes the journal. keep: the output is incomplete; the journal stays, and one line says so unless the remedy was already printed. */
void hpx_journal_end(bool keep);
/* Any thread: bytes written so far, to detect a stalled output. */
uint64_t hpx_journal_progress(void);
/* In the child of a fork; async-signal-safe. */
void hpx_journal_forget(void);

#endif
