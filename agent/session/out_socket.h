/* SPDX-License-Identifier: BSD-2-Clause */
/* out_socket.h: an output over a connection to net=HOST:PORT, and the commands that the peer sends over it.
 *
 * Two threads of hprofx use it. The writer's thread puts whole records into a bounded queue; a record that does not fit is dropped whole
 * and counted, one in parts (hpx_out_part()) may be cut after a part. It waits for the peer only in hpx_out_socket_room(), _await() and
 * close, for a bounded time. The net thread (hpx_out_socket_run) connects, sends, reads commands and reconnects. They share the queue's
 * positions and the state of the link, under one lock that is never held during a system call.
 *
 * A stream is one connection from its header on. It is self-contained: its definitions end with it. When a connection is lost, its
 * queued bytes are lost, and records are dropped until the next stream starts.
 *
 * hpx_out_record() says for every record whether it is in the stream. So a writer remembers a definition only if it was accepted, omits
 * a record that needs a refused definition, and retries that definition before its next use.
 *
 * docs/output.md has states, orders and failures. Not for signal handlers, but for forget(). */
#ifndef HPX_OUT_SOCKET_H
#define HPX_OUT_SOCKET_H

#include "hprof_commands.h"
#include "out.h"
#include <poll.h>

struct addrinfo;

/* The system, replaced in tests. Each returns -1 with errno as the call of its name, unless said otherwise. */
struct hpx_out_socket_ops {
    int (*lookup)(void *ctx, const char *host, const char *port, bool literal, struct addrinfo **found); /* as getaddrinfo(); may block */
    void (*lookup_free)(void *ctx, struct addrinfo *found);
    int (*connect)(void *ctx, const struct addrinfo *to); /* a descriptor whose connection was begun; does not block */
    int (*connected)(void *ctx, int fd);                  /* once writable: 0, or the error number */
    ssize_t (*send)(void *ctx, int fd, const void *p, size_t n);
    ssize_t (*recv)(void *ctx, int fd, void *p, size_t n);
    int (*poll)(void *ctx, struct pollfd *fds, nfds_t n, int ms);
    int (*shutdown)(void *ctx, int fd); /* we send no more */
    int (*close)(void *ctx, int fd);
    uint64_t (*now)(void *ctx); /* ns of a monotonic clock */
};

/* What happened to the records so far, over all streams. In bytes: given + note = sent + queued + dropped + absent + cut. */
struct hpx_out_socket_counts {
    uint64_t given_records, given_bytes;
    uint64_t dropped_records, dropped_bytes; /* did not fit: the peer reads too slowly */
    uint64_t absent_records, absent_bytes;   /* while disconnected */
    uint64_t cut_bytes;                      /* were queued when the connection was lost or the time at exit expired */
    uint64_t sent_bytes;                     /* taken by the system */
    uint64_t note_bytes;                     /* notes that were queued or sent */
    uint64_t connections, refused_commands, faulty_commands;
};

/* The owner. */
struct hpx_out_socket_owner {
    void *ctx;
    /* Net thread (also open()): a connection waits for its stream; the writer's thread must call hpx_out_socket_turn() soon. */
    void (*wake)(void *ctx);
    /* Writer's thread, inside turn(): forget all definitions; write the header as one record, then the rest of the stream's start. */
    void (*restart)(void *ctx);
    /* Either thread: one record of the format that tells of losses, at most `room` bytes; returns its length, 0: none. Pure; may be
     * called under our lock. NULL: the line of hpx_out_socket_note_text(). It is sent before the first record after a loss, at the end,
     * and when the peer stops sending. */
    size_t (*note)(void *ctx, char *to, size_t room, const struct hpx_out_socket_counts *c);
    /* Net thread: a valid command, in order. The owner queues it, and calls hpx_out_socket_begun() when it starts. */
    void (*command)(void *ctx, const struct hpx_command *c);
};

struct hpx_out_socket_config {
    const char *peer;                     /* HOST:PORT, ADDR in brackets if it has colons; checked by the option parser */
    size_t queue;                         /* bytes; 0: 8 MiB. Touched only as far as it is used */
    size_t piece, end;                    /* bytes of a part of a record at least, of its end at most; 0: 256 KiB, HPX_OUT_END */
    uint64_t end_ns;                      /* what close() may take without a deadline; 0: 5 s */
    bool wait;                            /* net-wait=y: start even if nothing is listening */
    uint8_t id_size;                      /* of thread ids in CONTROL */
    const struct hpx_out_socket_ops *ops; /* NULL: the system's */
    void *sys;                            /* the ops' ctx */
    struct hpx_out_socket_owner owner;
};

struct hpx_out_socket;

#define HPX_OUT_SOCKET_NOTE 256u /* bytes of a note at most */

/* At load. Connects unless `wait` (10 s at most, beside the resolver's own time) and makes *o an output over it. -HPX_E_IO: cannot connect,
 * err->msg is the original's sentence; -HPX_E_NOMEM. *made lives until destroy. */
int hpx_out_socket_open(struct hpx_out *o, struct hpx_out_socket **made, const struct hpx_out_socket_config *cfg, struct hpx_err *err);
/* The body of the net thread: returns after the end. A second caller returns at once. */
void hpx_out_socket_run(struct hpx_out_socket *s);
/* One round of run(), for tests without a thread: waits in ops->poll at most once. false: it has ended. */
bool hpx_out_socket_step(struct hpx_out_socket *s);

/* Writer's thread, between two messages: if a new connection waits, starts its stream (owner.restart). true: a stream is live. */
bool hpx_out_socket_turn(struct hpx_out_socket *s);
/* Writer's thread, before a large record: waits until `n` bytes are free (1), or `ns` have passed (0); -1: there is no stream, or the
 * queue is smaller. A record that still does not fit is dropped by hpx_out_record(). The caller bounds how long its lane may wait. */
int hpx_out_socket_room(struct hpx_out_socket *s, size_t n, uint64_t ns);

/* Writer's thread, before the last dump: waits for a connection, at most `ns`; true: connected, and turn() has or starts its stream. */
bool hpx_out_socket_await(struct hpx_out_socket *s, uint64_t ns);

/* Any thread: a command that was handed to the owner starts now, or was dropped: frees its place in the queue. */
void hpx_out_socket_begun(struct hpx_out_socket *s, uint8_t tag);
/* Any thread: a message on stderr about a command or the link. At most 20 at once and one more per second; the next one has the number
 * of suppressed ones. */
void hpx_out_socket_complain(struct hpx_out_socket *s, const char *fmt, ...) HPX_PRINTF(2, 3);
/* Any thread: close() and what is before it must have ended at `at` (clock of hpx_clock_mono). */
void hpx_out_socket_deadline(struct hpx_out_socket *s, uint64_t at);
void hpx_out_socket_count(struct hpx_out_socket *s, struct hpx_out_socket_counts *c);
/* Child of a fork, or when the thread has left: closes the descriptors. Async-signal-safe. */
void hpx_out_socket_forget(struct hpx_out_socket *s);
/* After hpx_out_close(), and after run() returned. */
void hpx_out_socket_destroy(struct hpx_out_socket *s);

/* "hprofx: lost, socket: ..." */
size_t hpx_out_socket_note_text(char *to, size_t room, const struct hpx_out_socket_counts *c);

#endif
