/* SPDX-License-Identifier: BSD-2-Clause */
/* watch_known.h: processes that the watcher has seen, so that it looks into each of them rarely. One thread. */
#ifndef HPX_FLEET_WATCH_KNOWN_H
#define HPX_FLEET_WATCH_KNOWN_H

#include "list.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum hpx_known_kind {
    HPX_KNOWN_NEW,
    HPX_KNOWN_OTHER,     /* no JVM, or one that we may not look at; it may still become one, as a shell that runs exec */
    HPX_KNOWN_UNMATCHED, /* a JVM, for as long as it runs */
    HPX_KNOWN_WAITS,     /* a JVM that gets a keeper at `next` */
    HPX_KNOWN_KEPT,      /* it has one */
    HPX_KNOWN_REFUSED,   /* it never gets one */
};

struct hpx_known {
    pid_t pid;
    uint64_t started;  /* hpx_target_started(): a process with the same number that began at another time is another; 0: not looked at */
    uint64_t compared; /* when that was last looked at */
    enum hpx_known_kind kind;
    uint64_t next;    /* hpx_clock_mono(): not looked at before */
    uint64_t wait;    /* ns: the last wait of an OTHER */
    unsigned look;    /* the last one that saw it */
    unsigned over;    /* how often its session was ended because of the budget */
    bool over_budget; /* that is why it waits */
    bool told;        /* why it has no session was said, and counted */
};

struct hpx_known_all {
    struct hpx_list list; /* struct hpx_known, ascending */
};

/* The process, which is added as NEW if it was not there; NULL: no memory. Valid until the next call. */
struct hpx_known *hpx_known_get(struct hpx_known_all *all, pid_t pid);
/* The same without adding; NULL: not there. */
struct hpx_known *hpx_known_find(struct hpx_known_all *all, pid_t pid);
/* Forgets all that this look has not seen, but for those that have a keeper. */
void hpx_known_forget(struct hpx_known_all *all, unsigned look);
/* Whether the number may have become another process's since it was last compared: a watcher that compared all of them at each look would
 * read a file for every process of the host every second. A keeper sees by itself that its JVM has ended. */
bool hpx_known_is_stale(const struct hpx_known *k, uint64_t now);
/* The process of that number began at `started`: forgets what was known if it was another one. true: it is another. */
bool hpx_known_compare(struct hpx_known *k, uint64_t started, uint64_t now);
/* An OTHER is looked at again: soon while it is young, ever more rarely then. */
void hpx_known_other(struct hpx_known *k, uint64_t now);
void hpx_known_fini(struct hpx_known_all *all);

#endif
