/* SPDX-License-Identifier: BSD-2-Clause */
/* net.h: the output over net=HOST:PORT: the session's side of writers/out_socket.h.
 *
 * The writer's thread (output.c) calls, unless stated otherwise. No call waits for the peer longer than stated. */
#ifndef HPX_NET_H
#define HPX_NET_H

#include "hprof_commands.h"
#include "stream.h"

struct hpx_net_owner {
    struct hpx_stream *stream;
    struct hpx_wake *wake;                                      /* posted when the writer's thread must call hpx_net_turn() */
    uint64_t (*behind)(void);                                   /* number of messages that wait for the writer's thread */
    void (*command)(void *unused, const struct hpx_command *c); /* the net thread: a valid command arrived */
};

/* At load: opens owner->stream->out and connects; with net-wait=y the connection may come later. Copies the owner. 0, -HPX_E_IO,
 * -HPX_E_NOMEM. */
int hpx_net_open(const struct hpx_net_owner *owner, struct hpx_err *err);
/* VMInit: starts the thread that connects, sends and receives. 0, -HPX_E_SYS. */
int hpx_net_start(struct hpx_err *err);
/* net= is the output. Any thread, from hpx_net_open() on. */
bool hpx_net_is(void);

/* When the writer's thread starts, before the first hpx_net_turn(). */
void hpx_net_begin(void);
/* Before every message: starts the stream of a new connection with the header and the live threads. true: a stream is live. */
bool hpx_net_turn(void);
/* A thread started, has another name, or ended at `at` (hpx_clock_mono()): written if a stream is live. true: rec is kept until the next
 * event of the thread. *before: the record that was kept until now, which the caller owns again; NULL: none. */
bool hpx_net_thread(uint64_t at, const struct hpx_thread_rec *rec, enum hpx_thread_event what, const struct hpx_thread_rec **before);
void hpx_net_class(uint64_t at, const struct hpx_class_rec *rec, bool unloaded);
/* Before a dump: as turn(). The dump may wait for space while the peer keeps reading (pace.h) and few messages wait behind the dump; at
 * exit until the deadline. At exit it also waits up to 1 s for a connection. */
void hpx_net_before_dump(void);

/* VMDeath, first: everything must be sent within 4.5 s; later commands are ignored. */
void hpx_net_end(void);
/* The output is written: waits until the net thread has left, at most until `until` (hpx_clock_mono()). false: it still looks for its
 * peer's address. Once. */
bool hpx_net_wait(uint64_t until);
/* The session has ended, and the net thread with it: frees the connection. */
void hpx_net_fini(void);
/* Adds the losses so far. Any thread. */
void hpx_net_count(struct hpx_counters *c);
/* Before the final summary, after hpx_out_close(): clears the counters that hpx_out_close() has already reported. */
void hpx_net_said(struct hpx_counters *c);
/* As hpx_output_forget(). */
void hpx_net_forget(void);
/* CPU time of the net thread. Any thread. */
uint64_t hpx_net_cpu(void);

/* ---- for peer.h, which carries out commands; any thread ---- */

/* The VM is ending: commands are ignored. */
bool hpx_net_ends(void);
void hpx_net_begun(uint8_t tag);
void hpx_net_complain(const char *fmt, ...) HPX_PRINTF(1, 2);

#endif
