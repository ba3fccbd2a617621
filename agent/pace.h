/* SPDX-License-Identifier: BSD-2-Clause */
/* pace.h: how much of the profiler's time the peer of net= gets: when its commands may begin, how long a dump waits for it.
 *
 * Pure: times are given, in ns of one monotonic clock. Each struct belongs to one thread; zero is its beginning. */
#ifndef HPX_PACE_H
#define HPX_PACE_H

#include "hprof_commands.h"

/* Commands begin in turns: any number of cheap ones within HPX_PACE_TURN_NS, up to and with one that costs. The turn is over when all that
 * it began is done; then no command begins for as long as the turn took. So a peer gets half of the time at most, whatever it sends. A
 * collection stops the program: of them one a second begins, and all of them get a tenth of the time. What may not begin waits, and what is
 * behind it too. */
#define HPX_PACE_TURN_NS      UINT64_C(1000000)
#define HPX_PACE_COLLECT_NS   UINT64_C(1000000000) /* from the end of one to the next, at least */
#define HPX_PACE_COLLECT_REST 9u                   /* and so many times as long as it took */

struct hpx_pace {
    bool turn;                   /* one runs */
    bool cost, collects;         /* it has a command that costs; FORCE GC */
    uint64_t began;              /* it */
    uint64_t next, next_collect; /* no command before; no FORCE GC before */
};

/* The aggregator, with what was begun before being done. May c begin at `now`? */
bool hpx_pace_may(const struct hpx_pace *p, const struct hpx_command *c, uint64_t now);
/* It begins. */
void hpx_pace_begin(struct hpx_pace *p, const struct hpx_command *c, uint64_t now);
/* All that the turn began is done; without a turn nothing happens. */
void hpx_pace_end(struct hpx_pace *p, uint64_t now);

/* A dump waits for room in the queue as long as the peer takes so many bytes in each second of waiting. */
#define HPX_PATIENCE_NS    UINT64_C(1000000000)
#define HPX_PATIENCE_BYTES UINT64_C(65536)

struct hpx_patience {
    uint64_t waited, taken; /* in this second of waiting; by the peer, when it began */
};

/* The writer: another `ns` were waited, and the peer has taken `taken` bytes in all. false: this dump waits no more. */
bool hpx_patience_lasts(struct hpx_patience *p, uint64_t ns, uint64_t taken);

#endif
