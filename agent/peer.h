/* SPDX-License-Identifier: BSD-2-Clause */
/* peer.h: what the peer of net= asks for, carried out in its order.
 *
 * The aggregator carries out, one command at a time, at the end of a pass: a dump or a collection that a command began has to be done
 * before the next one begins, and what costs has pauses behind it (pace.h). What a mode or this version lacks is answered by a line on
 * stderr. Nothing that a peer sends ends the program, but for EXIT THE VM with allow-exit=y. */
#ifndef HPX_PEER_H
#define HPX_PEER_H

#include "hprof_commands.h"
#include "lane.h"

/* Net thread: a good command. */
void hpx_peer_command(void *ctx, const struct hpx_command *c);
/* Aggregator: takes over m if it is a command. */
bool hpx_peer_message(struct hpx_msg *m);
/* Aggregator, at the end of a pass, as long as the end was not asked for: begins what can begin. */
void hpx_peer_pass_end(void);
/* Aggregator, at the end: what still waits is not carried out. */
void hpx_peer_drop(void);

#endif
