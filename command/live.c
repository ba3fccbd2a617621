/* SPDX-License-Identifier: BSD-2-Clause */
/* live.c: sessions in a JVM that runs. Contract: live.h. */
#include "live.h"
#include "client.h"
#include "clock.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ATTACH_SECONDS 30
#define SPARE_MS       10000 /* a session whose command is killed ends so much later by itself */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* The first one ends what was begun in good order, the second one the command. One that was ignored, as by nohup, stays so. */
static void catch_interrupts(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND}, was;
    sigemptyset(&a.sa_mask);
    for (size_t i = 0; i < HPX_ARRAY_LEN(signals); i++) {
        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN) {
            (void)sigaction(signals[i], &a, NULL);
        }
    }
}

static double now(void)
{
    return (double)hpx_clock_mono() / 1e9;
}

/* true: the JVM has ended. */
static bool wait_for(const struct hpx_client *c, double seconds)
{
    double until = now() + seconds, left;
    while (!interrupted && (left = until - now()) > 0) {
        if (hpx_client_wait(c, left > 0.2 ? 200 : (int)ceil(left * 1000))) { /* a signal before the wait is seen behind it */
            return true;
        }
    }
    return false;
}

static void say_line(void *to, const char *text)
{
    (void)fprintf(to, "  %s\n", text);
}

/* Of the profile in the target's /tmp: nobody else's, and none of an earlier command. */
static char profile[64];

static void name_profile(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    (void)snprintf(profile, sizeof profile, "hprofx-%d-%llx.profile", (int)getpid(),
                   (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec);
}

/* The file that the agent has made. -1: there is none, or it is not its own; it is not opened before that is known. */
static int open_profile(const struct hpx_target *t)
{
    struct stat s;
    char name[64];
    int at = openat(t->tmp, profile, O_PATH | O_CLOEXEC | O_NOFOLLOW), fd = -1;
    if (at >= 0 && fstat(at, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == t->uid) {
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", at);
        fd = open(name, O_RDONLY | O_CLOEXEC);
    }
    if (at >= 0) {
        (void)close(at);
    }
    return fd;
}

static void remove_profile(const struct hpx_target *t)
{
    static const char *const behind[] = {"", ".part", ".journal.part"};
    char name[96];
    if (hpx_become(t, NULL) != HPX_OK) {
        return;
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(behind); i++) {
        (void)snprintf(name, sizeof name, "%s%s", profile, behind[i]);
        (void)unlinkat(t->tmp, name, 0);
    }
    hpx_become_self();
}

/* The JVM writes it while it ends. */
static int await_profile(const struct hpx_target *t)
{
    int fd;
    double until = now() + 10;
    while ((fd = open_profile(t)) < 0 && now() < until && !hpx_target_ended(t)) {
        (void)usleep(20000);
    }
    return fd >= 0 ? fd : open_profile(t);
}

/* The number of the session that "start" has begun; other lines are shown. */
static void take_number(void *number, const char *text)
{
    if (sscanf(text, "session: %u", (unsigned *)number) != 1) {
        say_line(stderr, text);
    }
}

static enum hpx_status begin(struct hpx_client *c, const struct hpx_asked *a, double limit, const char *file, unsigned *number,
                             struct hpx_err *err)
{
    char options[7000], request[8000];
    *number = 0;
    if (!hpx_asked_options(a, file, options, sizeof options)) {
        return hpx_asked_bad_options(err);
    }
    (void)snprintf(request, sizeof request, "start %.0f %s", ceil(limit * 1000), options);
    return hpx_client_ask(c, request, take_number, number, err);
}

static enum hpx_status run_session(const struct hpx_target *t, struct hpx_client *c, const struct hpx_asked *a, int out,
                                   struct hpx_err *err)
{
    char file[96], stop[32], name[256];
    unsigned number;
    struct hpx_usage before, after;
    (void)snprintf(file, sizeof file, "/tmp/%s", profile);
    enum hpx_status s = begin(c, a, a->seconds + SPARE_MS / 1000.0, file, &number, err);
    if (s != HPX_OK) {
        return s;
    }
    (void)snprintf(stop, sizeof stop, "stop %u", number);
    bool known = hpx_usage_read("/proc", t->pid, &before), ended = wait_for(c, a->seconds);
    known = hpx_usage_read("/proc", t->pid, &after) && known && !ended;
    s = ended ? HPX_NO_JVM : hpx_client_ask(c, stop, NULL, NULL, err);
    /* if somebody else has ended it, its profile is there all the same */
    int fd = s == HPX_NO_JVM ? await_profile(t) : s == HPX_OK || s == HPX_REFUSED ? open_profile(t) : -1;
    if (fd < 0) {
        return s == HPX_OK       ? hpx_fail(err, HPX_FAILED, "the agent left no profile; its reason is on stderr of the JVM")
               : s == HPX_NO_JVM ? hpx_fail(err, HPX_NO_JVM, "the JVM has ended and left no profile")
                                 : s;
    }
    hpx_target_name(t, name, sizeof name);
    struct hpx_verdict v = {.name = name, .bounded = true};
    if (known) {
        v.usage = hpx_usage_between(&before, &after);
    }
    s = hpx_asked_show(a, &v, fd, out, err);
    (void)close(fd);
    return s;
}

static struct hpx_target target;
static struct hpx_client client;
static struct hpx_err err;

/* Finds the JVM and connects. */
static enum hpx_status reach(const struct hpx_asked *a, const char *word)
{
    catch_interrupts();
    enum hpx_status s = hpx_target_find(word, &target, &err);
    s = s != HPX_OK ? s : hpx_target_open(&target, &err);
    s = s != HPX_OK ? s : hpx_client_open(&target, hpx_asked_agent(a), ATTACH_SECONDS, &client, &err);
    if (s == HPX_OK && interrupted) {
        s = hpx_fail(&err, HPX_FAILED, "interrupted");
    }
    return s;
}

static int leave(enum hpx_status s)
{
    hpx_client_close(&client);
    hpx_target_close(&target);
    return hpx_complain(s, &err);
}

int hpx_live_profile(const struct hpx_asked *a, const char *word)
{
    int out = hpx_asked_open(a, &err); /* before the JVM works for it */
    if (a->out != NULL && out < 0) {
        return hpx_complain(HPX_FAILED, &err);
    }
    client.fd = -1;
    name_profile();
    enum hpx_status s = reach(a, word);
    if (s == HPX_OK) {
        s = run_session(&target, &client, a, out, &err);
        if (s == HPX_FAILED && a->out != NULL && faccessat(target.tmp, profile, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
            (void)fprintf(stderr, "hprofx: the profile stays at /tmp/%s of the JVM\n", profile);
        } else {
            remove_profile(&target);
        }
    }
    if (out >= 0) {
        (void)close(out);
    }
    return leave(s);
}

int hpx_live_start(const struct hpx_asked *a, const char *word)
{
    char room[2 * PATH_MAX];
    unsigned number;
    client.fd = -1;
    enum hpx_status s = reach(a, word);
    if (s == HPX_OK) {
        s = begin(&client, a, a->bounded ? a->seconds : 0, hpx_absolute(a->out, room), &number, &err);
    }
    return leave(s);
}

int hpx_live_ask(const struct hpx_asked *a, const char *request, const char *word)
{
    client.fd = -1;
    enum hpx_status s = reach(a, word);
    if (s == HPX_OK) {
        s = hpx_client_ask(&client, request, say_line, stdout, &err);
    }
    return leave(s);
}
