/* SPDX-License-Identifier: BSD-2-Clause */
/* service.h: the one thread of ours that is attached to the JVM: it answers the model's questions about methods.
 *
 * It holds nothing that the aggregator waits for: a request that is not answered in time is given up by the dump. It may stop at safepoints
 * like any Java thread. */
#ifndef HPX_SERVICE_H
#define HPX_SERVICE_H

#include "agent.h"

#define HPX_SERVICE_NAME "hprofx service" /* as the program sees it among its threads */

/* Prepares its lane; before the aggregator starts. 0, -HPX_E_NOMEM. */
int hpx_service_init(void);
/* VMInit. 0, -HPX_E_SYS. */
int hpx_service_start(struct hpx_err *err);
/* A request of the model (HPX_MSG_RESOLVE, _SWEEP, _DROP); requests of one thread are served in order. Any thread. */
void hpx_service_post(struct hpx_msg *r);
/* Collects garbage, then calls `done`, on that thread. false: no memory. Any thread. When it has left the JVM nothing is done. */
bool hpx_service_collect(void (*done)(uint64_t unused));
/* Asks it to leave the JVM; any thread, the first call counts. */
void hpx_service_quit(void);
/* Asks and waits until it has left, at most `ns`. VMDeath. */
void hpx_service_stop(uint64_t ns);
/* Its CPU time so far. */
uint64_t hpx_service_cpu(void);

#endif
