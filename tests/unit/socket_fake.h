/* SPDX-License-Identifier: BSD-2-Clause */
/* socket_fake.h: a peer and a network made of memory, for out_socket: each call can be made to fail, time passes only in poll(). */
#ifndef HPX_SOCKET_FAKE_H
#define HPX_SOCKET_FAKE_H

#include "cmocka_all.h"
#include "out_socket.h"
#include "said.h"
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAKE_MS UINT64_C(1000000)

struct fake_net {
    uint64_t now;
    /* the name */
    unsigned addresses, lookups;
    bool lookup_fails;
    char asked[300];
    struct addrinfo list[4];
    /* connecting */
    unsigned refuse;   /* this many attempts are refused */
    int connect_errno; /* connect() itself fails */
    bool silent;       /* neither accepted nor refused */
    unsigned attempts, closed, shutdowns;
    uint64_t attempt_at[64];
    bool open;
    /* sending */
    char *got; /* of this connection; ends with a 0 */
    size_t len, cap;
    size_t window;   /* bytes the peer takes before send() says EAGAIN; SIZE_MAX: all */
    size_t piece;    /* most bytes of one call; 0: any number */
    size_t reset_at; /* the connection is reset when the peer has this many bytes; SIZE_MAX: never */
    unsigned eintr_every, sends;
    bool gone; /* reset: every call says so */
    /* receiving */
    uint8_t *in;
    size_t in_len, in_at;
    bool in_end; /* behind it the peer sends no more */
    int recv_errno;
    bool closed_by_peer; /* what is sent is answered by a reset */
    unsigned stuck;      /* poll() that would never return */
    unsigned polls;
};

static struct fake_net fake;

static int fake_lookup(void *ctx, const char *host, const char *port, bool literal, struct addrinfo **found)
{
    (void)ctx;
    snprintf(fake.asked, sizeof(fake.asked), "%s|%s|%d", host, port, literal);
    fake.lookups++;
    for (unsigned i = 0; i < fake.addresses; i++) {
        fake.list[i] = (struct addrinfo){.ai_next = i + 1 < fake.addresses ? &fake.list[i + 1] : NULL};
    }
    *found = fake.list;
    return fake.lookup_fails ? EAI_NONAME : 0;
}

static void fake_lookup_free(void *ctx, struct addrinfo *found)
{
    (void)ctx;
    (void)found;
}

static int fake_connect(void *ctx, const struct addrinfo *to)
{
    (void)ctx;
    (void)to;
    fake.attempt_at[fake.attempts++ % HPX_ARRAY_LEN(fake.attempt_at)] = fake.now;
    if (fake.connect_errno != 0) {
        errno = fake.connect_errno;
        return -1;
    }
    fake.open = true;
    fake.gone = false;
    fake.len = 0;
    return 1000;
}

static int fake_connected(void *ctx, int fd)
{
    (void)ctx;
    assert_int_equal(fd, 1000);
    if (fake.gone) {
        return ECONNRESET;
    }
    if (fake.refuse > 0) {
        fake.refuse--;
        return ECONNREFUSED;
    }
    return 0;
}

static ssize_t fake_error(int error)
{
    errno = error;
    return -1;
}

static ssize_t fake_send(void *ctx, int fd, const void *p, size_t n)
{
    (void)ctx;
    assert_true(fake.open && fd == 1000 && n > 0);
    fake.sends++;
    if (fake.gone) {
        return fake_error(EPIPE);
    }
    if (fake.eintr_every != 0 && fake.sends % fake.eintr_every == 0) {
        return fake_error(EINTR);
    }
    n = fake.piece != 0 && n > fake.piece ? fake.piece : n;
    n = n > fake.window ? fake.window : n;
    n = n > fake.reset_at - fake.len ? fake.reset_at - fake.len : n;
    if (fake.len == fake.reset_at) {
        fake.gone = true;
        return fake_error(ECONNRESET);
    }
    if (n == 0) {
        return fake_error(EAGAIN);
    }
    if (fake.len + n >= fake.cap) {
        fake.cap = 2 * (fake.len + n);
        fake.got = realloc(fake.got, fake.cap);
        assert_non_null(fake.got);
    }
    memcpy(fake.got + fake.len, p, n);
    fake.len += n;
    fake.got[fake.len] = '\0'; /* for sscanf() */
    fake.window -= fake.window == SIZE_MAX ? 0 : n;
    fake.gone = fake.closed_by_peer;
    return (ssize_t)n;
}

static ssize_t fake_recv(void *ctx, int fd, void *p, size_t n)
{
    (void)ctx;
    assert_true(fake.open && fd == 1000);
    if (fake.recv_errno != 0) {
        return fake_error(fake.recv_errno);
    }
    size_t left = fake.in_len - fake.in_at;
    n = n < left ? n : left;
    if (n > 0) {
        memcpy(p, fake.in + fake.in_at, n);
    }
    fake.in_at += n;
    return n > 0 || fake.in_end ? (ssize_t)n : fake_error(EAGAIN);
}

static int fake_poll(void *ctx, struct pollfd *fds, nfds_t n, int ms)
{
    (void)ctx;
    assert_int_equal(n, 2);
    fake.polls++;
    fds[0].revents = 0;
    fds[1].revents = 0;
    int ready = poll(fds, 1, 0);
    if (fds[1].fd >= 0) {
        assert_true(fake.open);
        short come = 0;
        if (fake.gone) {
            come |= POLLERR | POLLHUP;
        }
        if ((fake.in_at < fake.in_len || fake.in_end || fake.recv_errno) && (fds[1].events & POLLIN)) {
            come |= POLLIN;
        }
        if ((fake.in_end || fake.closed_by_peer) && (fds[1].events & POLLRDHUP)) {
            come |= POLLRDHUP;
        }
        if (fake.window > 0 && !fake.silent && (fds[1].events & POLLOUT)) {
            come |= POLLOUT;
        }
        fds[1].revents = come;
        ready += come != 0;
    }
    if (ready == 0) {
        fake.stuck += ms < 0;
        fake.now += ms > 0 ? (uint64_t)ms * FAKE_MS : 0;
    }
    return ready;
}

static int fake_shutdown(void *ctx, int fd)
{
    (void)ctx;
    assert_true(fake.open && fd == 1000);
    fake.shutdowns++;
    return 0;
}

static int fake_close(void *ctx, int fd)
{
    (void)ctx;
    assert_true(fake.open && fd == 1000);
    fake.open = false;
    fake.closed++;
    return 0;
}

static uint64_t fake_now(void *ctx)
{
    (void)ctx;
    return fake.now;
}

static const struct hpx_out_socket_ops fake_ops = {.lookup = fake_lookup,
                                                   .lookup_free = fake_lookup_free,
                                                   .connect = fake_connect,
                                                   .connected = fake_connected,
                                                   .send = fake_send,
                                                   .recv = fake_recv,
                                                   .poll = fake_poll,
                                                   .shutdown = fake_shutdown,
                                                   .close = fake_close,
                                                   .now = fake_now};

static void fake_reset(void)
{
    free(fake.got);
    memset(&fake, 0, sizeof(fake));
    fake.addresses = 1;
    fake.now = 1000 * 1000 * FAKE_MS;
    fake.window = fake.reset_at = SIZE_MAX;
}

/* given + note = sent + queued + dropped + absent + cut; nothing is queued once all is sent or the connection is gone. */
static inline void assert_conserved(struct hpx_out_socket *s, uint64_t queued)
{
    struct hpx_out_socket_counts c;
    hpx_out_socket_count(s, &c);
    assert_int_equal(c.given_bytes + c.note_bytes, c.sent_bytes + queued + c.dropped_bytes + c.absent_bytes + c.cut_bytes);
}

#endif
