/* SPDX-License-Identifier: BSD-2-Clause */
/* fork_watch.h: watches what a child of child.h costs while it lives, so that it is killed before memory runs out, and not the program.
 *
 * The caller of hpx_child_await() owns the watch and names it there. One thread at a time. Nothing here allocates or takes a lock; it needs
 * 32 KiB of stack. */
#ifndef HPX_FORK_WATCH_H
#define HPX_FORK_WATCH_H

#include "compiler.h"
#include <sys/types.h>

#define HPX_FORK_WATCH_STEP_NS UINT64_C(20000000) /* least time between two looks */
#define HPX_FORK_WATCH_SHARE   20u                /* a look takes at most that share of the time: 5 % */
/* A limit that was reached need not mean that memory is short: files that are written, such as the spool, fill a group up to its limit, and
 * the kernel drops them again. From then on this many times the reserve must be left. */
#define HPX_FORK_WATCH_REACHED 4u

struct hpx_fork_watch {
    pid_t pid;
    uint64_t allowed;           /* bytes */
    const char *root;           /* prefix of paths, for tests */
    uint64_t reached, ran_out;  /* events of the groups at the beginning */
    bool near;                  /* a limit was reached since */
    uint64_t room_at, grown_at; /* ns of the clock of `now_ns`: when the next look is due */
    char text[200];
};

/* Begins to watch the child `pid`. It may cost allowed_bytes: the pages that either side copies, and what the child allocates. Remembers
 * what the memory cgroups have counted so far: best called before the fork, with pid 0; the caller then sets watch->pid. root: NULL, or a
 * prefix of all paths, which lives as long as the watch. */
void hpx_fork_watch_begin(struct hpx_fork_watch *watch, pid_t pid, uint64_t allowed_bytes, const char *root);

/* Looks at the memory, if it is time to: call it every 20 ms or so with the monotonic clock. NULL: all is well. Else the child must be
 * ended: one clause with figures, valid until the next call. What cannot be read does not count: /proc/PID/smaps_rollup came with
 * Linux 4.14. */
const char *hpx_fork_watch_look(struct hpx_fork_watch *watch, uint64_t now_ns);

/* The time until the next look after one that took cost_ns. */
uint64_t hpx_fork_watch_pause(uint64_t cost_ns);

#endif
