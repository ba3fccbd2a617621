/* SPDX-License-Identifier: BSD-2-Clause */
/* session_life.c: the order in which the parts of a session begin and end. Contract: session_life.h. */
#include "session_life.h"
#include "dump.h"
#include "net.h"
#include "output.h"
#include "peer.h"
#include <string.h>

int hpx_session_begin(const struct hpx_host *host)
{
    struct hpx_sink sink;
    hpx_session.host = host;
    int rc = hpx_dump_init(&sink);
    rc = rc != 0 ? rc : hpx_aggregator_init(&hpx_session.aggregator, &sink);
    for (uint32_t i = 0; i < hpx_session.nmodes && rc == 0; i++) {
        if (hpx_session.modes[i]->begin != NULL) {
            hpx_session.modes[i]->begin();
        }
    }
    hpx_session.begun = rc == 0;
    return rc;
}

void hpx_session_end(void)
{
    for (uint32_t i = 0; i < hpx_session.nmodes && hpx_session.begun; i++) {
        if (hpx_session.modes[i]->fini != NULL) {
            hpx_session.modes[i]->fini();
        }
    }
    if (hpx_session.begun) {
        hpx_aggregator_fini(&hpx_session.aggregator);
    }
    hpx_dump_fini();
    hpx_peer_fini();
    hpx_output_fini();
    hpx_net_fini();
    hpx_model_destroy(hpx_session.model);
    hpx_options_fini(&hpx_session.opt);
    memset(&hpx_session, 0, sizeof hpx_session);
}
