/* SPDX-License-Identifier: BSD-2-Clause */
/* site_table.h: the table of allocation sites, a table of the model (model_table.h): what every site allocated, and how much of it is live.
 *
 * Events are counted by id. A snapshot maps ids to sites, pairs of class and trace, by the definitions of the ids. An id may be counted
 * before its definition arrives on the ring of another thread: the next snapshot then includes it. Live objects are allocated objects less
 * freed objects, or those that the last look has counted (pipeline/site_ids.h).
 *
 * Sampled: an object of `bytes` bytes stands for about 1 / (1 - exp(-bytes / interval)) objects of that size. All objects of an id have one
 * size, so the estimate scales exact counts, and its standard error is known.
 *
 * Owner: the aggregator; it calls every function except hpx_msg_*_new(). */
#ifndef HPX_SITE_TABLE_H
#define HPX_SITE_TABLE_H

#include "model.h"
#include "site_ids.h"

struct hpx_site_options {
    struct hpx_site_ids *ids; /* outlives the table */
    uint64_t interval;        /* mean bytes between two samples; 0: every object is recorded */
    bool live;                /* live objects are known: by frees, or by looks */
    bool looks;               /* by looks: until one is taken, they are not known */
    /* sites=counts: probes count by place in the code, or by open call with exact calls. Sampled objects estimate what is live. */
    bool counts;
};

/* Announces a class of objects. Posted before any event with the number. signature: Lp/C; or [I, modified UTF-8, terminated by 0. */
struct hpx_msg_site_class {
    struct hpx_msg m;
    struct hpx_class_number number;
    uint64_t method; /* jmethodID of a method that the class declares; 0: none */
    uint32_t len;
    char signature[];
};
/* A message with room for a signature of len bytes; the caller owns and fills it until the post. NULL: no memory. Any thread; not in a
 * signal handler. */
struct hpx_msg_site_class *hpx_msg_site_class_new(uint32_t len);

/* Announces the ids that the rewriter gave to places of a class that allocate. Posted before the class runs. text: class signature (Lp/C;)
 * 0, source file 0 (empty: none); then for every place method name 0, method signature 0, operand 0 (struct hprofx_bci_site). Modified
 * UTF-8. */
struct hpx_msg_sites {
    struct hpx_msg m;
    uint32_t n, text_len;
    char *text; /* inside the message */
    struct hpx_site_place_msg {
        uint32_t id;
        uint16_t line;
        uint8_t opcode;
    } of[]; /* n places, followed by the text */
};
/* A message with room for n places and text_len bytes of text; as hpx_msg_site_class_new(). */
struct hpx_msg_sites *hpx_msg_sites_new(uint32_t n, uint32_t text_len);

/* Announces the size of an object of a class, in bytes. name: internal form (p/C), terminated by 0. */
struct hpx_msg_site_size {
    struct hpx_msg m;
    uint64_t bytes;
    uint32_t len;
    char name[];
};
/* A complete message, with a copy of name. NULL: no memory. Any thread; not in a signal handler. */
struct hpx_msg_site_size *hpx_msg_site_size_new(const char *name, uint64_t bytes);

struct hpx_sites;
/* Adds itself to the model, which owns it. NULL: no memory. */
struct hpx_sites *hpx_sites_create(struct hpx_model *m, const struct hpx_site_options *o);

/* sites=counts, counters of threads. Sets the sums of the running threads to 0; before each of them is added. */
void hpx_sites_forget_running(struct hpx_sites *s);
/* Adds what a thread has counted at a place since it began. gone: for good, and objects of a place that was not announced count as
 * HPX_C_ALLOCATIONS_UNCOUNTED. Else to the sums of the running threads, and such objects as missed until their place is announced. */
void hpx_sites_add_counter(struct hpx_sites *s, uint32_t place, uint64_t objects, uint64_t bytes, bool gone);

/* Takes a snapshot; rows are in no order. Totals are since the start or the last clear: a snapshot resets nothing, but `changed` of a row
 * refers to the last snapshot that had it. The caller owns it: hpx_site_snapshot_destroy(). NULL: no memory; the next one has it all. */
struct hpx_site_snapshot *hpx_sites_snapshot(struct hpx_sites *s);
/* The writer does not list the rows of the last snapshot. So `changed` in the next snapshot refers to the last listed one. */
void hpx_sites_not_listed(struct hpx_sites *s);
/* Sets all totals to 0. Objects allocated later must have other ids, because frees of older objects still arrive. */
void hpx_sites_clear(struct hpx_sites *s);
/* Objects and bytes that events have recorded so far; not estimates, and not reset by a clear. */
uint64_t hpx_sites_recorded_objects(const struct hpx_sites *s);
uint64_t hpx_sites_recorded_bytes(const struct hpx_sites *s);
/* Objects that probes have counted since the start or the last clear; without those that open calls hold (cpu=times). */
uint64_t hpx_sites_counted_objects(const struct hpx_sites *s);
/* The traces of all sites so far, by id (hpx_site_ids_get()): *n of them; NULL in the array: not known. The caller frees the array. NULL:
 * no memory. With sites=counts no id has a trace. */
const struct hpx_trace_rec **hpx_sites_traces(struct hpx_sites *s, uint32_t *n);
/* Number of sites of all snapshots so far. */
uint32_t hpx_sites_count(const struct hpx_sites *s);

#endif
