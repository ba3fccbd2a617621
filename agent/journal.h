/* SPDX-License-Identifier: BSD-2-Clause */
/* journal.h: the file beside the output that a killed program leaves: NAME.journal.part, from which hprofx-read --recover makes NAME.
 *
 * Self-contained and append-only: header, threads, then each JOURNAL period a table of what was counted since the one before. All tables
 * add up to what the program did, whatever dumps on request have reset; so each prefix that ends with a whole record is a sound file. When
 * it has grown too long it is begun anew with one table of everything, under NAME.journal.new.part, and renamed. Removed at a clean end;
 * kept where the output could not be written.
 *
 * The writer's thread, but for what says otherwise. Only beside a regular file. A failure is one line, and the program goes on without. */
#ifndef HPX_JOURNAL_H
#define HPX_JOURNAL_H

#include "stream.h"

/* At load: the names; nothing is made. name: of the output, whose opener has put aside what a dead run left. */
void hpx_journal_init(const char *name);
/* Any thread: whether tables are wanted. */
bool hpx_journal_on(void);
/* The aggregator: whether the next table has to be one of everything; it is then on its way. */
bool hpx_journal_take_anew(void);
/* Any thread: it has to be, after all. */
void hpx_journal_want_anew(void);
/* Any thread: a table finds no memory, or lacks counts: said once; the next one is of everything. */
void hpx_journal_no_memory(void);

/* Begins anew, with the times of the output's header. NULL: there is none (said). */
struct hpx_stream *hpx_journal_begin(struct timespec wall, uint64_t mono_ns);
/* The one that is being written; NULL: none. */
struct hpx_stream *hpx_journal_stream(void);
/* A table; the first one of a journal gives it its name. */
void hpx_journal_table(struct hpx_snapshot *samples, struct hpx_call_snapshot *calls);
/* The output finds no room: empties the file (said), and there is none from now on. false: there is no more room. */
bool hpx_journal_give_up(void);
/* What to do about an output that lacks something, for the line that says so; NULL: nothing of it is in the journal. */
const char *hpx_journal_remedy(void);
/* The output is complete: removes the file. keep: it is not: the file stays, with a line unless the remedy was asked for. */
void hpx_journal_end(bool keep);
/* Any thread: bytes written so far, to see whether they move. */
uint64_t hpx_journal_progress(void);
/* In the child of a fork; async-signal-safe. */
void hpx_journal_forget(void);

#endif
