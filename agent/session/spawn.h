/* SPDX-License-Identifier: BSD-2-Clause */
/* spawn.h: starts threads of hprofx: detached, with a small stack and every signal but faults blocked, so they take no signal of the
 * program or the VM, no SIGPIPE and no SIGXFSZ. */
#ifndef HPX_SPAWN_H
#define HPX_SPAWN_H

#include "err.h"
#include <semaphore.h>
#include <sys/types.h>

/* 0, -HPX_E_SYS. Any thread. `name` is for the message; the thread sets its own name by hpx_spawn_enter(). */
int hpx_spawn(void *(*run)(void *), const char *name, struct hpx_err *err);
/* The CPU time of threads that do the same work, one after the other. Zero is its beginning; hpx_spawn_*() alone access it. */
struct hpx_spawned {
    pid_t tid;        /* of the one that runs; 0: none */
    uint64_t left_ns; /* of those that have left */
};
/* First call of such a thread: names it (at most 15 characters). of NULL: its CPU time is not read. */
void hpx_spawn_enter(const char *name, struct hpx_spawned *of);
/* Its last call: keeps its CPU time, which the kernel forgets. Later work of the thread is not counted. */
void hpx_spawn_leave(struct hpx_spawned *of);
/* Whether the calling thread is one of these. Any thread; signal-safe. */
bool hpx_spawn_is_ours(void);
/* CPU time so far of the threads that entered with `of`, in ns. Any thread. */
uint64_t hpx_spawn_cpu(struct hpx_spawned *of);
/* Waits until `done` is posted, at most until `until` (hpx_clock_mono()). false: it was not posted. */
bool hpx_spawn_wait(sem_t *done, uint64_t until);

#endif
