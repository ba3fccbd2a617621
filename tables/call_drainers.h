/* SPDX-License-Identifier: BSD-2-Clause */
/* call_drainers.h: exact calls drained by several threads: the main aggregator and, if it is too busy, drainers.
 *
 * A drainer is a second aggregator with its own table. It handles only records of calls, of the threads assigned to it; the main
 * aggregator does everything else: new threads, definitions, ends, names, snapshots. A thread belongs to one aggregator at a time, and
 * moves between two passes with its open calls, through the registry of the new owner, as a new thread does. It returns to the main
 * aggregator when it ends, at its first SWITCH (carriers of virtual threads share stacks, so they need one owner), when the drainer must
 * share its load, and when all are gathered.
 *
 * Owner: only the main aggregator's thread calls these functions, from its sink's calls. Lifetime: a drainer's struct stays until
 * hpx_call_drainers_fini(), because the owner of a ring may wake a drainer that has ended.
 *
 * hpx_call_drainers_collect() holds the drainers (hpx_aggregator_hold()) without ending their threads. While a drainer is held, the main
 * aggregator's thread owns its whole struct; each side sees what the other did before.
 *
 *   main:     pass ─ thread_came: hpx_call_drainers_came ─ pass_end: hpx_model_pass_end, hpx_call_drainers_balance
 *   snapshot: hpx_call_drainers_gather; then all threads and all counts are the main one's, as if there had never been another. */
#ifndef HPX_CALL_DRAINERS_H
#define HPX_CALL_DRAINERS_H

#include "call_table.h"

#define HPX_CALL_DRAINERS_MAX 8u

/* What one aggregator has done since `wall`. */
struct hpx_meter {
    uint64_t wall, cpu;
};

struct hpx_call_drainer {
    struct hpx_aggregator a;
    struct hpx_calltab table; /* owned by the main aggregator while the drainer is held or has no thread, else by its thread */
    struct hpx_aggregator *main;
    _Atomic uint64_t passes;  /* release: its pass_end; acquire: hpx_call_drainers_balance(). Covers what it gave back */
    _Atomic uint32_t load;    /* relaxed: in thousandths of a core, during its last window */
    atomic_bool divisible;    /* relaxed: more than one thread causes the load */
    atomic_bool wanted;       /* relaxed: the main aggregator asks it to give back half of its load; cleared by the drainer */
    struct hpx_meter meter;   /* its thread's */
    bool switched;            /* its thread's: a SWITCH waits */
    uint64_t cpu_ns;          /* of its thread from start to end: written in the last pass, read after the join */
    uint64_t window_ns, seen; /* the main one's; window_ns: constant while it runs */
    char name[16];
};

struct hpx_call_drainers {
    struct hpx_aggregator *main;
    struct hpx_calltab *table; /* the main one's */
    struct hpx_call_drainer *drainers[HPX_CALL_DRAINERS_MAX];
    unsigned running;            /* the first ones */
    unsigned limit;              /* most `running`; from the number of processors, at most HPX_CALL_DRAINERS_MAX */
    uint64_t retry_ns, retry_at; /* after a drainer could not start: delay and time of the next attempt */
    /* call_balance.c */
    uint64_t window_ns; /* above 0 */
    uint32_t busy;      /* thousandths of a core from which an aggregator is busy; tests: 0 */
    struct hpx_meter meter;
    unsigned busy_windows, calm_windows;
    /* figures */
    unsigned most;   /* most that ran at the same time */
    uint64_t given;  /* threads assigned to drainers */
    uint64_t cpu_ns; /* of drainers that have ended */
};

/* Before the main aggregator starts. limit: of drainers. Starts nothing. */
void hpx_call_drainers_init(struct hpx_call_drainers *s, struct hpx_aggregator *main, struct hpx_calltab *table, unsigned limit);
/* Default limit: half of the processors, at most HPX_CALL_DRAINERS_MAX; 0 on one processor. */
unsigned hpx_call_drainers_limit(void);
/* The main aggregator is stopped. Gathers, frees. */
void hpx_call_drainers_fini(struct hpx_call_drainers *s);

/* hpx_sink.thread_came of the main aggregator. */
void hpx_call_drainers_came(struct hpx_call_drainers *s, struct hpx_thread *t);
/* End of every pass of the main aggregator, after its table's: measures the load and moves threads away from an aggregator that stays
 * busy. Starts a drainer only if at least two threads cause the load. */
void hpx_call_drainers_balance(struct hpx_call_drainers *s);
/* From the main aggregator's pass_end, or when it is stopped: ends the drainers after their current passes, adds their counts to the
 * main table and puts their threads, with undrained rings, into the main registry. Later passes may start drainers again. Waits for the
 * rest of a pass of every drainer. */
void hpx_call_drainers_gather(struct hpx_call_drainers *s);

/* From the main aggregator's pass_end: adds the drainers' counts to the main table; they continue with their threads and tables. Waits
 * for the drainers one by one, for the rest of a pass; requests the next hold while it works on the current drainer. Holds a drainer
 * while this thread makes a pass for it (with `tail` as hpx_sink.tail, then `pending` for every thread) and merges `limit` changed
 * traces. true: more have changed. */
bool hpx_call_drainers_collect(struct hpx_call_drainers *s, uint32_t limit, uint64_t (*tail)(void *ctx, struct hpx_thread *t),
                               void (*pending)(struct hpx_calltab *t, struct hpx_thread *th));

/* ---- parts of the balance, also called by tests ---- */

/* Starts another drainer; false: hpx_call_drainers_may_start() is false, no memory, or no thread. */
bool hpx_call_drainers_start(struct hpx_call_drainers *s);
/* true if fewer than the limit run and none failed to start in the last second. */
bool hpx_call_drainers_may_start(const struct hpx_call_drainers *s);
/* From pass_end: assigns threads of the main aggregator to the drainer that `to` returns (below s->running), or keeps them
 * (HPX_CALL_DRAINER_NONE). Skips threads that must not move. */
#define HPX_CALL_DRAINER_NONE UINT32_MAX
void hpx_call_drainers_give(struct hpx_call_drainers *s, uint32_t (*to)(void *ctx, struct hpx_thread *t), void *ctx);
/* At the end of a drainer's pass, by its thread: gives back the threads for which `home` is true. */
void hpx_call_drainer_give_back(struct hpx_call_drainer *d, bool (*home)(void *ctx, struct hpx_thread *t), void *ctx);
/* A drainer's window, at the end of its pass, by its thread (call_balance.c). */
void hpx_call_drainer_measure(struct hpx_call_drainer *d);

#endif
