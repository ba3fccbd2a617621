/* SPDX-License-Identifier: BSD-2-Clause */
/* run_delay.h: what the kernel says of a thread: how long it was ready to run, but not on a CPU; whether it is so now. */
#ifndef HPX_RUN_DELAY_H
#define HPX_RUN_DELAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ns since its start, of a thread of this process; 0 if the kernel does not tell. Three system calls. Any thread. */
uint64_t hpx_run_delay(pid_t tid);
/* The same of the text of /proc/self/task/TID/schedstat. */
uint64_t hpx_run_delay_of(const char *text);

/* Whether a thread of this process runs or is ready to run. false also if the kernel does not tell. Any thread. */
bool hpx_run_wants_cpu(pid_t tid);
/* The same of the text of /proc/self/task/TID/stat. */
bool hpx_run_wants_cpu_of(const char *text);

#endif
