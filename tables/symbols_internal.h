/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols_internal.h: the state of symbols.h, shared by its own files: symbols.c (life, raw traces), symbols_names.c (classes, requests,
 * answers), symbols_look.c (classes that nobody announced), symbols_sweep.c (unloaded classes), symbols_print.c (printed forms). Included
 * by them and by their tests only. Owner: the aggregator. */
#ifndef HPX_SYMBOLS_INTERNAL_H
#define HPX_SYMBOLS_INTERNAL_H

#include "method_table.h"
#include "string_table.h"
#include "symbols.h"
#include "trace_table.h"

/* The first sampled records: one per cause (enum hpx_unknown), then the frame without a jmethodID, then the stall. */
#define HPX_PSEUDO_METHOD  ((uint32_t)HPX_UNKNOWN_COUNT)
#define HPX_PSEUDO_STALLED (HPX_PSEUDO_METHOD + 1) /* hprofx.stalled */

struct hpx_scratch {
    void *at;
    size_t size;
};

struct hpx_symbols_sweep {
    struct hpx_msg_sweep *back; /* classes found unloaded, not yet removed; NULL: none */
    bool running;               /* a batch is at the service thread, or `back` */
    bool seen;                  /* a pass has ended since `back` came */
    bool wanted, awaited;       /* hpx_symbols_look_for_unloaded(): requested; running */
    uint32_t cursor;            /* next class to look at */
    uint32_t due;               /* starts when this many classes are live */
};

struct hpx_symbols_look {
    bool wanted;   /* a stack with a method of no class came */
    bool running;  /* the message is at the service thread */
    uint32_t made; /* looks so far */
    uint64_t due;  /* hpx_clock_mono() of the next; 0: at once, after DELAY */
    uint64_t gap;  /* to the one after it */
};

/* What functions of a C library have for a class. */
struct hpx_library_class {
    uint32_t name; /* a string */
    struct hpx_class_serial serial;
};

struct hpx_symbols {
    struct hpx_symbols_config cfg;
    struct hpx_strings strings;
    struct hpx_methods methods;
    struct hpx_traces traces;
    struct hpx_symbolized symbolized;
    struct hpx_arena lines; /* struct hpx_line */
    uint32_t unresolved;
    uint32_t class_serials; /* with cfg.class_event: the last new serial is HPX_SERIAL_CLASS and this */
    struct hpx_symbols_sweep sweep;
    struct hpx_symbols_look look;
    struct hpx_vec libraries;                         /* struct hpx_library_class */
    struct hpx_class_serial own_class;                /* of the class hprofx; 0: no method of it was needed yet */
    uint32_t symbolized_unnamed, symbolized_unloaded; /* symbolized methods: hprofx.unknown.method, hprofx.unknown.unloaded_class */
    struct hpx_scratch stack, name;                   /* a class is named while a stack is made */
};

/* Scratch memory, valid until the next call with the same of; NULL without memory. */
void *hpx_scratch(struct hpx_scratch *of, size_t n);

/* symbols_sweep.c */
void hpx_symbols_sweep_init(struct hpx_symbols *s);
void hpx_symbols_swept(struct hpx_symbols *s, struct hpx_msg_sweep *msg); /* owns msg */

/* symbols.c */
/* A method of the class hprofx: HPX_PSEUDO_STALLED or HPX_UNKNOWN_TRUNCATED. The first of them gives the class a serial. false: no memory.
 */
bool hpx_symbols_own(struct hpx_symbols *s, uint32_t pseudo);

/* symbols_look.c */
void hpx_symbols_look_end_pass(struct hpx_symbols *s);
void hpx_symbols_looked(struct hpx_symbols *s, const struct hpx_msg_look *msg);
/* A class that a look has found was announced meanwhile: its message is dropped. false: it is new. */
bool hpx_symbols_look_drops(struct hpx_symbols *s, struct hpx_msg_class *msg);

/* symbols_names.c */
void hpx_symbols_class(struct hpx_symbols *s, struct hpx_msg_class *msg); /* owns msg */
void hpx_symbols_resolved(struct hpx_symbols *s, const struct hpx_msg_resolved *msg);
void hpx_symbols_refused(struct hpx_symbols *s, const struct hpx_msg_resolve *msg); /* a request that came back */
/* Announces a loaded or unloaded class, with cfg.class_event. false: the event was lost. */
bool hpx_symbols_announce_class(struct hpx_symbols *s, struct hpx_class_index klass, bool unloaded);
/* The number of the sampled record of a jmethodID (0: none); requests the names of a new one. HPX_INTERN_NONE without memory. */
uint32_t hpx_symbols_sampled(struct hpx_symbols *s, uint64_t id);
/* Counts, once, the names or lines that this sampled record lacks. */
void hpx_symbols_count_missing(struct hpx_symbols *s, uint32_t sampled);

/* true if a raw trace has these frames; otherwise an equal hash is trusted. */
bool hpx_symbols_same_frames(const struct hpx_symbols *s, const struct hpx_raw *raw, const struct hpx_ev_frame *frames, uint32_t nframes);

#endif
