/* SPDX-License-Identifier: BSD-2-Clause */
/* watch_keeper.c: the keeper of watcher.h: the sessions of one JVM, one after the other, and their profiles. */
#include "asked.h"
#include "client.h"
#include "clock.h"
#include "facts.h"
#include "stale.h"
#include "watch_choice.h"
#include "watcher.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND         UINT64_C(1000000000)
#define MS             UINT64_C(1000000)
#define ATTACH_SECONDS 15
#define LOOK           (200 * MS) /* between two looks for a profile that is due */
#define LATE           (10 * SECOND)
#define LATER_LOOK     (2 * SECOND) /* the same when it is late */
#define END_WAITS      3            /* of 3 s, for a JVM that ends and writes its last profile */
#define ANSWER_SECONDS 60           /* an agent that works says so every tenth second */
#define SPARE_PROFILES 64           /* that SIGQUIT may ask for */
#define MOST_LEFTOVERS 256          /* that are brought at once */
#define OLD_SECONDS    300          /* a file of another session this old has nobody who will take it */

/* For JDK 8 to 10, which have no event for samples of allocations, CPU alone. */
static const char by_default[] = "cpu=samples,heap=sites,sites=sampled,depth=64", for_old[] = "cpu=samples,depth=64";

/* The process has one JVM. */
static struct {
    const struct hpx_watcher *w;
    struct hpx_watch_slot *slot;
    struct hpx_target jvm;
    struct hpx_client client;
    struct hpx_err err;
    char more[4096];
    /* of the session: */
    unsigned long long id; /* ms since 1970 */
    char name[64];         /* of its last profile in the JVM's /tmp */
    unsigned number;       /* as the agent has it */
    unsigned next;         /* profile */
    uint64_t begun, due;   /* hpx_clock_mono() */
    uint64_t agent_ns;     /* CPU time of the agent that was added to the counters */
    uint32_t asked;        /* the flush for which a profile was asked */
    unsigned flushes;      /* profiles that were asked for */
    unsigned leftovers;    /* that were brought */
} k;

static volatile sig_atomic_t told; /* to end */

/* ---- waiting ---- */

static void on_end(int unused)
{
    (void)unused;
    told = 1;
}

static void on_bell(int unused)
{
    (void)unused; /* the wait comes back */
}

/* They come in while the keeper waits, and at no other time. */
static void take_signals(void)
{
    static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction a = {.sa_handler = on_end};
    sigemptyset(&a.sa_mask);
    for (size_t i = 0; i < HPX_ARRAY_LEN(ends); i++) {
        (void)sigaction(ends[i], &a, NULL);
    }
    a.sa_handler = on_bell;
    (void)sigaction(SIGUSR1, &a, NULL);
    a.sa_handler = SIG_DFL;
    (void)sigaction(SIGCHLD, &a, NULL);
}

enum event { NOTHING, TOLD, GONE };

/* Until a time of hpx_clock_mono(); also comes back, with NOTHING, when a flush is requested. */
static enum event wait_until(uint64_t until)
{
    struct pollfd p[] = {{.fd = k.w->life[0], .events = POLLIN}, {.fd = k.client.fd, .events = POLLIN}};
    uint64_t now = hpx_clock_mono(), left = until > now ? until - now : 0;
    const struct timespec limit = {(time_t)(left / SECOND), (long)(left % SECOND)};
    sigset_t none;
    sigemptyset(&none);
    int n = told ? 0 : ppoll(p, HPX_ARRAY_LEN(p), &limit, &none);
    if (told || (n > 0 && p[0].revents != 0)) {
        return TOLD;
    }
    return n > 0 && p[1].revents != 0 ? GONE : NOTHING;
}

static void tell_cost(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) == 0) {
        uint64_t us = (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 + (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
        atomic_store_explicit(&k.slot->own_ns, us * 1000, memory_order_relaxed);
    }
}

/* ---- profiles ---- */

static uint32_t flush_wanted(void)
{
    return atomic_load_explicit(&k.w->shared->flush, memory_order_relaxed);
}

static void answer_flush(uint32_t number)
{
    const uint64_t one = 1;
    if (atomic_exchange_explicit(&k.slot->flushed, number, memory_order_relaxed) != number) {
        (void)!write(k.w->bell, &one, sizeof one);
    }
}

static void add_cost(uint64_t agent_ns)
{
    if (agent_ns > k.agent_ns) { /* a report counts from the begin of the session */
        hpx_watch_add(k.w->shared, HPX_WATCH_AGENT_CPU_NS, agent_ns - k.agent_ns);
        (void)atomic_fetch_add_explicit(&k.slot->agent_ns, agent_ns - k.agent_ns, memory_order_relaxed);
        k.agent_ns = agent_ns;
    }
    tell_cost();
}

/* Names in the folder of profiles sort by JVM, session and profile. */
static enum hpx_fetched fetch(const char *behind, unsigned number)
{
    char name[96], as[96];
    uint64_t agent_ns;
    (void)snprintf(name, sizeof name, "%s%s", k.name, behind);
    (void)snprintf(as, sizeof as, "%d-%llu-%llu-%06u.hprof", (int)k.jvm.pid, (unsigned long long)k.jvm.started, k.id, number);
    enum hpx_fetched how = hpx_watch_fetch(k.w, &k.jvm, name, as, &agent_ns);
    if (how == HPX_FETCHED) {
        add_cost(agent_ns);
    }
    return how;
}

/* As many profiles as a session can have by now, with some of SIGQUIT: whoever runs the JVM could make files without end. */
static unsigned most_by(uint64_t now, uint64_t every)
{
    return 2 * (unsigned)((now - k.begun) / every) + k.flushes + SPARE_PROFILES;
}

static enum hpx_fetched fetch_number(unsigned number)
{
    char behind[16];
    (void)snprintf(behind, sizeof behind, ".%u", number);
    return fetch(behind, number);
}

/* All that are there in a row. */
static bool fetch_numbered(void)
{
    uint64_t every = (uint64_t)(k.w->asked.every * 1e9), now = hpx_clock_mono();
    unsigned most = most_by(now, every);
    bool some = false;
    for (enum hpx_fetched how; k.next <= most; k.next++) {
        how = fetch_number(k.next);
        if (how == HPX_FETCHED_NOT || how == HPX_FETCHED_FOREIGN) {
            break;
        }
        some = true;
    }
    if (some) {
        k.due = k.begun + ((now - k.begun) / every + 1) * every;
        answer_flush(k.asked);
    }
    return some;
}

static void note_least(void *least, const char *name, const struct hpx_watch_name *is, int64_t modified)
{
    unsigned *n = least;
    (void)name, (void)modified;
    if (is->id == k.id && is->pid == (int)k.jvm.own_pid && is->file == HPX_WATCH_NUMBERED && is->number >= k.next &&
        (*n == 0 || is->number < *n)) {
        *n = is->number;
    }
}

/* The agent could not write one, or has removed it because of keep-bytes=. */
static bool skip_missing(void)
{
    unsigned least = 0;
    hpx_watch_each(&k.jvm, note_least, &least);
    if (least <= k.next || least > most_by(hpx_clock_mono(), (uint64_t)(k.w->asked.every * 1e9))) {
        return false;
    }
    for (; k.next < least; k.next++) {
        enum hpx_fetched how = fetch_number(k.next); /* it may have come just now */
        if (how == HPX_FETCHED_NOT || how == HPX_FETCHED_FOREIGN) {
            hpx_watch_add(k.w->shared, how == HPX_FETCHED_NOT ? HPX_WATCH_LOST_UNSEEN : HPX_WATCH_LOST_FOREIGN, 1);
        }
    }
    return fetch_numbered();
}

static void remove_unfinished(void *unused, const char *name, const struct hpx_watch_name *is, int64_t modified)
{
    (void)unused, (void)modified;
    if (is->id == k.id && is->pid == (int)k.jvm.own_pid && is->file == HPX_WATCH_UNFINISHED) {
        hpx_watch_remove(&k.jvm, name);
    }
}

static void fetch_rest(void)
{
    (void)fetch_numbered();
    while (skip_missing()) {
    }
    enum hpx_fetched how = fetch("", k.next);
    if (how == HPX_FETCHED_NOT || how == HPX_FETCHED_FOREIGN) {
        hpx_watch_add(k.w->shared, how == HPX_FETCHED_NOT ? HPX_WATCH_LOST_KILLED : HPX_WATCH_LOST_FOREIGN, 1);
    }
    hpx_watch_each(&k.jvm, remove_unfinished, NULL);
    atomic_store_explicit(&k.slot->in_session, 0, memory_order_relaxed);
    hpx_watch_add(k.w->shared, HPX_WATCH_ENDED, 1);
    answer_flush(flush_wanted());
}

/* What a session left whose keeper and watcher were killed: of this JVM, or of any in this folder after some time. */
static void fetch_leftover(void *unused, const char *name, const struct hpx_watch_name *is, int64_t modified)
{
    char as[96];
    uint64_t agent_ns;
    double old = k.w->asked.every * 3 > OLD_SECONDS ? k.w->asked.every * 3 : OLD_SECONDS;
    (void)unused;
    if ((is->pid == (int)k.jvm.own_pid && is->id == k.id) || k.leftovers == MOST_LEFTOVERS ||
        (is->pid != (int)k.jvm.own_pid && (double)(time(NULL) - (time_t)modified) < old)) {
        return;
    }
    if (is->file == HPX_WATCH_UNFINISHED) {
        hpx_watch_remove(&k.jvm, name);
        return;
    }
    k.leftovers++;
    /* as the last one of its session has no number, it sorts behind the others */
    (void)snprintf(as, sizeof as, "%d-left-%llu-%06u.hprof", is->pid, is->id, is->file == HPX_WATCH_LAST ? 999999U : is->number);
    if (hpx_watch_fetch(k.w, &k.jvm, name, as, &agent_ns) == HPX_FETCHED) {
        hpx_watch_add(k.w->shared, HPX_WATCH_LEFTOVERS, 1);
    }
}

/* ---- a session ---- */

static enum hpx_keeper_end end_of(enum hpx_status s)
{
    if (k.client.silent) {
        (void)hpx_err_set(&k.err, HPX_E_SYS, "it does not answer; it may be stopped");
        return HPX_KEEPER_SILENT;
    }
    switch (s) {
    case HPX_NO_JVM:
        return HPX_KEEPER_GONE;
    case HPX_NOT_PERMITTED:
        return HPX_KEEPER_RIGHTS;
    case HPX_REFUSED:
    case HPX_USAGE:
        return HPX_KEEPER_REFUSED;
    default:
        return HPX_KEEPER_FAILED;
    }
}

static void take_number(void *number, const char *text)
{
    (void)sscanf(text, "session: %u", (unsigned *)number); /* the other lines tell how far it is */
}

static bool is_old(void)
{
    char release[HPX_FACTS_RELEASE];
    unsigned major = hpx_target_release(&k.jvm, release, sizeof release) ? hpx_facts_major(release) : 0;
    return major > 0 && major < 11;
}

/* The options of all sessions of this JVM, without the file. */
static void choose_options(void)
{
    const struct hpx_watch_asked *a = &k.w->asked;
    const char *mode = a->what != NULL || hpx_asked_names_mode(a->more) ? "" : is_old() ? for_old : by_default;
    char dump[64] = "";
    if (a->during == 0) {
        (void)snprintf(dump, sizeof dump, "dump=%.0fms,keep-bytes=64m,", a->every * 1000);
    }
    (void)snprintf(k.more, sizeof k.more, "%s%ssplit=y,cutoff=0,%s%s", mode, mode[0] != 0 ? "," : "", dump, a->more);
    size_t n = strlen(k.more);
    k.more[n - (k.more[n - 1] == ',')] = 0;
}

static enum hpx_status begin(void)
{
    char options[7000], request[8000], file[96];
    struct timespec now;
    const struct hpx_asked a = {.what = k.w->asked.what, .more = k.more};
    clock_gettime(CLOCK_REALTIME, &now);
    k.id = (unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000;
    hpx_watch_print((int)k.jvm.own_pid, k.id, k.name, sizeof k.name);
    (void)snprintf(file, sizeof file, "/tmp/%s", k.name);
    k.number = 0;
    k.next = 1;
    k.flushes = 0;
    k.agent_ns = 0;
    k.begun = hpx_clock_mono();
    k.due = k.begun + (uint64_t)(k.w->asked.every * 1e9);
    k.asked = flush_wanted();
    if (!hpx_asked_options(&a, file, options, sizeof options)) {
        return hpx_asked_bad_options(&k.err);
    }
    /* hold: if this process is killed, its connection closes and the session ends */
    (void)snprintf(request, sizeof request, "hold 0 %s", options);
    enum hpx_status s = hpx_client_ask(&k.client, request, take_number, &k.number, &k.err);
    if (s == HPX_OK) {
        answer_flush(k.asked);
        atomic_store_explicit(&k.slot->in_session, 1, memory_order_relaxed);
        hpx_watch_add(k.w->shared, HPX_WATCH_BEGUN, 1);
    }
    return s;
}

/* HPX_REFUSED: the session has ended. */
static enum hpx_status ask_for_profile(void)
{
    char request[32];
    (void)snprintf(request, sizeof request, "dump %u", k.number);
    return hpx_client_ask(&k.client, request, NULL, NULL, &k.err);
}

/* The JVM ends: it writes the last profile before it has ended. */
static void await_end(void)
{
    for (int i = 0; i < END_WAITS && !hpx_target_ends(&k.jvm); i++) {
    }
}

/* Ends it and brings what there is. */
static enum hpx_keeper_end finish(enum hpx_keeper_end why)
{
    char request[32];
    if (why == HPX_KEEPER_TOLD) {
        (void)snprintf(request, sizeof request, "stop %u", k.number);
        if (hpx_client_ask(&k.client, request, NULL, NULL, &k.err) == HPX_NO_JVM) {
            why = HPX_KEEPER_GONE;
        }
    }
    if (why == HPX_KEEPER_GONE) {
        await_end();
    }
    fetch_rest();
    return why;
}

/* When to look next: not before a profile is due or was asked for. */
static uint64_t next_look(uint64_t now, uint64_t asked_at)
{
    bool flushing = asked_at != 0 && k.asked != atomic_load_explicit(&k.slot->flushed, memory_order_relaxed);
    uint64_t from = flushing && asked_at < k.due ? asked_at : k.due;
    if (!flushing && k.w->asked.during > 0) {
        return UINT64_MAX; /* the only one comes at the end */
    }
    return now < from ? from + LOOK / 4 : now + (now < from + LATE ? LOOK : LATER_LOOK);
}

/* From its begin to its end, or to `until`. HPX_KEEPER_TOLD: also then. */
static enum hpx_keeper_end hold(uint64_t until)
{
    uint64_t asked_at = 0, late = 0; /* when a profile was asked for; the due time for which that was because it was late */
    for (;;) {
        uint64_t now = hpx_clock_mono();
        (void)fetch_numbered();
        bool is_late = k.w->asked.during == 0 && now > k.due + LATE && late != k.due;
        uint32_t wanted = flush_wanted();
        if (wanted != k.asked || is_late) { /* no profile comes: whether the session still runs is told by the answer */
            late = is_late ? k.due : late;
            k.asked = wanted;
            k.flushes++;
            asked_at = now;
            enum hpx_status s = ask_for_profile();
            if (s != HPX_OK) {
                return s == HPX_REFUSED ? HPX_KEEPER_TAKEN : end_of(s);
            }
            (void)skip_missing();
        }
        uint64_t look = next_look(now, asked_at);
        enum event e = wait_until(look < until ? look : until);
        if (e != NOTHING || hpx_clock_mono() >= until) {
            return e == GONE ? HPX_KEEPER_GONE : HPX_KEEPER_TOLD;
        }
    }
}

/* ---- the JVM ---- */

/* Of an attempt to reach it: only the sentence tells a JVM that is silent, perhaps for now, from one that refuses. */
static enum hpx_keeper_end end_of_reach(enum hpx_status s)
{
    return s == HPX_REFUSED && strstr(k.err.msg, "does not answer") != NULL ? HPX_KEEPER_SILENT : end_of(s);
}

static void rest_until(uint64_t at, enum event *e)
{
    *e = NOTHING;
    do {
        answer_flush(flush_wanted());
        tell_cost();
        *e = wait_until(at);
    } while (*e == NOTHING && hpx_clock_mono() < at);
}

static enum hpx_keeper_end keep(void)
{
    uint64_t every = (uint64_t)(k.w->asked.every * 1e9), during = (uint64_t)(k.w->asked.during * 1e9);
    for (bool first = true;; first = false) {
        enum event e;
        enum hpx_status s = begin();
        if (s != HPX_OK) {
            return s == HPX_REFUSED ? HPX_KEEPER_OCCUPIED : end_of(s);
        }
        if (first) {
            hpx_watch_each(&k.jvm, fetch_leftover, NULL);
        }
        enum hpx_keeper_end why = finish(hold(during > 0 ? k.begun + during : UINT64_MAX));
        if (why != HPX_KEEPER_TOLD || told || during == 0) {
            return why;
        }
        rest_until(k.begun + every, &e);
        if (e != NOTHING) {
            return e == GONE ? HPX_KEEPER_GONE : HPX_KEEPER_TOLD;
        }
    }
}

static enum hpx_keeper_end reach_and_keep(void)
{
    enum hpx_status s = hpx_target_open(&k.jvm, &k.err);
    if (s != HPX_OK) {
        return end_of(s);
    }
    s = hpx_client_open(&k.jvm, k.w->asked.agent, ATTACH_SECONDS, &k.client, &k.err);
    if (s != HPX_OK) {
        return end_of_reach(s);
    }
    const struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    (void)setsockopt(k.client.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    hpx_stale_remove(&k.jvm);
    choose_options();
    return keep();
}

enum hpx_keeper_end hpx_keeper_run(const struct hpx_watcher *w, struct hpx_watch_slot *slot, const struct hpx_target *t, bool quiet)
{
    char name[256];
    k.w = w;
    k.slot = slot;
    k.jvm = *t;
    k.client.fd = -1;
    take_signals();
    enum hpx_keeper_end why = reach_and_keep();
    tell_cost();
    if (why > HPX_KEEPER_GONE && !quiet) {
        hpx_target_name(&k.jvm, name, sizeof name);
        (void)fprintf(stderr, "hprofx watch: process %d, %s, is left alone: %s\n", (int)k.jvm.pid, name,
                      why == HPX_KEEPER_TAKEN ? "another command has ended the session" : k.err.msg);
    }
    hpx_client_close(&k.client);
    hpx_target_close(&k.jvm);
    return why;
}
