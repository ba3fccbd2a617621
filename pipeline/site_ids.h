/* SPDX-License-Identifier: BSD-2-Clause */
/* site_ids.h: ids of allocation sites, and counters of the objects freed per site. Shared by the threads that allocate, the thread that
 * reports frees, and the aggregator.
 *
 * An id belongs to one key, a 64-bit hash of the parts of a site (stack, class), from its first use on. Every thread gets the same id for
 * the same key. The hash tables are lock-free and insert-only; every further table is larger. An id is a position in one of them. So the
 * counters of frees lie next to the key, and they exist before an object can have the id in its tag.
 *
 * The tag of an object holds the site's id and the object's size. A free therefore needs no table of objects, and hpx_site_ids_freed() may
 * run in a garbage collection. Where the VM must not be asked for frees, a walk over all tagged objects counts those that live (struct
 * hpx_site_look). The tag of a class holds the class's number. The mirror of a class is also an object with a site: its tag as
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
    _Atomic uint64_t objects, bytes; /* relaxed: one writer at a time. Freed so far; after hpx_site_look_take(): alive at that look */
};

struct hpx_site_ids {
    /* release: the thread that maps it; acquire: every user. Covers the zeroed entries */
    _Atomic(struct hpx_site_place *) tables[HPX_SITE_TABLES];
    _Atomic uint32_t classes;                                 /* relaxed: numbers given out */
    _Atomic(_Atomic uint64_t *) mirrors[HPX_SITE_MOST >> 10]; /* tags of class mirrors, in pages of 1024; order as `tables` */
    atomic_bool looked;           /* relaxed: hpx_site_look_take() was called since the last hpx_site_ids_forget_look() */
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

/* Adds a freed object with this tag to the counters of its site. One thread at a time. Takes no lock, allocates nothing, waits for nothing.
 */
void hpx_site_ids_freed(struct hpx_site_ids *s, uint64_t tag);

/* ---- a look at what lives ---- */

#define HPX_SITE_PIECE  (1u << 20) /* ids; 16 MiB: a copy of the process takes a large shared mapping for a heap (fork_check.c) */
#define HPX_SITE_PIECES (HPX_SITE_IDS_MOST / HPX_SITE_PIECE + 1)

/* Counts of live objects by id, in memory that a copy of the process shares. One owner at a time. */
struct hpx_site_look {
    struct hpx_site_count {
        uint64_t objects, bytes;
    } * pieces[HPX_SITE_PIECES];
};
/* Maps the counts, for all ids so far and those that come meanwhile. Zeroed memory has nothing mapped. false: no memory. */
bool hpx_site_look_begin(struct hpx_site_look *l, const struct hpx_site_ids *s);
/* A live object with this tag: once for every one. In a VM operation, also in a copy of the process: takes no lock, allocates nothing. */
void hpx_site_look_add(struct hpx_site_look *l, struct hpx_site_ids *s, uint64_t tag);
/* The counters of s become those of the look. Returns how many objects it counted. No thread calls hpx_site_ids_freed() for s. */
uint64_t hpx_site_look_take(struct hpx_site_look *l, struct hpx_site_ids *s);
/* Unmaps the counts. */
void hpx_site_look_fini(struct hpx_site_look *l);
/* Until the next hpx_site_look_take() nobody knows what lives. Any thread. */
void hpx_site_ids_forget_look(struct hpx_site_ids *s);
/* Whether the counters are of a look. Any thread. */
static inline bool hpx_site_ids_looked(const struct hpx_site_ids *s)
{
    return atomic_load_explicit(&s->looked, memory_order_relaxed);
}

/* Bytes mapped by s. Any thread. */
size_t hpx_site_ids_bytes(const struct hpx_site_ids *s);

#endif
