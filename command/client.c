/* SPDX-License-Identifier: BSD-2-Clause */
/* client.c: the command's end of the socket. */
#include "client.h"
#include "attach.h"
#include "clock.h"
#include "control.h"
#include "plain.h"
#include "starting.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES          2 /* the agent may have let go of its socket just now */
#define ANSWER_SECONDS 600
#define LOOK_MS        200 /* a signal before the wait is seen behind it */

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

/* Into its /tmp, under a name that stays the same: a library that is loaded is found by its name, also when the file has gone. It is
 * renamed when it is whole: another command may have had the JVM load it. */
static enum hpx_status copy_library(const struct hpx_target *t, const char *agent, const char *name, struct hpx_err *err)
{
    char fresh[96];
    int from = open(agent, O_RDONLY | O_CLOEXEC);
    if (from < 0) {
        return hpx_fail(err, HPX_FAILED, "cannot read %s: %s", agent, strerror(errno));
    }
    enum hpx_status s = hpx_become(t, err);
    if (s == HPX_OK) {
        (void)snprintf(fresh, sizeof fresh, ".%s.%d", name, (int)getpid());
        int to = openat(t->tmp, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0500);
        bool copied = to >= 0 && copy_file(from, to) && renameat(t->tmp, fresh, t->tmp, name) == 0;
        int failed = errno;
        if (to >= 0) {
            (void)close(to);
        }
        if (!copied) {
            (void)unlinkat(t->tmp, fresh, 0);
            s = hpx_fail(err, HPX_FAILED, "cannot copy the library to /tmp of process %d: %s", (int)t->pid, strerror(failed));
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
    if (t->same_files && hpx_become(t, NULL) == HPX_OK) {
        yes = faccessat(AT_FDCWD, agent, R_OK, AT_EACCESS) == 0;
        hpx_become_self();
    }
    return yes;
}

enum hpx_status hpx_client_lets_load(const struct hpx_target *t, const char *agent, bool *copies, struct hpx_err *err)
{
    enum hpx_status s = hpx_target_lets_load(t, err);
    *copies = s == HPX_OK && t->library[0] == 0 && !sees(t, agent);
    if (*copies && access(agent, R_OK) != 0) {
        return hpx_fail(err, HPX_FAILED, "cannot read %s: %s; install hprofx, or name the library with --agent", agent, strerror(errno));
    }
    return *copies ? hpx_target_lets_copy(t, err) : s;
}

static enum hpx_status load(struct hpx_target *t, const char *agent, unsigned seconds, struct hpx_err *err)
{
    char name[64], path[96];
    bool copies;
    enum hpx_status s = hpx_client_lets_load(t, agent, &copies, err);
    if (s != HPX_OK) {
        return s;
    }
    if (!copies) {
        bool loaded = t->library[0] != 0;
        s = hpx_attach_load(t, loaded ? t->library : agent, "control", seconds, err);
        while (s == HPX_REFUSED && loaded && hpx_target_next_library(t)) { /* that was a copy which came later than another */
            s = hpx_attach_load(t, t->library, "control", seconds, err);
        }
        return s;
    }
    (void)snprintf(name, sizeof name, "libhprofx-%d.so", (int)t->own_pid);
    (void)snprintf(path, sizeof path, "/tmp/%s", name);
    s = hpx_attach_may_ask(t, err); /* while a JVM starts this is tried over and over, and the library is big */
    s = s == HPX_OK ? copy_library(t, agent, name, err) : s;
    if (s == HPX_OK) {
        s = hpx_attach_load(t, path, "control", seconds, err);
        if (hpx_become(t, NULL) == HPX_OK) {
            (void)unlinkat(t->tmp, name, 0); /* another command that fails now copies it again */
            hpx_become_self();
        }
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
            c->silent = n < 0 && errno == EAGAIN;
            return NULL;
        }
        c->len += n > 0 ? (size_t)n : 0;
    }
    size_t n = (size_t)(end - c->got);
    memcpy(line, c->got, n);
    line[n] = 0;
    c->len -= n + 1;
    memmove(c->got, end + 1, c->len);
    (void)hpx_plain(line); /* it goes to a terminal */
    return line;
}

bool hpx_client_listens(const struct hpx_target *t)
{
    char name[32];
    (void)snprintf(name, sizeof name, HPX_CONTROL_NAME, (int)t->own_pid);
    return hpx_target_has_socket(t, name);
}

/* false: nobody listens, or not as expected; or c->silent. */
static bool connect_to_agent(const struct hpx_target *t, unsigned seconds, struct hpx_client *c)
{
    char name[32];
    const char *greeting;
    const struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    (void)snprintf(name, sizeof name, HPX_CONTROL_NAME, (int)t->own_pid);
    c->len = 0;
    c->fd = hpx_attach_connect(t, name, seconds);
    c->silent = c->fd < 0 && errno == EAGAIN; /* those who wait for it to accept are too many */
    c->silent = c->silent || (c->fd >= 0 && !hpx_attach_await(t, c->fd, seconds));
    if (c->fd >= 0 && !c->silent && (greeting = next_line(c)) != NULL &&
        strncmp(greeting, HPX_CONTROL_GREETING, sizeof HPX_CONTROL_GREETING - 1) == 0) {
        (void)setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        return true;
    }
    hpx_client_close(c);
    return false;
}

static enum hpx_status open_once(struct hpx_target *t, const char *agent, unsigned seconds, struct hpx_client *c, struct hpx_err *err)
{
    *c = (struct hpx_client){.fd = -1};
    for (int i = 0; i < TRIES; i++) {
        if (connect_to_agent(t, seconds, c)) {
            return HPX_OK;
        }
        if (c->silent) {
            break;
        }
        enum hpx_status s = load(t, agent, seconds, err);
        if (s != HPX_OK) {
            return s;
        }
    }
    if (c->silent) {
        return hpx_fail(err, HPX_REFUSED,
                        "hprofx in process %d does not answer: it is busy with another command, or the process is stopped; try again later",
                        (int)t->pid);
    }
    return connect_to_agent(t, seconds, c)
               ? HPX_OK
               : hpx_fail(err, HPX_FAILED, "the library in process %d does not answer; another release of hprofx may be loaded there",
                          (int)t->pid);
}

enum hpx_status hpx_client_open(struct hpx_target *t, const char *agent, unsigned seconds, struct hpx_client *c, struct hpx_err *err)
{
    struct hpx_starting wait = {0};
    enum hpx_status s;
    while ((s = open_once(t, agent, seconds, c, err)) == HPX_NOT_LIVE && hpx_starting_wait(&wait, t)) {
    }
    c->target = t;
    return s != HPX_NOT_LIVE ? s : hpx_target_ended(t) ? hpx_fail(err, HPX_NO_JVM, "process %d has ended", (int)t->pid) : HPX_REFUSED;
}

void hpx_client_close(struct hpx_client *c)
{
    if (c->fd >= 0) {
        (void)close(c->fd);
    }
    c->fd = -1;
}

/* Waits for bytes of the agent, for a while that begins anew with every line. A JVM that ends closes the connection; of one that is stopped
 * nothing can come, which is said after a second. false: `interrupted` is true, or time is over (c->silent). */
static bool await_bytes(struct hpx_client *c, bool (*interrupted)(void))
{
    uint64_t slow = hpx_clock_mono() + UINT64_C(1000000000), until = hpx_clock_mono() + UINT64_C(1000000000) * ANSWER_SECONDS;
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    while (interrupted == NULL || !interrupted()) {
        if (memchr(c->got, '\n', c->len) != NULL || poll(&p, 1, LOOK_MS) > 0) {
            return true;
        }
        if (hpx_clock_mono() > slow && c->target != NULL && hpx_target_is_stopped(c->target)) {
            hpx_attach_say_slow(c->target, ANSWER_SECONDS);
        }
        if (hpx_clock_mono() > until) {
            c->silent = true;
            return false;
        }
    }
    return false;
}

static enum hpx_status end_of(const char *error, struct hpx_err *err)
{
    char *sentence;
    long code = strtol(error, &sentence, 10);
    return hpx_fail(err,
                    code == HPX_E_NOT_LIVE                   ? HPX_NOT_LIVE
                    : code == HPX_E_BUSY || code == HPX_E_VM ? HPX_REFUSED
                    : code == HPX_E_OPT                      ? HPX_USAGE
                                                             : HPX_FAILED,
                    "%s", sentence + strspn(sentence, " "));
}

static enum hpx_status fail_gone(const struct hpx_client *c, struct hpx_err *err)
{
    return c->silent ? hpx_fail(err, HPX_FAILED, "the JVM has not answered for %d minutes; it may be stopped", ANSWER_SECONDS / 60)
                     : hpx_fail(err, HPX_NO_JVM, "the JVM has ended");
}

static enum hpx_status send_line(const struct hpx_client *c, const char *request, struct hpx_err *err)
{
    char whole[HPX_CONTROL_LINE];
    int n = snprintf(whole, sizeof whole, "%s\n", request);
    if (n < 0 || (size_t)n >= sizeof whole || strcspn(request, "\n") + 1 != (size_t)n) {
        return hpx_fail(err, HPX_USAGE, "the options are too long, or have an end of line in them");
    }
    return send(c->fd, whole, (size_t)n, MSG_NOSIGNAL) == n ? HPX_OK : fail_gone(c, err);
}

/* Until the last line of an answer. *stopped: `interrupted` has become true before that. */
static enum hpx_status hear_answer(struct hpx_client *c, void (*line)(void *ctx, const char *text), void *ctx, bool (*interrupted)(void),
                                   bool *stopped, struct hpx_err *err)
{
    for (;;) {
        const char *text = NULL;
        *stopped = !await_bytes(c, interrupted) && !c->silent;
        if (*stopped || c->silent || (text = next_line(c)) == NULL) {
            return fail_gone(c, err);
        }
        if (strcmp(text, "ok") == 0) {
            return HPX_OK;
        }
        if (strncmp(text, "error ", 6) == 0) {
            return end_of(text + 6, err);
        }
        if (line != NULL) {
            line(ctx, text);
        }
    }
}

/* Sends the line again while the JVM is starting. */
static enum hpx_status ask(struct hpx_client *c, const char *request, void (*line)(void *ctx, const char *text), void *ctx,
                           bool (*interrupted)(void), bool *stopped, struct hpx_err *err)
{
    struct hpx_starting wait = {0};
    enum hpx_status s;
    do {
        s = send_line(c, request, err);
        s = s == HPX_OK ? hear_answer(c, line, ctx, interrupted, stopped, err) : s;
    } while (s == HPX_NOT_LIVE && !*stopped && c->target != NULL && hpx_starting_wait(&wait, c->target));
    return s == HPX_NOT_LIVE ? HPX_REFUSED : s;
}

enum hpx_status hpx_client_ask(struct hpx_client *c, const char *request, void (*line)(void *ctx, const char *text), void *ctx,
                               struct hpx_err *err)
{
    bool stopped;
    return ask(c, request, line, ctx, NULL, &stopped, err);
}

enum hpx_status hpx_client_ask_while(struct hpx_client *c, const char *request, void (*line)(void *ctx, const char *text), void *ctx,
                                     bool (*interrupted)(void), struct hpx_err *err)
{
    bool stopped = false;
    enum hpx_status s = send_line(c, request, err);
    s = s == HPX_OK ? hear_answer(c, line, ctx, interrupted, &stopped, err) : s;
    return stopped ? hpx_fail(err, HPX_FAILED, "interrupted; the JVM goes on with `%s`", request) : s;
}

/* The session that has begun in spite of the interrupt ends: this one, and no other. */
static enum hpx_status end_begun(struct hpx_client *c, unsigned number, struct hpx_err *err)
{
    char stop[32];
    (void)snprintf(stop, sizeof stop, "stop %u", number);
    enum hpx_status s = hpx_client_ask(c, stop, NULL, NULL, err);
    c->undone = s == HPX_OK;
    return c->undone ? hpx_fail(err, HPX_FAILED, "interrupted; the session had begun, and has ended") : s;
}

/* The agent takes a line that comes while a session begins for the wish to undo it, and answers both. The line ends nothing by itself: what
 * runs may be somebody else's, and ours be refused because of that. An agent that has not seen it in time begins. */
enum hpx_status hpx_client_begin(struct hpx_client *c, const char *request, void (*line)(void *number, const char *text), unsigned *number,
                                 bool (*interrupted)(void), struct hpx_err *err)
{
    struct hpx_err answer, unused;
    bool stopped = false;
    enum hpx_status s = ask(c, request, line, number, interrupted, &stopped, err);
    if (!stopped) {
        return s;
    }
    s = send_line(c, "status", err);
    s = s == HPX_OK ? hear_answer(c, line, number, NULL, &stopped, err) : s;
    if (s == HPX_NO_JVM || c->silent) {
        return s;
    }
    answer = *err;
    (void)hear_answer(c, NULL, NULL, NULL, &stopped, &unused);
    if (s == HPX_OK) {
        return end_begun(c, *number, err);
    }
    c->undone = strcmp(answer.msg, HPX_CONTROL_UNDONE) == 0;
    return hpx_fail(err, c->undone ? HPX_FAILED : s, "interrupted; %s", answer.msg);
}

bool hpx_client_wait(const struct hpx_client *c, int ms)
{
    char byte;
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    return poll(&p, 1, ms) > 0 && recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}
