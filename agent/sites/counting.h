/* SPDX-License-Identifier: BSD-2-Clause */
/* counting.h: sites=counts: probes count what code allocates, by place in the code.
 *
 * A probe adds to two counters of its thread and place, or counts under the open call if cpu=times is active. A place beyond
 * HPX_SITE_PLACES, multianewarray, and what a maker (bci/makers.c) returned write a 16-byte record to the ring of the thread. Only the
 * probe of these looks at the object; no probe takes a stack. The probe of `new` does not know the object's size. hpx_counting_sizes()
 * measures it once per class, on an object that it allocates without running a constructor. */
#ifndef HPX_COUNTING_H
#define HPX_COUNTING_H

#include "site_table.h"
#include "vm_mode.h"

struct hpx_site_thread;

/* Registers the probes with the rewriting pass (hpx_classes_use()). At load, once. */
void hpx_counting_use(void);
/* Measures the header, element size and alignment of arrays in this VM, in bytes. VMInit, before hpx_counting_open(). */
void hpx_counting_measure(jvmtiEnv *jvmti, JNIEnv *env);
/* Starts counting. VMInit, after the thread got its state. */
void hpx_counting_open(void);
/* Probes stop counting. Issues a barrier in all threads; after it no thread enters a probe's counting part. Short after
 * hpx_counting_prepare(). The aggregator. */
void hpx_counting_close(void);
/* Probes stop counting, without a barrier. In the child of a fork, and just before the session's gate is closed; async-signal-safe. */
void hpx_counting_forget(void);
/* Prepares a short hpx_counting_close(). Blocks the aggregator for about 10 ms, without CPU time. The aggregator, once. */
void hpx_counting_prepare(void);
/* Waits until t is in no probe, at most until until_ns (hpx_clock_mono()). After hpx_counting_close(). The aggregator. */
void hpx_counting_quiesce(struct hpx_site_thread *t, uint64_t until_ns);
/* Gives t its counters; without memory its probes write records. Before t begins. */
void hpx_counting_make(struct hpx_site_thread *t);
void hpx_counting_destroy(struct hpx_site_thread *t);
/* Adds t's counters to the table: to the running threads' sums, or for good if t is gone. The aggregator. */
void hpx_counting_add_up(struct hpx_sites *s, const struct hpx_site_thread *t, bool gone);
/* Measures and posts the object sizes of classes that places name, that are initialized, and whose size is still unknown. An attached
 * thread, before a dump. Classes that fail are tried again at the next dump. */
void hpx_counting_sizes(jvmtiEnv *jvmti, JNIEnv *env);
/* Frees the names of the classes whose sizes were wanted; keeps the element types of arrays. At the end, once, after the service thread was
 * asked to stop. */
void hpx_counting_fini(void);

#endif
