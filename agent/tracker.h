/* SPDX-License-Identifier: BSD-2-Clause */
/* tracker.h: the classes that instrumented methods call, and what these call: the probes of cpu=times.
 *
 * hprofx.Tracker is defined in the boot loader's unnamed module: every class sees it, since the VM lets the module of a class that an agent
 * changes read that module. (In a package of java.base the VM would warn on stdout when its natives are registered.)
 *
 * Where critical downcalls can be had (downcall.h), methods call java.lang.invoke.HprofxTracker, and that calls C by them from VMInit on,
 * and the natives before it and for what a downcall may not do. */
#ifndef HPX_TRACKER_H
#define HPX_TRACKER_H

#include "agent.h"

/* cpu=times with a clock that the probes read; it is a stamp of 0 that they give otherwise. */
static inline bool hpx_tracker_reads_clock(void)
{
    return hpx_agent_calls() && !hpx_agent_sampled();
}
static inline uint64_t hpx_tracker_now(struct hpx_agent_thread *t)
{
    return hpx_agent_sampled() ? 0 : hpx_cpuclock_now(&t->cpuclock);
}

/* Defines the classes and registers the natives. VMStart. 0, -HPX_E_VM. */
int hpx_tracker_define(JNIEnv *env, struct hpx_err *err);
bool hpx_tracker_defined(void);
/* Internal name of the class that methods are to call; static. Once defined; any thread. */
const char *hpx_tracker_name(void);
/* name, in internal form, is that of one of them: it is not to be instrumented. */
bool hpx_tracker_is(const char *name);
/* Probes count from now on. After the thread of VMInit has its state. */
void hpx_tracker_open(void);
/* Undoes open; no thread but the caller can be in a probe. */
void hpx_tracker_pause(void);
/* What a pair of probes costs compiled code, in ns of CPU time: between its two stamps (inner) and beside them (outer), by calling them
 * some thousand times on `scratch`, a state whose ring nobody drains. 0 and 0 where it cannot be told. VMInit's thread, before open. */
void hpx_tracker_calibrate(JNIEnv *env, struct hpx_agent_thread *scratch, uint32_t *inner_ns, uint32_t *outer_ns);
/* What pushes calls stands between these two: the state to push with, or NULL: the thread has none, or probes count no more. Between
 * them nothing enters the JVM but the count of frames near the end of a stack (pipeline/deep.h), which may wait for a safepoint: the end
 * does not wait for that one longer than hpx_tracker_quiesce() does. The calling thread. */
struct hpx_agent_thread *hpx_tracker_go_in(JNIEnv *env);
void hpx_tracker_go_out(struct hpx_agent_thread *t);
/* Probes count no more; those that are inside leave at once, also from a wait for space. The aggregator, before the last pass. */
void hpx_tracker_close(void);
/* Waits until t is in no probe, at most until then (hpx_clock_mono()); false: it still is. The aggregator, after close. */
bool hpx_tracker_quiesce(struct hpx_agent_thread *t, uint64_t until_ns);

#endif
