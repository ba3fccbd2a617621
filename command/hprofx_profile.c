/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_profile.c: hprofx PID|NAME: a session of some seconds, and its profile. Contract: subcommands.h. */
#include "clock.h"
#include "heap_text.h"
#include "json.h"
#include "session.h"
#include "subcommands.h"
#include "threads.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SPARE_SECONDS 10 /* a session whose command is killed ends so much later by itself */
#define WRITE_NS      (UINT64_C(10) * 1000000000)

static struct hpx_live live;

/* The JVM writes it while it ends. */
static int await_profile(void)
{
    int fd;
    uint64_t until = hpx_clock_mono() + WRITE_NS;
    while ((fd = hpx_live_open(&live, "")) < 0 && hpx_clock_mono() < until && !hpx_target_ended(&live.target)) {
        (void)usleep(20000);
    }
    return fd >= 0 ? fd : hpx_live_open(&live, "");
}

/* The JVM was killed, or is silent: it has left what can be made a profile. */
static bool is_recoverable(void)
{
    int fd = hpx_live_open(&live, ".journal.part");
    if (fd >= 0) {
        (void)close(fd);
    }
    return fd >= 0;
}

static enum hpx_status tell_heap(const struct hpx_asked *a, int fd)
{
    struct hpx_err why;
    enum hpx_status s = hpx_live_forget(&live); /* reading takes a while, and may be ended */
    if (s != HPX_OK) {
        return s;
    }
    struct hpx_json j = {.to = stdout};
    if (a->json) {
        hpx_json_open(&j, NULL, '{');
        hpx_json_uint(&j, "pid", (uint64_t)live.target.pid);
    }
    enum hpx_heap_read done = hpx_heap_tell(stdout, fd, &(struct hpx_heap_ask){.rows = a->rows, .json = a->json ? &j : NULL}, &why);
    if (a->json) {
        hpx_json_close(&j, '}');
        (void)putchar('\n');
    }
    return done == HPX_HEAP_READ ? HPX_OK : hpx_fail(&live.err, done == HPX_HEAP_PARTIAL ? HPX_PARTIAL : HPX_FAILED, "%s", why.msg);
}

static enum hpx_status tell_threads(const struct hpx_asked *a, int fd)
{
    enum hpx_status s = hpx_live_forget(&live);
    const struct hpx_threads_ask ask = {.rows = a->rows, .json = a->json, .pid = live.target.pid, .filter = &a->filter};
    return s == HPX_OK ? hpx_threads_tell(stdout, fd, &ask, &live.err) : s;
}

static enum hpx_status run_session(const struct hpx_asked *a, int out)
{
    char file[96], name[256];
    unsigned number;
    struct hpx_usage before, after;
    (void)snprintf(file, sizeof file, "/tmp/%s", live.profile);
    enum hpx_status s = hpx_live_begin(&live, a, "start", a->seconds + SPARE_SECONDS, file, &number);
    if (s != HPX_OK) {
        return s;
    }
    bool once = a->census || hpx_asked_at_once(a), known = !once && hpx_usage_read("", live.target.pid, &before);
    bool ended = !once && hpx_live_wait(&live, a->seconds);
    known = known && hpx_usage_read("", live.target.pid, &after) && !ended;
    s = ended ? HPX_NO_JVM : hpx_live_stop(&live, number);
    /* if somebody else has ended it, its profile is there all the same */
    int fd = s == HPX_NO_JVM ? await_profile() : s == HPX_OK || s == HPX_REFUSED ? hpx_live_open(&live, "") : -1;
    if (fd < 0) {
        return s == HPX_OK       ? hpx_fail(&live.err, HPX_FAILED, "the agent left no profile; its reason is on stderr of the JVM")
               : s == HPX_NO_JVM ? hpx_fail(&live.err, HPX_NO_JVM, "the JVM has ended and left no profile")
                                 : s;
    }
    hpx_target_name(&live.target, name, sizeof name);
    struct hpx_verdict v = {.name = name, .bounded = true};
    if (known) {
        v.usage = hpx_usage_between(&before, &after);
    }
    s = a->census ? tell_threads(a, fd) : a->words ? tell_heap(a, fd) : hpx_asked_show(a, &v, fd, out, &live.err);
    (void)close(fd);
    return s;
}

int hpx_live_profile(const struct hpx_asked *asked, const char *word)
{
    char room[2 * PATH_MAX];
    struct hpx_asked named = *asked, *a = &named;
    int out = -1;
    enum hpx_status s = hpx_asked_is_one(a, &live.err);
    if (s != HPX_OK) {
        return hpx_complain(s, &live.err);
    }
    s = hpx_live_find(&live, word);
    if (s == HPX_OK && a->out != NULL) { /* before the JVM works for it */
        a->out = hpx_asked_expanded(a->out, live.target.pid, time(NULL), room);
        out = hpx_asked_open(a, &live.err);
        s = out < 0 ? HPX_FAILED : HPX_OK;
    }
    s = s != HPX_OK ? s : hpx_live_reach(&live, a);
    if (s == HPX_OK) {
        struct hpx_asked fits = hpx_live_fitting(&live, a);
        s = run_session(&fits, out);
        bool kept = s == HPX_FAILED && !live.client.undone && (a->out != NULL || live.client.silent);
        if (kept && faccessat(live.target.tmp, live.profile, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
            (void)fprintf(stderr, "hprofx: the profile stays at /tmp/%s of the JVM\n", live.profile);
        } else if (((s == HPX_FAILED && !live.client.undone) || s == HPX_NO_JVM) && is_recoverable()) {
            (void)fprintf(stderr, "hprofx: what the JVM wrote stays in its /tmp: `hprofx recover /tmp/%s` rebuilds the profile\n",
                          live.profile);
        } else {
            hpx_live_clean(&live);
        }
    }
    if (out >= 0) {
        (void)close(out);
    }
    if (s != HPX_OK && s != HPX_PARTIAL) {
        hpx_asked_drop(a);
    }
    return hpx_live_leave(&live, s);
}
