/* SPDX-License-Identifier: BSD-2-Clause */
/* site_ids.h: ids of allocation sites, and counters of the objects freed per site. Shared by the threads that allocate, the thread that
 * reports frees, and the aggregator.
 *
 * An id belongs to one key, a 64-bit hash of the parts of a site (stack, class), from its first use on. Every thread gets the same id for
 * the same key. The hash tables are lock-free and insert-only; every further table is larger. An id is a position in one of them. So the
 * counters of frees lie next to the key, and they exist before an object can have the id in its tag.
 *
 * The tag of an object holds the site's id and the object's size. A free therefore needs no table of objects, and hpx_site_ids_freed() may
 * run in a garbage collection. The tag of a class holds the class's number. The mirror of a class is also an object with a site: its tag as
 * an object is kept here. */
#ifndef HPX_SITE_IDS_H
#define HPX_SITE_IDS_H

#include "class_ids.h"
#include <stdatomic.h>

#define HPX_SITE_NONE     0u /* no id: all tables are full, or no memory */
#define HPX_SITE_TABLES   6u
#define HPX_SITE_FIRST    (1u << 13) /* entries of the first table; every further table has four times as many */
#define HPX_SITE_UNIT     8u         /* bytes; object sizes are multiples of it */
#define HPX_SITE_MOST     (1u << 20) /* class numbers are below */
#define HPX_SITE_IDS_MOST 11182081u  /* ids are below: 1 + the entries of all tables */

struct hpx_site_objects {
    _Atomic uint64_t objects, bytes; /* relaxed: one writer at a time; exact after the VM has reported all pending frees */
};

struct hpx_site_ids {
    /* release: the thread that maps it; acquire: every user. Covers the zeroed entries */
    _Atomic(struct hpx_site_place *) tables[HPX_SITE_TABLES];
    _Atomic uint32_t classes;                                 /* relaxed: numbers given out */
    _Atomic(_Atomic uint64_t *) mirrors[HPX_SITE_MOST >> 10]; /* tags of class mirrors, in pages of 1024; order as `tables` */
    /* relaxed: hpx_site_ids_count_live() was called; from then on the counters count live objects instead of frees */
    atomic_bool live;
    _Atomic uint64_t frees;       /* relaxed: hpx_site_ids_freed() so far */
    struct hpx_site_objects none; /* counters that HPX_SITE_NONE maps to */
};

/* Frees the tables. Zeroed memory is an initialized, empty struct. No other thread uses s any more. */
void hpx_site_ids_fini(struct hpx_site_ids *s);

/* The id of key, which is not 0; HPX_SITE_NONE: all tables are full, or no memory. *fresh: this call made the id, so this caller alone
 * sends its definition. Relaxed: orders nothing but the entry. Any thread; not in a signal handler, because it may map memory. */
uint32_t hpx_site_ids_get(struct hpx_site_ids *s, uint64_t key, bool *fresh);
/* The counters of an id that hpx_site_ids_get() returned. Owned by s. Any thread. */
struct hpx_site_objects *hpx_site_ids_objects_of(struct hpx_site_ids *s, uint32_t id);

/* ---- tags ---- */

#define HPX_SITE_UNITS_BITS 31
#define HPX_SITE_CLASS_TAG  (UINT64_C(1) << 63)
/* In the tag of a class: the table of sites knows it; the table of blocked time knows it. */
#define HPX_SITE_ANNOUNCED  (UINT64_C(1) << 62)
#define HPX_BLOCK_ANNOUNCED (UINT64_C(1) << 61)
/* Of an object that is made to be freed: it tells when the frees of a collection arrive. */
#define HPX_SITE_CANARY (HPX_SITE_CLASS_TAG | UINT32_MAX)

/* The tag of an object. bytes: size of the object; 16 GiB and more count as 16 GiB less 8 bytes. Not 0 unless id is HPX_SITE_NONE. */
static inline uint64_t hpx_site_tag(uint32_t id, uint64_t bytes)
{
    uint64_t units = bytes / HPX_SITE_UNIT, most = (UINT64_C(1) << HPX_SITE_UNITS_BITS) - 1;
    return (uint64_t)id << HPX_SITE_UNITS_BITS | (units < most ? units : most);
}

/* A new number for a class. mirror: tag of its mirror so far, 0: none. The caller tags the class with hpx_site_class_tag(). 0: no number is
 * left, or no memory. Any thread; not in a signal handler. */
struct hpx_class_number hpx_site_ids_class(struct hpx_site_ids *s, uint64_t mirror);
/* The tag of a class with this number. */
static inline uint64_t hpx_site_class_tag(struct hpx_class_number number)
{
    return HPX_SITE_CLASS_TAG | number.v;
}
/* The class number in a tag; 0: not the tag of a class. */
static inline struct hpx_class_number hpx_site_class_of(uint64_t tag)
{
    return (struct hpx_class_number){tag & HPX_SITE_CLASS_TAG ? (uint32_t)tag : 0};
}

/* Adds a freed object with this tag to the counters of its site; after hpx_site_ids_count_live(), a live object. One thread at a time.
 * Takes no lock, allocates nothing, waits for nothing. */
void hpx_site_ids_freed(struct hpx_site_ids *s, uint64_t tag);

/* Sets all counters to 0 and makes them count live objects: the caller calls hpx_site_ids_freed() once for every live object. No more frees
 * arrive. The thread that ends the VM. */
void hpx_site_ids_count_live(struct hpx_site_ids *s);
/* Whether the counters are of live objects. Any thread; relaxed. */
static inline bool hpx_site_ids_counts_live(const struct hpx_site_ids *s)
{
    return atomic_load_explicit(&s->live, memory_order_relaxed);
}
/* A live object with this tag, between count_live and the last snapshot. In a VM operation: as hpx_site_ids_freed(). */
void hpx_site_ids_live(struct hpx_site_ids *s, uint64_t tag);
/* The counters of this id stay those of frees: the VM may not list its objects. Any thread. */
void hpx_site_ids_by_frees(struct hpx_site_ids *s, uint32_t id);
/* The counters of this id are of what lives. Any thread. */
bool hpx_site_ids_is_live_count(struct hpx_site_ids *s, uint32_t id);

/* Number of frees so far. Any thread. */
static inline uint64_t hpx_site_ids_frees(const struct hpx_site_ids *s)
{
    return atomic_load_explicit(&s->frees, memory_order_relaxed);
}

/* Bytes mapped by s. Any thread. */
size_t hpx_site_ids_bytes(const struct hpx_site_ids *s);

#endif
