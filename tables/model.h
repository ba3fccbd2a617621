/* SPDX-License-Identifier: BSD-2-Clause */
/* model.h: the model of one run: its symbols, its threads, and the list of its tables, to which it hands records and messages.
 *
 * One writer: the aggregator's thread calls everything here. Tables (model_table.h) add themselves, one per mode: sample_table.h,
 * call_rows.h, site_table.h, block_table.h, wall_table.h. State of one mode is only in its table. */
#ifndef HPX_MODEL_H
#define HPX_MODEL_H

#include "aggregator.h"
#include "symbols.h"

struct hpx_model_config {
    bool thread_in_traces; /* thread=y: traces of different threads are different */
    bool lines;            /* lineno=y */
    bool signatures;       /* overloads are different methods (binary); in text they print alike and are merged */
    bool class_numbers;    /* heap dump: the serial of a class is HPX_SERIAL_CLASS and its number, which the agent gives */
    void *ctx;
    /* Sends a request (HPX_MSG_RESOLVE, _SWEEP, _DROP), which it then owns, to the service thread, which serves them in order. Must not
     * call the model. NULL: no requests, and no class is ever removed. */
    void (*request)(void *ctx, struct hpx_msg *r);
    /* A thread started, has another name, or ended, in order. `rec` is valid during the call. Must not call the model. May be NULL. false:
     * the event was lost (and counted); a thread whose start was lost has no end, and its traces are those of the unknown thread. */
    bool (*thread_event)(void *ctx, const struct hpx_thread_rec *rec, enum hpx_thread_event what);
    /* A class was announced, or found unloaded; as thread_event. false: lost and counted. A class without a name is only passed on when
     * it is unloaded. NULL: classes are not announced and have no serials. */
    bool (*class_event)(void *ctx, const struct hpx_class_rec *rec, bool unloaded);
};

struct hpx_model;
struct hpx_model *hpx_model_create(const struct hpx_model_config *cfg); /* NULL without memory */
void hpx_model_destroy(struct hpx_model *m);

/* Applies and frees a message of the model; false: not one of the model's, untouched. */
bool hpx_model_message(struct hpx_model *m, struct hpx_msg *msg);
/* Announces every live thread and class again, threads in the order of their starts, for a new output. false: some are missing (no
 * memory). */
bool hpx_model_replay(struct hpx_model *m);
/* Applies a run of records (hpx_sink.events). */
void hpx_model_events(struct hpx_model *m, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n);
/* After every pass: removes unloaded classes. true: start another pass at once. */
bool hpx_model_pass_end(struct hpx_model *m);
/* Takes over t's counters and frees what the tables have of t; the caller keeps t. */
void hpx_model_thread_gone(struct hpx_model *m, struct hpx_thread *t);

/* The names, classes and stacks of its tables. */
struct hpx_symbols *hpx_model_symbols(const struct hpx_model *m);
/* Counters of ended threads, and of the model itself (losses for lack of memory, methods without names). */
struct hpx_counters *hpx_model_counters(struct hpx_model *m);
/* Bytes of the symbols and of all tables. */
size_t hpx_model_bytes(const struct hpx_model *m);

/* What a snapshot shows, and what it resets. */
enum hpx_take {
    HPX_TAKE_RESET, /* the current counts, and resets them (a dump) */
    HPX_TAKE_KEEP,  /* the current counts, without the reset */
    /* For the journal: one ALL and the following NEW ones add up to everything the program did, whatever dumps reset in between. */
    HPX_TAKE_NEW, /* counts that are not yet in the journal; of a large table the first HPX_JOURNAL_SLICE changed rows */
    HPX_TAKE_ALL  /* all counts since the start, for a new journal */
};

#define HPX_JOURNAL_SLICE 8192u

/* Another thread may read a table's snapshot, passed by a lane; the model must outlive it. */

/* Before the first snapshot: enables the journal's takes; costs 16 bytes per trace, 48 bytes per trace of calls. If a resetting snapshot
 * has no memory for this, the journal lacks its counts: HPX_C_JOURNAL_LACKS. */
void hpx_model_keep_journal(struct hpx_model *m);
/* Counts that the journal lacks. */
uint64_t hpx_model_journal_lost(const struct hpx_model *m);

/* All traces so far, also those of exact calls: rows with a count of 0; a trace may be in several rows. NULL without memory. */
struct hpx_snapshot *hpx_model_traces(struct hpx_model *m);

#endif
