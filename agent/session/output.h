/* SPDX-License-Identifier: BSD-2-Clause */
/* output.h: the writer's thread. Only it writes the output, the files of split=y and the journal (journal.h). The aggregator posts to it
 * through a lane, so draining never waits for a disk. With net= it fills a queue that another thread sends (net.h). */
#ifndef HPX_OUTPUT_H
#define HPX_OUTPUT_H

#include "dump_request.h"
#include "report.h"

/* Opens the output of the options and prepares the lane. At load, once per session. 0, -HPX_E_IO (err->msg is HPROF's text),
 * -HPX_E_NOMEM. */
int hpx_output_init(struct hpx_err *err);
/* The name that file= gives to a profile with this number. Any thread, once the output is open. 0; -HPX_E_RANGE; -HPX_E_IO: net=. */
int hpx_output_name(char *buf, size_t n, uint32_t number);
/* VMInit: starts the thread, which writes the header. 0; -HPX_E_SYS: the output has only its header, a FIFO or device nothing, and is
 * closed. */
int hpx_output_start(struct hpx_err *err);

/* What may wait for the writer's thread while the output stalls. Behind this many bytes of threads, classes and lines, the next ones are
 * lost and counted, and the first loss is said; the writer's thread frees room as it writes. Never lost are dumps, tables of the journal,
 * the end, what is replayed for a new file (a copy of the model), and the end of a thread whose start was posted: so a thread is shown
 * whole or not at all, and above the bound wait at most one end for each thread that was posted, and one message more. A start and an end
 * that both wait stay two messages: the writer may be at the first. */
#define HPX_OUTPUT_WAITING (16u << 20)

/* Aggregator, in order. Copies the record. false: no memory or HPX_OUTPUT_WAITING, which is counted; of a start: post no end. */
bool hpx_output_thread_event(const struct hpx_thread_rec *rec, enum hpx_thread_event what);
bool hpx_output_class_event(const struct hpx_class_rec *rec, bool unloaded);
/* Aggregator, in order: a line that the mode writes at once (hpx_section.line). Copies n bytes. false: no memory or
 * HPX_OUTPUT_WAITING; the caller counts it. */
bool hpx_output_line(const struct hpx_mode *mode, const void *data, size_t n);
/* Aggregator: memory for the message of the next requested dump, before its counts are taken and reset. false: there is none. */
bool hpx_output_reserve(void);
/* Aggregator: posts one dump, requested (hpx_output_reserve() has succeeded) or (request NULL) the last one, whose message is reserved at
 * load. Takes over the parts (NULL: no memory for that part) and, for a request of all traces, `traces`. With split=y a requested dump goes
 * to its own file, after what the model replays. */
void hpx_output_dump(const struct hpx_parts *parts, struct hpx_snapshot *traces, const struct hpx_report *r,
                     const struct hpx_dump_request *request);
/* Aggregator: posts a table for the journal, of everything (`whole`) or of the counts since the last table; without rows it posts
 * nothing. Takes over the parts. */
void hpx_output_journal(struct hpx_parts *parts, bool whole);
/* Aggregator: the last table for the journal is not yet written. */
bool hpx_output_journal_waits(void);
/* Approximate number of messages that wait for the writer's thread. Any thread. */
uint64_t hpx_output_behind(void);
/* Posts the end; the writer prints the summary of the report (NULL: none) on stderr when all is written. Aggregator, or VMInit if the
 * aggregator does not run. */
void hpx_output_end(const struct hpx_report *r);

#define HPX_OUTPUT_WORK_NS (10ull * 1000 * 1000) /* CPU time that counts as progress: more than the polls of a thread that waits */
/* VMDeath: waits until the end is written. If there is no progress for `stall_ns`, prints a message and returns false. Progress is a
 * message or a byte that was written. While rows are taken or sorted there is none for long: then CPU time of the aggregator, until it
 * has posted the end, and of the writer's thread counts, for 5 minutes at most. */
bool hpx_output_wait(uint64_t stall_ns);
/* What did not move when that was false. A constant; whoever waits. */
const char *hpx_output_stands(void);
/* The writer's thread has ended: frees the rest. */
void hpx_output_fini(void);
/* In the child of a fork, or when everything is written, so that a child has nothing to close: closes what is open. Async-signal-safe. */
void hpx_output_forget(void);
uint64_t hpx_output_cpu(void); /* with the threads of gz=y that have ended */

#endif
