/* SPDX-License-Identifier: BSD-2-Clause */
/* call_shard.h: exact calls drained by several threads: the main aggregator and, where it is too busy, drainers beside it.
 *
 * A drainer is a further aggregator with a table of its own. It takes records of calls alone, of the threads that were given to it; all
 * else - new threads, definitions, ends, names, snapshots - is the main one's. A thread belongs to one of them at a time, and goes over
 * between two passes with its open calls: by the registry of the new owner, as a new thread does. It goes back to the main one when it
 * ends, at its first SWITCH (carriers of virtual threads share stacks, so they have one owner), when the drainer is asked to share its
 * load, and when all are gathered.
 *
 * Owner: the main aggregator's thread calls everything here, from its sink's calls; the drainers' threads call nothing of it. Lifetime: a
 * drainer's struct stays until hpx_shard_fini(): an owner of a ring may still wake it when it has gone.
 *
 *   main:     pass ─ thread_came: hpx_shard_came ─ pass_end: hpx_model_pass_end, hpx_shard_balance
 *   snapshot: hpx_shard_gather; then all threads and all counts are the main one's, as if there had never been another. */
#ifndef HPX_CALL_SHARD_H
#define HPX_CALL_SHARD_H

#include "call_table.h"

#define HPX_DRAINERS_MAX 8u

/* What one aggregator has done since `wall`. */
struct hpx_meter {
    uint64_t wall, cpu;
};

struct hpx_drainer {
    struct hpx_aggregator a;
    struct hpx_calltab table; /* its thread's while that runs, else the main aggregator's */
    struct hpx_aggregator *main;
    _Atomic uint64_t passes;  /* release: its pass_end; acquire: hpx_shard_balance(). Covers what it gave back */
    _Atomic uint32_t load;    /* relaxed: thousandths of a core, in its last window */
    atomic_bool divisible;    /* relaxed: more than one thread makes them */
    atomic_bool wanted;       /* relaxed: the main one's wish that it gives back half of its load; cleared by the drainer */
    struct hpx_meter meter;   /* its thread's */
    bool switched;            /* its thread's: somebody's SWITCH waits */
    uint64_t cpu_ns;          /* its thread's, read after the join */
    uint64_t window_ns, seen; /* the main one's; window_ns: constant while it runs */
    char name[16];
};

struct hpx_shard {
    struct hpx_aggregator *main;
    struct hpx_calltab *table; /* the main one's */
    struct hpx_drainer *drainers[HPX_DRAINERS_MAX];
    unsigned running; /* the first ones */
    unsigned limit;   /* of `running`; from the processors, at most HPX_DRAINERS_MAX; 0 when a thread could not be had */
    /* call_balance.c */
    uint64_t window_ns; /* tests: 0 */
    uint32_t busy;      /* thousandths of a core from which an aggregator is busy; tests: 0 */
    struct hpx_meter meter;
    unsigned busy_windows, calm_windows;
    /* figures */
    unsigned most;   /* that ran at a time */
    uint64_t given;  /* threads to drainers */
    uint64_t cpu_ns; /* of those that have ended */
};

/* Before the main aggregator starts. limit: of drainers. Starts nothing. */
void hpx_shard_init(struct hpx_shard *s, struct hpx_aggregator *main, struct hpx_calltab *table, unsigned limit);
/* As many as make sense on these processors: half of them, at most HPX_DRAINERS_MAX; 0 on one. */
unsigned hpx_shard_limit(void);
/* The main aggregator is stopped. Gathers, frees. */
void hpx_shard_fini(struct hpx_shard *s);

/* hpx_sink.thread_came of the main aggregator. */
void hpx_shard_came(struct hpx_shard *s, struct hpx_thread *t);
/* End of each pass of the main one, after its table's: measures, and where an aggregator is busy for longer gives threads to others. Starts
 * a drainer only when two threads at least share the load. */
void hpx_shard_balance(struct hpx_shard *s);
/* From the main one's pass_end, or when it is stopped: the drainers end at the end of their passes, their counts are added to the main
 * table, their threads wait in the main registry with what is in their rings. Later passes may start them anew. Waits for the rest of a
 * pass of each. */
void hpx_shard_gather(struct hpx_shard *s);

/* From the main one's pass_end: what the drainers have counted is added to the main table, and they go on with their threads and tables.
 * Each is stopped for a pass (by this thread, with `tail` as hpx_sink.tail; behind it `kept` for each of its threads) and for the merge of
 * `limit` traces that changed. One that cannot be started anew: all are gathered. true: more have changed. */
bool hpx_shard_collect(struct hpx_shard *s, uint32_t limit, uint64_t (*tail)(void *ctx, struct hpx_thread *t),
                       void (*kept)(struct hpx_calltab *t, struct hpx_thread *th));

/* ---- what the balance is made of (tests call them, too) ---- */

/* One more drainer; false: the limit, no memory, no thread. */
bool hpx_shard_start(struct hpx_shard *s);
/* From pass_end: gives the threads of the main one for which `to` names a drainer (below s->running); those that may not travel are not
 * asked about. HPX_SHARD_STAYS: not this one. */
#define HPX_SHARD_STAYS UINT32_MAX
void hpx_shard_give(struct hpx_shard *s, uint32_t (*to)(void *ctx, struct hpx_thread *t), void *ctx);
/* At the end of a drainer's pass, by its thread: gives back those that `home` wants. */
void hpx_drainer_give_back(struct hpx_drainer *d, bool (*home)(void *ctx, struct hpx_thread *t), void *ctx);
/* A drainer's window, at the end of its pass, by its thread (call_balance.c). */
void hpx_drainer_measure(struct hpx_drainer *d);

#endif
