/* SPDX-License-Identifier: BSD-2-Clause */
/* net.h: the output over net=HOST:PORT: the agent's side of writers/out_socket.h.
 *
 * Who: the writer's thread (agent/output.c) but where it says otherwise. Nothing here waits for the peer longer than it says. */
#ifndef HPX_NET_H
#define HPX_NET_H

#include "agent.h"
#include "stream.h"

/* At load: connects, or with net-wait=y does not need to, and makes s->out. wake: posted when the writer's thread must come to
 * hpx_net_turn(). 0, -HPX_E_IO, -HPX_E_NOMEM. */
int hpx_net_open(struct hpx_stream *s, struct hpx_wake *wake, struct hpx_err *err);
/* VMInit: starts the thread that connects, sends and receives. 0, -HPX_E_SYS. */
int hpx_net_start(struct hpx_err *err);
/* net= is the output. Any thread, from hpx_net_open() on. */
bool hpx_net_is(void);

/* At its start, before the first turn. */
void hpx_net_begin(void);
/* Before each message: a stream that waits is begun: header, then the threads that live. true: one is live. */
bool hpx_net_turn(void);
/* A thread began or ended, at `at` (hpx_clock_mono()): in the stream if one is live. At the beginning: true: rec is kept until the end.
 * At the end *start is what was kept, the caller's again, or NULL. */
bool hpx_net_thread_begin(uint64_t at, const struct hpx_thread_rec *rec);
void hpx_net_thread_end(uint64_t at, const struct hpx_thread_rec *rec, const struct hpx_thread_rec **start);
void hpx_net_class(uint64_t at, const struct hpx_class_rec *rec, bool unloaded);
/* Before a dump: as turn(). The dump may wait for room while the peer takes some (pace.h) and not too much waits behind the dump; at the
 * end of the program while there is time. At the end a connection is waited for, 1 s. */
void hpx_net_before_dump(void);

/* VMDeath, first: all must be sent within 4.5 s, and no command is carried out from now on. */
void hpx_net_end(void);
/* Adds what was lost so far. Any thread. */
void hpx_net_count(struct hpx_counters *c);
/* Before the summary at the end, behind hpx_out_close(): the sums were said. */
void hpx_net_said(struct hpx_counters *c);
/* In the child of a fork; async-signal-safe. */
void hpx_net_forget(void);
/* CPU time of its thread. Any thread. */
uint64_t hpx_net_cpu(void);

/* ---- for who carries out commands (peer.h); any thread ---- */

/* The VM ends: what comes is ignored. */
bool hpx_net_ends(void);
void hpx_net_begun(uint8_t tag);
void hpx_net_complain(const char *fmt, ...) HPX_PRINTF(1, 2);

#endif
