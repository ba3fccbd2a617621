/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.h: times in nanoseconds. All calls are async-signal-safe (clock_gettime is a vdso call or a plain system call). */
#ifndef HPX_CLOCK_H
#define HPX_CLOCK_H

#include "compiler.h"
#include <sys/types.h>

uint64_t hpx_clock_mono(void);       /* CLOCK_MONOTONIC: the only clock for durations */
uint64_t hpx_clock_thread_cpu(void); /* CPU time of the calling thread */
uint64_t hpx_clock_process_cpu(void);
/* CPU time of another thread of this process, by its kernel id; 0 if it is gone. */
uint64_t hpx_clock_tid_cpu(pid_t tid);
/* The kernel's clock of that thread, for timer_create() and clock_gettime(). */
clockid_t hpx_clock_of_tid(pid_t tid);
/* The scheduler tick in nanoseconds (resolution of CLOCK_MONOTONIC_COARSE): thread CPU timers cannot be finer. */
uint64_t hpx_clock_tick(void);

#endif
