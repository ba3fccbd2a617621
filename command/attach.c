/* SPDX-License-Identifier: BSD-2-Clause */
/* attach.c: the protocol of attach.h. The JVM listens at /tmp/.java_pidN once it finds the file .attach_pidN at a SIGQUIT. */
#include "attach.h"
#include "control.h"
#include "starting.h"
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
#define SECONDS      30
#define OTHER_MS     1000
#define SLOW_MS      1000 /* without an answer it is said that one is waited for */

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void hpx_attach_say_slow(const struct hpx_target *t, unsigned seconds)
{
    static uint64_t said; /* of which process: once in a command */
    if (said != t->started) {
        said = t->started;
        (void)fprintf(stderr, "hprofx: process %d does not answer yet%s; waiting up to %u s\n", (int)t->pid,
                      hpx_target_is_stopped(t) ? ": it is stopped, and goes on with SIGCONT" : "", seconds);
    }
}

/* true: bytes, or an end, came in time; says once if it takes long. */
static bool await(const struct hpx_target *t, int fd, uint64_t until)
{
    for (uint64_t now = now_ms(), slow = now + SLOW_MS; now < until; now = now_ms()) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        uint64_t next = now < slow && slow < until ? slow : until;
        int n = poll(&p, 1, (int)(next - now));
        if (n > 0 || (n < 0 && errno != EINTR)) {
            return n > 0;
        }
        if (n == 0 && next == slow) {
            hpx_attach_say_slow(t, (unsigned)((until - slow + 999) / 1000));
        }
    }
    return false;
}

bool hpx_attach_await(const struct hpx_target *t, int fd, unsigned seconds)
{
    return await(t, fd, now_ms() + UINT64_C(1000) * seconds);
}

/* As connect(); a queue of its listener that is full is waited for, `seconds` at most. */
static int connect_in_time(const struct hpx_target *t, int fd, const struct sockaddr_un *at, unsigned seconds)
{
    const struct timeval first = {.tv_sec = 1}, rest = {.tv_sec = seconds > 1 ? seconds - 1 : seconds}; /* 0 would be no limit */
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, seconds > 1 ? &first : &rest, sizeof first);
    int rc = connect(fd, (const struct sockaddr *)at, sizeof *at);
    if (rc != 0 && errno == EAGAIN && seconds > 1) {
        hpx_attach_say_slow(t, seconds - 1);
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &rest, sizeof rest);
        rc = connect(fd, (const struct sockaddr *)at, sizeof *at);
    }
    return rc == 0 ? 0 : errno;
}

int hpx_attach_connect(const struct hpx_target *t, const char *name, unsigned seconds)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const struct timeval limit = {.tv_sec = seconds};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%s", t->tmp, name);
    int why = hpx_become(t, NULL) == HPX_OK ? 0 : EPERM;
    if (why == 0) {
        why = connect_in_time(t, fd, &at, seconds);
        hpx_become_self();
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    why = why == 0 && !hpx_target_is_peer(t, fd) ? EPROTO : why;
    if (why != 0) {
        (void)close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

static int connect_to(const struct hpx_target *t, unsigned seconds)
{
    char name[32];
    (void)snprintf(name, sizeof name, ".java_pid%d", (int)t->own_pid);
    return hpx_attach_connect(t, name, seconds);
}

/* Makes the file that asks the JVM to listen: in its working directory, or where that cannot be written in its /tmp. It must be the
 * target's own. *was_there: of another command, or of one that was killed. Returns the folder; -1, errno. */
static int make_trigger(const struct hpx_target *t, const char *name, bool *was_there)
{
    const int folders[] = {t->cwd, t->tmp};
    struct stat s;
    for (size_t i = 0; i < HPX_ARRAY_LEN(folders); i++) {
        int fd = folders[i] >= 0 ? openat(folders[i], name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
        if (fd >= 0) {
            (void)close(fd);
            return folders[i];
        }
        if (folders[i] >= 0 && errno == EEXIST && fstatat(folders[i], name, &s, AT_SYMLINK_NOFOLLOW) == 0 && s.st_uid == t->uid) {
            *was_there = true;
            return folders[i];
        }
    }
    return -1;
}

/* Also one of a command that was killed. */
static void remove_trigger(const struct hpx_target *t, const char *name)
{
    if (hpx_become(t, NULL) == HPX_OK) {
        (void)(t->cwd >= 0 && unlinkat(t->cwd, name, 0) == 0);
        (void)unlinkat(t->tmp, name, 0);
        hpx_become_self();
    }
}

static enum hpx_status wait_for_listener(const struct hpx_target *t, uint64_t until, int *fd, struct hpx_err *err)
{
    uint64_t slow = now_ms() + SLOW_MS;
    for (unsigned ms = STEP_MS; (*fd = connect_to(t, 1)) < 0; ms = ms < 200 ? ms * 2 : ms) {
        if (hpx_target_ended(t)) {
            return hpx_fail(err, HPX_NO_JVM, "process %d has ended", (int)t->pid);
        }
        if (now_ms() > slow && until > slow) {
            hpx_attach_say_slow(t, (unsigned)((until - slow + 999) / 1000));
        }
        if (now_ms() > until) {
            return hpx_fail(err, HPX_REFUSED, "process %d does not answer; it may be stopped, or in a long pause of the JVM", (int)t->pid);
        }
        (void)usleep(ms * 1000);
    }
    return HPX_OK;
}

/* A JVM of another user that had this number and was killed left it; in a /tmp with the sticky bit ours cannot replace it. */
static bool is_foreign(const struct hpx_target *t, const char *name, uid_t *owner)
{
    struct stat s;
    bool is = fstatat(t->tmp, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && s.st_uid != t->uid;
    *owner = is ? s.st_uid : t->uid;
    return is;
}

static enum hpx_status foreign(const struct hpx_target *t, const char *name, uid_t owner, struct hpx_err *err)
{
    return hpx_fail(err, HPX_REFUSED,
                    "/tmp/%s of process %d belongs to user %u: a JVM that had this number and was killed left it, and it keeps this one "
                    "from listening there; remove it as user %u or root",
                    name, (int)t->pid, (unsigned)owner, (unsigned)owner);
}

static enum hpx_status not_live(const struct hpx_target *t, struct hpx_err *err)
{
    return hpx_fail(err, HPX_NOT_LIVE, "process %d is starting, or is ending; try again when it runs", (int)t->pid);
}

enum hpx_status hpx_attach_may_ask(const struct hpx_target *t, struct hpx_err *err)
{
    char name[32];
    uid_t owner;
    (void)snprintf(name, sizeof name, ".java_pid%d", (int)t->own_pid);
    if (is_foreign(t, name, &owner)) {
        return foreign(t, name, owner, err);
    }
    return hpx_target_has_socket(t, name) ? HPX_OK : hpx_starting_is_early(t) ? not_live(t, err) : hpx_target_takes_quit(t, err);
}

static enum hpx_status wake_listener(const struct hpx_target *t, const char *name, uint64_t until, int *fd, struct hpx_err *err)
{
    bool was_there = false, signalled = false;
    if (hpx_starting_is_early(t)) {
        return not_live(t, err);
    }
    enum hpx_status s = hpx_become(t, err);
    if (s != HPX_OK) {
        return s;
    }
    int folder = make_trigger(t, name, &was_there);
    int failed = errno;
    hpx_become_self();
    if (folder < 0) {
        return hpx_fail(err, HPX_FAILED, "cannot write to the working directory of process %d nor to its /tmp: %s", (int)t->pid,
                        strerror(failed));
    }
    /* Another command may have asked already; a second signal would make the JVM print its threads. */
    if (wait_for_listener(t, was_there ? now_ms() + OTHER_MS : 0, fd, err) != HPX_OK) {
        s = hpx_target_quit(t, err);
        signalled = s == HPX_OK;
        s = signalled ? wait_for_listener(t, until, fd, err) : s;
    }
    /* A stopped JVM that comes to the signal without the file would print its threads; the next command removes it. */
    if (s != HPX_REFUSED || !signalled) {
        remove_trigger(t, name);
    }
    return s;
}

/* The socket of the JVM, which is asked to listen if it does not. */
static enum hpx_status reach(const struct hpx_target *t, uint64_t until, int *fd, struct hpx_err *err)
{
    char trigger[32], socket[32];
    uid_t owner;
    (void)snprintf(trigger, sizeof trigger, ".attach_pid%d", (int)t->own_pid);
    (void)snprintf(socket, sizeof socket, ".java_pid%d", (int)t->own_pid);
    if (is_foreign(t, socket, &owner)) {
        return foreign(t, socket, owner, err);
    }
    *fd = connect_to(t, SECONDS);
    if (*fd >= 0) {
        remove_trigger(t, trigger);
        return HPX_OK;
    }
    if (errno == ENOENT || errno == ECONNREFUSED) {
        return wake_listener(t, trigger, until, fd, err);
    }
    if (errno == EPROTO) {
        return hpx_fail(err, HPX_REFUSED, "another process listens at /tmp/.java_pid%d, where process %d should; remove that file",
                        (int)t->own_pid, (int)t->pid);
    }
    return hpx_fail(err, errno == EACCES || errno == EPERM ? HPX_NOT_PERMITTED : HPX_FAILED, "cannot attach to process %d: %s", (int)t->pid,
                    strerror(errno));
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
static bool hear(const struct hpx_target *t, int fd, char *to, size_t size, uint64_t until)
{
    size_t n = 0;
    while (await(t, fd, until)) {
        ssize_t k = n + 1 < size ? recv(fd, to + n, size - 1 - n, MSG_DONTWAIT) : 0;
        if (k < 0 && errno == EAGAIN) {
            continue;
        }
        if (k <= 0) {
            to[n] = 0;
            return n > 0;
        }
        n += (size_t)k;
    }
    return false;
}

/* "0\nreturn code: 0\n" (9 and later), "0\n0\n" (8); an error of the JVM is "0\nsentence", or a number and a sentence. */
enum hpx_status hpx_attach_judge(const struct hpx_target *t, const char *answer, const char *library, struct hpx_err *err)
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
               : code == HPX_CONTROL_REFUSED + HPX_E_NOT_LIVE
                   ? not_live(t, err)
                   : hpx_fail(err, HPX_REFUSED, "the library refused with code %ld; its reason is on stderr of the JVM", code);
    }
    if (strstr(rest, "ynamic agent loading is not enabled") != NULL) {
        return hpx_fail(
            err, HPX_REFUSED,
            "the JVM was started with -XX:-EnableDynamicAgentLoading; start it without, or with -agentpath:libhprofx.so=start=n");
    }
    if (strstr(rest, "only permitted in the live phase") != NULL) {
        return not_live(t, err);
    }
    int n = (int)strcspn(rest, "\n");
    return hpx_fail(err, HPX_REFUSED, "the JVM did not load %s: %.*s", library, n, rest);
}

enum hpx_status hpx_attach_load(const struct hpx_target *t, const char *library, const char *options, unsigned seconds, struct hpx_err *err)
{
    char answer[ANSWER_BYTES];
    uint64_t until = now_ms() + UINT64_C(1000) * seconds;
    int fd = -1;
    enum hpx_status s = reach(t, until, &fd, err);
    if (s != HPX_OK) {
        return s;
    }
    if (!ask(fd, library, options) || !hear(t, fd, answer, sizeof answer, until)) {
        s = hpx_target_ends(t)
                ? hpx_fail(err, HPX_NO_JVM, "process %d has ended", (int)t->pid)
                : hpx_fail(err, HPX_REFUSED, "process %d does not answer a request to attach; it may be stopped, or busy with another",
                           (int)t->pid);
    } else {
        s = hpx_attach_judge(t, answer, library, err);
    }
    (void)close(fd);
    return s;
}
