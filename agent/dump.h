/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.h: what the aggregator drains into, and how a dump comes about: the sink over model and output.
 *
 * A dump never blocks the aggregator. A request notes itself; at the end of a pass that began after it, unanswered names are waited for
 * (draining goes on) up to a bound; then the counts are copied and handed to the writer's thread with the report.
 *
 * A dump on request stops no producer. With exact calls the drainers are gathered first; then one pass reads, with each ring's tail, what
 * its owner keeps back there, and the dump is made at the end of that pass: the calls of one moment of each thread. Requests that wait when
 * the end comes are served before the last dump. */
#ifndef HPX_DUMP_H
#define HPX_DUMP_H

#include "agent.h"

/* Creates the model and fills in the sink. At load. 0, -HPX_E_NOMEM. */
int hpx_dump_init(struct hpx_sink *sink);

struct hpx_dump_wish {
    bool keep;                  /* the counts go on: what the next dump says is not less for this one */
    bool answer;                /* to a peer: not told of on stderr */
    bool traces;                /* all traces so far, and no table */
    double cutoff;              /* smallest share that is listed */
    void (*done)(uint64_t arg); /* when it was written, or could not be: once. The writer's thread, or the aggregator. NULL: nobody asks */
    uint64_t arg;
};

/* A dump now: each request has one of its own, in their order. Any thread inside the gate, or the aggregator; not in signal handlers.
 * false: no memory, counted and said; `done` is not called. A request that comes behind the last dump is never served. */
bool hpx_dump_request(const struct hpx_dump_wish *wish);

/* SIGQUIT: a dump now. Any thread inside the gate. Where 64 of them are not yet written (an output that stands) it is left out, counted and
 * said once. */
void hpx_dump_request_signal(void);

/* VMDeath, after the gate was shut: the last dump (if doe=y), then the end of the output. Once. */
void hpx_dump_request_final(void);

#endif
