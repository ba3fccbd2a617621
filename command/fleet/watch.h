/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.h: `hprofx watch`: finds JVMs of this host, profiles them, and puts complete profiles into a folder.
 *
 * The work is done by child processes, because root becomes the user of each JVM (hpx_become()), which changes a whole process: one
 * watcher, which looks for JVMs, and one keeper for each JVM with a session, so that a JVM that does not answer holds up nobody else.
 * They see that their parent has died (a pipe closes) and then end the sessions within seconds. If they are killed themselves, the JVM
 * ends the session, because its connection closes. Signals SIGINT, SIGTERM and SIGHUP end the watcher as hpx_watch_stop() does.
 *
 * Threads: hpx_watch_start() before the process has any other thread. Then hpx_watch_counts() on any thread; flush and stop on one at a
 * time. */
#ifndef HPX_FLEET_WATCH_H
#define HPX_FLEET_WATCH_H

#include "status.h"

/* The texts outlive the call of hpx_watch_start(). */
struct hpx_watch_asked {
    const char *match; /* --match: hpx_watch_matches() of watch_choice.h; NULL: every JVM */
    double every;      /* --every: seconds between two profiles of a JVM; 0: 60 */
    double during;     /* --for: seconds of each `every` that a session runs; 0: always */
    double share;      /* --share: percent of the hosts; 0: 100 */
    double budget;     /* --budget: percent of the CPU time of all CPUs of this host; 0: 1 */
    const char *what;  /* -e: as hpx_asked_kind() names it; NULL: CPU, allocations and live objects */
    const char *more;  /* other options of the agent, with commas between; NULL: none */
    const char *agent; /* --agent: the library; NULL: beside the program, or where it is installed */
    const char *host;  /* whose share is taken; NULL: gethostname() */
};

/* Gauges say how it is now, as of the last look; all others only grow. `key` is for metrics, `text` for people. A profile that was lost by
 * any cause is in exactly one of the counters LOST_*; where the JVM numbered profiles that were never seen, each is LOST_UNSEEN. */
#define HPX_WATCH_COUNTERS(X)                                                                                                              \
    X(JVMS, GAUGE, "jvms", "JVMs that can be looked at")                                                                                   \
    X(MATCHED, GAUGE, "matched", "JVMs that match")                                                                                        \
    X(WATCHED, GAUGE, "watched", "JVMs with a keeper")                                                                                     \
    X(LEFT_ALONE, GAUGE, "left_alone", "JVMs left alone because of the budget")                                                            \
    X(BUDGET_USED, GAUGE, "budget_used", "CPU time of agents and watcher, in millionths of the host's")                                    \
    X(BEGUN, TOTAL, "sessions_begun", "sessions begun")                                                                                    \
    X(ENDED, TOTAL, "sessions_ended", "sessions ended, by whatever cause")                                                                 \
    X(BROUGHT, TOTAL, "profiles", "profiles brought")                                                                                      \
    X(BROUGHT_BYTES, TOTAL, "profile_bytes", "bytes of profiles brought")                                                                  \
    X(LEFTOVERS, TOTAL, "leftover_profiles", "of the profiles brought: left behind by a session that was killed")                          \
    X(REFUSED_RIGHTS, TOTAL, "refused_rights", "JVMs that may not be attached to")                                                         \
    X(REFUSED_JVM, TOTAL, "refused_jvm", "JVMs that refuse: their options, musl, an old glibc, OpenJ9, no SIGQUIT")                        \
    X(REFUSED_SILENT, TOTAL, "refused_silent", "JVMs that did not answer in time")                                                         \
    X(REFUSED_SESSION, TOTAL, "refused_session", "JVMs in which somebody else's session runs")                                             \
    X(REFUSED_FAILED, TOTAL, "refused_failed", "JVMs in which a session failed for other reasons")                                         \
    X(OVER_BUDGET, TOTAL, "over_budget", "sessions ended because of the budget")                                                           \
    X(LOST_LARGE, TOTAL, "lost_large", "profiles lost: larger than 256 MiB")                                                               \
    X(LOST_DISK, TOTAL, "lost_disk", "profiles lost: they could not be written here")                                                      \
    X(LOST_FOREIGN, TOTAL, "lost_foreign", "profiles lost: not a regular file of the JVM's user")                                          \
    X(LOST_READ, TOTAL, "lost_read", "profiles lost: they could not be read")                                                              \
    X(LOST_UNSEEN, TOTAL, "lost_unseen", "profiles lost: numbers that the JVM skipped")                                                    \
    X(LOST_KILLED, TOTAL, "lost_killed", "profiles lost: the JVM or its session ended without the last one")                               \
    X(AGENT_CPU_NS, TOTAL, "agent_cpu_ns", "CPU time of the agents, as their profiles say, in ns")                                         \
    X(OWN_CPU_NS, TOTAL, "watch_cpu_ns", "CPU time of the watcher and its keepers, in ns")

enum hpx_watch_kind { HPX_WATCH_GAUGE, HPX_WATCH_TOTAL };
#define HPX_WATCH_ENUM(name, kind, key, text) HPX_WATCH_##name,
enum hpx_watch_counter { HPX_WATCH_COUNTERS(HPX_WATCH_ENUM) HPX_WATCH_COUNT };
#undef HPX_WATCH_ENUM

struct hpx_watch_info {
    const char *key, *text;
    enum hpx_watch_kind kind;
};
extern const struct hpx_watch_info hpx_watch_infos[HPX_WATCH_COUNT];

struct hpx_watch_counts {
    uint64_t of[HPX_WATCH_COUNT];
};

struct hpx_watch;

/* What was asked makes sense; nothing is touched. HPX_OK, HPX_USAGE; HPX_FAILED: there is no library. */
enum hpx_status hpx_watch_check(const struct hpx_watch_asked *asked, struct hpx_err *err);
/* Forks the watcher. Profiles come to `dir`, which exists: files of mode 0600 that belong to the owner of `dir`, under names that end with
 * ".hprof" and sort by JVM and time; until a file is complete its name ends with ".part". Whoever takes a file removes it. *w: for
 * hpx_watch_stop(). HPX_OK, HPX_FAILED. */
enum hpx_status hpx_watch_start(const struct hpx_watch_asked *asked, const char *dir, struct hpx_watch **w, struct hpx_err *err);
/* Asks every session for a profile now, and waits until these are in the folder, or ms are over. true: all are. */
bool hpx_watch_flush(struct hpx_watch *w, int ms);
void hpx_watch_counts(const struct hpx_watch *w, struct hpx_watch_counts *to);
/* The watcher has ended by itself: by a signal, or a failure that it has told. Any thread. */
bool hpx_watch_ended(const struct hpx_watch *w);
/* Ends all sessions, brings their last profiles, ends the watcher and frees w. Takes 10 s at most: what is not done then is killed, and the
 * JVMs' profiles stay in their /tmp for the next watcher.
 * *to (may be NULL): the last counts. w may be NULL. */
void hpx_watch_stop(struct hpx_watch *w, struct hpx_watch_counts *to);

#endif
