/* SPDX-License-Identifier: BSD-2-Clause */
/* model_internal.h: the model's state, shared by its own files: model.c (life, threads, events), model_names.c (classes, requests,
 * answers), model_sweep.c (unloaded classes), model_show.c (printed forms, snapshot), model_calls.c (exact calls). Included by them and by
 * their tests only. Owner: the aggregator. */
#ifndef HPX_MODEL_INTERNAL_H
#define HPX_MODEL_INTERNAL_H

#include "call_table.h"
#include "method_table.h"
#include "model.h"
#include "number_table.h"
#include "shown_table.h"
#include "string_table.h"
#include "thread_table.h"
#include "trace_table.h"

/* The first sampled records: one a cause (enum hpx_unknown), then the frame without a jmethodID. */
#define HPX_PSEUDO_METHOD ((uint32_t)HPX_UNKNOWN_COUNT)

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
    struct hpx_msg_sweep *back; /* classes found gone, not yet forgotten; NULL: none */
    bool running;               /* a batch is at the service thread, or `back` */
    bool seen;                  /* a pass has ended since `back` came */
    bool wanted, awaited;       /* hpx_model_look_for_unloaded(): not yet begun; it runs */
    uint32_t cursor;            /* next class to look at */
    uint32_t due;               /* begins when as many classes are held */
};

struct hpx_model {
    struct hpx_model_config cfg;
    struct hpx_strings strings;
    struct hpx_methods methods;
    struct hpx_traces traces;
    struct hpx_shown shown;
    struct hpx_threads threads;
    struct hpx_arena lines; /* struct hpx_line */
    struct hpx_counters counters;
    uint64_t samples, unknown[HPX_UNKNOWN_COUNT];
    bool journal;        /* hpx_model_keep_journal() */
    struct hpx_vec past; /* struct hpx_past, of the first raw traces */
    uint32_t unresolved;
    bool new_off;           /* samples of threads that come are not counted */
    uint32_t class_serials; /* given so far, with cfg.class_event */
    struct hpx_model_sweep sweep;
    uint32_t shown_unnamed, shown_unloaded; /* shown methods: hprofx.unknown.method, hprofx.unknown.unloaded_class */
    struct hpx_scratch stack, name;         /* a class is named while a stack is made */
    size_t slots_bytes;                     /* of all struct hpx_thread_slots */
    /* with cfg.calls */
    struct hpx_calltab calls;
    struct hpx_vec past_costs; /* struct hpx_past_cost, of the first nodes */
    struct hpx_numbers numbers;
    uint32_t shown_lost; /* shown method hprofx.unknown.lost_call */
};

/* What a snapshot shows, and what it leaves behind. */
enum hpx_take {
    HPX_TAKE_RESET, /* the counts, which are 0 then */
    HPX_TAKE_KEEP,
    HPX_TAKE_NEW, /* what is not yet in a journal, and is then */
    HPX_TAKE_ALL  /* all since the start: a journal's beginning */
};
/* With a journal: a trace's count that snapshots have reset, and that of the journal. */
struct hpx_past {
    uint64_t dumped, told;
};
struct hpx_past_cost {
    struct hpx_call_cost dumped, told;
};

/* Memory for one step, good until the next call for the same one; NULL without memory. */
void *hpx_model_scratch(struct hpx_scratch *s, size_t n);

/* Shown method hprofx.unknown.NAME; HPX_INTERN_NONE without memory. */
uint32_t hpx_model_show_pseudo(struct hpx_model *m, const char *name);
uint32_t hpx_model_class_name(struct hpx_model *m, struct hpx_text signature); /* number of the string, 0 without memory */

/* Makes `past` as long as `len`. false: what is wanted is a journal, for which there is no memory; else the journal lacks what is behind
 * the end of `past` (counted). */
bool hpx_model_reach_past(struct hpx_model *m, struct hpx_vec *past, uint32_t len, enum hpx_take take);

/* model_calls.c */
bool hpx_model_calls_init(struct hpx_model *m); /* false without memory */
void hpx_model_calls_fini(struct hpx_model *m);
/* From ev, an event of calls, on. Returns the first that is none. */
const struct hpx_ev_head *hpx_model_calls_events(struct hpx_model *m, struct hpx_thread *t, const struct hpx_ev_head *ev,
                                                 const struct hpx_ev_head *end);
/* Makes sure that a node has a shown trace; false without memory. */
bool hpx_model_show_node(struct hpx_model *m, struct hpx_raw *raw);
void hpx_model_calls_pass_end(struct hpx_model *m);
void hpx_model_calls_gone(struct hpx_model *m, struct hpx_thread *t);
void hpx_model_methods(struct hpx_model *m, struct hpx_msg_methods *msg); /* owns msg */
size_t hpx_model_calls_bytes(const struct hpx_model *m);

/* model_sweep.c */
void hpx_model_sweep_init(struct hpx_model *m);
void hpx_model_swept(struct hpx_model *m, struct hpx_msg_sweep *s); /* owns s */

/* model_names.c */
void hpx_model_class(struct hpx_model *m, struct hpx_msg_class *msg); /* owns msg */
void hpx_model_resolved(struct hpx_model *m, const struct hpx_msg_resolved *msg);
/* A class began or ended, with cfg.class_event. false: the word got lost. */
bool hpx_model_tell_class(struct hpx_model *m, uint32_t klass, bool unloaded);
/* The number of the sampled record of a jmethodID (0: none); a request goes out for a new one. HPX_INTERN_NONE without memory. */
uint32_t hpx_model_sampled(struct hpx_model *m, uint64_t id);
/* Counts once what is missing of this sampled record. */
void hpx_model_count_missing(struct hpx_model *m, uint32_t sampled);

/* The next of the texts that end with a 0 each; empty when there are no more. */
struct hpx_text hpx_model_next_text(const char **at, const char *end);

/* Whether a raw trace has these frames: what an equal hash is trusted for. */
bool hpx_model_same_frames(const struct hpx_model *m, const struct hpx_raw *raw, const struct hpx_ev_frame *frames, uint32_t nframes);

#endif
