/* SPDX-License-Identifier: BSD-2-Clause */
/* attach.c: the protocol of attach.h. The JVM listens at /tmp/.java_pidN once it finds the file .attach_pidN at a SIGQUIT. */
#include "attach.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_BYTES 4096
#define STEP_MS      10 /* between two looks for the socket, at first */

enum hpx_status hpx_become(const struct hpx_target *t, struct hpx_err *err)
{
    if (geteuid() == 0 && (setegid(t->gid) != 0 || seteuid(t->uid) != 0)) {
        hpx_become_self();
        return hpx_fail(err, HPX_NOT_PERMITTED, "cannot become user %u: %s", (unsigned)t->uid, strerror(errno));
    }
    return HPX_OK;
}

void hpx_become_self(void)
{
    if (geteuid() != getuid()) {
        (void)!seteuid(getuid());
    }
    if (getegid() != getgid()) {
        (void)!setegid(getgid());
    }
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A descriptor; -1, errno. */
static int connect_to(const struct hpx_target *t)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(at.sun_path, sizeof at.sun_path, "%s/tmp/.java_pid%d", t->root, (int)t->own_pid);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof at) != 0) {
        int failed = errno;
        (void)close(fd);
        errno = failed;
        return -1;
    }
    return fd;
}

/* The file that asks the JVM to listen: in its working directory, or where that cannot be written in its /tmp. */
static bool make_trigger(const struct hpx_target *t, char *name, size_t size)
{
    for (int i = 0; i < 2; i++) {
        (void)snprintf(name, size, "/proc/%d/%s/.attach_pid%d", (int)t->pid, i == 0 ? "cwd" : "root/tmp", (int)t->own_pid);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0 || errno == EEXIST) {
            if (fd >= 0) {
                (void)close(fd);
            }
            return true;
        }
    }
    return false;
}

static enum hpx_status wait_for_listener(const struct hpx_target *t, uint64_t until, int *fd, struct hpx_err *err)
{
    for (unsigned ms = STEP_MS; (*fd = connect_to(t)) < 0; ms = ms < 200 ? ms * 2 : ms) {
        if (kill(t->pid, 0) != 0 && errno == ESRCH) {
            return hpx_fail(err, HPX_NO_JVM, "process %d has ended", (int)t->pid);
        }
        if (now_ms() > until) {
            return hpx_fail(err, HPX_REFUSED, "process %d does not answer; it may be stopped, or in a long pause of the JVM", (int)t->pid);
        }
        (void)usleep(ms * 1000);
    }
    return HPX_OK;
}

/* The socket of the JVM, which is asked to listen if it does not. */
static enum hpx_status reach(const struct hpx_target *t, uint64_t until, int *fd, struct hpx_err *err)
{
    char trigger[64];
    *fd = connect_to(t);
    if (*fd >= 0) {
        return HPX_OK;
    }
    if (errno == EACCES || errno == EPERM) {
        return hpx_fail(err, HPX_NOT_PERMITTED, "may not attach to process %d: %s", (int)t->pid, strerror(errno));
    }
    if (!make_trigger(t, trigger, sizeof trigger)) {
        return hpx_fail(err, HPX_FAILED, "cannot write to the working directory of process %d nor to its /tmp: %s", (int)t->pid,
                        strerror(errno));
    }
    enum hpx_status s = kill(t->pid, SIGQUIT) == 0 ? wait_for_listener(t, until, fd, err)
                                                   : hpx_fail(err, errno == ESRCH ? HPX_NO_JVM : HPX_NOT_PERMITTED,
                                                              "cannot signal process %d: %s", (int)t->pid, strerror(errno));
    (void)unlink(trigger);
    return s;
}

static bool send_all(int fd, const char *from, size_t n)
{
    while (n > 0) {
        ssize_t k = send(fd, from, n, MSG_NOSIGNAL);
        if (k <= 0) {
            return false;
        }
        from += k;
        n -= (size_t)k;
    }
    return true;
}

/* Version, command and three arguments, each with its 0. */
static bool ask(int fd, const char *library, const char *options)
{
    const char *const words[] = {"1", "load", library, "true", options};
    bool sent = true;
    for (size_t i = 0; sent && i < HPX_ARRAY_LEN(words); i++) {
        sent = send_all(fd, words[i], strlen(words[i]) + 1);
    }
    return sent;
}

/* The whole answer; false: none came in time. */
static bool hear(int fd, char *to, size_t size, uint64_t until)
{
    size_t n = 0;
    for (;;) {
        uint64_t now = now_ms();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (now >= until || poll(&p, 1, (int)(until - now)) < 0) {
            return false;
        }
        ssize_t k = n + 1 < size && p.revents != 0 ? recv(fd, to + n, size - 1 - n, MSG_DONTWAIT) : 0;
        if (k < 0 && errno == EAGAIN) {
            continue;
        }
        if (k <= 0) {
            to[n] = 0;
            return n > 0;
        }
        n += (size_t)k;
    }
}

/* "0\nreturn code: 0\n" (9 and later), "0\n0\n" (8); an error of the JVM is "0\nsentence", or a number and a sentence. */
static enum hpx_status judge(const char *answer, const char *library, struct hpx_err *err)
{
    char *rest, *text;
    long status = strtol(answer, &rest, 10);
    while (*rest == '\n') {
        rest++;
    }
    const char *number = strncmp(rest, "return code: ", 13) == 0 ? rest + 13 : rest;
    long code = strtol(number, &text, 10);
    if (status == 0 && text != number) {
        return code == 0 ? HPX_OK
                         : hpx_fail(err, HPX_REFUSED, "the library refused with code %ld; its reason is on stderr of the JVM", code);
    }
    if (strstr(rest, "ynamic agent loading is not enabled") != NULL) {
        return hpx_fail(err, HPX_REFUSED,
                        "the JVM was started with -XX:-EnableDynamicAgentLoading; start it without, or load hprofx at its start");
    }
    int n = (int)strcspn(rest, "\n");
    return hpx_fail(err, HPX_REFUSED, "the JVM did not load %s: %.*s", library, n, rest);
}

static enum hpx_status load(const struct hpx_target *t, const char *library, const char *options, uint64_t until, struct hpx_err *err)
{
    char answer[ANSWER_BYTES];
    int fd = -1;
    enum hpx_status s = reach(t, until, &fd, err);
    if (s != HPX_OK) {
        return s;
    }
    if (!ask(fd, library, options) || !hear(fd, answer, sizeof answer, until)) {
        s = hpx_fail(err, HPX_REFUSED, "process %d takes no request to attach; another user runs it, or it ends", (int)t->pid);
    } else {
        s = judge(answer, library, err);
    }
    (void)close(fd);
    return s;
}

enum hpx_status hpx_attach_load(const struct hpx_target *t, const char *library, const char *options, unsigned seconds, struct hpx_err *err)
{
    enum hpx_status s = hpx_become(t, err);
    if (s == HPX_OK) {
        s = load(t, library, options, now_ms() + UINT64_C(1000) * seconds, err);
        hpx_become_self();
    }
    return s;
}
