/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_image.h: threads and monitors at one moment, for MONITOR DUMP. Filled by the agent, then constant. Lists are in no order; the
 * writer may sort them. */
#ifndef HPX_MONITOR_IMAGE_H
#define HPX_MONITOR_IMAGE_H

#include "snapshot.h"

enum hpx_thread_status {
    HPX_STATUS_UNKNOWN,
    HPX_STATUS_NOT_STARTED,
    HPX_STATUS_RUNNABLE,
    HPX_STATUS_SLEEPING,
    HPX_STATUS_ENTERING, /* blocked by a monitor that it enters */
    HPX_STATUS_WAITING,  /* Object.wait, LockSupport.park */
    HPX_STATUS_ENDED
};
enum { HPX_STATUS_SUSPENDED = 1, HPX_STATUS_INTERRUPTED = 2, HPX_STATUS_NATIVE = 4 };

struct hpx_monitor_thread {
    uint32_t serial; /* HPX_SERIAL_THREAD: never announced */
    enum hpx_thread_status status;
    unsigned flags;                    /* HPX_STATUS_SUSPENDED and so on */
    const struct hpx_trace_rec *trace; /* NULL: empty */
};

/* A list of thread serials: `n` elements of hpx_monitor_image.serials from `first` on. */
struct hpx_serials {
    uint32_t first, n;
};

struct hpx_monitor {
    struct hpx_text signature; /* JVM form: Lp/C; */
    bool owned;
    uint32_t owner;       /* serial of a thread; HPX_SERIAL_THREAD: one that was never announced */
    uint32_t entry_count; /* of the owner */
    struct hpx_serials enter, notify;
};

/* A thread in a deadlock waits for what the next one in it owns; the last one for what the first one owns. */
struct hpx_deadlock_thread {
    uint32_t serial;
    const struct hpx_trace_rec *trace; /* NULL: empty */
    struct hpx_text name;
    struct hpx_text waits_for; /* signature of the monitor or lock */
    bool monitor;              /* false: a lock of java.util.concurrent */
    bool first;                /* of its deadlock */
};

#define HPX_MONITOR_NOTES 12

struct hpx_monitor_image {
    struct hpx_monitor_thread *threads;
    struct hpx_monitor *monitors;
    uint32_t *serials;
    struct hpx_deadlock_thread *deadlocks; /* of all deadlocks, one after the other */
    uint32_t nthreads, nmonitors, nserials, ndeadlocks;
    const char *notes[HPX_MONITOR_NOTES + 1]; /* what this VM could not tell: sentences; NULL after the last */
};

#endif
