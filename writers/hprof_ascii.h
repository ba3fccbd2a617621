/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_ascii.h: the text format of HPROF (format=a), with the layout of HPROF, because readers split it by column and word.
 *
 * The format: docs/formats.md. The writer's thread only. A TRACE is written once per file, before the first section that ranks it.
 *
 * If the output can refuse records (out.h), a thread line, a TRACE and a section of a dump (the last one with the report) are one record
 * each. A refused TRACE is retried before the next section that ranks it; until then its rows are omitted. A large table is a record in
 * parts, which may end before its last rows.
 *
 * Without memory to remember that it is in the file, a TRACE is not written, nor a thread line that a later call could write again; their
 * rows are omitted, and hpx_ascii_dump_end() says so. */
#ifndef HPX_HPROF_ASCII_H
#define HPX_HPROF_ASCII_H

#include "bitset.h"
#include "bound.h"
#include "method_text.h"
#include "out.h"
#include "snapshot.h"
#include <time.h>

struct hpx_ascii {
    struct hpx_out *out;
    struct hpx_method_texts methods;
    struct hpx_bound *bound;   /* set by the owner: rows beyond it are summed; NULL: none */
    struct hpx_bitset written; /* trace serials from HPX_SERIAL_TRACE on; HPX_SERIAL_SUMMED is in its place */
    bool first_written;        /* HPX_SERIAL_TRACE itself, which stands for all that have none */
    uint64_t unplaced;         /* traces that this dump asked for and that could not be remembered */
    uint64_t unwritten;        /* what the rows stand for that were left out for want of memory; the owner takes it */
    struct hpx_bitset begun;   /* thread serials from HPX_SERIAL_THREAD on, whose line is in the output */
    bool late;                 /* set by the owner: begun in the middle of the run, without the threads that had ended */
    const struct hpx_thread_rec *(*live_thread)(
        uint32_t serial); /* set by the owner: finds a thread whose line may be missing; NULL: none */
};

void hpx_ascii_init(struct hpx_ascii *w, struct hpx_out *o);
void hpx_ascii_fini(struct hpx_ascii *w);

/* First line, our explanation of the format, the line of eight dashes, a blank line. */
void hpx_ascii_header(struct hpx_ascii *w, time_t created);
void hpx_ascii_thread_start(struct hpx_ascii *w, const struct hpx_thread_rec *t);
/* The same for a thread that was not announced. */
void hpx_ascii_thread_found(struct hpx_ascii *w, const struct hpx_thread_rec *t);
void hpx_ascii_thread_end(struct hpx_ascii *w, const struct hpx_thread_rec *t);
/* The line of its newest name. No effect if that of its start is not in the output. */
void hpx_ascii_thread_name(struct hpx_ascii *w, const struct hpx_thread_rec *t);
/* Writes the ranked TRACEs that are not yet in the file, then CPU SAMPLES. The lines of their threads come before the first of the
 * TRACEs, here and in every section: there are readers that take each line after a TRACE for a frame or a TRACE. Sorts s->rows: count
 * descending, then serial. cutoff: a fraction of the total; the list stops at the first row below it (nan: everything). */
void hpx_ascii_cpu_samples(struct hpx_ascii *w, struct hpx_snapshot *s, double cutoff, time_t now);
/* The same for exact calls: CPU TIME (ms). Sorts s->rows: self time, then calls, descending, then serial. The total is in whole ms, the
 * shares are computed from ns. With a cutoff of 0 every trace with a call has a row, even if its time is 0. */
void hpx_ascii_cpu_times(struct hpx_ascii *w, struct hpx_call_snapshot *s, double cutoff, time_t now);
/* The same without times: METHOD CALLS. Sorts s->rows: calls, descending, then serial; the total is that of the calls. */
void hpx_ascii_calls(struct hpx_ascii *w, struct hpx_call_snapshot *s, double cutoff, time_t now);
/* The table of cpu=old: callee and caller of every row with their signatures, total time in whole ms; sorted by calls. No TRACE, no end
 * line, and no header before it in the file. The traces have a depth of 2. */
void hpx_ascii_cpu_old(struct hpx_ascii *w, struct hpx_call_snapshot *s);
/* Writes the TRACEs that are not yet in the file; sorts s->rows by serial. */
void hpx_ascii_traces(struct hpx_ascii *w, struct hpx_snapshot *s);
/* Makes sure that the trace is in the output, once; false: it was refused, or no memory. */
bool hpx_ascii_trace(struct hpx_ascii *w, const struct hpx_trace_rec *t);
/* Class and method. */
void hpx_ascii_name(struct hpx_out *o, const struct hpx_method_rec *m);
/* Those of the innermost frame, and the end of the line: the last column of a table. */
void hpx_ascii_method(struct hpx_ascii *w, const struct hpx_trace_rec *t);
/* The line of the thread is in the output. An output that can refuse none and was begun with the run has those of all announced threads. */
bool hpx_ascii_has_thread(const struct hpx_ascii *w, uint32_t serial, bool announced);
/* Makes sure that the line of an announced thread is; false: it was refused, or no memory. */
bool hpx_ascii_thread(struct hpx_ascii *w, uint32_t serial);
/* Memory to remember a thread, and a trace (NULL: none) and its thread; false: no memory. */
bool hpx_ascii_reserve(struct hpx_ascii *w, uint32_t thread, const struct hpx_trace_rec *t);
/* After the sections of a dump: says what they lack for want of memory. */
void hpx_ascii_dump_end(struct hpx_ascii *w);
/* As ctime(), with its newline. */
void hpx_ascii_date(struct hpx_out *o, time_t at);
/* Report lines after the last END line of a dump: text is whole lines "hprofx: key: value\n". */
void hpx_ascii_report(struct hpx_ascii *w, const char *text);

#endif
