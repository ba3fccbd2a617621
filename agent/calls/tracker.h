/* SPDX-License-Identifier: BSD-2-Clause */
/* tracker.h: the probes of cpu=times, which instrumented methods call through the classes of classes.h. */
#ifndef HPX_TRACKER_H
#define HPX_TRACKER_H

#include "calls_mode.h"
#include "calls_thread.h"
#include "vm_mode.h"

/* true if the probes read a clock; otherwise their stamps are 0. */
static inline bool hpx_tracker_reads_clock(void)
{
    return !hpx_calls_timed_by_samples();
}
static inline uint64_t hpx_tracker_now(struct hpx_calls_thread *t)
{
    return hpx_calls_timed_by_samples() ? 0 : hpx_cpuclock_now(&t->cpuclock);
}

/* Whether methods of a class have probes of calls (hpx_class_user.wants). */
bool hpx_tracker_wants(const char *name, size_t n);
/* Registers these probes for the rewriting. At load. */
void hpx_tracker_use(void);
/* Starts counting. Call after VMInit's thread has its state. */
void hpx_tracker_open(void);
/* Measures what a pair of probes costs compiled code, in ns of CPU time: between its two stamps (inner) and outside them (outer), by
 * some thousand calls on `scratch`, a state whose ring is never drained. 0 and 0 if that fails. VMInit's thread, before open. */
void hpx_tracker_calibrate(JNIEnv *env, struct hpx_calls_thread *scratch, uint32_t *inner_ns, uint32_t *outer_ns);
/* Code that pushes calls runs between enter and leave. enter returns the state to push with; NULL: the thread has none, or probes no
 * longer count. Between them only the count of frames near the end of a stack (pipeline/stack_limit.h) enters the JVM; it may wait for a
 * safepoint, and exit waits for it only as long as hpx_tracker_quiesce() does. The calling thread. */
struct hpx_calls_thread *hpx_tracker_enter(JNIEnv *env);
void hpx_tracker_leave(struct hpx_calls_thread *t);
/* Makes close short. The aggregator, which this blocks for some 10 ms. */
void hpx_tracker_prepare(void);
/* Probes no longer count; threads inside leave at once, also from a wait for space. The aggregator, before the last pass. */
void hpx_tracker_close(void);
/* Waits until t is in no probe, at most until `until_ns` (hpx_clock_mono()); false: it still is. The aggregator, after close. */
bool hpx_tracker_quiesce(struct hpx_calls_thread *t, uint64_t until_ns);

#endif
