/* SPDX-License-Identifier: BSD-2-Clause */
/* model.h: the tables, and how messages and events change them.
 *
 * One writer: the aggregator's thread calls everything here. Never enters the JVM: jmethodIDs and class references are numbers that it
 * passes back to the service thread in requests (model_msg.h).
 *
 * A sampled stack is a raw trace: (method, bci) frames, counted under its hash. Its printed form - (class name, method name, source,
 * line) - is created at the first snapshot that shows it, when names and lines are known; raw traces that print alike then become one
 * trace.
 *
 * Names of classes prepared while the program runs come with HPX_MSG_CLASS (`named`), when the class is certainly alive. Names of
 * earlier classes, and lines if wanted, are requested when first sampled. If a class is unloaded before the answer, its methods show as
 * a pseudo frame (names) or "Unknown line" (lines) and are counted. Unloaded classes are removed except for their sampled methods
 * (model_sweep.c). An unanswered request is missing only in this snapshot; after the answer its trace gets another serial. */
#ifndef HPX_MODEL_H
#define HPX_MODEL_H

#include "aggregator.h"
#include "calls.h"
#include "model_msg.h"
#include "snapshot.h"

#define HPX_SLOTS 256u /* slots for stacks per thread (event.h) */

struct hpx_model_config {
    bool thread_in_traces; /* thread=y: traces of different threads are different */
    bool lines;            /* lineno=y */
    bool signatures;       /* overloads are different methods (binary); in text they print alike and are merged */
    bool class_numbers;    /* heap dump: the serial of a class is HPX_SERIAL_CLASS and its number, which the agent gives */
    /* Exact calls (cpu=times, cpu=old); without `calls` their events are skipped. */
    bool calls;
    bool call_signatures;                  /* overloads are different methods (cpu=old); else they print alike and are merged */
    uint32_t call_depth;                   /* frames of a trace */
    uint32_t call_inner_ns, call_outer_ns; /* of a probe pair: call_table.h */
    bool call_times_from_ticks;            /* times are those of ticks: call_table.h */
    void *ctx;
    /* Sends a request (HPX_MSG_RESOLVE, _SWEEP, _DROP), which it then owns, to the service thread, which serves them in order. Must not
     * call the model. NULL: no requests, and no class is ever removed. */
    void (*request)(void *ctx, struct hpx_msg *r);
    /* A thread started or ended, in order. `rec` is valid during the call; at the end only its serial and object. Must not call the
     * model. May be NULL. false: the event was lost (and counted); a thread whose start was lost has no end, and its traces are those of
     * the unknown thread. */
    bool (*thread_event)(void *ctx, const struct hpx_thread_rec *rec, bool end);
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
/* Takes over t's counters and frees t->model; the caller keeps t. */
void hpx_model_thread_gone(struct hpx_model *m, struct hpx_thread *t);

/* Calls fn for the weak reference of every class, and asks about none any more. The aggregator has stopped. */
void hpx_model_forget_refs(struct hpx_model *m, void (*fn)(void *ctx, uint64_t ref), void *ctx);
/* With cfg.class_event: starts one check for unloaded classes, however few classes there are. hpx_model_unresolved() is above 0 until it
 * is done. */
void hpx_model_look_for_unloaded(struct hpx_model *m);
/* Requests sent and not yet answered. 0: a snapshot will be complete. */
uint32_t hpx_model_unresolved(const struct hpx_model *m);
/* Gives up on these requests: counts their names as lost. A late answer still serves later snapshots. */
void hpx_model_give_up(struct hpx_model *m);

/* Counters of ended threads, and of the model itself (losses for lack of memory, methods without names). */
struct hpx_counters *hpx_model_counters(struct hpx_model *m);
/* Samples so far by weight: all, and those without a stack by cause. Since the start, not reset by snapshots. */
uint64_t hpx_model_samples(const struct hpx_model *m);
uint64_t hpx_model_unknown(const struct hpx_model *m, enum hpx_unknown why);
/* Stalls since the start: signals that stood for more than a sample may weigh. Intervals: those beyond that weight, which are rows of
 * hprofx.stalled and in hpx_model_samples(). */
struct hpx_stalls {
    uint64_t count, intervals;
    uint64_t longest; /* intervals of one of them */
};
const struct hpx_stalls *hpx_model_stalls(const struct hpx_model *m);
/* Bytes of all tables; bytes that grow only with the distinct stacks (traces, their methods, names and lines). */
size_t hpx_model_bytes(const struct hpx_model *m);
size_t hpx_model_trace_bytes(const struct hpx_model *m);
/* Classes that are not known to be unloaded. */
uint32_t hpx_model_classes(const struct hpx_model *m);

/* What a snapshot shows, and what it resets. */
enum hpx_take {
    HPX_TAKE_RESET, /* the current counts, and resets them (a dump) */
    HPX_TAKE_KEEP,  /* the current counts, without the reset */
    /* For the journal: one ALL and the following NEW ones add up to everything the program did, whatever dumps reset in between. */
    HPX_TAKE_NEW, /* counts that are not yet in the journal */
    HPX_TAKE_ALL  /* all counts since the start, for a new journal */
};

/* Rows in no order. NULL without memory: nothing was reset. Another thread may read the snapshot, passed by a lane; the model must
 * outlive it. */
struct hpx_snapshot *hpx_model_snapshot(struct hpx_model *m, enum hpx_take take);
/* Before the first snapshot: enables the journal's takes; costs 16 bytes per trace, 48 bytes per trace of calls. If a resetting snapshot
 * has no memory for this, the journal lacks its counts: HPX_C_JOURNAL_LACKS. */
void hpx_model_keep_journal(struct hpx_model *m);
/* Counts that the journal lacks. */
uint64_t hpx_model_journal_lost(const struct hpx_model *m);

/* A frame of a stack whose names are known. Texts as JVMTI gives them; class_number: with cfg.class_numbers. */
struct hpx_named_frame {
    const char *class_signature, *name, *signature, *source; /* signature, source: NULL: none */
    uint32_t class_number;
    int32_t line; /* as in struct hpx_frame_rec */
};
/* The trace of these frames, leaf first; at most HPX_TRACE_FRAMES. NULL without memory. */
#define HPX_TRACE_FRAMES 2048u
const struct hpx_trace_rec *hpx_model_named_trace(struct hpx_model *m, const struct hpx_named_frame *frames, uint32_t n);

/* All traces so far, also those of exact calls: rows with a count of 0; a trace may be in several rows. NULL without memory. */
struct hpx_snapshot *hpx_model_traces(struct hpx_model *m);
/* Sets the counts of samples to 0, as a resetting snapshot does. */
void hpx_model_clear(struct hpx_model *m);
/* Sets whether later samples of t count, if t has this serial (0: any). false: t has another serial. */
bool hpx_model_sample_thread(struct hpx_model *m, struct hpx_thread *t, uint32_t serial, bool on);
/* The same for threads that have no sample yet. */
void hpx_model_sample_new_threads(struct hpx_model *m, bool on);

/* ---- exact calls (model_calls.c); with cfg.calls ---- */

/* Sets the cost of a pair of probes (call_table.h), as cfg.call_inner_ns and call_outer_ns, if it becomes known later. Before the first
 * event; any thread. */
void hpx_model_calls_probes(struct hpx_model *m, uint32_t inner_ns, uint32_t outer_ns);
/* At a dump, in pass_end, for a thread whose records were drained up to p->at (hpx_sink.tail): counts its pending events, once. Also for
 * a retired thread that did not flush, before hpx_model_thread_gone(). */
void hpx_model_calls_pending(struct hpx_model *m, struct hpx_thread *t, const struct hpx_calls_pending *p);
/* At a dump: the time of t's probe clock now, for its open calls. No effect with call_times_from_ticks. */
void hpx_model_calls_time(struct hpx_model *m, struct hpx_thread *t, uint64_t now);
/* The table, into which drainers' tables are merged before a snapshot (hpx_calltab_merge()). */
struct hpx_calltab;
struct hpx_calltab *hpx_model_calltab(struct hpx_model *m);
/* As hpx_model_snapshot(), but HPX_TAKE_NEW takes only the first HPX_JOURNAL_SLICE changed traces, so that the step is short for tables
 * of any size. The others wait in order. */
#define HPX_JOURNAL_SLICE 8192u
struct hpx_call_snapshot *hpx_model_call_snapshot(struct hpx_model *m, enum hpx_take take);
/* Sets the costs to 0. */
void hpx_model_call_clear(struct hpx_model *m);
/* Number of changed traces that wait. */
uint32_t hpx_model_call_journal_waiting(const struct hpx_model *m);

#endif
