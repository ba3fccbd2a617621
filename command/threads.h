/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.h: what the threads of a JVM do, by stack and state: the last MONITOR DUMP of a text profile. One thread. */
#ifndef HPX_COMMAND_THREADS_H
#define HPX_COMMAND_THREADS_H

#include "filter.h"
#include "status.h"
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define HPX_THREADS_ROWS 20 /* groups, unless another number is asked for */

struct hpx_threads_ask {
    size_t rows; /* 0: HPX_THREADS_ROWS, or all in JSON */
    bool json;
    pid_t pid;
    const struct hpx_filter *filter; /* --thread alone: by the names of threads, and of what virtual ones were started in */
};

/* Reads fd from its beginning, and writes the groups. */
enum hpx_status hpx_threads_tell(FILE *to, int fd, const struct hpx_threads_ask *ask, struct hpx_err *err);

#endif
