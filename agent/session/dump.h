/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.h: the sink that the aggregator drains into (model, modes, output), and how a dump is made.
 *
 * A dump never blocks the aggregator. At the end of the first pass that began after the request, the dump waits for outstanding names
 * and for the modes to prepare, for a bounded time; draining continues. Then the aggregator copies the rows and hands them to the
 * writer's thread with the report.
 *
 * A requested dump stops no producer. If a mode holds events back, one more pass reads, with every ring's tail, what the ring's owner
 * holds back there, and the dump is made at the end of that pass: it has the events of one moment of every thread. Pending requests are
 * served before the last dump. */
#ifndef HPX_DUMP_H
#define HPX_DUMP_H

#include "session.h"

#define HPX_DUMP_JOURNAL_NS (600ull * 1000 * 1000) /* with the wait for names and a pass: a table every second */

/* Creates the model and fills in the sink. At load. 0, -HPX_E_NOMEM. */
int hpx_dump_init(struct hpx_sink *sink);
/* Frees the requests that were not served. The aggregator has stopped. */
void hpx_dump_fini(void);

struct hpx_dump_request {
    bool keep;                  /* the counts are not reset */
    bool answer;                /* for a peer: not announced on stderr */
    bool traces;                /* all traces so far, and no table */
    uint32_t modes;             /* bits, in the order of session.modes: the modes whose sections are written; 0: all */
    uint16_t flags;             /* of hpx_section.choose; 0: none */
    struct hpx_command clear;   /* CONTROL CLEAR_CPU or CLEAR_SITES: no dump; hpx_peer_control() carries it out where a dump would reset */
    bool binary_only;           /* the text format has no such record: it gets nothing, not even the report */
    double cutoff;              /* smallest share to list */
    void (*done)(uint64_t arg); /* called once when the dump is written or failed; the writer's thread or the aggregator; may be NULL */
    uint64_t arg;
};

/* Requests a dump now; every request gets its own dump, in order. Any thread inside the gate, or the aggregator; not in signal handlers.
 * false: no memory, which is counted and reported; `done` is not called. A request after the last dump is never served. */
bool hpx_dump_request(const struct hpx_dump_request *request);

/* SIGQUIT: requests a dump now. Any thread inside the gate. If 64 such dumps are not yet written (the output is stalled), the request is
 * skipped, counted and reported once. */
void hpx_dump_request_signal(void);

/* VMDeath, after the gate was closed: waits until the aggregator has taken the rows of the request that it may be serving; it serves no
 * other before the last dump. false: not by `until_ns` (hpx_clock_mono()). */
bool hpx_dump_await_served(uint64_t until_ns);

/* VMDeath, after the gate was closed: requests the last dump (if doe=y), then the end of the output. Called once. */
void hpx_dump_request_final(void);

#endif
