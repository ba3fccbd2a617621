/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_socket.c: any bytes from the peer, in any pieces, with resets, half-closes, a slow or deaf peer, commands that begin late. Nothing
 * spins or waits for ever, dumps wait one a tag, no more than 64 commands wait, every byte is accounted for.
 * Input: pairs (what happens, how much), with the peer's bytes behind those that send. */
#include "fuzz.h"
#include "log.h"
#include "out_socket.h"
#include <fcntl.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

struct world {
    const uint8_t *in; /* what the peer sent and we have not read */
    size_t in_len, window;
    uint64_t now, waited; /* rounds without anything to do */
    bool in_end, gone;
    uint8_t waiting[64 + 1];
    unsigned nwaiting;
    struct hpx_out out;
    struct hpx_out_socket *sock;
};

static struct world w; /* libFuzzer calls from one thread */

static int fake_lookup(void *ctx, const char *host, const char *port, bool literal, struct addrinfo **found)
{
    static struct addrinfo one;
    (void)ctx;
    (void)host;
    (void)port;
    (void)literal;
    *found = &one;
    return 0;
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
    w.gone = w.in_end = false;
    w.in_len = 0;
    return 1000;
}

static int fake_connected(void *ctx, int fd)
{
    (void)ctx;
    (void)fd;
    return w.gone ? ECONNRESET : 0;
}

static ssize_t fake_error(int error)
{
    errno = error;
    return -1;
}

static ssize_t fake_send(void *ctx, int fd, const void *p, size_t n)
{
    (void)ctx;
    (void)fd;
    (void)p;
    if (w.gone) {
        return fake_error(EPIPE);
    }
    n = n < w.window ? n : w.window;
    w.window -= n;
    return n > 0 ? (ssize_t)n : fake_error(EAGAIN);
}

static ssize_t fake_recv(void *ctx, int fd, void *p, size_t n)
{
    (void)ctx;
    (void)fd;
    n = n < w.in_len ? n : w.in_len;
    if (n == 0) {
        return w.in_end ? 0 : fake_error(EAGAIN);
    }
    memcpy(p, w.in, n);
    w.in += n;
    w.in_len -= n;
    return (ssize_t)n;
}

static int fake_poll(void *ctx, struct pollfd *fds, nfds_t n, int ms)
{
    (void)ctx;
    (void)n;
    fds[1].revents = 0;
    int ready = poll(fds, 1, 0);
    if (fds[1].fd >= 0) {
        unsigned come = w.gone ? POLLERR | POLLHUP : 0;
        come |= w.in_len > 0 || w.in_end ? POLLIN : 0;
        come |= w.in_end ? POLLRDHUP : 0;
        come |= w.window > 0 ? POLLOUT : 0;
        fds[1].revents = (short)(come & ((unsigned)fds[1].events | POLLERR | POLLHUP));
        ready += fds[1].revents != 0;
    }
    if (ready == 0) {
        w.waited++;
        w.now += ms > 0 ? (uint64_t)ms * 1000000 : 0;
    }
    return ready;
}

static int fake_done(void *ctx, int fd)
{
    (void)ctx;
    (void)fd;
    return 0;
}

static uint64_t fake_now(void *ctx)
{
    (void)ctx;
    return w.now;
}

static void wake(void *ctx)
{
    (void)ctx;
}

static void restart(void *ctx)
{
    (void)ctx;
    hpx_out_str(&w.out, "header");
    hpx_out_record(&w.out);
}

static void command(void *ctx, const struct hpx_command *c)
{
    (void)ctx;
    require(c->fault == HPX_COMMAND_GOOD && c->tag >= 1 && c->tag <= 8, "a command that is none");
    require(w.nwaiting < 64, "more commands than places");
    for (unsigned i = 0; i < w.nwaiting; i++) {
        require(w.waiting[i] != c->tag || !hpx_command_dumps(c->tag), "two dumps of a tag wait");
    }
    w.waiting[w.nwaiting++] = c->tag;
}

static void begin_one(void)
{
    if (w.nwaiting > 0) {
        uint8_t tag = w.waiting[0];
        memmove(w.waiting, w.waiting + 1, --w.nwaiting);
        hpx_out_socket_begun(w.sock, tag);
    }
}

/* Until it waits: a handful of rounds for each piece of the peer's. */
static void settle(size_t bytes)
{
    uint64_t before = w.waited, most = 64 + bytes / 8;
    for (uint64_t i = 0; w.waited == before; i++) {
        require(i < most, "it spins");
        hpx_out_socket_step(w.sock);
    }
}

/* A record in parts; some rounds of the net thread between its rows. */
static void put_table(uint8_t rows)
{
    hpx_out_str(&w.out, "BEGIN");
    for (unsigned i = 0; i < rows; i++) {
        hpx_out_str(&w.out, "a row of sixteen");
        hpx_out_part(&w.out, i + 1 == rows);
        if (i % 16 == 15) {
            hpx_out_socket_step(w.sock);
        }
    }
    hpx_out_str(&w.out, "END");
    uint64_t before = w.out.refused;
    bool in = hpx_out_record(&w.out);
    require(w.out.refused - before == !in, "an end that is not counted");
}

static void happen(uint8_t what, uint8_t much, const uint8_t **at, const uint8_t *end)
{
    static const char text[256];
    size_t n = 0;
    switch (what % 8) {
    case 0:
    case 1:
    case 2:
        n = much < end - *at ? much : (size_t)(end - *at);
        if (w.in_len == 0 && !w.gone) {
            w.in = *at;
            w.in_len = n;
        }
        *at += n;
        break;
    case 3:
        w.window = much * 8u;
        break;
    case 4:
        hpx_out_socket_turn(w.sock);
        if (what / 8 % 2 != 0) {
            put_table(much);
        } else {
            hpx_out_bytes(&w.out, text, much);
            hpx_out_record(&w.out);
        }
        break;
    case 5:
        begin_one();
        break;
    case 6:
        w.gone = much % 2;
        break;
    default:
        w.in_end = much % 2 != 0;
        break;
    }
    settle(n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hpx_out_socket_ops ops = {.lookup = fake_lookup,
                                                  .lookup_free = fake_lookup_free,
                                                  .connect = fake_connect,
                                                  .connected = fake_connected,
                                                  .send = fake_send,
                                                  .recv = fake_recv,
                                                  .poll = fake_poll,
                                                  .shutdown = fake_done,
                                                  .close = fake_done,
                                                  .now = fake_now};
    static int quiet = -1;
    if (quiet < 0) {
        quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
        hpx_log_set_fd(quiet);
    }
    memset(&w, 0, sizeof(w));
    w.window = SIZE_MAX;
    w.now = 1000000000;
    struct hpx_out_socket_config cfg = {
        .peer = "h:1", .queue = 1024, .piece = 64, .end = 32, .id_size = 8, .ops = &ops, .owner = {NULL, wake, restart, NULL, command}};
    struct hpx_err err;
    require(hpx_out_socket_open(&w.out, &w.sock, &cfg, &err) == 0, "no memory");
    const uint8_t *at = data, *end = data + size;
    while (end - at >= 2) {
        uint8_t what = at[0], much = at[1];
        at += 2;
        happen(what, much, &at, end);
    }
    require(hpx_out_close(&w.out) == 0, "close");
    struct hpx_out_socket_counts c;
    hpx_out_socket_count(w.sock, &c);
    require(c.given_bytes + c.note_bytes == c.sent_bytes + c.dropped_bytes + c.absent_bytes + c.cut_bytes, "bytes lost or counted twice");
    hpx_out_socket_destroy(w.sock);
    return 0;
}
