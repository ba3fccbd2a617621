/* SPDX-License-Identifier: BSD-2-Clause */
/* stall.h: which part of a signal's weight is a stall: CPU time that went by while the thread's clock could not signal.
 *
 * A hypervisor that takes the CPU away for seconds, a thread that blocks the signal: then one signal stands for all of that time, and one
 * stack must not get it. A long system call does the same; that is work. Pure. */
#ifndef HPX_STALL_H
#define HPX_STALL_H

#include "compiler.h"

#define HPX_STALL_INTERVALS 20u /* most that a stack gets */
#define HPX_STALL_TICKS     5u  /* but no fewer than these scheduler ticks: with an interval below a tick every signal stands for some */

/* The weight up to which a signal is no stall. */
uint64_t hpx_stall_limit(uint64_t interval_ns, uint64_t tick_ns);
/* The part of the weight beyond the limit; 0: no stall. kernel: intervals that the thread spent in the kernel meanwhile; if they explain
 * half of that part, a system call or a page fault took it. */
uint64_t hpx_stall_of(uint64_t weight, uint64_t limit, uint64_t kernel);

#endif
