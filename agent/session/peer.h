/* SPDX-License-Identifier: BSD-2-Clause */
/* peer.h: carries out the commands of the peer of net=, in order.
 *
 * The aggregator carries out one command at a time, at the end of a pass. A dump or collection must be done before the next command
 * starts, and expensive commands are followed by pauses (pace.h). Commands that are not supported print a line on stderr. A peer can end
 * the program only by EXIT THE VM with allow-exit=y. */
#ifndef HPX_PEER_H
#define HPX_PEER_H

#include "hprof_commands.h"
#include "lane.h"

/* Net thread: a valid command arrived. */
void hpx_peer_command(void *ctx, const struct hpx_command *c);
/* Reports that a command is ignored. The aggregator, also in a mode's control(). */
void hpx_peer_leave_out(const struct hpx_command *c, const char *why);
/* Has every mode carry out a CONTROL command; says so if none can. The aggregator. */
void hpx_peer_control(const struct hpx_command *c);
/* Aggregator: takes over m if it is a command. */
bool hpx_peer_message(struct hpx_msg *m);
/* Aggregator, at the end of a pass, until exit is requested: starts the commands that may start. */
void hpx_peer_pass_end(void);
/* The session has ended: resets all state. */
void hpx_peer_fini(void);
/* Aggregator, at exit: drops pending commands. */
void hpx_peer_drop(void);

#endif
