/* SPDX-License-Identifier: BSD-2-Clause */
/* watcher.h: what the processes of watch.h share, and what each of them does. Every process has one thread.
 *
 *   hprofx-ship ──socket of commands── watcher ──SIGTERM: end, SIGUSR1: a profile now── keeper, one for each JVM ──socket── agent
 *        └────────── counters, in memory that all share: struct hpx_watch_shared ──────────┘
 */
#ifndef HPX_FLEET_WATCHER_H
#define HPX_FLEET_WATCHER_H

#include "target.h"
#include "watch.h"
#include <stdatomic.h>

#define HPX_WATCH_KEEPERS 512 /* at most; a JVM beyond them waits until one ends */

/* All relaxed: each number stands for itself, and a process tells another by a bell, a socket or its end that there is something new. */
struct hpx_watch_slot {
    _Atomic uint32_t in_session; /* the keeper's */
    _Atomic uint32_t flushed;    /* the keeper's: the last flush that it has answered */
    _Atomic uint64_t agent_ns;   /* the keeper's: CPU time of the agent in all its sessions */
    _Atomic uint64_t own_ns;     /* the keeper's CPU time */
};
struct hpx_watch_shared {
    _Atomic uint64_t of[HPX_WATCH_COUNT]; /* gauges and refusals: the watcher's; what belongs to profiles: the keepers' */
    _Atomic uint32_t flush;               /* the watcher's: the last one that was asked for */
    struct hpx_watch_slot slots[HPX_WATCH_KEEPERS];
};

static inline void hpx_watch_add(struct hpx_watch_shared *s, enum hpx_watch_counter c, uint64_t n)
{
    (void)atomic_fetch_add_explicit(&s->of[c], n, memory_order_relaxed);
}

static inline void hpx_watch_set(struct hpx_watch_shared *s, enum hpx_watch_counter c, uint64_t n)
{
    atomic_store_explicit(&s->of[c], n, memory_order_relaxed);
}

/* A message of the socket of commands. */
enum { HPX_WATCH_STOP = 's', HPX_WATCH_FLUSH = 'f', HPX_WATCH_FLUSHED = 'd' };
struct hpx_watch_message {
    uint32_t what, number; /* number: of the flush */
};

/* Set before the watcher is forked, and constant from then on but for `life`. */
struct hpx_watcher {
    struct hpx_watch_asked asked; /* nothing of it is 0 or NULL but during, what and match */
    struct hpx_watch_shared *shared;
    int dir;     /* of the profiles */
    int control; /* the watcher's end of the socket; hprofx-ship has died if it closes */
    int life[2]; /* a pipe into which nothing is written: the keepers' [0] closes when the watcher dies */
    int bell;    /* eventfd: a keeper has answered a flush */
};

/* The watcher, to its end. Returns the status of the process. */
int hpx_watcher_run(struct hpx_watcher *w);

/* With what a keeper ends. */
enum hpx_keeper_end {
    HPX_KEEPER_TOLD,     /* it was told to */
    HPX_KEEPER_GONE,     /* the JVM has ended */
    HPX_KEEPER_RIGHTS,   /* we may not attach */
    HPX_KEEPER_REFUSED,  /* the JVM never will be profiled */
    HPX_KEEPER_SILENT,   /* no answer in time */
    HPX_KEEPER_OCCUPIED, /* somebody else's session runs */
    HPX_KEEPER_TAKEN,    /* somebody else has ended ours */
    HPX_KEEPER_FAILED,
    HPX_KEEPER_ENDS
};
/* The keeper of a JVM, to its end. quiet: that it cannot begin was said before. */
enum hpx_keeper_end hpx_keeper_run(const struct hpx_watcher *w, struct hpx_watch_slot *slot, const struct hpx_target *t, bool quiet);

/* ---- profiles in a JVM's /tmp ---- */

enum hpx_fetched {
    HPX_FETCHED,
    HPX_FETCHED_NOT,     /* there is no such file */
    HPX_FETCHED_FOREIGN, /* it is no regular file of the JVM's user, and was not touched; the agent may yet replace it */
    HPX_FETCHED_LOST,    /* it was removed, and the loss counted */
};

/* Moves a profile out of the /tmp of an open target: `name` there, into w->dir as `as`. It is counted. *agent_ns: what the profile says of
 * the agent's CPU time. */
enum hpx_fetched hpx_watch_fetch(const struct hpx_watcher *w, const struct hpx_target *t, const char *name, const char *as,
                                 uint64_t *agent_ns);
/* Removes a file there, as the JVM's user. */
void hpx_watch_remove(const struct hpx_target *t, const char *name);
/* Calls fn for the files of ours there (watch_choice.h), in no order; fn may remove them. modified: seconds since 1970. */
struct hpx_watch_name;
void hpx_watch_each(const struct hpx_target *t, void (*fn)(void *ctx, const char *name, const struct hpx_watch_name *is, int64_t modified),
                    void *ctx);

#endif
