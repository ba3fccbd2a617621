/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor.h: the mode monitor=y: who waits for whom, how long, and the state of every monitor. */
#ifndef HPX_MONITOR_H
#define HPX_MONITOR_H

#include "mode.h"
#include "site_ids.h"

extern const struct hpx_mode hpx_monitor_mode;
extern const struct hpx_vm_mode hpx_monitor_vm; /* the part that uses the JVM */

/* What monitor.c and the callbacks share. */
struct hpx_monitor_shared {
    struct hpx_site_ids places; /* the ids of places (block_table.h) */
    atomic_bool logs;           /* relaxed: WAIT lines are still written */
};
extern struct hpx_monitor_shared hpx_monitor_shared;

#endif
