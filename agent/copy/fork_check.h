/* SPDX-License-Identifier: BSD-2-Clause */
/* fork_check.h: decides before a heap dump whether a copy of the process (child.h) can walk the heap: the heap must be private memory, no
 * device may write to it, and there must be memory for the child. It also predicts how long the fork stops the program. */
#ifndef HPX_FORK_CHECK_H
#define HPX_FORK_CHECK_H

#include "compiler.h"
#include <stddef.h>

/* What the child itself allocates: the VM's bitmap of marked objects, its stack of objects to visit, buffers. */
#define HPX_FORK_BITMAP_SHARE 64u /* committed heap / that: a bit for every 8 bytes */
#define HPX_FORK_OBJECT_BYTES 2u
#define HPX_FORK_TAGGED_BYTES 100u /* the same of a walk by tags (60 to 100 were measured) */
#define HPX_FORK_OWN_BYTES    (UINT64_C(16) << 20)

/* The kernel copies every page that the program or the child writes while the child lives. How many those will be nobody knows before:
 * fork_watch.h ends a child that uses up the memory. Asked for beforehand is this share of the committed heap, for the program, and the
 * pages with live objects of a walk by the VM, which writes to most of them; a trace (agent/heap/trace.h) writes to few. */
#define HPX_FORK_DIRTY_SHARE 8u /* committed heap / that */

/* The stop: the kernel copies the page tables. Pages of 4 KiB cost 10 to 18 ms per GiB (measured: clone() with 0.5 to 4 GiB, Linux
 * 6.18, 2 CPUs, idle and loaded), huge pages of 2 MiB 0.6 to 0.8 ms. Both are rounded up, and 1 ms is added for all else. */
#define HPX_FORK_SMALL_NS UINT64_C(20000000)
#define HPX_FORK_HUGE_NS  UINT64_C(1000000)
#define HPX_FORK_STOP_NS  UINT64_C(1000000)

struct hpx_fork_query {
    bool zgc;                 /* the VM flag UseZGC: its heap is shared memory on every JDK */
    bool careful;             /* also look for I/O by devices into the program's memory, which takes some us for every descriptor */
    uint64_t objects;         /* estimate */
    uint64_t heap_committed;  /* bytes */
    uint64_t files;           /* bytes that will be written to files in memory */
    uint64_t heap_marked;     /* bytes of the pages that the walk writes: the used heap, if it writes to the objects */
    bool here;                /* the VM walks itself: no page is copied */
    bool tagged;              /* the walk tags every object */
    uint64_t rate_ns_per_gib; /* of an earlier fork of this process, by hpx_fork_rate(); 0: none */
    /* Addresses of heap objects, if known: each must lie in a private mapping. Without, the names of mappings decide. */
    const uintptr_t *addresses;
    size_t naddresses;
    const char *root; /* NULL: /. Prefix of the paths of the files that are read, for tests */
};

enum hpx_fork_verdict {
    HPX_FORK_SOUND,   /* as far as one can tell */
    HPX_FORK_UNSOUND, /* a copy would be wrong or is refused, but memory is not short: the VM can walk its heap itself */
    HPX_FORK_MEMORY,  /* memory is short: leave the dump out */
};

struct hpx_fork_answer {
    enum hpx_fork_verdict verdict;
    uint64_t need;    /* bytes that the fork may cost: what the child allocates and the pages that are copied; UINT64_MAX: too much */
    uint64_t stop_ns; /* prediction: how long the fork stops the program */
    uint64_t small;   /* anonymous memory of the process in bytes, on pages of 4 KiB */
    uint64_t huge;    /* the same on transparent huge pages */
    bool oom_group;   /* memory.oom.group=1: the kernel would kill the program together with the child. `need` is then everything that can
                         be copied */
    char text[256];   /* the reason as one clause, with figures; "" if sound */
};

/* Fills every field of *answer. Reads /proc and /sys/fs/cgroup, allocates nothing; any thread that may read files. Needs 48 KiB of stack.
 */
void hpx_fork_check(const struct hpx_fork_query *query, struct hpx_fork_answer *answer);

/* The rate of a fork that stopped the program for stopped_ns, in ns per GiB of small pages, for the next query; 0: the process is too small
 * to tell. Any thread. */
uint64_t hpx_fork_rate(const struct hpx_fork_answer *answer, uint64_t stopped_ns);

#endif
