/* SPDX-License-Identifier: BSD-2-Clause */
/* receive.h: profiles that agents send (net=HOST:PORT): each connection is a JVM, and each report in its stream ends a profile.
 *
 * A thread for each connection reads, 256 at most. What was read waits in a queue of 64; when it is full, the threads wait, and the agents
 * drop and count. All connections together, and what waits, have hpx_memory_of_server() bytes, one of them half of it: a connection that
 * needs more is told, counted and ended. A profile that was received and is not in a spool yet is lost with the shipper. */
#ifndef HPX_FLEET_RECEIVE_H
#define HPX_FLEET_RECEIVE_H

#include "err.h"
#include "otlp.h"
#include <stdbool.h>

struct hpx_receive;

/* Listens at "HOST:PORT", as hpx_listen_open(); profiles come until hpx_receive_close(). NULL: err. */
struct hpx_receive *hpx_receive_open(const char *at, bool anywhere, struct hpx_err *err);
/* Where it listens, with the port. */
const char *hpx_receive_at(const struct hpx_receive *r);
/* The next profile, which is not finished; the caller ends the tree and frees it. false: there is none. One thread. */
bool hpx_receive_take(struct hpx_receive *r, struct hpx_tree **t, uint8_t id[HPX_PROFILE_ID]);
/* Ends the connections. Profiles that wait are lost and counted. NULL: nothing to do. */
void hpx_receive_close(struct hpx_receive *r);

#endif
