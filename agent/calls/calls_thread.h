/* SPDX-License-Identifier: BSD-2-Clause */
/* calls_thread.h: a thread's state in cpu=times and cpu=old; its ring holds calls. */
#ifndef HPX_CALLS_THREAD_H
#define HPX_CALLS_THREAD_H

#include "calls.h"
#include "cpuclock.h"
#include "stack_limit.h"
#include "ticks.h"

struct hpx_calls_thread {
    struct hpx_mode_thread s; /* first */
    _Atomic int in_probe;     /* release: the probe's end; acquire: hpx_tracker_quiesce() */
    struct hpx_calls calls;
    struct hpx_calls_pending pending; /* the pending events when a requested dump read its tail. The aggregator's */
    uint64_t owed; /* times=sampled: ns of signals not yet recorded. The handler's; at the end, of whoever may write the ring */
    struct hpx_cpuclock cpuclock;
    struct hpx_stack_limit stack_limit;
    bool carries;           /* the owner's: it has carried virtual threads */
    struct hpx_ticker tick; /* times=sampled without cpu=samples */
};

/* times=sampled: t has used another `weight` intervals. Time that cannot be recorded now is recorded with the next tick. The handler, or
 * whoever may write the ring. */
void hpx_calls_thread_tick(struct hpx_calls_thread *t, uint64_t weight);

/* State of the calling thread; NULL if it has none, as hprofx's own threads, or is older than VMInit and has not called yet. */
extern __thread struct hpx_calls_thread *hpx_calls_thread_self;

#endif
