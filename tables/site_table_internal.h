/* SPDX-License-Identifier: BSD-2-Clause */
/* site_table_internal.h: shared by site_table.c (classes, events, snapshot) and site_counts.c (counts of probes), and included by them
 * alone. Owner: the aggregator. */
#ifndef HPX_SITE_TABLE_INTERNAL_H
#define HPX_SITE_TABLE_INTERNAL_H

#include "intern.h"
#include "model_table.h"
#include "site_table.h"

/* State of sites=counts. */
struct hpx_site_counts {
    struct hpx_vec places;                          /* struct hpx_site_place_rec, by place id */
    struct hpx_vec levels;                          /* struct hpx_site_level; the levels of one place are adjacent */
    struct hpx_intern by_place;                     /* class, method and line as text -> index of struct hpx_site_sum */
    struct hpx_intern made;                         /* place and class of what a maker made there -> index in levels */
    uint64_t unknown;                               /* objects that running threads counted at places without levels */
    uint64_t missed_objects, missed_bytes, unsized; /* of the snapshot in progress */
};

/* A place in the code that allocates. */
struct hpx_site_place_rec {
    uint32_t first;  /* index of its first level */
    uint8_t nlevels; /* above 1: multianewarray; 0: of a maker, whose levels are in `made` */
    bool known;      /* announced */
    uint32_t symbolized;
};

/* What one place has allocated of one class. */
struct hpx_site_level {
    uint32_t site; /* index of struct hpx_site_sum */
    struct hpx_class_number klass;
    uint64_t objects, bytes;                 /* of records, and of threads that are gone */
    uint64_t running_objects, running_bytes; /* of the threads that run, as of the last hpx_sites_forget_running() */
    uint64_t cleared_objects, cleared_bytes; /* of all these when they were cleared */
    bool made;                               /* by a maker: its records carry the bytes of objects, too */
};

struct hpx_site_class {
    uint32_t name; /* string number; 0: not announced yet, or no memory */
    struct hpx_class_serial serial;
    struct hpx_class_number first; /* of the class that was announced first among those that share a row (add_class()) */
    uint8_t array;
    uint64_t size; /* bytes of an object; 0: unknown */
};

struct hpx_site_id {
    uint64_t objects, bytes;
    uint64_t size; /* bytes of every object, if sampled */
    uint32_t raw;  /* raw trace + 1; 0: not defined yet */
    struct hpx_class_number klass;
    uint32_t row; /* index of struct hpx_site_sum + 1; 0: not looked up yet */
};

/* A row: a class and a trace as shown. */
struct hpx_site_sum {
    struct hpx_class_number klass;
    uint32_t symbolized;
    uint64_t listed_objects, listed_live; /* figures of the last listed snapshot: `changed` compares with them */
    uint64_t shown_objects, shown_live;   /* figures of the last snapshot, listed or not (hpx_sites_not_listed()) */
    /* Scratch of the snapshot in progress; 0 between snapshots. */
    double live_bytes, live_objects, bytes, objects, variance;
};

struct hpx_sites {
    struct hpx_model *m;
    struct hpx_symbols *symbols;
    struct hpx_site_options o;
    struct hpx_vec ids;            /* struct hpx_site_id, by id */
    struct hpx_vec classes;        /* struct hpx_site_class, by number; 0: of objects whose class is unknown */
    struct hpx_vec own_classes;    /* struct hpx_site_class of classes that places name, by number - HPX_SITE_OWN_CLASSES */
    struct hpx_vec sites;          /* struct hpx_site_sum */
    struct hpx_intern index;       /* of sites */
    struct hpx_intern class_index; /* of classes */
    uint64_t objects, bytes;
    bool lacks;  /* a definition was lost: what has none may never have one */
    bool listed; /* the last snapshot is listed */
    struct hpx_site_counts counts;
};

#define HPX_SITE_OWN_CLASSES (1u << 31)
/* The class of a number; valid until a class is added. */
static inline struct hpx_site_class *hpx_sites_class_at(const struct hpx_sites *s, struct hpx_class_number number)
{
    return number.v >= HPX_SITE_OWN_CLASSES ? hpx_vec_at(&s->own_classes, number.v - HPX_SITE_OWN_CLASSES)
                                            : hpx_vec_at(&s->classes, number.v);
}

/* The class of a number that a record carries; that of unknown objects where it was not announced. */
const struct hpx_site_class *hpx_sites_class_of(const struct hpx_sites *s, struct hpx_class_number number);
/* Number of the class with this signature; a class that was not announced gets a number from HPX_SITE_OWN_CLASSES on. 0: no memory. */
struct hpx_class_number hpx_sites_class(struct hpx_sites *s, const char *signature, uint32_t len);
/* Index of the struct hpx_site_sum of this class and symbolized trace, new if needed. HPX_INTERN_NONE: no memory. */
uint32_t hpx_sites_sum(struct hpx_sites *s, struct hpx_class_number klass, uint32_t symbolized);

bool hpx_site_counts_init(struct hpx_sites *s); /* false: no memory */
void hpx_site_counts_fini(struct hpx_sites *s);
/* Adds the places of the message; without memory some are missing, and their events count as lost. */
void hpx_site_counts_announce(struct hpx_sites *s, const struct hpx_msg_sites *msg);
/* Sets the object size of the class; without memory the size stays unknown. */
void hpx_site_counts_size(struct hpx_sites *s, const struct hpx_msg_site_size *msg);
/* Counts an event of kind COUNT to COUNT_MADE; as HPX_C_ALLOCATIONS_UNCOUNTED if there was no memory for its place. */
void hpx_site_counts_apply(struct hpx_sites *s, const struct hpx_ev_head *ev);
/* Adds all counts to the sums of the snapshot in progress. */
void hpx_site_counts_add_up(struct hpx_sites *s);
/* Index of the sum to which objects of this class sampled at this trace belong. HPX_INTERN_NONE: no probe counted them. */
uint32_t hpx_site_counts_find(struct hpx_sites *s, const struct hpx_site_class *c, const struct hpx_trace_rec *t);
/* Sets all counts to 0. */
void hpx_site_counts_clear(struct hpx_sites *s);

#endif
