/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.h: the sink that the aggregator drains into (model, modes, output), and how a dump is made.
 *
 * A dump never blocks the aggregator. At the end of the first pass that began after the request, the dump waits for outstanding names
 * and for the modes to prepare, for a bounded time; draining continues. Then the aggregator copies the rows and hands them to the
 * writer's thread with the report.
 *
 * A requested dump stops no producer. If a mode holds events back, one more pass reads, with every ring's tail, what the ring's owner
 * holds back there, and the dump is made at the end of that pass: it has the events of one moment of every thread. Pending requests are
 * served before the last dump. dump_request.h has who requests dumps, dump_serve.h makes them. */
#ifndef HPX_DUMP_H
#define HPX_DUMP_H

#include "aggregator.h"

/* Creates the model and the message of the end, and fills in the sink. At load. 0, -HPX_E_NOMEM. */
int hpx_dump_init(struct hpx_sink *sink);
/* Frees the requests that were not served. The aggregator has stopped. */
void hpx_dump_fini(void);

/* VMDeath, after the gate was closed: waits until the aggregator has taken the rows of the request that it may be serving; it serves no
 * other before the last dump. false: not by `until_ns` (hpx_clock_mono()). */
bool hpx_dump_await_served(uint64_t until_ns);

#endif
