/* SPDX-License-Identifier: BSD-2-Clause */
/* session.c: see session.h. */
#include "session.h"
#include "clock.h"
#include "facts.h"
#include "screen.h"
#include "stale.h"
#include "starting.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ATTACH_SECONDS 30

static volatile sig_atomic_t interrupted;

/* The first one ends what was begun in good order, the second one the command. */
static void on_interrupt(int number)
{
    if (interrupted) {
        hpx_screen_rescue();
        (void)signal(number, SIG_DFL);
        (void)raise(number); /* it waits for the end of this function */
    }
    interrupted = 1;
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

/* One that was ignored, as by nohup, stays so. */
static void catch_interrupts(void)
{
    struct sigaction a = {.sa_handler = on_interrupt}, was;
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

bool hpx_live_interrupted(void)
{
    return interrupted != 0;
}

bool hpx_live_wait(const struct hpx_live *l, double seconds)
{
    double until = now() + seconds, left;
    while (!interrupted && (left = until - now()) > 0) {
        if (hpx_client_wait(&l->client, left > 0.2 ? 200 : (int)ceil(left * 1000))) { /* a signal before the wait is seen behind it */
            return true;
        }
    }
    return false;
}

static void name_profile(struct hpx_live *l)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    (void)snprintf(l->profile, sizeof l->profile, "hprofx-%d-%llx.profile", (int)getpid(),
                   (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec);
}

void hpx_live_keep(struct hpx_live *l)
{
    unsigned long long at = strtoull(strrchr(l->profile, '-') + 1, NULL, 16);
    (void)snprintf(l->profile, sizeof l->profile, "hprofx-%d-%llx-%llx" HPX_LIVE_KEPT, (int)l->target.own_pid,
                   (unsigned long long)l->target.started, at);
}

/* When it was begun, of a profile that is the JVM's; 0: it is another file. In a /tmp that containers share several JVMs have its number.
 */
static unsigned long long begun(const struct hpx_live *l, const char *name)
{
    struct stat s;
    unsigned long long started, at;
    int pid, end = 0;
    bool is = sscanf(name, "hprofx-%d-%llx-%llx" HPX_LIVE_KEPT "%n", &pid, &started, &at, &end) == 3 && end > 0 && name[end] == '\0' &&
              pid == (int)l->target.own_pid && started == l->target.started && fstatat(l->target.tmp, name, &s, AT_SYMLINK_NOFOLLOW) == 0 &&
              S_ISREG(s.st_mode) && s.st_uid == l->target.uid;
    return is ? at : 0;
}

bool hpx_live_kept(struct hpx_live *l)
{
    unsigned long long newest = 0;
    int fd = openat(l->target.tmp, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    for (const struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        unsigned long long at = begun(l, e->d_name);
        if (at > newest) {
            newest = at;
            (void)snprintf(l->profile, sizeof l->profile, "%.*s", (int)sizeof l->profile - 1, e->d_name);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    } else if (fd >= 0) {
        (void)close(fd);
    }
    return newest != 0;
}

/* It is not opened before it is known to be the JVM's. */
int hpx_live_open(const struct hpx_live *l, const char *behind)
{
    struct stat s;
    char name[96];
    (void)snprintf(name, sizeof name, "%s%s", l->profile, behind);
    int at = openat(l->target.tmp, name, O_PATH | O_CLOEXEC | O_NOFOLLOW), fd = -1;
    if (at >= 0 && fstat(at, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == l->target.uid) {
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", at);
        fd = open(name, O_RDONLY | O_CLOEXEC);
    }
    if (at >= 0) {
        (void)close(at);
    }
    return fd;
}

void hpx_live_remove(const struct hpx_live *l, const char *behind)
{
    char name[96];
    if (hpx_become(&l->target, NULL) == HPX_OK) {
        (void)snprintf(name, sizeof name, "%s%s", l->profile, behind);
        (void)unlinkat(l->target.tmp, name, 0);
        hpx_become_self();
    }
}

static void say_line(void *unused, const char *text)
{
    (void)unused;
    (void)fprintf(stderr, "  %s\n", text);
}

void hpx_live_clean(const struct hpx_live *l)
{
    static const char *const behind[] = {"", ".part", ".journal.part"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(behind); i++) {
        hpx_live_remove(l, behind[i]);
    }
}

enum hpx_status hpx_live_forget(struct hpx_live *l)
{
    struct sigaction was;
    hpx_live_clean(l);
    for (size_t i = 0; i < HPX_ARRAY_LEN(signals); i++) {
        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler == on_interrupt) {
            (void)signal(signals[i], SIG_DFL);
        }
    }
    return interrupted ? hpx_fail(&l->err, HPX_FAILED, "interrupted") : HPX_OK;
}

/* The number of the session that has begun; other lines are shown. */
static void take_number(void *number, const char *text)
{
    if (sscanf(text, "session: %u", (unsigned *)number) != 1) {
        say_line(NULL, text);
    }
}

enum hpx_status hpx_live_begin(struct hpx_live *l, const struct hpx_asked *a, const char *verb, double limit, const char *file,
                               unsigned *number)
{
    char options[7000], request[8000];
    *number = 0;
    if (!hpx_asked_options(a, file, options, sizeof options)) {
        return hpx_asked_bad_options(&l->err);
    }
    (void)snprintf(request, sizeof request, "%s %.0f %s", verb, ceil(limit * 1000), options);
    return hpx_client_begin(&l->client, request, take_number, number, hpx_live_interrupted, &l->err);
}

/* What a session writes, of the answer to "status". */
static void take_output(void *to, const char *text)
{
    static const char key[] = "output: ";
    if (strncmp(text, key, sizeof key - 1) == 0) {
        (void)snprintf(to, PATH_MAX, "%s", text + sizeof key - 1);
    }
}

enum hpx_status hpx_live_output(struct hpx_live *l, char to[static PATH_MAX])
{
    to[0] = '\0';
    return hpx_client_ask_while(&l->client, "status", take_output, to, hpx_live_interrupted, &l->err);
}

enum hpx_status hpx_live_stop(struct hpx_live *l, unsigned number)
{
    char stop[32];
    (void)snprintf(stop, sizeof stop, "stop %u", number);
    return hpx_client_ask(&l->client, stop, say_line, NULL, &l->err);
}

enum hpx_status hpx_live_find(struct hpx_live *l, const char *word)
{
    l->client.fd = l->target.pidfd = l->target.cwd = l->target.tmp = -1;
    name_profile(l);
    catch_interrupts();
    struct hpx_starting wait = {0};
    enum hpx_status s;
    do {
        hpx_target_close(&l->target);
        s = hpx_target_find(word, &l->target, &l->err);
        if (s != HPX_OK) {
            return s;
        }
        s = hpx_target_open(&l->target, &l->err);
    } while (s == HPX_NO_JVM && hpx_starting_may_be(&l->target) && hpx_starting_wait(&wait, &l->target));
    return s;
}

enum hpx_status hpx_live_reach(struct hpx_live *l, const struct hpx_asked *a)
{
    enum hpx_status s = hpx_client_open(&l->target, hpx_asked_agent(a), ATTACH_SECONDS, &l->client, &l->err);
    if (s == HPX_OK) {
        hpx_stale_remove(&l->target);
    }
    if (s == HPX_OK && interrupted) {
        s = hpx_fail(&l->err, HPX_FAILED, "interrupted");
    }
    return s;
}

struct hpx_asked hpx_live_fitting(const struct hpx_live *l, const struct hpx_asked *a)
{
    char release[HPX_FACTS_RELEASE];
    struct hpx_asked fits = *a;
    bool all = strcmp(a->what, "all") == 0 && !hpx_asked_names_mode(a->more);
    unsigned major = all && hpx_target_release(&l->target, release, sizeof release) ? hpx_facts_major(release) : 0;
    fits.old = major > 0 && major < 11;
    if (fits.old) {
        (void)fprintf(stderr,
                      "hprofx: -e all is without allocation sites: JDK %u does not sample them; -e alloc with sites=exact counts all\n",
                      major);
    }
    return fits;
}

int hpx_live_leave(struct hpx_live *l, enum hpx_status s)
{
    hpx_client_close(&l->client);
    hpx_target_close(&l->target);
    return hpx_complain(s, &l->err);
}
