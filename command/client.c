/* SPDX-License-Identifier: BSD-2-Clause */
/* client.c: the command's end of the socket. */
#include "client.h"
#include "attach.h"
#include "control.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define TRIES 3 /* the agent may have let go of its socket just now */

/* ---- the library, where the target sees it ---- */

static bool copy_file(int from, int to)
{
    struct stat s;
    off_t at = 0;
    if (fstat(from, &s) != 0) {
        return false;
    }
    while (at < s.st_size) {
        if (sendfile(to, from, &at, (size_t)(s.st_size - at)) <= 0) {
            return false;
        }
    }
    return true;
}

/* Into its /tmp, under a name that stays the same: a library that is loaded is found by its name, also when the file has gone. */
static enum hpx_status copy_library(const struct hpx_target *t, const struct hpx_client *c, const char *agent, char *name, size_t size,
                                    struct hpx_err *err)
{
    int from = open(agent, O_RDONLY | O_CLOEXEC);
    (void)snprintf(name, size, "/tmp/libhprofx-%d.so", (int)t->own_pid);
    if (from < 0) {
        return hpx_fail(err, HPX_FAILED, "cannot read %s: %s", agent, strerror(errno));
    }
    enum hpx_status s = hpx_become(t, err);
    if (s == HPX_OK) {
        (void)unlinkat(c->folder, name + strlen("/tmp/"), 0);
        int to = openat(c->folder, name + strlen("/tmp/"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0500);
        if (to < 0 || !copy_file(from, to)) {
            s = hpx_fail(err, HPX_FAILED, "cannot copy the library to %s of process %d: %s", name, (int)t->pid, strerror(errno));
        }
        if (to >= 0) {
            (void)close(to);
        }
        hpx_become_self();
    }
    (void)close(from);
    return s;
}

/* Whether the target's user may read our file, and sees it. */
static bool sees(const struct hpx_target *t, const char *agent)
{
    bool yes = false;
    if (t->root[0] == 0 && hpx_become(t, NULL) == HPX_OK) {
        yes = faccessat(AT_FDCWD, agent, R_OK, AT_EACCESS) == 0;
        hpx_become_self();
    }
    return yes;
}

static enum hpx_status load(const struct hpx_target *t, const struct hpx_client *c, const char *agent, unsigned seconds,
                            struct hpx_err *err)
{
    char copy[64];
    if (t->library[0] != 0 || sees(t, agent)) {
        return hpx_attach_load(t, t->library[0] != 0 ? t->library : agent, "control", seconds, err);
    }
    enum hpx_status s = copy_library(t, c, agent, copy, sizeof copy, err);
    if (s == HPX_OK) {
        s = hpx_attach_load(t, copy, "control", seconds, err);
        (void)unlinkat(c->folder, copy + strlen("/tmp/"), 0);
    }
    return s;
}

/* ---- lines ---- */

/* The next line, without its end; NULL: the agent is gone. Valid until the next call. */
static const char *next_line(struct hpx_client *c)
{
    static char line[sizeof c->got];
    char *end;
    while ((end = memchr(c->got, '\n', c->len)) == NULL) {
        ssize_t n = c->len < sizeof c->got ? recv(c->fd, c->got + c->len, sizeof c->got - c->len, 0) : 0;
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            return NULL;
        }
        c->len += n > 0 ? (size_t)n : 0;
    }
    size_t n = (size_t)(end - c->got);
    memcpy(line, c->got, n);
    line[n] = 0;
    c->len -= n + 1;
    memmove(c->got, end + 1, c->len);
    for (char *p = line; *p != 0; p++) { /* it goes to a terminal */
        if ((unsigned char)*p < ' ' || *p == 127) {
            *p = '?';
        }
    }
    return line;
}

/* Nobody else may have made a socket of that name: the JVM itself, under its own user. */
static bool is_target(const struct hpx_target *t, int fd)
{
    struct ucred who;
    socklen_t size = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.pid == t->pid && who.uid == t->uid;
}

/* false: nobody listens. */
static bool connect_to_agent(const struct hpx_target *t, struct hpx_client *c)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const char *greeting;
    if (!hpx_control_path(at.sun_path, sizeof at.sun_path, t->root, (int)t->own_pid)) {
        return false;
    }
    c->len = 0;
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd >= 0 && connect(c->fd, (const struct sockaddr *)&at, sizeof at) == 0 && is_target(t, c->fd) &&
        (greeting = next_line(c)) != NULL && strncmp(greeting, HPX_CONTROL_GREETING, sizeof HPX_CONTROL_GREETING - 1) == 0) {
        return true;
    }
    if (c->fd >= 0) {
        (void)close(c->fd);
        c->fd = -1;
    }
    return false;
}

enum hpx_status hpx_client_open(const struct hpx_target *t, const char *agent, unsigned seconds, struct hpx_client *c, struct hpx_err *err)
{
    char folder[64];
    *c = (struct hpx_client){.fd = -1};
    (void)snprintf(folder, sizeof folder, "%s/tmp", t->root);
    c->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (c->folder < 0) {
        return hpx_fail(err, HPX_NOT_PERMITTED, "cannot reach the files of process %d: %s", (int)t->pid, strerror(errno));
    }
    for (int i = 0; i < TRIES && !connect_to_agent(t, c); i++) {
        enum hpx_status s = load(t, c, agent, seconds, err);
        if (s != HPX_OK) {
            hpx_client_close(c);
            return s;
        }
    }
    if (c->fd < 0) {
        hpx_client_close(c);
        return hpx_fail(err, HPX_FAILED, "the library in process %d does not listen; another release of hprofx may be loaded there",
                        (int)t->pid);
    }
    return HPX_OK;
}

void hpx_client_close(struct hpx_client *c)
{
    if (c->fd >= 0) {
        (void)close(c->fd);
    }
    if (c->folder >= 0) {
        (void)close(c->folder);
    }
    c->fd = c->folder = -1;
}

enum hpx_status hpx_client_ask(struct hpx_client *c, const char *request, void (*line)(void *ctx, const char *text), void *ctx,
                               struct hpx_err *err)
{
    char whole[HPX_CONTROL_LINE];
    int n = snprintf(whole, sizeof whole, "%s\n", request);
    if (n < 0 || (size_t)n >= sizeof whole || strcspn(request, "\n") + 1 != (size_t)n) {
        return hpx_fail(err, HPX_USAGE, "the options are too long, or have an end of line in them");
    }
    const char *text = send(c->fd, whole, (size_t)n, MSG_NOSIGNAL) == n ? next_line(c) : NULL;
    for (; text != NULL; text = next_line(c)) {
        if (strcmp(text, "ok") == 0) {
            return HPX_OK;
        }
        if (strncmp(text, "error ", 6) == 0) {
            char *sentence;
            long code = strtol(text + 6, &sentence, 10);
            return hpx_fail(err,
                            code == HPX_E_BUSY || code == HPX_E_VM ? HPX_REFUSED
                            : code == HPX_E_OPT                    ? HPX_USAGE
                                                                   : HPX_FAILED,
                            "%s", sentence + strspn(sentence, " "));
        }
        if (line != NULL) {
            line(ctx, text);
        }
    }
    return hpx_fail(err, HPX_NO_JVM, "the JVM has ended");
}

bool hpx_client_wait(const struct hpx_client *c, int ms)
{
    char byte;
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    return poll(&p, 1, ms) > 0 && recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}
