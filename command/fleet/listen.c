/* SPDX-License-Identifier: BSD-2-Clause */
/* listen.c: see listen.h. A unix socket is made and listens under a name of its own, then gets PATH by link(), which replaces nothing: a
 * socket that stands at PATH listens from the beginning, so one that refuses connections is a dead program's. Two programs that find such a
 * one agree by a lock of the folder who removes it. */
#include "listen.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 16
#define UNIX    "unix:"

static int fail(struct hpx_err *err, enum hpx_errc code, const char *at, const char *why)
{
    return hpx_err_set(err, code, "cannot listen at %s: %s", at, why);
}

/* ---- unix:PATH ---- */

static int unix_socket(const struct sockaddr_un *name)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound =
        fd >= 0 && fchmod(fd, 0600) == 0 && bind(fd, (const struct sockaddr *)name, sizeof *name) == 0; /* its file has the mode, too */
    if (bound && listen(fd, BACKLOG) == 0) {
        return fd;
    }
    int why = errno;
    if (bound) {
        (void)unlink(name->sun_path);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    errno = why;
    return -1;
}

/* A socket of ours that nobody listens at. */
static bool is_stale(const struct sockaddr_un *name)
{
    struct stat st;
    if (lstat(name->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid()) {
        return false;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool refused = fd >= 0 && connect(fd, (const struct sockaddr *)name, sizeof *name) != 0 && errno == ECONNREFUSED;
    if (fd >= 0) {
        (void)close(fd);
    }
    return refused;
}

static bool remove_stale(const struct sockaddr_un *name)
{
    char folder[sizeof name->sun_path];
    (void)snprintf(folder, sizeof folder, "%s", name->sun_path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder) {
        (void)snprintf(folder, sizeof folder, "%s", slash == NULL ? "." : "/");
    } else {
        *slash = '\0';
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool removed = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_stale(name) && unlink(name->sun_path) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return removed;
}

static int open_unix(struct hpx_listen *l, const char *path, struct hpx_err *err)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX}, own = {.sun_family = AF_UNIX};
    int n = snprintf(own.sun_path, sizeof own.sun_path, "%s.%d", path, (int)getpid());
    if (path[0] == '\0' || n < 0 || (size_t)n >= sizeof own.sun_path) {
        return fail(err, HPX_E_OPT, l->at, path[0] == '\0' ? "it has no path" : "its path is too long");
    }
    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    l->fd = unix_socket(&own);
    if (l->fd < 0) {
        return fail(err, HPX_E_IO, l->at, strerror(errno));
    }
    bool made = link(own.sun_path, path) == 0 || (errno == EEXIST && remove_stale(&name) && link(own.sun_path, path) == 0);
    int why = errno;
    made = made && lstat(path, &l->made) == 0;
    (void)unlink(own.sun_path);
    if (!made) {
        (void)close(l->fd);
        return why == EEXIST || why == EAGAIN /* it is busy, or another program is removing what is there */
                   ? fail(err, HPX_E_BUSY, l->at, "something is there, or another program listens")
                   : fail(err, HPX_E_IO, l->at, strerror(why));
    }
    return 0;
}

/* ---- HOST:PORT ---- */

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET) {
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    }
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

/* Takes "HOST:PORT" or "[HOST]:PORT" apart. */
static struct addrinfo *resolve(const char *at)
{
    char host[64];
    const char *colon = strrchr(at, ':');
    size_t n = colon != NULL ? (size_t)(colon - at) : 0;
    bool brackets = n >= 2 && at[0] == '[' && colon[-1] == ']';
    if (n == 0 || n >= sizeof host || colon[1] == '\0' || strspn(colon + 1, "0123456789") != strlen(colon + 1) || strlen(colon + 1) > 5 ||
        atoi(colon + 1) > 65535 || (!brackets && memchr(at, ':', n) != NULL)) {
        return NULL;
    }
    n -= brackets ? 2 : 0;
    memcpy(host, at + (brackets ? 1 : 0), n);
    host[n] = '\0';
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *found = NULL;
    return getaddrinfo(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, colon + 1, &wanted, &found) == 0 ? found : NULL;
}

static int tcp_socket(const struct addrinfo *a)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    if (fd >= 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (a->ai_family == AF_INET6) {
            (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
        }
        if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) {
            return fd;
        }
        int why = errno;
        (void)close(fd);
        errno = why;
    }
    return -1;
}

/* With the port that it has. */
static void tell(struct hpx_listen *l)
{
    struct sockaddr_storage own = {0};
    socklen_t size = sizeof own;
    char host[INET6_ADDRSTRLEN], port[8];
    if (getsockname(l->fd, (struct sockaddr *)&own, &size) == 0 &&
        getnameinfo((struct sockaddr *)&own, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        (void)snprintf(l->at, sizeof l->at, own.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    }
}

static int open_tcp(struct hpx_listen *l, const char *at, bool anywhere, struct hpx_err *err)
{
    struct addrinfo *a = resolve(at);
    if (a == NULL) {
        return fail(err, HPX_E_OPT, at, "it is neither unix:PATH nor an address and a port, such as 127.0.0.1:4040");
    }
    l->loopback = is_loopback(a->ai_addr);
    if (!l->loopback && !anywhere) {
        freeaddrinfo(a);
        return fail(err, HPX_E_OPT, at, "other machines could ask, and there are no passwords; if that is wanted, add --listen-anywhere");
    }
    l->fd = tcp_socket(a);
    int why = errno;
    freeaddrinfo(a);
    if (l->fd < 0) {
        return fail(err, why == EADDRINUSE ? HPX_E_BUSY : HPX_E_SYS, at, strerror(why));
    }
    tell(l);
    return 0;
}

int hpx_listen_open(struct hpx_listen *l, const char *at, bool anywhere, struct hpx_err *err)
{
    memset(l, 0, sizeof *l);
    l->fd = -1;
    (void)snprintf(l->at, sizeof l->at, "%s", at);
    return strncmp(at, UNIX, strlen(UNIX)) == 0 ? open_unix(l, at + strlen(UNIX), err) : open_tcp(l, at, anywhere, err);
}

void hpx_listen_remove(const struct hpx_listen *l)
{
    struct stat now;
    const char *path = l->at + strlen(UNIX);
    if (l->made.st_ino != 0 && lstat(path, &now) == 0 && now.st_ino == l->made.st_ino && now.st_dev == l->made.st_dev) {
        (void)unlink(path);
    }
}
