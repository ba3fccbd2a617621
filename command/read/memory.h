/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h: how many bytes a reader may allocate for what it reads (budget.h): HPROFX_MEMORY=SIZE of the environment (64m, 4g), else a part
 * of what this process may use, by RLIMIT_AS, RLIMIT_DATA, its control group and the memory of the machine. Any thread. */
#ifndef HPX_READ_MEMORY_H
#define HPX_READ_MEMORY_H

#include <stdint.h>

/* What the process may use. */
uint64_t hpx_memory_limit(void);
/* For an open file: half of that at most; 1 GiB, or 32 times the size of the file, if that is more: heap dumps have many objects, but a
 * small file that needs more is one that was made for it. */
uint64_t hpx_memory_for_file(int fd);
/* For the sum of several files: half of that. */
uint64_t hpx_memory_of_sum(void);
/* For a program that runs for long and has to go on beside others: a quarter of that, 1 GiB at most. */
uint64_t hpx_memory_of_server(void);
/* A limit of control groups, walking up from `path` (as in /proc/self/cgroup) below `root`, a folder with the files `name`. UINT64_MAX:
 * none. */
uint64_t hpx_memory_of_group(const char *root, const char *path, const char *name);

#endif
