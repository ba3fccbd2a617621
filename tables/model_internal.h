/* SPDX-License-Identifier: BSD-2-Clause */
/* model_internal.h: the state of the model, for the files that implement it: model.c (creation, threads, events), model_names.c (classes,
 * requests, answers), model_sweep.c (unloaded classes), model_symbolize.c (printed forms, snapshot), model_calls.c (exact calls); and for
 * the tables of modes that print frames and classes: site_table_internal.h, block_table.c, wall_table.c. Included by these and by tests
 * only. Owner: the aggregator. */
#ifndef HPX_MODEL_INTERNAL_H
#define HPX_MODEL_INTERNAL_H

#include "call_table.h"
#include "method_table.h"
#include "model.h"
#include "model_table.h"
#include "number_table.h"
#include "site_ids.h"
#include "string_table.h"
#include "symbolized_table.h"
#include "thread_table.h"
#include "trace_table.h"

/* The first sampled records: one per cause (enum hpx_unknown), then the frame without a jmethodID, then the stall. */
#define HPX_PSEUDO_METHOD  ((uint32_t)HPX_UNKNOWN_COUNT)
#define HPX_PSEUDO_STALLED (HPX_PSEUDO_METHOD + 1) /* hprofx.stalled; symbolized with the first stall, which gives its class a serial */

/* hpx_thread.model */
struct hpx_thread_slots {
    uint32_t serial;         /* HPX_SERIAL_THREAD: no THREAD_START was seen */
    bool off;                /* its samples are not counted */
    uint32_t raw[HPX_SLOTS]; /* number of the raw trace + 1; 0: not defined */
};

struct hpx_scratch {
    void *at;
    size_t size;
};

struct hpx_model_sweep {
    struct hpx_msg_sweep *back; /* classes found unloaded, not yet removed; NULL: none */
    bool running;               /* a batch is at the service thread, or `back` */
    bool seen;                  /* a pass has ended since `back` came */
    bool wanted, awaited;       /* hpx_model_look_for_unloaded(): requested; running */
    uint32_t cursor;            /* next class to look at */
    uint32_t due;               /* starts when this many classes are live */
};

struct hpx_model {
    struct hpx_model_config cfg;
    struct {
        const struct hpx_table *table;
        void *self;
    } tables[HPX_TABLES_MAX];
    uint32_t ntables;
    uint8_t table_of[HPX_TABLES_KINDS]; /* number + 1 of the table of a kind, 0: none */
    struct hpx_strings strings;
    struct hpx_methods methods;
    struct hpx_traces traces;
    struct hpx_symbolized symbolized;
    struct hpx_threads threads;
    struct hpx_arena lines; /* struct hpx_line */
    struct hpx_counters counters;
    uint64_t samples, unknown[HPX_UNKNOWN_COUNT];
    struct hpx_stalls stalls;
    struct {
        double sum, squares;
    } drawn; /* of the weights since the rows were reset; without stalls, which are measured, not drawn */
    /* Every sample that counts; serial: of its thread. NULL: nobody wants to know (wall_table.h). */
    void (*sampled)(void *self, uint32_t raw, uint64_t weight, uint32_t serial);
    void *sampled_self;
    bool journal;        /* hpx_model_keep_journal() */
    struct hpx_vec past; /* struct hpx_past, of the first raw traces */
    uint32_t unresolved;
    bool new_off;           /* samples of new threads are not counted */
    uint32_t class_serials; /* given so far, with cfg.class_event */
    struct hpx_model_sweep sweep;
    uint32_t symbolized_unnamed, symbolized_unloaded; /* symbolized methods: hprofx.unknown.method, hprofx.unknown.unloaded_class */
    struct hpx_scratch stack, name;                   /* a class is named while a stack is made */
    size_t slots_bytes;                               /* of all struct hpx_thread_slots */
    /* with cfg.calls */
    struct hpx_calltab call_table;
    struct hpx_vec past_costs; /* struct hpx_past_cost, of the first nodes */
    struct hpx_numbers numbers;
    uint32_t symbolized_lost; /* symbolized method hprofx.unknown.lost_call */
};

/* With a journal: the count of a trace that snapshots have reset, and its count in the journal. */
struct hpx_past {
    uint64_t dumped, journaled;
};
struct hpx_past_cost {
    struct hpx_call_cost dumped, journaled;
};

/* Scratch memory, valid until the next call with the same s; NULL without memory. */
void *hpx_model_scratch(struct hpx_scratch *s, size_t n);

/* Symbolized method hprofx.unknown.NAME; HPX_INTERN_NONE without memory. */
uint32_t hpx_model_symbolize_pseudo(struct hpx_model *m, const char *name);
uint32_t hpx_model_class_name(struct hpx_model *m, struct hpx_text signature); /* number of the string, 0 without memory */

/* The thread serial in traces of the thread with these slots (NULL: unknown). */
static inline uint32_t hpx_model_trace_thread(const struct hpx_model *m, const struct hpx_thread_slots *slots)
{
    return m->cfg.thread_in_traces ? (slots ? slots->serial : HPX_SERIAL_THREAD) : 0;
}
/* The raw trace of these frames, whose hash is `hash`; HPX_INTERN_NONE without memory. */
uint32_t hpx_model_intern_stack(struct hpx_model *m, const struct hpx_ev_hash *hash, const struct hpx_ev_frame *frames, uint32_t nframes,
                                uint32_t thread);
/* The raw trace of one frame that stands for no method, of a thread (0: any); HPX_INTERN_NONE without memory. */
uint32_t hpx_model_intern_pseudo(struct hpx_model *m, uint32_t sampled, uint32_t thread);
/* Makes sure that the raw trace has a symbolized one; false without memory. */
bool hpx_model_symbolize_trace(struct hpx_model *m, struct hpx_raw *raw);

/* Extends `past` to `len`. false: no memory, and `take` is the journal's. Without memory for a dump the journal lacks the counts beyond
 * the end of `past` (counted). */
bool hpx_model_reach_past(struct hpx_model *m, struct hpx_vec *past, uint32_t len, enum hpx_take take);

/* model_calls.c */
bool hpx_model_calls_init(struct hpx_model *m); /* false without memory */
void hpx_model_calls_fini(struct hpx_model *m);
/* Makes sure that a node has a symbolized trace; false without memory. */
bool hpx_model_symbolize_node(struct hpx_model *m, struct hpx_raw *raw);
void hpx_model_methods(struct hpx_model *m, struct hpx_msg_methods *msg); /* owns msg */

/* model_sweep.c */
void hpx_model_sweep_init(struct hpx_model *m);
void hpx_model_swept(struct hpx_model *m, struct hpx_msg_sweep *s); /* owns s */

/* model_names.c */
void hpx_model_class(struct hpx_model *m, struct hpx_msg_class *msg); /* owns msg */
void hpx_model_resolved(struct hpx_model *m, const struct hpx_msg_resolved *msg);
void hpx_model_refused(struct hpx_model *m, const struct hpx_msg_resolve *msg); /* a request that came back */
/* Announces a loaded or unloaded class, with cfg.class_event. false: the event was lost. */
bool hpx_model_announce_class(struct hpx_model *m, uint32_t klass, bool unloaded);
/* The number of the sampled record of a jmethodID (0: none); requests the names of a new one. HPX_INTERN_NONE without memory. */
uint32_t hpx_model_sampled(struct hpx_model *m, uint64_t id);
/* Counts, once, the names or lines that this sampled record lacks. */
void hpx_model_count_missing(struct hpx_model *m, uint32_t sampled);

/* The next zero-terminated text; empty at the end. */
struct hpx_text hpx_model_next_text(const char **at, const char *end);

/* true if a raw trace has these frames; otherwise an equal hash is trusted. */
bool hpx_model_same_frames(const struct hpx_model *m, const struct hpx_raw *raw, const struct hpx_ev_frame *frames, uint32_t nframes);

#endif
