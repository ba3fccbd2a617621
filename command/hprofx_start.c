/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_start.c: sessions in a JVM that runs: start, stop, dump, status, and one of some seconds. Contract: hprofx_start.h. */
#include "hprofx_start.h"
#include "clock.h"
#include "facts.h"
#include "session.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SPARE_SECONDS 10 /* a session whose command is killed ends so much later by itself */
#define WRITE_NS      (UINT64_C(10) * 1000000000)

#define KEPT ".kept" /* of the profile of a session that "stop" shows */

static struct hpx_live live;

static void say_line(void *to, const char *text)
{
    (void)fprintf(to, "  %s\n", text);
}

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
    bool once = hpx_asked_at_once(a), known = !once && hpx_usage_read("", live.target.pid, &before);
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
    s = hpx_asked_show(a, &v, fd, out, &live.err);
    (void)close(fd);
    return s;
}

static enum hpx_status reach(const struct hpx_asked *a, const char *word)
{
    enum hpx_status s = hpx_live_find(&live, word);
    return s != HPX_OK ? s : hpx_live_reach(&live, a);
}

/* What is asked for, as far as this JVM has it. */
static struct hpx_asked fitting(const struct hpx_asked *a)
{
    char release[HPX_FACTS_RELEASE];
    struct hpx_asked fits = *a;
    bool all = strcmp(a->what, "all") == 0 && !hpx_asked_names_mode(a->more);
    unsigned major = all && hpx_target_release(&live.target, release, sizeof release) ? hpx_facts_major(release) : 0;
    fits.old = major > 0 && major < 11;
    if (fits.old) {
        (void)fprintf(stderr,
                      "hprofx: -e all is without allocation sites: JDK %u does not sample them; -e alloc with sites=exact counts all\n",
                      major);
    }
    return fits;
}

int hpx_live_profile(const struct hpx_asked *a, const char *word)
{
    int out = hpx_asked_open(a, &live.err); /* before the JVM works for it */
    if (a->out != NULL && out < 0) {
        return hpx_complain(HPX_FAILED, &live.err);
    }
    enum hpx_status s = reach(a, word);
    if (s == HPX_OK) {
        struct hpx_asked fits = fitting(a);
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

/* Where the session writes, and how it ends. */
static void say_start(const struct hpx_asked *a, unsigned number, const char *file)
{
    int pid = (int)live.target.pid;
    if (a->bounded) {
        (void)printf("session %u of process %d has begun; it ends by itself after %g s and writes %s%s\n", number, pid, a->seconds, file,
                     a->out == NULL ? " in the /tmp of the JVM" : "");
    } else if (a->out == NULL) {
        (void)printf("session %u of process %d has begun; `hprofx stop %d` ends it and shows its profile\n", number, pid, pid);
    } else {
        (void)printf("session %u of process %d has begun; `hprofx stop %d` ends it, and its profile is %s\n", number, pid, pid, file);
    }
}

int hpx_live_start(const struct hpx_asked *a, const char *word)
{
    char room[2 * PATH_MAX];
    unsigned number;
    enum hpx_status s = reach(a, word);
    if (a->out == NULL) { /* not as one that this command waits for */
        char *suffix = strrchr(live.profile, '.');
        (void)snprintf(suffix, sizeof live.profile - (size_t)(suffix - live.profile), KEPT);
        (void)snprintf(room, sizeof room, "/tmp/%s", live.profile);
    }
    const char *file = a->out != NULL ? hpx_absolute(a->out, room) : room;
    if (s == HPX_OK) {
        struct hpx_asked fits = fitting(a);
        s = hpx_live_begin(&live, &fits, "start", a->bounded ? a->seconds : 0, file, &number);
    }
    if (s == HPX_OK) {
        say_start(a, number, file);
    }
    if (live.client.undone && a->out != NULL) {
        (void)fprintf(stderr, "hprofx: %s has what was counted until then\n", a->out);
    } else if (live.client.undone) {
        hpx_live_clean(&live);
    }
    return hpx_live_leave(&live, s);
}

/* What a session writes, of the answer to "status". */
static void take_output(void *to, const char *text)
{
    static const char key[] = "output: ";
    if (strncmp(text, key, sizeof key - 1) == 0) {
        (void)snprintf(to, PATH_MAX, "%s", text + sizeof key - 1);
    }
}

/* It was begun without -o, so that its profile is in the JVM's /tmp under a name of ours. */
static bool is_ours(const char *output)
{
    unsigned long long at;
    int pid, end = 0;
    size_t n = strlen(output);
    bool is =
        n < sizeof live.profile && sscanf(output, "/tmp/hprofx-%d-%llx" KEPT "%n", &pid, &at, &end) == 2 && end > 0 && output[end] == 0;
    if (is) {
        memcpy(live.profile, output + strlen("/tmp/"), n + 1 - strlen("/tmp/"));
    }
    return is;
}

/* The profile of a session that has ended. */
static enum hpx_status show_stopped(const struct hpx_asked *a)
{
    char name[256];
    int out = hpx_asked_open(a, &live.err), fd = hpx_live_open(&live, "");
    enum hpx_status s = a->out != NULL && out < 0 ? HPX_FAILED
                        : fd < 0 ? hpx_fail(&live.err, HPX_FAILED, "the agent left no profile; its reason is on stderr of the JVM")
                                 : HPX_OK;
    if (s == HPX_OK) {
        hpx_target_name(&live.target, name, sizeof name);
        s = hpx_asked_show(a, &(struct hpx_verdict){.name = name, .bounded = true}, fd, out, &live.err);
    }
    if (s != HPX_FAILED) {
        hpx_live_clean(&live);
    } else if (fd >= 0) {
        (void)fprintf(stderr, "hprofx: the profile stays at /tmp/%s of the JVM\n", live.profile);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (out >= 0) {
        (void)close(out);
    }
    return s;
}

/* Also says what was done. */
static enum hpx_status ask(const struct hpx_asked *a, const char *request)
{
    char output[PATH_MAX] = "";
    bool stops = strcmp(request, "stop") == 0, dumps = strcmp(request, "dump") == 0, ours = false;
    enum hpx_status s = HPX_OK;
    if (stops || dumps) {
        s = hpx_client_ask_while(&live.client, "status", take_output, output, hpx_live_interrupted, &live.err);
        ours = is_ours(output);
    }
    s = s != HPX_OK
            ? s
            : hpx_client_ask_while(&live.client, request, say_line, stops && ours ? stderr : stdout, hpx_live_interrupted, &live.err);
    if (s == HPX_OK && stops && ours) {
        return show_stopped(a);
    }
    if (s == HPX_OK && output[0] != 0 && (stops || dumps)) {
        (void)printf(stops ? "the session has ended; its profile is %s\n" : "the JVM writes a profile to %s\n", output);
    }
    return s;
}

int hpx_live_ask(const struct hpx_asked *a, const char *request, const char *word)
{
    enum hpx_status s = hpx_live_find(&live, word);
    if (s == HPX_OK && live.target.library[0] == 0 && !hpx_client_listens(&live.target)) { /* nothing is loaded for a question */
        s = strcmp(request, "status") != 0 ? hpx_fail(&live.err, HPX_REFUSED, "no session is running") : s;
        if (s == HPX_OK) {
            say_line(stdout, "session: none");
        }
        return hpx_live_leave(&live, s);
    }
    s = s != HPX_OK ? s : hpx_live_reach(&live, a);
    s = s != HPX_OK ? s : ask(a, request);
    return hpx_live_leave(&live, s);
}
