/* SPDX-License-Identifier: BSD-2-Clause */
/* places.h: where a person should look: the methods of the program's own code that have most of what a table measures, with all that they
 * call of the JDK and of libraries.
 *
 * Each row counts for the innermost frame of its stack that is the program's own. Own are frames of hpx_own_mine(); without these, frames
 * that are neither the JDK's nor of a library: one of own.c, or one that most stacks share and that calls others in most of them, as a
 * framework does. The code with `main` is never such a framework. If too little is in own code, libraries count, then the JDK, too. One
 * thread. */
#ifndef HPX_READ_PLACES_H
#define HPX_READ_PLACES_H

#include "profile.h"

#define HPX_PLACES 3

struct hpx_own_place {
    uint32_t what;  /* the class or monitor; 0: the table has none */
    uint32_t where; /* the method; 0: there is no stack */
    uint64_t value;
};

struct hpx_places {
    struct hpx_own_place top[HPX_PLACES]; /* descending; each is at least a hundredth of `all` */
    size_t n;
    uint64_t all;   /* what the tables have: samples, ns or bytes; MONITOR OWNERS: in rows whose owner is known */
    bool allocated; /* SITES: bytes that were allocated; else those that live */
    bool not_mine;  /* hpx_own_mine() has too little of it: these are of others */
};

/* Of tables of hpx_profile_table() that measure the same; after hpx_profile_finish(). false: no memory. */
bool hpx_places_find(struct hpx_profile *p, const int *tags, size_t n, struct hpx_places *to);

#endif
