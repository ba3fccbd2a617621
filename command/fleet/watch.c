/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.c: hprofx-ship's side of watch.h. */
#include "watch.h"
#include "asked.h"
#include "clock.h"
#include "watcher.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STOP_MS 10000
#define DAY     86400.0

#define INFO(name, kind, key, text) {key, text, HPX_WATCH_##kind},
const struct hpx_watch_info hpx_watch_infos[HPX_WATCH_COUNT] = {HPX_WATCH_COUNTERS(INFO)};
#undef INFO

struct hpx_watch {
    struct hpx_watch_shared *shared;
    pid_t pid;
    int control; /* closes when the watcher ends */
    uint32_t flush;
};

/* ---- what was asked ---- */

static struct hpx_watch_asked with_defaults(const struct hpx_watch_asked *asked)
{
    static char host[HOST_NAME_MAX + 1];
    struct hpx_watch_asked a = *asked;
    a.every = a.every == 0 ? 60 : a.every;
    a.share = a.share == 0 ? 100 : a.share;
    a.budget = a.budget == 0 ? 1 : a.budget;
    a.more = a.more == NULL ? "" : a.more;
    a.agent = hpx_asked_agent(&(struct hpx_asked){.agent = a.agent});
    if (a.host == NULL) {
        (void)gethostname(host, sizeof host - 1);
        a.host = host;
    }
    return a;
}

static enum hpx_status check_numbers(const struct hpx_watch_asked *a, struct hpx_err *err)
{
    if (!(a->every >= 1 && a->every <= DAY)) {
        return hpx_fail(err, HPX_USAGE, "--every wants a time from 1s to 24h");
    }
    if (!(a->during >= 0 && a->during < a->every)) {
        return hpx_fail(err, HPX_USAGE, "--for wants a time shorter than that of --every");
    }
    if (!(a->share > 0 && a->share <= 100)) {
        return hpx_fail(err, HPX_USAGE, "--share wants percent of the hosts, more than 0 and at most 100");
    }
    if (!(a->budget > 0 && a->budget <= 100)) {
        return hpx_fail(err, HPX_USAGE, "--budget wants percent of the host's CPU time, more than 0 and at most 100");
    }
    return HPX_OK;
}

enum hpx_status hpx_watch_check(const struct hpx_watch_asked *asked, struct hpx_err *err)
{
    static const char *const ours[] = {"dump", "split", "cutoff", "keep-files", "keep-bytes", "start"};
    const struct hpx_watch_asked a = with_defaults(asked);
    const struct hpx_asked options = {.what = a.what, .more = a.more};
    enum hpx_status s = check_numbers(&a, err);
    if (s != HPX_OK) {
        return s;
    }
    if (a.what != NULL && (hpx_asked_kind(a.what) == NULL || strcmp(a.what, "heap") == 0)) {
        return hpx_fail(err, HPX_USAGE, "-e wants cpu, wall, times, calls, alloc, live, lock or all");
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(ours); i++) {
        if (hpx_asked_names(a.more, ours[i])) {
            return hpx_fail(err, HPX_USAGE, "watch sets %s= by itself; leave it out", ours[i]);
        }
    }
    s = hpx_asked_check(&options, err);
    if (s != HPX_OK) {
        return s;
    }
    return access(a.agent, R_OK) == 0 ? HPX_OK : hpx_fail(err, HPX_FAILED, "cannot read %s: %s", a.agent, strerror(errno));
}

/* ---- begin and end ---- */

static void *share_memory(void)
{
    void *at = mmap(NULL, sizeof(struct hpx_watch_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED ? at : NULL;
}

static void close_all(const int *of, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (of[i] >= 0) {
            (void)close(of[i]);
        }
    }
}

/* What the processes share. *control: of this process. The caller closes all that is not -1, also after a failure. */
static bool open_all(struct hpx_watcher *inner, const char *dir, int *control)
{
    int pair[2];
    *control = -1;
    inner->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    inner->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (inner->dir < 0 || inner->bell < 0 || pipe2(inner->life, O_CLOEXEC) != 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return false;
    }
    inner->control = pair[0];
    *control = pair[1];
    return true;
}

enum hpx_status hpx_watch_start(const struct hpx_watch_asked *asked, const char *dir, struct hpx_watch **w, struct hpx_err *err)
{
    static struct hpx_watcher inner;
    int control;
    inner = (struct hpx_watcher){.asked = with_defaults(asked), .dir = -1, .control = -1, .life = {-1, -1}, .bell = -1};
    struct hpx_watch *mine = calloc(1, sizeof *mine);
    bool opened = open_all(&inner, dir, &control);
    inner.shared = share_memory();
    pid_t pid = mine != NULL && opened && inner.shared != NULL ? fork() : -1;
    if (pid == 0) {
        (void)close(control);
        _exit(hpx_watcher_run(&inner));
    }
    int failed = errno;
    close_all((const int[]){inner.dir, inner.control, inner.life[0], inner.life[1], inner.bell}, 5);
    if (pid < 0) {
        close_all(&control, 1);
        if (inner.shared != NULL) {
            (void)munmap(inner.shared, sizeof *inner.shared);
        }
        free(mine);
        return hpx_fail(err, HPX_FAILED, "cannot begin to watch, with profiles in %s: %s", dir, strerror(failed));
    }
    *mine = (struct hpx_watch){.shared = inner.shared, .pid = pid, .control = control};
    *w = mine;
    return HPX_OK;
}

/* Waits for a message. 1: *m; 0: the time is over; -1: the watcher has ended. */
static int hear(const struct hpx_watch *w, struct hpx_watch_message *m, uint64_t until)
{
    for (;;) {
        uint64_t now = hpx_clock_mono();
        struct pollfd p = {.fd = w->control, .events = POLLIN};
        int n = poll(&p, 1, now < until ? (int)((until - now) / 1000000) + 1 : 0);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return 0;
        }
        ssize_t len = recv(w->control, m, sizeof *m, MSG_DONTWAIT);
        return len == (ssize_t)sizeof *m ? 1 : -1;
    }
}

static bool tell(const struct hpx_watch *w, uint32_t what, uint32_t number)
{
    const struct hpx_watch_message m = {what, number};
    return send(w->control, &m, sizeof m, MSG_NOSIGNAL) == (ssize_t)sizeof m;
}

bool hpx_watch_flush(struct hpx_watch *w, int ms)
{
    struct hpx_watch_message m = {0, 0};
    uint64_t until = hpx_clock_mono() + (uint64_t)ms * 1000000;
    uint32_t number = ++w->flush;
    int heard = tell(w, HPX_WATCH_FLUSH, number) ? 1 : -1;
    while (heard > 0 && !(m.what == HPX_WATCH_FLUSHED && m.number == number)) { /* others are late answers */
        heard = hear(w, &m, until);
    }
    return heard > 0;
}

void hpx_watch_counts(const struct hpx_watch *w, struct hpx_watch_counts *to)
{
    for (size_t i = 0; i < HPX_WATCH_COUNT; i++) {
        to->of[i] = atomic_load_explicit(&w->shared->of[i], memory_order_relaxed);
    }
}

bool hpx_watch_ended(const struct hpx_watch *w)
{
    char byte;
    return recv(w->control, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void hpx_watch_stop(struct hpx_watch *w, struct hpx_watch_counts *to)
{
    struct hpx_watch_message m;
    if (w == NULL) {
        return;
    }
    uint64_t until = hpx_clock_mono() + (uint64_t)STOP_MS * 1000000;
    int heard = tell(w, HPX_WATCH_STOP, 0) ? 1 : -1;
    while (heard > 0) {
        heard = hear(w, &m, until);
    }
    if (heard == 0) {
        (void)kill(w->pid, SIGKILL);
    }
    while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    if (to != NULL) {
        hpx_watch_counts(w, to);
    }
    (void)close(w->control);
    (void)munmap(w->shared, sizeof *w->shared);
    free(w);
}
