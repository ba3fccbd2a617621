/* SPDX-License-Identifier: BSD-2-Clause */
/* sites.h: the mode heap=sites: which code allocates how much, and how much of it is live. */
#ifndef HPX_SITES_H
#define HPX_SITES_H

#include "session.h"
#include <jvmti.h>

extern const struct hpx_mode hpx_sites_mode;
extern const struct hpx_vm_mode hpx_sites_vm; /* the part that uses the JVM */

/* State that sites.c and the callbacks share. */
struct hpx_sites_shared {
    /* relaxed: part of every site key. A clear increments it: sites get new ids, and frees of older objects are ignored */
    _Atomic uint32_t epoch;
    atomic_bool canary_freed;     /* release: the free of HPX_SITE_CANARY; acquire: who waits for it */
    atomic_bool off;              /* relaxed: a peer of net= has turned recording off */
    _Atomic(const char *) engine; /* relaxed: source of the allocations, for the report; static text */
};
extern struct hpx_sites_shared hpx_sites_shared;

/* Mean number of bytes between two sampled objects; 0: every object is recorded. */
static inline uint64_t hpx_sites_interval(void)
{
    return hpx_session.in_effect.sites == HPX_SITES_EXACT ? 0 : hpx_session.opt->sample_bytes;
}

/* The traces of all sites so far, by id, for the objects of a heap dump; the caller frees the array. NULL: no memory, or nothing is
 * tracked. The aggregator. */
const struct hpx_trace_rec **hpx_sites_all_traces(uint32_t *n);
/* Whether recorded objects get tags. Any thread; constant from load on. */
bool hpx_sites_tag_objects(void);
/* Whether probes count by place (sites=counts, and the VM permits probes). Any thread; constant from load on. */
bool hpx_sites_counts(void);
/* Collects garbage if gc=y, then makes the VM report pending frees and object sizes. The service thread. */
jvmtiError hpx_sites_flush(jvmtiEnv *jvmti, JNIEnv *env);

#endif
