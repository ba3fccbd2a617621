/* SPDX-License-Identifier: BSD-2-Clause */
/* model.h: what the program did, as far as it is known: the tables, and how messages and events change them.
 *
 * One writer: the aggregator's thread calls everything here but the message constructors (any thread, not in signal handlers).
 * Never enters the JVM: a jmethodID and a class reference are numbers that it hands back to the service thread by `resolve`.
 *
 * A sampled stack is a raw trace: (method, bci) frames, counted under its hash. Its printed form - (class name, method name, source, line)
 * - is made at the first snapshot that shows it, when names and lines have come; raw traces that print alike are one trace then.
 *
 * Names: those of classes prepared while the program runs come with HPX_MSG_CLASS (`named`), while the class is alive by construction;
 * those of classes loaded before are asked for when first sampled. Lines are always asked for. A class that is gone before its answer is
 * shown as a pseudo frame (names) or "Unknown line" (lines) and counted. A class that is gone is forgotten, but for what was sampled of it
 * (model_sweep.c). What is asked for and not yet answered is missing in this snapshot
 * only: its trace is shown under another serial when the answer has come. */
#ifndef HPX_MODEL_H
#define HPX_MODEL_H

#include "aggregator.h"
#include "calls.h"
#include "snapshot.h"

#define HPX_SLOTS 256u /* stacks that a thread can name by slot (event.h) */

/* Messages of the control lane that the model applies, and those that it sends to the service thread. HPX_MSG_OTHER and above are their
 * owner's. */
enum hpx_model_msg {
    HPX_MSG_CLASS = 1,
    HPX_MSG_RESOLVED,
    HPX_MSG_SWEPT,
    HPX_MSG_THREAD_START,
    HPX_MSG_THREAD_END,
    HPX_MSG_METHODS,
    HPX_MSG_RESOLVE = 32,
    HPX_MSG_SWEEP,
    HPX_MSG_DROP,
    HPX_MSG_OTHER = 64
};

/* A class and its methods. `text`: when named: signature 0, source file 0 (empty: none), then for each method name 0 and signature 0 (empty
 * when not asked for); methods behind its end are asked for when they are sampled. All modified UTF-8, as JVMTI gives it. */
struct hpx_msg_class {
    struct hpx_msg m;
    uint64_t ref; /* a weak reference, this message's own: given back by HPX_MSG_DROP when the class is gone; 0: none */
    uint32_t nmethods;
    bool named;
    uint32_t text_len;
    char *text;     /* inside the message */
    uint64_t ids[]; /* nmethods jmethodIDs; the text lies behind them */
};
/* NULL without memory. Any thread; not in signal handlers. The caller fills ids and text_len bytes of text. */
struct hpx_msg_class *hpx_msg_class_new(uint32_t nmethods, uint32_t text_len);

struct hpx_line {
    uint16_t bci, line; /* both are u2 in the class file */
};

/* To the service thread: say what this method is called and where its lines are, if its class is still alive. */
struct hpx_msg_resolve {
    struct hpx_msg m;
    uint32_t method; /* the model's number, to be given back */
    bool want_name, want_lines;
    uint64_t ref, id; /* the class's weak reference and the jmethodID */
};

/* Its answer, on the control lane. text: signature 0 source 0 name 0 signature 0 (as in HPX_MSG_CLASS); empty if the name was not asked
 * for. */
struct hpx_msg_resolved {
    struct hpx_msg m;
    uint32_t method;
    bool gone; /* the class was unloaded; nothing else is valid */
    bool native;
    bool named;
    uint32_t nlines, text_len;
    char *text;
    struct hpx_line lines[]; /* ascending bci; 0 of them: native or no debug information; text behind them */
};
struct hpx_msg_resolved *hpx_msg_resolved_new(uint32_t nlines, uint32_t text_len);
/* Brings its lines into that order; of those with one bci the last one stays the last. False without memory. */
bool hpx_msg_resolved_sort(struct hpx_msg_resolved *m);

/* To the service thread: HPX_MSG_SWEEP: set `gone` where the class is unloaded, which must not keep it alive, and post the message itself
 * on the control lane as HPX_MSG_SWEPT. HPX_MSG_DROP: delete these references and free the message: no request names them any more. */
struct hpx_msg_sweep {
    struct hpx_msg m;
    uint32_t n;
    struct hpx_class_ref {
        uint64_t ref;
        uint32_t klass; /* the model's number */
        bool gone;
    } of[];
};

/* A thread began. Posted before its registry attach, so before any of its events. text: name 0 group 0 parent group 0. */
struct hpx_msg_thread_start {
    struct hpx_msg m;
    struct hpx_thread *thread; /* NULL: not sampled, only told of */
    struct hpx_thread *other;  /* a second one of the same Java thread; NULL: it has one */
    uint64_t key;              /* names the thread in THREAD_END; unique among living threads */
    uint32_t text_len;
    char text[];
};
struct hpx_msg_thread_start *hpx_msg_thread_start_new(uint32_t text_len);
struct hpx_msg_thread_end {
    struct hpx_msg m;
    uint64_t key;
};

/* The rewriter gave these methods of a class the numbers from `first` on. Posted before the class runs, so before any event that has them.
 * text: class signature (Lp/C;) 0 source file 0 (empty: none), then for each method name 0 and signature 0; modified UTF-8. */
struct hpx_msg_methods {
    struct hpx_msg m;
    uint32_t first, n;
    uint32_t text_len;
    char *text;       /* inside the message */
    uint16_t lines[]; /* n: the first line of each, 0: not known; the text lies behind them */
};
struct hpx_msg_methods *hpx_msg_methods_new(uint32_t n, uint32_t text_len);

struct hpx_model_config {
    bool thread_in_traces; /* thread=y: traces of different threads are different */
    bool lines;            /* lineno=y */
    bool signatures;       /* overloads are different methods (binary); in text they print alike and are one */
    /* Exact calls (cpu=times, cpu=old); without `calls` their events are skipped. */
    bool calls;
    bool call_signatures;                  /* overloads are different methods (cpu=old); else they print alike and are one */
    uint32_t call_depth;                   /* frames of a trace */
    uint32_t call_inner_ns, call_outer_ns; /* of a probe pair: call_table.h */
    bool call_sampled;                     /* times are those of ticks: call_table.h */
    void *ctx;
    /* Sends a request (HPX_MSG_RESOLVE, _SWEEP, _DROP) to the service thread, which takes them in order; owns it. Must not call the model.
     * NULL: nothing can be asked, and no class is ever forgotten. */
    void (*request)(void *ctx, struct hpx_msg *r);
    /* A thread began or ended, in order; `rec` is valid during the call, at the end its serial and object alone. Must not call the model.
     * May be NULL. false: the word got lost (and was counted); a thread whose start was lost has no end, and its traces are the unknown
     * thread's. */
    bool (*thread_event)(void *ctx, const struct hpx_thread_rec *rec, bool end);
    /* A class was announced, or found unloaded; as thread_event. false: counted. One whose name did not come is not told of when it is
     * announced, but when it is unloaded. NULL: classes are not told of, and have no serials. */
    bool (*class_event)(void *ctx, const struct hpx_class_rec *rec, bool unloaded);
};

struct hpx_model;
struct hpx_model *hpx_model_create(const struct hpx_model_config *cfg); /* NULL without memory */
void hpx_model_destroy(struct hpx_model *m);

/* Applies and frees a message if it is one of the model's; false (untouched) otherwise. */
bool hpx_model_message(struct hpx_model *m, struct hpx_msg *msg);
/* Tells again of every thread and class that lives, threads in the order of their beginnings: what an output that begins anew has to know.
 * false: not of all (no memory). */
bool hpx_model_retell(struct hpx_model *m);
/* Applies a run of records (hpx_sink.events). */
void hpx_model_events(struct hpx_model *m, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n);
/* After each pass that applied messages, then events: forgets unloaded classes. true: another pass is wanted at once. */
bool hpx_model_pass_end(struct hpx_model *m);
/* Takes over t's counters and frees t->model; t itself stays the caller's. */
void hpx_model_thread_gone(struct hpx_model *m, struct hpx_thread *t);

/* With cfg.class_event: looks once whether classes were unloaded, however few there are. Until it is done hpx_model_unresolved() is above
 * 0. */
void hpx_model_look_for_unloaded(struct hpx_model *m);
/* Requests sent and not yet answered. 0: a snapshot will be complete. */
uint32_t hpx_model_unresolved(const struct hpx_model *m);
/* Gives up on them: their names are lost, counted. An answer that comes later is still taken for later snapshots. */
void hpx_model_give_up(struct hpx_model *m);

/* Counters of ended threads, and of the model itself (losses for want of memory, unnamed methods). */
struct hpx_counters *hpx_model_counters(struct hpx_model *m);
/* Samples so far by weight: all, and those without a stack by cause. Since the start, not reset by snapshots. */
uint64_t hpx_model_samples(const struct hpx_model *m);
uint64_t hpx_model_unknown(const struct hpx_model *m, enum hpx_unknown why);
/* Bytes held by the tables; those of them that grow with the distinct stacks alone (traces, their methods, names and lines). */
size_t hpx_model_bytes(const struct hpx_model *m);
size_t hpx_model_trace_bytes(const struct hpx_model *m);
/* Classes that are not known to be unloaded. */
uint32_t hpx_model_classes(const struct hpx_model *m);

/* The counts of now, rows in no order; counts are 0 afterwards (a dump resets them). NULL without memory (counts kept). The reader may be
 * another thread that got it by a lane; the model must outlive it. */
struct hpx_snapshot *hpx_model_snapshot(struct hpx_model *m);
/* The same without the reset. */
struct hpx_snapshot *hpx_model_snapshot_kept(struct hpx_model *m);
/* Before the first snapshot: from now on hpx_model_journal() and its like can be asked: 16 bytes a trace, 48 bytes one of calls.
 * A snapshot that resets and has no memory for that leaves the journal without those counts: HPX_C_JOURNAL_LACKS. */
void hpx_model_keep_journal(struct hpx_model *m);
/* What was counted since the last call of this function (`whole`: since the start), whatever snapshots reset in between:
 * one whole and all that follow add up to what the program did. NULL without memory: the next has it. */
struct hpx_snapshot *hpx_model_journal(struct hpx_model *m, bool whole);
/* Counts that the journal lacks. */
uint64_t hpx_model_journal_lost(const struct hpx_model *m);

/* All traces so far, those of exact calls too: rows with a count of 0, a trace maybe in more than one. NULL without memory. */
struct hpx_snapshot *hpx_model_traces(struct hpx_model *m);
/* Counts and costs are 0 afterwards, as behind a snapshot. */
void hpx_model_clear(struct hpx_model *m);
/* Whether the samples of t count from now on, if it is the thread of this serial (0: any). false: it is not. */
bool hpx_model_sample_thread(struct hpx_model *m, struct hpx_thread *t, uint32_t serial, bool on);
/* And those of threads that have no sample yet. */
void hpx_model_sample_new_threads(struct hpx_model *m, bool on);

/* ---- exact calls (model_calls.c); with cfg.calls ---- */

/* What a pair of probes costs (call_table.h): as cfg.call_inner_ns and call_outer_ns, where it is known later. Before the first event; any
 * thread. */
void hpx_model_calls_probes(struct hpx_model *m, uint32_t inner_ns, uint32_t outer_ns);
/* At a dump, in pass_end, for a thread whose records were drained up to p->at (hpx_sink.tail): counts what it keeps back, once. Also for a
 * retired thread that did not flush, before hpx_model_thread_gone(). */
void hpx_model_calls_pending(struct hpx_model *m, struct hpx_thread *t, const struct hpx_calls_pending *p);
/* At a dump: the clock of t's probes now, for the time of its open calls. Nothing with call_sampled. */
void hpx_model_calls_time(struct hpx_model *m, struct hpx_thread *t, uint64_t now);
/* The table, for another drainer's to be merged into it before a snapshot (hpx_calltab_merge()). */
struct hpx_calltab;
struct hpx_calltab *hpx_model_calltab(struct hpx_model *m);
/* As hpx_model_snapshot(): costs are 0 afterwards. */
struct hpx_call_snapshot *hpx_model_call_snapshot(struct hpx_model *m);
struct hpx_call_snapshot *hpx_model_call_snapshot_kept(struct hpx_model *m);
/* As hpx_model_journal(), but unless `whole` of the first HPX_JOURNAL_SLICE traces that changed: a step of the aggregator that is short
 * whatever the table's size. The others wait in their order. */
#define HPX_JOURNAL_SLICE 8192u
struct hpx_call_snapshot *hpx_model_call_journal(struct hpx_model *m, bool whole);
/* How many wait. */
uint32_t hpx_model_call_journal_waiting(const struct hpx_model *m);

#endif
