/* SPDX-License-Identifier: BSD-2-Clause */
/* pace.h: limits what the peer of net= costs: when its commands may start, how long a dump waits for it.
 *
 * Pure: the caller passes times, in ns of one monotonic clock. One thread owns a struct; zero-initialised. */
#ifndef HPX_PACE_H
#define HPX_PACE_H

#include "hprof_commands.h"

/* Commands run in turns: any number of cheap ones within HPX_PACE_TURN_NS, and at most one expensive one, which ends the turn. After a
 * turn no command starts for as long as the turn took, so a peer uses at most half of the time. A collection stops the program: at most
 * one starts per second, and collections use at most a tenth of the time. A command that must wait also delays those behind it. */
#define HPX_PACE_TURN_NS      UINT64_C(1000000)
#define HPX_PACE_COLLECT_NS   UINT64_C(1000000000) /* least time from the end of one to the start of the next */
#define HPX_PACE_COLLECT_REST 9u                   /* and at least this multiple of its duration */

struct hpx_pace {
    bool sites_collect;          /* gc=y: every listing of sites collects. The caller's */
    bool turn;                   /* a turn is running */
    bool cost, collects;         /* it has an expensive command; one that collects */
    uint64_t began;              /* it */
    uint64_t next, next_collect; /* earliest start of the next command; of the next that collects */
};

/* The aggregator, when earlier commands are done. May c start at `now`? */
bool hpx_pace_may(const struct hpx_pace *p, const struct hpx_command *c, uint64_t now);
/* c starts. */
void hpx_pace_begin(struct hpx_pace *p, const struct hpx_command *c, uint64_t now);
/* All commands of the turn are done. No effect without a turn. */
void hpx_pace_end(struct hpx_pace *p, uint64_t now);

/* A dump waits for space in the queue as long as the peer reads this many bytes per second of waiting. */
#define HPX_PATIENCE_NS    UINT64_C(1000000000)
#define HPX_PATIENCE_BYTES UINT64_C(65536)

struct hpx_patience {
    uint64_t waited, taken; /* time waited in this second; bytes the peer had read when it began */
};

/* The writer has waited another `ns`; the peer has read `taken` bytes in total. false: this dump must not wait any longer. */
bool hpx_patience_lasts(struct hpx_patience *p, uint64_t ns, uint64_t taken);

#endif
