/* SPDX-License-Identifier: BSD-2-Clause */
/* report.h: the report after a dump (on stderr if the output is bare) and the summary on stderr: figures of the modes, losses by cause, the
 * profiler's own cost.
 *
 * The aggregator collects the figures at a dump (dump_serve.c); the writer's thread formats the copy. Every key has an entry in
 * docs/man/hprofx.7.in. */
#ifndef HPX_REPORT_H
#define HPX_REPORT_H

#include "lines.h"
#include "origin.h"
#include "session.h"

struct hpx_report {
    struct hpx_counters total;                 /* of all threads, the model and the session */
    struct hpx_figures figures[HPX_MODES_MAX]; /* of session.modes */
    uint64_t own_cpu_ns;                       /* of the profiler's threads and handlers */
    uint64_t program_cpu_ns;                   /* of the rest of the process, since VMInit */
    size_t table_bytes, trace_bytes;           /* trace_bytes: the part that grows with the distinct stacks */
    uint32_t classes;
    struct hpx_period period;
    bool kept;           /* for a peer: the counts were not reset */
    uint64_t summed;     /* rows that are in one (maxfile=) */
    double summed_below; /* the largest share of them */
};

/* The writer's thread; the report is a value, so reporting a loss needs no memory. Both fill `to` with whole lines and omit lines that
 * do not fit.
 *
 * Lines "hprofx: key: value\n" for the file; for stderr if it is bare. */
void hpx_report_text(char to[static HPX_REPORT_TEXT], const struct hpx_report *r);
/* For stderr at exit: one line per mode if verbose=y, and one line per loss in any case; may be empty. */
void hpx_report_summary(char to[static HPX_REPORT_TEXT], const struct hpx_report *r);

/* Samples that are in no row, for all causes. */
uint64_t hpx_report_lost(const struct hpx_report *r);

#endif
