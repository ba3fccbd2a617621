/* SPDX-License-Identifier: BSD-2-Clause */
/* out_socket_internal.h: shared by the files of out_socket; not for others.
 *
 * Fields: [l] under `lock`; [w] the writer's thread alone; [n] the net thread alone; [c] constant after open().
 *
 * The ring: [head, tail) is whole records of the live stream, [tail, fill) the record being written, which the net thread never reads. Only
 * the net thread moves head, only the writer's thread tail and fill; the writer reads its own tail without the lock. When the ring is empty
 * the writer sets both to 0: the net thread sends only what it saw queued. A lost link empties the ring. */
#ifndef HPX_OUT_SOCKET_INTERNAL_H
#define HPX_OUT_SOCKET_INTERNAL_H

#include "out_socket.h"
#include <pthread.h>
#include <stdatomic.h>

/* DOWN: no connection. FRESH: connected, the writer has not started the stream. LIVE: the stream runs. */
enum hpx_link { HPX_LINK_DOWN, HPX_LINK_FRESH, HPX_LINK_LIVE };
/* What the net thread does. AWAY: waits to retry. LEAVING: everything is sent, waits for the peer to close. */
enum hpx_phase { HPX_PHASE_AWAY, HPX_PHASE_CONNECTING, HPX_PHASE_UP, HPX_PHASE_LEAVING, HPX_PHASE_ENDED };

/* Parts of the current record: none so far; the last one was accepted; a later one was refused; the first was refused. */
enum hpx_parts { HPX_PARTS_NONE, HPX_PARTS_TAKEN, HPX_PARTS_CUT, HPX_PARTS_LOST };

#define HPX_SOCKET_RX 4096u

struct hpx_socket_reader { /* [n] */
    struct hpx_commands parser;
    bool reading;  /* commands are taken */
    bool end_seen; /* the peer sends no more */
    uint32_t at, len;
    uint64_t window, in_window; /* start of this second, bytes read in it */
    uint8_t bytes[HPX_SOCKET_RX];
};

struct hpx_out_socket {
    const struct hpx_out_socket_ops *ops; /* [c] */
    void *sys;                            /* [c] */
    struct hpx_out_socket_owner owner;    /* [c] */
    char host[256], port[8];              /* [c] */
    bool literal;                         /* [c] host is an address */
    const char *peer;                     /* [c] for messages: host and port as given */
    char *ring;                           /* [c] */
    size_t size, end;                     /* [c] of the ring; of a record in parts behind its last one */
    uint64_t end_ns;                      /* [c] */
    uint8_t id_size;                      /* [c] */
    int wake_fd;                          /* [c] eventfd: the net thread looks again; -1 in the child of a fork */

    pthread_mutex_t lock;
    pthread_cond_t moved;               /* signalled with head, link and ended */
    uint64_t head, tail;                /* [l] */
    enum hpx_link link;                 /* [l] */
    uint64_t header_end;                /* [l] bytes of the stream's first record; 0: not yet written */
    bool asleep;                        /* [l] the net thread found nothing to send: a commit wakes it */
    bool held;                          /* [l] the net thread reads no command, because all places are taken: begun() wakes it */
    bool running;                       /* [l] a thread runs hpx_out_socket_run() */
    bool looking;                       /* [l] inside the resolver, which cannot be interrupted */
    bool ending, ended;                 /* [l] no more records; the net thread is through */
    uint64_t end_at;                    /* [l] deadline of the end; 0: none set */
    uint32_t in_flight;                 /* [l] commands handed over and not begun */
    bool waiting[256];                  /* [l] of these, dumps: one a tag */
    struct hpx_out_socket_counts count; /* [l] */
    uint32_t tokens;                    /* [l] lines that complain() may say now */
    uint64_t token_at, left_out;        /* [l] */

    uint64_t fill;                  /* [w] */
    bool open, skip, absent, first; /* [w] a record is open; it is dropped; because there is no stream; it is the stream's header */
    enum hpx_parts parts;           /* [w] of the record that is being given */
    uint64_t record_bytes;          /* [w] given for it, or for its part, so far */
    uint64_t record_note;           /* [w] bytes of a note before it */
    uint64_t record_losses, noted;  /* [w] losses in the note; losses that the stream already has */

    _Atomic int fd;                          /* [n], relaxed; a child of fork reads its own copy */
    enum hpx_phase phase;                    /* [n] */
    uint64_t backoff, next_try, phase_until; /* [n] */
    uint64_t sent;                           /* [n] bytes of this stream */
    struct addrinfo *found, *next;           /* [n] the addresses of this round */
    uint64_t round_until;                    /* [n] */
    int last_error;                          /* [n] of the round */
    bool lost_said, absent_said, full_said;  /* [n], [n], [w] */
    char extra[HPX_OUT_SOCKET_NOTE];         /* [n] a note sent when the queue is empty */
    uint32_t extra_at, extra_len;            /* [n] */
    bool probed;                             /* [n] */
    uint64_t discarded;                      /* [n] while leaving */
    struct hpx_socket_reader in;             /* [n] */
};

extern const struct hpx_out_socket_ops hpx_out_socket_system;

/* ---- out_socket.c ---- */
void hpx_socket_lock(struct hpx_out_socket *s);
void hpx_socket_unlock(struct hpx_out_socket *s);
/* The net thread leaves its poll. */
void hpx_socket_wake(struct hpx_out_socket *s);
uint64_t hpx_socket_losses(const struct hpx_out_socket_counts *c);
size_t hpx_socket_note(struct hpx_out_socket *s, char *to, const struct hpx_out_socket_counts *c);

/* ---- out_socket_link.c ---- */
/* At load, before there is a net thread: one round over the addresses. */
bool hpx_socket_connect_now(struct hpx_out_socket *s);

/* ---- out_socket_commands.c ---- */
void hpx_socket_reader_reset(struct hpx_out_socket *s);
/* true if bytes may be read now. *again_at: when to retry, if the rate limit forbids it. */
bool hpx_socket_wants_input(struct hpx_out_socket *s, uint64_t now, uint64_t *again_at);
/* 0; -1: close the connection, errno has the reason. */
int hpx_socket_receive(struct hpx_out_socket *s);
/* Hands over commands that were read but had no place before. */
void hpx_socket_deliver(struct hpx_out_socket *s);

#endif
