/* SPDX-License-Identifier: BSD-2-Clause */
/* site_thread.h: state of a thread in heap=sites. Its ring holds allocations. */
#ifndef HPX_SITE_THREAD_H
#define HPX_SITE_THREAD_H

#include "event_stacks.h"
#include "late_tags.h"

#define HPX_SITE_CACHE  512u   /* entries of a thread's cache of site ids */
#define HPX_SITE_CLONES 8u     /* entries of a thread's cache of classes that were cloned */
#define HPX_SITE_PLACES 65536u /* places with counters in every thread; the kernel provides the pages that are used */

/* What a place has allocated. Written by the owner of the thread's state, in a probe; read by the aggregator. */
struct hpx_place_count {
    _Atomic uint64_t objects, bytes; /* relaxed */
};

struct hpx_site_thread {
    struct hpx_mode_thread s; /* first */
    uint32_t number;          /* owner; thread=y makes it part of the site's key, so threads do not share traces */
    /* sites=counts: HPX_SITE_PLACES counters; NULL: no memory, or cpu=times counts under the open call. Constant until gone() */
    struct hpx_place_count *counts;
    _Atomic int in_probe;       /* sites=counts. release: end of the probe; acquire: hpx_counting_quiesce() */
    struct hpx_late_slot *late; /* owner; NULL: it has cloned nothing */
    bool inside;                /* owner; set in a callback: what the callback itself allocates is not recorded */
    bool seen;                  /* owner; an object was reported that is not recorded because of that */
    struct hpx_site_clones {
        struct hpx_class_number klass;
        bool own;              /* its objects have another clone() than Object's */
    } clones[HPX_SITE_CLONES]; /* owner; sites=counts */
    struct hpx_site_known {
        uint64_t key;
        uint32_t id;
    } cache[HPX_SITE_CACHE];
    struct hpx_event_stacks stacks; /* owner; ids of sites */
};

/* State of the agent's own threads and of threads that have ended; their allocations are not recorded. */
extern struct hpx_site_thread hpx_site_nobody;
/* State of the calling thread. NULL: it has none, or it started before the agent and has not allocated yet. &hpx_site_nobody: not
 * recorded. */
extern __thread struct hpx_site_thread *hpx_site_self;

#endif
