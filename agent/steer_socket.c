/* SPDX-License-Identifier: BSD-2-Clause */
/* steer_socket.c: see steer_socket.h. */
#include "steer_socket.h"
#include "control.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct {
    bool bound;
    pid_t pid; /* which has bound it: not a child of a fork */
    struct sockaddr_un at;
    struct stat file; /* the one at `at` that is ours */
} named;

static bool bind_to_name(int fd)
{
    return bind(fd, (const struct sockaddr *)&named.at, sizeof named.at) == 0;
}

/* What a JVM has left that had this number and was killed: nobody listens. Containers may share the folder. */
static bool remove_stale(void)
{
    struct stat s;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool stale = fd >= 0 && lstat(named.at.sun_path, &s) == 0 && S_ISSOCK(s.st_mode) && s.st_uid == geteuid() &&
                 connect(fd, (const struct sockaddr *)&named.at, sizeof named.at) != 0 && errno == ECONNREFUSED;
    if (fd >= 0) {
        (void)close(fd);
    }
    bool gone = stale && unlink(named.at.sun_path) == 0;
    errno = EADDRINUSE;
    return gone;
}

/* -1, errno: it cannot be made, and no file of it is left. */
static int make(int queue)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    if (fchmod(fd, 0600) == 0 && (bind_to_name(fd) || (errno == EADDRINUSE && remove_stale() && bind_to_name(fd)))) {
        named.bound = true;
        named.pid = getpid();
        named.file = (struct stat){0};
        (void)lstat(named.at.sun_path, &named.file);
        if (listen(fd, queue) == 0) {
            return fd;
        }
    }
    int failed = errno;
    if (named.bound) { /* a file to which nobody listens would count as ours, and never be made again */
        (void)unlink(named.at.sun_path);
        named.bound = false;
    }
    (void)close(fd);
    errno = failed;
    return -1;
}

/* What stands there is the socket that was made; errno. */
static bool is_there(void)
{
    struct stat s;
    return lstat(named.at.sun_path, &s) == 0 && named.bound && s.st_ino == named.file.st_ino && s.st_dev == named.file.st_dev;
}

int hpx_steer_socket_open(int queue, struct hpx_err *err)
{
    struct stat s;
    named.at.sun_family = AF_UNIX;
    (void)snprintf(named.at.sun_path, sizeof named.at.sun_path, "/tmp/" HPX_CONTROL_NAME, (int)getpid());
    int fd = make(queue);
    if (fd >= 0) {
        return fd;
    }
    if (errno == EADDRINUSE && lstat(named.at.sun_path, &s) == 0 && s.st_uid != geteuid()) {
        return hpx_err_set(err, HPX_E_IO,
                           "cannot listen for commands: %s belongs to user %u: a JVM that had this number and was killed left it; "
                           "remove it as that user or root",
                           named.at.sun_path, (unsigned)s.st_uid);
    }
    return hpx_err_set(err, HPX_E_IO, "cannot listen for commands at %s: %s", named.at.sun_path, strerror(errno));
}

int hpx_steer_socket_keep(int queue)
{
    errno = 0;
    if (is_there() || errno != ENOENT) {
        return -1;
    }
    named.bound = false;
    return make(queue);
}

void hpx_steer_socket_remove(void)
{
    if (is_there()) {
        (void)unlink(named.at.sun_path);
    }
    named.bound = false;
}

bool hpx_steer_socket_is_own(void)
{
    return named.pid == getpid();
}
