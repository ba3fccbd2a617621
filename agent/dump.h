/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.h: what the aggregator drains into, and how a dump comes about: the sink over model and output.
 *
 * A dump never blocks the aggregator. A request notes itself; at the end of a pass that began after it, unanswered names are waited for
 * (draining goes on) up to a bound; then the counts are copied and handed to the writer's thread with the report. */
#ifndef HPX_DUMP_H
#define HPX_DUMP_H

#include "agent.h"

/* Creates the model and fills in the sink. At load. 0, -HPX_E_NOMEM. */
int hpx_dump_init(struct hpx_sink *sink);

/* VMDeath, after the gate was shut: the last dump (if doe=y), then the end of the output. Once. */
void hpx_dump_request_final(void);

#endif
