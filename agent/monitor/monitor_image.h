/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_image.h: threads and monitors at one moment, for MONITOR DUMP. Filled by the agent, then constant. Lists are in no order; the
 * writer may sort them. */
#ifndef HPX_MONITOR_IMAGE_H
#define HPX_MONITOR_IMAGE_H

#include "snapshot.h"
#include "thread_status.h"

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
    uint64_t virtual_tid;              /* 0: it is of the platform */
    const struct hpx_trace_rec *trace; /* NULL: empty */
    struct hpx_text name;
    struct hpx_text waits_for; /* signature of the monitor or lock */
    bool monitor;              /* false: a lock of java.util.concurrent */
    bool first;                /* of its deadlock */
};

/* A thread that a line names: by its serial, or as a virtual one. */
struct hpx_monitor_who {
    uint32_t serial;      /* HPX_SERIAL_THREAD: never announced, or virtual */
    uint64_t virtual_tid; /* 0: it is none */
    struct hpx_text name; /* of a virtual one */
};

#define HPX_VIRTUAL_NAMES 3u

/* Virtual threads with one stack, in one state, that wait for objects of one class and one owner. */
struct hpx_virtual_group {
    uint64_t count;
    uint32_t stack; /* of hpx_monitor_image.virtual_traces */
    enum hpx_thread_status status;
    struct hpx_text container; /* that they were started in; empty: none */
    struct hpx_text waits_for; /* signature; empty: not known */
    bool owned, mounted;
    struct hpx_monitor_who owner, carrier;
    struct hpx_monitor_who who[HPX_VIRTUAL_NAMES]; /* some of them, with names first */
    uint32_t nwho;
};

#define HPX_MONITOR_NOTES 18 /* as many as can be true at once, and more */

struct hpx_monitor_image {
    struct hpx_monitor_thread *threads;
    struct hpx_monitor *monitors;
    uint32_t *serials;
    struct hpx_deadlock_thread *deadlocks; /* of all deadlocks, one after the other */
    struct hpx_virtual_group *virtuals;
    const struct hpx_trace_rec **virtual_traces; /* NULL: empty */
    uint32_t nthreads, nmonitors, nserials, ndeadlocks, nvirtuals, nvirtual_traces;
    const char *notes[HPX_MONITOR_NOTES + 1]; /* what this VM could not tell: sentences; NULL after the last */
};

#endif
