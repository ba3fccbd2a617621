/* SPDX-License-Identifier: BSD-2-Clause */
/* phase.h: which intervals of a thread's CPU time have ended, and which of them have samples.
 *
 * Pure: the caller passes times, in ns of the thread's CPU clock. The struct belongs to the thread's clock (clocks.h), or to its poller. */
#ifndef HPX_PHASE_H
#define HPX_PHASE_H

#include "compiler.h"

#define HPX_PHASE_JUST_BEGUN_NS (2ull * 1000 * 1000) /* a thread that has used less at ThreadStart was started by the VM just now */

/* A perf period that ends in the kernel raises no signal and restarts until one ends in user mode; every end costs some 20 us of the
 * thread's time in a virtual machine. */
#define HPX_PHASE_LEAST_NS (100ull * 1000)

struct hpx_phase {
    uint64_t origin;    /* the first expiry */
    uint64_t accounted; /* expiries that have samples */
};

/* `drawn`: random, uniform in an interval. A thread that has just started is counted from its first nanosecond, so its first expiry may
 * lie before `now`; other threads are counted from now. */
struct hpx_phase hpx_phase_begin(uint64_t now, uint64_t drawn);
/* CPU time to the next expiry; 0: one is due. */
uint64_t hpx_phase_left(const struct hpx_phase *p, uint64_t now, uint64_t interval);
/* Returns the expiries that are due and marks them as accounted. */
uint64_t hpx_phase_take(struct hpx_phase *p, uint64_t now, uint64_t interval);
/* Of the `weight` expiries that were marked last, those that were due at `at`. */
uint64_t hpx_phase_before(const struct hpx_phase *p, uint64_t weight, uint64_t at, uint64_t interval);
/* The first period of a perf event: to the first expiry, but no less than HPX_PHASE_LEAST_NS, or half an interval if that is less.
 * Expiries that fall due before the period ends are taken at its end. */
uint64_t hpx_phase_period(const struct hpx_phase *p, uint64_t now, uint64_t interval);

#endif
