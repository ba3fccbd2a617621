/* SPDX-License-Identifier: BSD-2-Clause */
/* check.h: the rules between records over which a reader would trip: what is defined before it is used, and once; tables that add up to
 * their total; instances as long as their class says. What hprofx itself promises beyond that is held by tests/format.
 *
 * A sink of the reader. Memory: a set of the ids of strings and frames, maps of the serials of classes, traces and threads (11 to 16 bytes
 * each), and for the binary heap dump being read a set of the ids of its objects. */
#ifndef HPX_READ_CHECK_H
#define HPX_READ_CHECK_H

#include "list.h"
#include "reader.h"

/* Where something stands that is judged later. */
struct hpx_place {
    uint64_t at, line;
};

/* A class of the heap dump being read. */
struct hpx_check_class {
    uint64_t id, super;
    uint64_t declared; /* CLASS DUMP: bytes of an instance */
    uint64_t total;    /* of the fields: of those that it declares itself; once walked, with those of its superclasses */
    uint64_t length;   /* of the instances seen */
    struct hpx_place used, dumped;
    bool is_used, is_dumped, has_length;
    uint8_t walked; /* 0: no, 1: on the way, 2: yes */
};

struct hpx_check {
    bool text, bare;
    struct hpx_seeded_map strings, frames;
    struct hpx_seeded_map classes;   /* serial -> 1 loaded, 2 unloaded */
    struct hpx_seeded_map class_ids; /* class objects */
    struct hpx_seeded_map threads;   /* serial -> 1 started, 2 ended */
    struct hpx_seeded_map traces;    /* serial -> a hash of its frames */

    uint64_t hash; /* of the open trace */
    uint64_t records;
    bool traces_open; /* traces since the last section */
    bool old;         /* the table of cpu=old was seen */

    int rank; /* of the last section */
    uint64_t dumps;
    uint64_t counted;  /* samples, and calls of rows, of all tables that are whole */
    uint64_t counting; /* of the open one */
    bool waited;       /* one of them is of WALL CLOCK, and has time */

    struct hpx_rd_table table; /* the open one */
    uint64_t sum;              /* of its rows */

    bool in_heap;
    struct hpx_place heap;
    struct hpx_seeded_map objects, heap_classes; /* heap_classes -> index of class_list + 1 */
    struct hpx_list class_list;
    uint64_t near_class; /* of the object before: neighbours are alike */
    size_t near_index;   /* of class_list, + 1; 0: none */
};

void hpx_check_init(struct hpx_check *c);
void hpx_check_fini(struct hpx_check *c);
/* A hpx_rd_sink; ctx: the struct hpx_check. */
int hpx_check_event(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev);

uint64_t hpx_check_hash(struct hpx_rd_text text);

/* Between the files of the check. */
int hpx_check_heap(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev);
int hpx_check_section(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, int tag);

#endif
