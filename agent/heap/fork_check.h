/* SPDX-License-Identifier: BSD-2-Clause */
/* fork_check.h: decides before a heap dump whether a copy of the process (child.h) can walk the heap: the heap must be private memory, and
 * there must be memory for what the child allocates and for the pages that the program writes meanwhile. */
#ifndef HPX_FORK_CHECK_H
#define HPX_FORK_CHECK_H

#include "compiler.h"

/* Memory that the child needs: its VM tags every object and marks it (60 to 100 bytes were measured), and the kernel copies every page
 * that the program writes during the child's life. How many these are depends on the program; a tenth of the heap is assumed. */
#define HPX_FORK_OBJECT_BYTES 100u
#define HPX_FORK_DIRTY_SHARE  10u /* heap / that */

struct hpx_fork_query {
    bool zgc;            /* the VM flag UseZGC: its heap is shared memory on every JDK */
    uint64_t objects;    /* estimate */
    uint64_t heap_bytes; /* estimate of the memory in use */
    /* Addresses of heap objects, if known: each must lie in a private mapping. Without, the names of mappings decide. */
    const uintptr_t *addresses;
    size_t naddresses;
    const char *root; /* NULL: /. Prefix of the paths of the files that are read, for tests */
};

/* NULL: a fork is sound as far as one can tell. Else buf, with the reason as one clause. Reads /proc and /sys/fs/cgroup, allocates nothing;
 * any thread that may read files. Needs 32 KiB of stack. */
const char *hpx_fork_unsound(const struct hpx_fork_query *query, char *buf, size_t size);

#endif
