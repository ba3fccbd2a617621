/* SPDX-License-Identifier: BSD-2-Clause */
/* report.h: what the run was worth: samples, losses by cause, the profiler's own cost. */
#ifndef HPX_REPORT_H
#define HPX_REPORT_H

#include "agent.h"

struct hpx_report {
    struct hpx_counters total; /* of all threads, the model and the agent */
    struct hpx_call_figures {
        uint64_t calls, self_ns, open_calls, open_ns, probes_ns, lost_calls, lost_events, resynced, stray, ticks, ticks_ns, outside_ns;
        uint32_t inner_ns, outer_ns;
    } calls; /* cpu=times, cpu=old */
    uint64_t samples, unknown[HPX_UNKNOWN_COUNT], unknown_all;
    uint64_t signal_ns;              /* CPU time of one run of the signal handler; 0: none was measured */
    uint64_t own_cpu_ns;             /* our threads and the handler */
    uint64_t program_cpu_ns;         /* since VMInit, without ours */
    size_t table_bytes, trace_bytes; /* trace_bytes: the part that grows with the distinct stacks */
    uint32_t classes;
};

/* Aggregator's thread. calls: the dump's, or NULL. */
void hpx_report_collect(struct hpx_report *r, const struct hpx_call_snapshot *calls);
/* The writer's thread, which has the report by value: what is said of a loss needs no memory. Both fill `to` with whole lines; what has no
 * room is left out. */
#define HPX_REPORT_TEXT 16384u
/* Lines "hprofx: key: value\n" for the file. */
void hpx_report_text(char to[static HPX_REPORT_TEXT], const struct hpx_report *r);
/* For stderr at the end: one line if verbose=y, and a line for each loss in any case; may be empty. */
void hpx_report_summary(char to[static HPX_REPORT_TEXT], const struct hpx_report *r);

#endif
