/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.h: the thread that looks at all Java threads (wall=): hprofx-wall, attached to the JVM.
 *
 * It reads CPU clocks, and asks the VM for the state only of threads that have run. No signal is sent. The stack is read without the VM
 * (quiet_stack.h). Where that fails the VM is asked: from JDK 16 on for a handshake, which it does without the thread if that waits;
 * before, for a safepoint of all threads. */
#ifndef HPX_WATCH_H
#define HPX_WATCH_H

#include "looker.h"

extern struct hpx_looker hpx_looking_thread;

/* VMInit: starts the looking thread. 0, -HPX_E_SYS. */
int hpx_watch_start(struct hpx_err *err);

/* Asks for a round whose records are complete up to now. look: looks at all threads, also those that are not due. Returns its number. The
 * aggregator. */
uint64_t hpx_watch_ask(bool look);
/* The number of the last such round that is done; UINT64_MAX: no thread looks. Any thread. */
uint64_t hpx_watch_done(void);

struct hpx_watch_figures {
    uint64_t rounds, mean_ns; /* mean_ns: between two rounds */
    uint64_t cpu_ns;
};
/* Any thread; each value for itself. */
struct hpx_watch_figures hpx_watch_figures(void);

#endif
