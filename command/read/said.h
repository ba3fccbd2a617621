/* SPDX-License-Identifier: BSD-2-Clause */
/* said.h: what hprofx's report behind the last table of a file says, as far as others need it. The same for both formats. One thread. */
#ifndef HPX_READ_SAID_H
#define HPX_READ_SAID_H

#include "events.h"

#define HPX_SAID       160
#define HPX_SAID_NAMES 2048 /* of a line with a list of names */

/* 0 and "": nothing. */
struct hpx_said {
    bool since;          /* the file is hprofx's: tables count since the one before */
    bool reported, kept; /* until the caller clears them: a report has come, and the counts of its tables went on */
    /* Of the last CPU SAMPLES. */
    uint64_t effective;       /* samples, by weight */
    uint64_t in_probes;       /* samples inside probes since the start, which may be more than the table has */
    uint32_t in_probes_share; /* their share of all samples since the start, in hundredths of a percent */
    uint64_t interval_ns;     /* CPU time that a sample stands for */
    uint64_t allocations;     /* of SITES: samples of equal weight that would be as certain, by the standard error; 0: they were counted */
    bool live_drawn;          /* of SITES: live objects are estimated */
    bool live_some;           /* of SITES: not 0; cutoff= may leave out the rows of all */
    uint64_t sampled;         /* of SITES: allocations, if they were sampled */
    char lost[HPX_SAID], own[HPX_SAID], older[HPX_SAID]; /* as text of the file */
    char filtered[HPX_SAID_NAMES];                       /* filters that hprofx convert applied */
    char before[HPX_SAID_NAMES];                         /* totals before these */
    char replaced[HPX_SAID_NAMES];                       /* of CPU TIME: methods whose counts are lower bounds */
    /* Of the last report that says it. */
    char host[HPX_SAID], service[HPX_SAID], version[HPX_SAID], container[HPX_SAID];
    bool late;                                      /* the session began in a JVM that ran */
    uint64_t pid, began_ms, number, from_ms, to_ms; /* times since 1970 */
    uint64_t first_ms;                              /* from_ms of the first report that says it */
};

/* Takes from an event what it says; a table begins anew. */
void hpx_said_event(struct hpx_said *s, const struct hpx_rd_event *ev);

#endif
