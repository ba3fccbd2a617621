/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_serve.h: serves a request whose turn has come (dump.c): takes the rows of the modes, collects the report, and hands both to the
 * writer's thread. The aggregator alone calls; nothing waits.
 *
 * What lacks memory is kept for another try: the caller calls again in a later pass, with the same request. After `until`
 * (hpx_clock_mono()) the dump is made of what there is, and what it lacks is reported. */
#ifndef HPX_DUMP_SERVE_H
#define HPX_DUMP_SERVE_H

#include "dump_request.h"

/* Makes the requested dump, or carries out the clear. ends: the last dump follows at once, so nothing is cleared. false: no memory for it
 * now, and there is time left. */
bool hpx_dump_serve(const struct hpx_dump_request *request, bool ends, uint64_t until);
/* Makes a table for the journal. since: CPU time of the aggregator when the work for the table began. Returns when the next one is due. */
uint64_t hpx_dump_serve_journal(uint64_t since);
/* All rings are drained: makes the last dump, if doe=y, and posts the end of the output. false: as hpx_dump_serve(). */
bool hpx_dump_serve_last(uint64_t until);
/* Frees the dump that is being made. The aggregator has stopped. */
void hpx_dump_serve_fini(void);

#endif
