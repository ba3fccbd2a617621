/* SPDX-License-Identifier: BSD-2-Clause */
/* sites.h: the mode heap=sites: which code allocates how much, and how much of it is live. */
#ifndef HPX_SITES_H
#define HPX_SITES_H

#include "session.h"
#include <jvmti.h>

extern const struct hpx_mode hpx_sites_mode;
extern const struct hpx_vm_mode hpx_sites_vm; /* the part that uses the JVM */

/* The traces of all sites so far, by id, for the objects of a heap dump; the caller frees the array. NULL: no memory, or nothing is
 * tracked. The aggregator. */
const struct hpx_trace_rec **hpx_sites_all_traces(uint32_t *n);
/* The source of the allocations, for the report; static text. Any thread; constant from load on. */
const char *hpx_sites_engine(void);
/* Whether probes report objects (sites=exact); whether sites=exact has no event of the VM, only probes and VMObjectAlloc. Any thread;
 * constant from load on. */
bool hpx_sites_has_probes(void);
bool hpx_sites_lacks_event(void);
/* Whether probes count by place (sites=counts, and the VM permits probes). Any thread; constant from load on. */
bool hpx_sites_counts(void);
/* Of a session that began late and has the VM's event: threads that ran before it; else 0. Any thread. */
uint32_t hpx_sites_threads_before(void);
/* Whether live objects are counted by looks (looking.h); whether samples are followed (survivors.h). Any thread; constant from load on. */
bool hpx_sites_looks(void);
bool hpx_sites_follows(void);
/* Collects garbage if gc=y, asks for sizes of objects, and finds out what lives; or completes a look. The service thread. */
jvmtiError hpx_sites_flush(jvmtiEnv *jvmti, JNIEnv *env);
/* Finds out which samples live. The service thread. */
jvmtiError hpx_sites_look_at_survivors(jvmtiEnv *jvmti, JNIEnv *env);

#endif
