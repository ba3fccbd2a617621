/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_ascii.h: the text format of HPROF (format=a), laid out as the original does: readers cut it by column and word.
 *
 * Source of the format: measured output of the original (README, "hprof option -> hprofx"; docs/hprof-ascii.md). The writer's thread only.
 * A TRACE is written once a file, before the first section that ranks it.
 *
 * Where records can be refused (out.h) a thread line, a TRACE, and each section of a dump, the last one with its report, are one each. A
 * TRACE that was refused is tried again before the next section that ranks it, and its row is left out. A large table is a record in parts:
 * it may end before its last rows. */
#ifndef HPX_HPROF_ASCII_H
#define HPX_HPROF_ASCII_H

#include "method_text.h"
#include "out.h"
#include "seen.h"
#include "snapshot.h"
#include <time.h>

struct hpx_ascii {
    struct hpx_out *out;
    struct hpx_method_texts methods;
    struct hpx_seen written;                                 /* trace serials from HPX_SERIAL_TRACE on */
    struct hpx_seen begun;                                   /* where records can be refused: thread serials from HPX_SERIAL_THREAD on */
    const struct hpx_thread_rec *(*living)(uint32_t serial); /* the owner's: a thread whose line may be missing; NULL: none */
};

void hpx_ascii_init(struct hpx_ascii *w, struct hpx_out *o);
void hpx_ascii_fini(struct hpx_ascii *w);

/* First line, our explanation of the format, the line of eight dashes, a blank line. */
void hpx_ascii_header(struct hpx_ascii *w, time_t created);
void hpx_ascii_thread_start(struct hpx_ascii *w, const struct hpx_thread_rec *t);
void hpx_ascii_thread_end(struct hpx_ascii *w, const struct hpx_thread_rec *t);
/* The TRACEs that are ranked and not yet written, then CPU SAMPLES. Sorts s->rows: count descending, then serial.
 * cutoff: a fraction of the total; the list stops at the first row below it (nan: everything). */
void hpx_ascii_cpu_samples(struct hpx_ascii *w, struct hpx_snapshot *s, double cutoff, time_t now);
/* The same for exact calls: CPU TIME (ms). Sorts s->rows: self time, then calls, descending, then serial. The total is in whole ms, the
 * shares are those of ns. With a cutoff of 0 each trace with a call has a row, also if its time is 0. */
void hpx_ascii_cpu_times(struct hpx_ascii *w, struct hpx_call_snapshot *s, double cutoff, time_t now);
/* The table of cpu=old: callee and caller of each row with their signatures, total time in whole ms; sorted by calls. No TRACE, no end
 * line, and no header before it in the file. The traces have a depth of 2. */
void hpx_ascii_cpu_old(struct hpx_ascii *w, struct hpx_call_snapshot *s);
/* The TRACEs that are not yet written; s->rows in the order of their serials afterwards. */
void hpx_ascii_traces(struct hpx_ascii *w, struct hpx_snapshot *s);
/* Report lines behind the last END line of a dump: text is whole lines, "hprofx: key: value\n" each. */
void hpx_ascii_report(struct hpx_ascii *w, const char *text);

#endif
