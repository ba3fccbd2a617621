/* SPDX-License-Identifier: BSD-2-Clause */
/* session_life.c: the order in which the parts of a session begin and end. Contract: session_life.h. */
#include "session_life.h"
#include "dump.h"
#include "net.h"
#include "output.h"
#include "peer.h"
#include "rotate.h"
#include <string.h>

/* All variables of sessions; the linker knows where they begin and end. */
extern char __start_hpx_session_variables[], __stop_hpx_session_variables[];
static HPX_OF_SESSION bool made; /* the aggregator and the tables of modes */

/* Without the gate, at which threads may stand at any time. */
static void clear_session(void)
{
    const struct hpx_options *given = hpx_session.opt;
    char *from = (char *)&hpx_session, *gate = (char *)&hpx_session.gate, *behind = gate + sizeof hpx_session.gate;
    memset(from, 0, (size_t)(gate - from));
    memset(behind, 0, (size_t)(from + sizeof hpx_session - behind));
    hpx_session.opt = given;
}

static void clear_variables(void)
{
    memset(__start_hpx_session_variables, 0, (size_t)(__stop_hpx_session_variables - __start_hpx_session_variables));
}

int hpx_session_begin(const struct hpx_host *host)
{
    struct hpx_sink sink;
    hpx_session.host = host;
    atomic_fetch_add_explicit(&hpx_session_number, 1, memory_order_relaxed);
    int rc = hpx_dump_init(&sink);
    if (rc == 0) {
        hpx_aggregator_init(&hpx_session.aggregator, &sink);
        HPX_EACH_MODE(load.begin, ());
    }
    made = rc == 0;
    return rc;
}

void hpx_session_end(void)
{
    if (made) {
        HPX_EACH_MODE(end.fini, ());
        hpx_aggregator_fini(&hpx_session.aggregator);
    }
    hpx_dump_fini();
    hpx_peer_fini();
    hpx_output_fini();
    hpx_rotate_fini();
    hpx_net_fini();
    hpx_model_destroy(hpx_session.model);
    hpx_session_forget_options();
    clear_variables();
    clear_session();
}
