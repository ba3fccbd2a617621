/* SPDX-License-Identifier: BSD-2-Clause */
/* report.h: what the run was worth: samples, losses by cause, the profiler's own cost. Aggregator's thread. */
#ifndef HPX_REPORT_H
#define HPX_REPORT_H

#include "agent.h"

struct hpx_report {
    struct hpx_counters total; /* of all threads, the model and the agent */
    uint64_t samples, unknown[HPX_UNKNOWN_COUNT], unknown_all;
    uint64_t signal_ns;      /* CPU time of one run of the signal handler; 0: none was measured */
    uint64_t own_cpu_ns;     /* our threads and the handler */
    uint64_t program_cpu_ns; /* since VMInit, without ours */
    size_t table_bytes;
};

void hpx_report_collect(struct hpx_report *r);
/* Whole lines "hprofx: key: value\n" for the file; malloc'ed; NULL without memory. */
char *hpx_report_text(const struct hpx_report *r);
/* For stderr at the end: one line if verbose=y, and a line for each loss in any case; malloc'ed; NULL if there is nothing to say or no
 * memory. */
char *hpx_report_summary(const struct hpx_report *r);

#endif
