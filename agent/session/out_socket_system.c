/* SPDX-License-Identifier: BSD-2-Clause */
/* out_socket_system.c: the system calls behind out_socket.h. */
#include "clock.h"
#include "out_socket_internal.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int system_lookup(void *ctx, const char *host, const char *port, bool literal, struct addrinfo **found)
{
    (void)ctx;
    struct addrinfo hints = {.ai_family = literal ? AF_INET6 : AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP};
    hints.ai_flags = AI_NUMERICSERV | (literal ? AI_NUMERICHOST : 0);
    *found = NULL;
    return getaddrinfo(host, port, &hints, found);
}

static void system_lookup_free(void *ctx, struct addrinfo *found)
{
    (void)ctx;
    freeaddrinfo(found);
}

static void set(int fd, int level, int name, int value)
{
    (void)setsockopt(fd, level, name, &value, sizeof(value)); /* refused: it works without */
}

static int system_connect(void *ctx, const struct addrinfo *to)
{
    (void)ctx;
    int fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->ai_protocol);
    if (fd < 0) {
        return -1;
    }
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1); /* records leave the queue in large pieces already */
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1); /* a peer that vanished without a word is noticed within two minutes */
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, 6);
    if (connect(fd, to->ai_addr, to->ai_addrlen) != 0 && errno != EINPROGRESS && errno != EINTR) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* Repeated attempts to connect to a local port without a listener can connect a socket to itself. */
static bool to_itself(int fd)
{
    struct sockaddr_storage own, peer;
    socklen_t n = sizeof(own), k = sizeof(peer);
    memset(&own, 0, sizeof(own));
    memset(&peer, 0, sizeof(peer));
    return getsockname(fd, (struct sockaddr *)&own, &n) == 0 && getpeername(fd, (struct sockaddr *)&peer, &k) == 0 && n == k &&
           memcmp(&own, &peer, n) == 0;
}

static int system_connected(void *ctx, int fd)
{
    (void)ctx;
    int error = 0;
    socklen_t n = sizeof(error);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0) {
        return errno;
    }
    return error != 0 ? error : to_itself(fd) ? ECONNREFUSED : 0;
}

static ssize_t system_send(void *ctx, int fd, const void *p, size_t n)
{
    (void)ctx;
    return send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static ssize_t system_recv(void *ctx, int fd, void *p, size_t n)
{
    (void)ctx;
    return recv(fd, p, n, MSG_DONTWAIT);
}

static int system_poll(void *ctx, struct pollfd *fds, nfds_t n, int ms)
{
    (void)ctx;
    return poll(fds, n, ms);
}

static int system_shutdown(void *ctx, int fd)
{
    (void)ctx;
    return shutdown(fd, SHUT_WR);
}

static int system_close(void *ctx, int fd)
{
    (void)ctx;
    return close(fd);
}

static uint64_t system_now(void *ctx)
{
    (void)ctx;
    return hpx_clock_mono();
}

const struct hpx_out_socket_ops hpx_out_socket_system = {.lookup = system_lookup,
                                                         .lookup_free = system_lookup_free,
                                                         .connect = system_connect,
                                                         .connected = system_connected,
                                                         .send = system_send,
                                                         .recv = system_recv,
                                                         .poll = system_poll,
                                                         .shutdown = system_shutdown,
                                                         .close = system_close,
                                                         .now = system_now};
