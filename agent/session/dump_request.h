/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_request.h: requests for dumps: of a signal, of `dump=`, of a peer, of the end. dump.c serves them. */
#ifndef HPX_DUMP_REQUEST_H
#define HPX_DUMP_REQUEST_H

#include "hprof_commands.h"
#include "lane.h"
#include "model_msg.h"
#include "session.h"

struct hpx_dump_request {
    bool keep;                  /* the counts are not reset */
    bool answer;                /* for a peer: not announced on stderr */
    bool periodic;              /* of dump=: not made any more once the session ends; its counts go into the last dump, if there is one */
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

/* VMDeath, after the gate was closed: requests the last dump (if doe=y), then the end of the output. Called once. */
void hpx_dump_request_final(void);

/* VMDeath, after hpx_dump_await_served(): how many pending requests show rows of the mode; those of dump= are not made any more. */
uint32_t hpx_dump_request_pending(const struct hpx_mode *mode);

/* ---- for dump.c ---- */

/* Whether the dump has rows of this mode. */
static inline bool hpx_dump_request_shows(const struct hpx_dump_request *r, uint32_t mode)
{
    const struct hpx_parts parts = {.modes = r->modes};
    return !r->traces && r->clear.control == HPX_CONTROL_NONE && hpx_parts_has(&parts, mode);
}

/* On the aggregator's lane. FINAL: a bare hpx_msg; the end is requested. */
enum { HPX_DUMP_MSG_FINAL = HPX_MSG_OTHER, HPX_DUMP_MSG_REQUEST };
struct hpx_dump_msg {
    struct hpx_msg m;
    struct hpx_dump_request request;
};

/* At load. false: no memory for the message of the end. */
bool hpx_dump_request_init(void);
/* The aggregator has stopped. */
void hpx_dump_request_fini(void);
/* The request is not pending any more. The aggregator. */
void hpx_dump_request_served(const struct hpx_dump_request *request);
/* There is no memory for a request, or for its dump, of which nothing was taken: counted, and said once. Any thread. */
void hpx_dump_request_skip(void);
/* Aggregator, in a pass with no pending request: requests the dump of `dump=` if it is due and its last one is written. */
void hpx_dump_request_periodic(void);

#endif
