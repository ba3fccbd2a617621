/* SPDX-License-Identifier: BSD-2-Clause */
/* cpus.h: how many CPUs a process may use. Reads small files of the kernel; what they say is not trusted. Any thread, not in handlers. */
#ifndef HPX_CPUS_H
#define HPX_CPUS_H

#include "compiler.h"
#include <sys/types.h>

/* CPUs on which process pid may run; 0: the calling thread. */
unsigned hpx_cpus_allowed(pid_t pid);
/* CPUs that the cgroup of process pid, and all above it, let it use: the least quota; 0: there is none, or it cannot be seen. root: "", or
 * the folder in which a test has proc/ and sys/fs/cgroup/. Versions 1 and 2. */
double hpx_cpus_quota(const char *root, pid_t pid);
/* Threads of the least priority that this process may run beside the calling one at the expense of nobody. The kernel prefers the program
 * on every CPU; of a quota it does not, so one CPU of it is left to the program. */
unsigned hpx_cpus_spare(void);
unsigned hpx_cpus_spare_of(unsigned allowed, double quota);

#endif
