/* SPDX-License-Identifier: BSD-2-Clause */
/* watcher.c: the watcher of watcher.h: which JVM has a keeper. */
#include "watcher.h"
#include "clock.h"
#include "watch_choice.h"
#include "watch_known.h"
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND       UINT64_C(1000000000)
#define LOOK         SECOND        /* between two looks at all processes */
#define LONGEST_LOOK (60 * SECOND) /* the same if the watcher itself costs too much */
#define AT_ONCE      2             /* keepers that one look begins: JVMs that all get a library at once would be felt */
#define YOUNG        (3 * SECOND)  /* JVMs this young may be tools that end at once */
#define AGAIN        (600 * SECOND)
#define FREE_AGAIN   (60 * SECOND) /* somebody else's session has ended */
#define PROFILES     3             /* the budget is checked after this number of them */
#define REST         10            /* a JVM that costs too much is left out for this number of them */
#define MOST_RESTS   64
#define STOP_NS      (8 * SECOND)

struct keeper {
    pid_t pid; /* 0: the slot is free */
    pid_t jvm;
    uint64_t agent_ns; /* when the budget was looked at */
    bool over_budget;  /* it was told to end because of that */
};

static struct {
    struct hpx_watcher *w;
    struct keeper keepers[HPX_WATCH_KEEPERS]; /* the same index as its slot */
    struct hpx_known_all known;
    bool takes_part; /* the host, in the share */
    unsigned look, begun;
    uint64_t pause, next_look;
    uint64_t balanced, own_ns; /* when the budget was looked at, and the cost of the watcher then */
    uint32_t flush;            /* that hprofx-ship waits for; 0: none */
} of;

static volatile sig_atomic_t told; /* to end */

static void on_end(int unused)
{
    (void)unused;
    told = 1;
}

static void on_child(int unused)
{
    (void)unused; /* the wait comes back */
}

/* They come in while the watcher waits, and at no other time. Those that were ignored, as by nohup, stay so. */
static void take_signals(void)
{
    static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction a = {.sa_handler = on_end}, was;
    sigset_t all;
    sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    sigemptyset(&a.sa_mask);
    for (size_t i = 0; i < HPX_ARRAY_LEN(ends); i++) {
        if (sigaction(ends[i], NULL, &was) == 0 && (was.sa_handler != SIG_IGN || ends[i] == SIGTERM)) {
            (void)sigaction(ends[i], &a, NULL);
        }
    }
    a.sa_handler = SIG_IGN;
    (void)sigaction(SIGXFSZ, &a, NULL); /* a limit of file sizes is a full disk */
    (void)sigaction(SIGPIPE, &a, NULL);
    a.sa_handler = on_child;
    (void)sigaction(SIGCHLD, &a, NULL);
}

static uint64_t ns_of(const struct rusage *u)
{
    return ((uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000 + (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec)) * 1000;
}

/* CPU time of the watcher, of keepers that have ended and of those that run. */
static uint64_t own_cost(void)
{
    struct rusage self, ended;
    uint64_t ns = 0;
    if (getrusage(RUSAGE_SELF, &self) == 0 && getrusage(RUSAGE_CHILDREN, &ended) == 0) {
        ns = ns_of(&self) + ns_of(&ended);
    }
    for (size_t i = 0; i < HPX_WATCH_KEEPERS; i++) {
        ns += of.keepers[i].pid != 0 ? atomic_load_explicit(&of.w->shared->slots[i].own_ns, memory_order_relaxed) : 0;
    }
    return ns;
}

/* ---- keepers ---- */

static void begin_keeper(struct hpx_known *known, const struct hpx_target *t)
{
    size_t i = 0;
    while (i < HPX_WATCH_KEEPERS && of.keepers[i].pid != 0) {
        i++;
    }
    known->kind = HPX_KNOWN_WAITS;
    known->next = hpx_clock_mono() + LOOK;
    if (i == HPX_WATCH_KEEPERS) {
        return;
    }
    struct hpx_watch_slot *slot = &of.w->shared->slots[i];
    memset(slot, 0, sizeof *slot); /* nobody else has it now */
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(of.w->life[1]); /* else no keeper sees that the watcher has died */
        (void)close(of.w->control);
        _exit((int)hpx_keeper_run(of.w, slot, t, known->told));
    }
    if (pid > 0) {
        of.keepers[i] = (struct keeper){.pid = pid, .jvm = known->pid};
        known->kind = HPX_KNOWN_KEPT;
        known->over_budget = false;
        of.begun++;
    }
}

static enum hpx_watch_counter counter_of(enum hpx_keeper_end why)
{
    static const enum hpx_watch_counter counters[HPX_KEEPER_ENDS] = {
        [HPX_KEEPER_RIGHTS] = HPX_WATCH_REFUSED_RIGHTS, [HPX_KEEPER_REFUSED] = HPX_WATCH_REFUSED_JVM,
        [HPX_KEEPER_SILENT] = HPX_WATCH_REFUSED_SILENT, [HPX_KEEPER_OCCUPIED] = HPX_WATCH_REFUSED_SESSION,
        [HPX_KEEPER_TAKEN] = HPX_WATCH_REFUSED_SESSION, [HPX_KEEPER_FAILED] = HPX_WATCH_REFUSED_FAILED,
    };
    return counters[why];
}

/* What becomes of the JVM. */
static void let_go(struct hpx_known *known, enum hpx_keeper_end why, bool over_budget)
{
    uint64_t now = hpx_clock_mono(), rest = (uint64_t)(of.w->asked.every * 1e9) * REST;
    known->kind = why == HPX_KEEPER_RIGHTS || why == HPX_KEEPER_REFUSED ? HPX_KNOWN_REFUSED : HPX_KNOWN_WAITS;
    known->over_budget = over_budget && why == HPX_KEEPER_TOLD;
    known->next = now + (why == HPX_KEEPER_OCCUPIED ? FREE_AGAIN : why <= HPX_KEEPER_GONE ? LOOK : AGAIN);
    if (known->over_budget) {
        unsigned times = 1U << (known->over < 6 ? known->over : 6); /* twice as long each time, MOST_RESTS at most */
        known->over++;
        known->next = now + rest * (times < MOST_RESTS ? times : MOST_RESTS);
    }
    if (why > HPX_KEEPER_GONE && !known->told) {
        known->told = true;
        hpx_watch_add(of.w->shared, counter_of(why), 1);
    }
}

/* It was killed: its JVM ends the session, and the next keeper brings the profile. */
static void lose_keeper(size_t i, int number)
{
    hpx_watch_add(of.w->shared, HPX_WATCH_ENDED, atomic_load_explicit(&of.w->shared->slots[i].in_session, memory_order_relaxed));
    (void)fprintf(stderr, "hprofx watch: the keeper of process %d was killed by signal %d; the process is left alone\n",
                  (int)of.keepers[i].jvm, number);
}

static void reap(void)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        size_t i = 0;
        while (i < HPX_WATCH_KEEPERS && of.keepers[i].pid != pid) {
            i++;
        }
        if (i == HPX_WATCH_KEEPERS) {
            continue;
        }
        bool ended = WIFEXITED(status) && WEXITSTATUS(status) < HPX_KEEPER_ENDS;
        enum hpx_keeper_end why = ended ? (enum hpx_keeper_end)WEXITSTATUS(status) : HPX_KEEPER_FAILED;
        if (!ended) {
            lose_keeper(i, WTERMSIG(status));
        }
        struct hpx_known *known = hpx_known_find(&of.known, of.keepers[i].jvm);
        if (known != NULL) {
            let_go(known, why, of.keepers[i].over_budget);
        }
        of.keepers[i].pid = 0;
    }
}

/* ---- looking ---- */

static bool is_asked_for(const struct hpx_target *t)
{
    char name[256];
    hpx_target_name(t, name, sizeof name);
    return of.w->asked.match == NULL || hpx_watch_matches(of.w->asked.match, name, t->command, t->command_len);
}

/* Its start is read first: if the number becomes another process's meanwhile, the next comparison tells. */
static void examine(struct hpx_known *known, uint64_t now)
{
    static struct hpx_target t;
    (void)hpx_known_compare(known, hpx_target_started(known->pid), now);
    if (hpx_target_read(known->pid, &t, NULL) != HPX_OK || (!t.jvm && !t.openj9)) {
        hpx_known_other(known, now);
        return;
    }
    if (!of.takes_part || !is_asked_for(&t)) {
        known->kind = HPX_KNOWN_UNMATCHED;
        return;
    }
    uint64_t age = hpx_target_age(&t);
    known->kind = HPX_KNOWN_WAITS;
    known->next = now + LOOK / 2;
    if (age < YOUNG || (!t.catches_quit && t.library[0] == 0 && t.jvm && age < HPX_TARGET_STARTS) || of.begun == AT_ONCE) {
        return;
    }
    begin_keeper(known, &t);
}

static bool is_due(const struct hpx_known *k, uint64_t now)
{
    return k->next <= now && (k->kind == HPX_KNOWN_NEW || k->kind == HPX_KNOWN_OTHER || k->kind == HPX_KNOWN_WAITS);
}

static void count_kinds(void)
{
    const struct hpx_known *all = of.known.list.items;
    uint64_t jvms = 0, matched = 0, kept = 0, alone = 0;
    for (size_t i = 0; i < of.known.list.len; i++) {
        bool is_jvm = all[i].kind != HPX_KNOWN_NEW && all[i].kind != HPX_KNOWN_OTHER;
        jvms += is_jvm;
        matched += is_jvm && all[i].kind != HPX_KNOWN_UNMATCHED;
        kept += all[i].kind == HPX_KNOWN_KEPT;
        alone += all[i].kind == HPX_KNOWN_WAITS && all[i].over_budget;
    }
    hpx_watch_set(of.w->shared, HPX_WATCH_JVMS, jvms);
    hpx_watch_set(of.w->shared, HPX_WATCH_MATCHED, matched);
    hpx_watch_set(of.w->shared, HPX_WATCH_WATCHED, kept);
    hpx_watch_set(of.w->shared, HPX_WATCH_LEFT_ALONE, alone);
}

static void look(void)
{
    DIR *proc = opendir("/proc");
    uint64_t now = hpx_clock_mono();
    of.look++;
    of.begun = 0;
    for (const struct dirent *e; proc != NULL && (e = readdir(proc)) != NULL;) {
        pid_t pid = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? atoi(e->d_name) : 0;
        struct hpx_known *known = pid > 0 ? hpx_known_get(&of.known, pid) : NULL;
        if (known != NULL) {
            if (known->kind == HPX_KNOWN_NEW && known->next == 0 && of.look > 1) {
                known->next = now + YOUNG; /* most have ended by then, and were never looked into */
            }
            known->look = of.look;
            if (hpx_known_is_stale(known, now) && hpx_known_compare(known, hpx_target_started(pid), now)) {
                known->next = now + YOUNG;
            }
            if (is_due(known, now)) {
                examine(known, now);
            }
        }
    }
    if (proc != NULL) {
        (void)closedir(proc);
        hpx_known_forget(&of.known, of.look);
    }
    count_kinds();
    hpx_watch_set(of.w->shared, HPX_WATCH_OWN_CPU_NS, own_cost());
}

/* ---- the budget ---- */

static void end_for_budget(size_t i, uint64_t ns, uint64_t time)
{
    struct keeper *keeper = &of.keepers[i];
    keeper->over_budget = true;
    (void)kill(keeper->pid, SIGTERM);
    hpx_watch_add(of.w->shared, HPX_WATCH_OVER_BUDGET, 1);
    (void)fprintf(
        stderr,
        "hprofx watch: the agent in process %d took %.2f %% of a CPU, and all together more than the budget, %g %% of the host; the "
        "process rests\n",
        (int)keeper->jvm, 100.0 * (double)ns / (double)time, of.w->asked.budget);
}

static void balance(uint64_t now)
{
    static struct hpx_watch_cost costs[HPX_WATCH_KEEPERS];
    uint64_t time = now - of.balanced, own_now = own_cost(), own = own_now - of.own_ns, sum = own;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t allowed = hpx_watch_allowance(of.w->asked.budget, cpus > 0 ? (unsigned)cpus : 1, time);
    for (size_t i = 0; i < HPX_WATCH_KEEPERS; i++) {
        uint64_t agent = of.keepers[i].pid != 0 ? atomic_load_explicit(&of.w->shared->slots[i].agent_ns, memory_order_relaxed) : 0;
        costs[i].ns = of.keepers[i].pid != 0 && !of.keepers[i].over_budget ? agent - of.keepers[i].agent_ns : 0;
        of.keepers[i].agent_ns = agent;
        sum += costs[i].ns;
    }
    (void)hpx_watch_balance(costs, HPX_WATCH_KEEPERS, own, allowed);
    for (size_t i = 0; i < HPX_WATCH_KEEPERS; i++) {
        if (costs[i].ends) {
            end_for_budget(i, costs[i].ns, time);
        }
    }
    of.pause = own <= allowed / 2 ? (of.pause / 2 > LOOK ? of.pause / 2 : LOOK) : of.pause * 2 < LONGEST_LOOK ? of.pause * 2 : LONGEST_LOOK;
    hpx_watch_set(of.w->shared, HPX_WATCH_BUDGET_USED,
                  (uint64_t)((double)sum * 1e6 / (double)hpx_watch_allowance(100, cpus > 0 ? (unsigned)cpus : 1, time)));
    of.balanced = now;
    of.own_ns = own_now;
}

/* ---- hprofx-ship ---- */

static void signal_keepers(int number)
{
    for (size_t i = 0; i < HPX_WATCH_KEEPERS; i++) {
        if (of.keepers[i].pid != 0) {
            (void)kill(of.keepers[i].pid, number);
        }
    }
}

static void answer_flush(void)
{
    bool all = true;
    for (size_t i = 0; i < HPX_WATCH_KEEPERS; i++) {
        const struct hpx_watch_slot *slot = &of.w->shared->slots[i];
        all = all && (of.keepers[i].pid == 0 || atomic_load_explicit(&slot->in_session, memory_order_relaxed) == 0 ||
                      atomic_load_explicit(&slot->flushed, memory_order_relaxed) == of.flush);
    }
    if (all && of.flush != 0) {
        const struct hpx_watch_message done = {HPX_WATCH_FLUSHED, of.flush};
        (void)!send(of.w->control, &done, sizeof done, MSG_DONTWAIT | MSG_NOSIGNAL);
        of.flush = 0;
    }
}

static void hear(void)
{
    struct hpx_watch_message m;
    ssize_t n = recv(of.w->control, &m, sizeof m, MSG_DONTWAIT);
    if (n == 0 || (n == (ssize_t)sizeof m && m.what == HPX_WATCH_STOP)) {
        told = 1; /* it asks for it, or has died */
    } else if (n == (ssize_t)sizeof m && m.what == HPX_WATCH_FLUSH) {
        of.flush = m.number;
        atomic_store_explicit(&of.w->shared->flush, m.number, memory_order_relaxed);
        signal_keepers(SIGUSR1);
        answer_flush();
    }
}

static void wait_until(uint64_t until)
{
    struct pollfd p[] = {{.fd = of.w->control, .events = POLLIN}, {.fd = of.w->bell, .events = POLLIN}};
    uint64_t now = hpx_clock_mono(), left = until > now ? until - now : 0, rung;
    const struct timespec limit = {(time_t)(left / SECOND), (long)(left % SECOND)};
    sigset_t none;
    sigemptyset(&none);
    if (ppoll(p, HPX_ARRAY_LEN(p), &limit, &none) > 0) {
        if (p[0].revents != 0) {
            hear();
        }
        if (p[1].revents != 0) {
            (void)!read(of.w->bell, &rung, sizeof rung);
            answer_flush();
        }
    }
}

static bool has_keepers(void)
{
    bool some = false;
    for (size_t i = 0; i < HPX_WATCH_KEEPERS; i++) {
        some = some || of.keepers[i].pid != 0;
    }
    return some;
}

/* A keeper whose JVM does not answer is killed: the JVM ends its session when it goes on. */
static void end_all(void)
{
    uint64_t until = hpx_clock_mono() + STOP_NS;
    const struct timespec limit = {1, 0};
    sigset_t none;
    sigemptyset(&none);
    signal_keepers(SIGTERM);
    for (reap(); has_keepers() && hpx_clock_mono() < until; reap()) {
        (void)ppoll(NULL, 0, &limit, &none); /* SIGCHLD ends it */
    }
    signal_keepers(SIGKILL);
    count_kinds();
    hpx_watch_set(of.w->shared, HPX_WATCH_OWN_CPU_NS, own_cost());
}

int hpx_watcher_run(struct hpx_watcher *w)
{
    of.w = w;
    take_signals();
    of.pause = LOOK;
    of.balanced = hpx_clock_mono();
    of.takes_part = hpx_watch_in_share(w->asked.host, w->asked.share);
    if (!of.takes_part) {
        (void)fprintf(stderr, "hprofx watch: this host is not among %g %% of all hosts; no JVM is profiled\n", w->asked.share);
    }
    uint64_t period = (uint64_t)(w->asked.every * 1e9) * PROFILES;
    while (!told) {
        uint64_t now = hpx_clock_mono();
        reap();
        answer_flush(); /* one whose keeper has ended */
        if (now >= of.next_look) {
            look();
            of.next_look = now + of.pause;
        }
        if (now >= of.balanced + period) {
            balance(now);
        }
        wait_until(of.next_look < of.balanced + period ? of.next_look : of.balanced + period);
    }
    end_all();
    hpx_known_fini(&of.known);
    return 0;
}
