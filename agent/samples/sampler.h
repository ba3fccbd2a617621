/* SPDX-License-Identifier: BSD-2-Clause */
/* sampler.h: cpu=samples: at every tick (ticks.h) a stack goes into the thread's ring (stacks.h). Chooses the engine (engine.h), and
 * replaces an engine that fails. */
#ifndef HPX_SAMPLER_H
#define HPX_SAMPLER_H

#include "report.h"
#include "sample_thread.h"
#include <jvmti.h>

/* Chooses the engine of sampler=. At load. If it cannot work on this VM, the engine is walk, with one message. */
void hpx_sampler_init(void);
/* VMInit, on its thread, when no clock runs. async: installs the guard, checks the VM's structures. asgct: the guard and a test of
 * AsyncGetCallTrace. If that fails, the engine is walk. walk, poll: starts the sampling thread; without it samples have no stacks. */
void hpx_sampler_live(JNIEnv *env);
/* VMDeath: its events are off; and after the last walk: the guard is removed. */
void hpx_sampler_close(void);
void hpx_sampler_over(void);
/* How stacks are taken and by which clock, for the report: static text. It changes if the engine is replaced. Any thread. */
const char *hpx_sampler_name(void);
/* The report: how the stacks of async were found. samples: all that were counted. */
void hpx_sampler_lines(struct hpx_lines *to, const struct hpx_counters *total, uint64_t samples);
/* Aggregator, in every pass: completes a hpx_engine_distrust_sig(), with a message; and leaves async if the structures were left. */
void hpx_sampler_look(void);
/* Size in bytes of the ring that a thread needs for the configured depth. */
uint32_t hpx_sampler_ring_size(void);

/* Starts t's clock. The owner, or VMInit for threads older than it. Without a timer the thread is polled; without a sampling thread it
 * is not sampled, which is counted. One message each. */
void hpx_sampler_arm(struct hpx_sample_thread *t);
/* For hpx_ticks_user. due: signals that wait for a stack become samples of their pc alone; intervals that are due without a sample (they
 * ended in the kernel, or the thread was too short) count for the thread's last stack, or for the cause thread_ended; those that ended
 * before a perf event was started count for no_Java_frame. */
void hpx_sampler_tick_sig(struct hpx_mode_thread *s, void *context, uint64_t weight);
void hpx_sampler_due(struct hpx_mode_thread *s, uint64_t weight);
void hpx_sampler_untimed(struct hpx_mode_thread *s, int why);
/* Aggregator, after the gate was closed and t's clock stopped: handles signals that still wait for a stack, as `due` does. */
void hpx_sampler_flush(struct hpx_sample_thread *t);

#endif
