/* SPDX-License-Identifier: BSD-2-Clause */
/* run_delay.h: how long a thread was ready to run, but not on a CPU. */
#ifndef HPX_RUN_DELAY_H
#define HPX_RUN_DELAY_H

#include <stdint.h>
#include <sys/types.h>

/* ns since its start, of a thread of this process; 0 if the kernel does not tell. Three system calls. Any thread. */
uint64_t hpx_run_delay(pid_t tid);
/* The same of the text of /proc/self/task/TID/schedstat. */
uint64_t hpx_run_delay_of(const char *text);

#endif
