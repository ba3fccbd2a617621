/* SPDX-License-Identifier: BSD-2-Clause */
/* check.h: the rules between records: what is defined before it is used, and once; what the numbers of a table must be (docs/formats.md).
 *
 * A sink of the reader. Memory: a set of the ids of strings and frames, maps of the serials of classes, traces and threads (11 to 40 bytes
 * each), and for the heap dump being read the ids of its objects (16 to 32 bytes each), 4 bytes per field that is a reference, and 32 bytes
 * per object that was referred to and has not come yet. */
#ifndef HPX_READ_CHECK_H
#define HPX_READ_CHECK_H

#include "list.h"
#include "reader.h"

/* Where something stands that is judged later. */
struct hpx_place {
    uint64_t at, line;
    uint64_t id; /* what it names */
};

struct hpx_check_trace {
    uint64_t hash, top; /* of its frames; of the name of the innermost method (text) */
    uint32_t table;     /* the last table with a row of it */
    uint32_t frames;
};

/* A class of the heap dump being read. */
struct hpx_check_class {
    uint64_t id, super;
    uint64_t declared; /* CLASS DUMP: bytes of an instance */
    uint64_t own;      /* of the fields it declares itself */
    uint64_t total;    /* with those of its superclasses, once known */
    uint64_t length;   /* of the instances seen */
    size_t first;      /* of its own fields that are references, in field_offsets */
    uint32_t references;
    uint32_t up; /* index + 1 of the nearest superclass that has any, once total is known; 0: none */
    struct hpx_place used, dumped;
    bool is_used, is_dumped, has_length, tried;
    uint8_t walked; /* 0: total unknown, 1: on the way, 2: known */
};

/* An object that was referred to and has not come yet. */
struct hpx_check_awaited {
    struct hpx_place place; /* of the first reference; id: of the object */
    uint64_t references;    /* 0: free, place.id is the next free one + 1 */
};

/* Remembers the first place where an id is named: 0, -HPX_E_NOMEM. */
int hpx_check_remember(struct hpx_seeded_map *seen, struct hpx_list *places, const struct hpx_rd_event *ev, uint64_t id);

struct hpx_check {
    bool text, bare;
    uint32_t id_size;
    struct hpx_seeded_map strings, frames;
    struct hpx_seeded_map classes;   /* serial -> 1 loaded, 2 unloaded */
    struct hpx_seeded_map class_ids; /* class object -> serial */
    struct hpx_seeded_map threads;   /* serial -> 1 started, 2 ended, 4 a root */
    struct hpx_seeded_map traces;    /* serial -> index of trace_list + 1 */
    struct hpx_list trace_list;      /* struct hpx_check_trace */
    struct hpx_seeded_map awaited;   /* trace serials named before their trace */
    struct hpx_list awaited_places;

    struct hpx_check_trace trace; /* the open one */
    uint64_t records;
    bool traces_open; /* traces since the last section */
    bool report, old; /* seen */
    bool lossy;       /* a report says that a socket lost records */

    int rank; /* of the last section */
    uint64_t dumps;
    uint64_t counted;  /* samples, and calls of rows, of all tables that are whole */
    uint64_t counting; /* of the open one */
    bool waited;       /* one of them is of WALL CLOCK, and has time */

    struct hpx_rd_table table; /* the open one */
    uint32_t tables;
    uint64_t rows, sum, shares, last;

    bool in_heap, late;
    struct hpx_place heap;
    struct hpx_seeded_map objects;             /* -> HPX_CHECK_HERE, or index of awaited_objects + 1 */
    struct hpx_seeded_map roots, heap_classes; /* heap_classes -> index of class_list + 1 */
    struct hpx_seeded_map heap_threads;        /* thread serial -> trace of its root */
    struct hpx_list root_places, class_list, awaited_objects;
    struct hpx_list field_offsets; /* uint32_t: of the fields that are references, from the first field of their class */
    size_t fields_begun;           /* of the class whose fields are being told */
    uint64_t field_bytes;
    uint64_t free_awaited; /* index + 1 */
    uint64_t heap_objects, heap_bytes, announced, announced_bytes;
    struct hpx_rd_event holder; /* whose CONTENTS follow */
    uint32_t holder_class;      /* of class_list, + 1; 0: nothing is known of its fields */
    /* what the object before had: neighbours are alike */
    uint64_t near_class;
    uint32_t near_index; /* of class_list, + 1; 0: none */
    uint32_t near_trace;
};

#define HPX_CHECK_HERE UINT32_MAX

void hpx_check_init(struct hpx_check *c);
void hpx_check_fini(struct hpx_check *c);
/* A hpx_rd_sink; ctx: the struct hpx_check. */
int hpx_check_event(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev);

/* Between the files of the check. */
int hpx_check_table(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev);
int hpx_check_heap(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev);
int hpx_check_rank(int tag);
int hpx_check_section(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, int rank);
int hpx_check_thread(struct hpx_check *c, struct hpx_reader *r, const struct hpx_rd_event *ev, uint32_t serial);
struct hpx_check_trace *hpx_check_find_trace(const struct hpx_check *c, uint32_t serial);
uint64_t hpx_check_hash(struct hpx_rd_text text);

#endif
