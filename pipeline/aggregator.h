/* SPDX-License-Identifier: BSD-2-Clause */
/* aggregator.h: the one thread that drains the rings and owns every table.
 *
 * A plain pthread with all signals but faults blocked. It never enters the JVM and never takes a lock that an application thread can hold.
 * A pass: (1) collect new threads, read all tails; (2) splice the control lane and apply it; (3) apply ring bytes up to those tails; (4)
 * pass_end. A definition that was posted before an event is therefore applied before it.
 *
 * There may be several: each with a registry, a sink and threads of its own. A thread goes from one to another between two passes. */
#ifndef HPX_AGGREGATOR_H
#define HPX_AGGREGATOR_H

#include "err.h"
#include "gate.h"
#include "lane.h"
#include "thread.h"

/* What the aggregator drains into; all calls on the aggregator's thread. */
struct hpx_sink {
    void *ctx;
    /* One message of the control lane; frees it. */
    void (*message)(void *ctx, struct hpx_msg *m);
    /* A run of whole records of t, `n` bytes, in order; PAD records included (skip them). The bytes are gone after the return. */
    void (*events)(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n);
    /* t retired and drained: take over its counters, free it (hpx_ring_fini() included). May be NULL in tests. */
    void (*thread_gone)(void *ctx, struct hpx_thread *t);
    /* End of a pass; true asks for another one at once. */
    bool (*pass_end)(void *ctx);
    /* Step 1, for a thread that has not retired: how far the pass drains t, instead of hpx_ring_peek(): a position that was its tail at
     * some time. May be NULL. For who must know what the owner keeps back at that position (hpx_calls_peek()). */
    uint64_t (*tail)(void *ctx, struct hpx_thread *t);
    /* Step 1: t was taken over, from its maker or from another aggregator. May be NULL. */
    void (*thread_came)(void *ctx, struct hpx_thread *t);
};

struct hpx_aggregator {
    struct hpx_sink sink;
    struct hpx_lane control;
    struct hpx_registry registry;
    struct hpx_wake space;    /* posted after a pass when `waiters` is not zero, and once when the thread runs */
    _Atomic uint32_t waiters; /* relaxed: threads in hpx_reserve_or_wait(); a post that misses one costs it a slice of 1 ms */
    uint64_t wait_ns;         /* HPX_EXACT_WAIT_NS; tests shorten it before any event */
    const char *name;         /* of its thread, at most 15 characters; HPX_AGGREGATOR_NAME; others: set before start */
    uint32_t last_passes;     /* HPX_LAST_PASSES; others: set before start */
    _Atomic bool stop;        /* release: stop, leave; acquire: the loop */
    pthread_t thread;
    bool running;
    pid_t tid; /* kernel id, for its CPU clock; valid once running */
    /* the aggregator's alone */
    struct hpx_thread **threads; /* live ones */
    uint32_t nthreads, cap_threads;
    uint32_t untaken; /* threads that the last pass had no memory to take over: they stay in the registry */
    uint64_t passes, bytes, sleep_ns;
};

/* Prepares the lane and the registry: events and messages may be posted from now on. 0, -HPX_E_NOMEM. */
int hpx_aggregator_init(struct hpx_aggregator *a, const struct hpx_sink *sink);
#define HPX_AGGREGATOR_NAME "hprofx-aggr"
/* Starts the thread (256 KiB stack), also anew after a stop. 0, -HPX_E_SYS. */
int hpx_aggregator_start(struct hpx_aggregator *a, struct hpx_err *err);
/* Asks the thread to end after a last pass that finds nothing more (at most last_passes, should producers go on; 0: the one that runs is
 * the last), and joins it. Any thread but itself. */
#define HPX_LAST_PASSES 1000
void hpx_aggregator_stop(struct hpx_aggregator *a);
/* The first half of stop: asks, and does not wait. */
void hpx_aggregator_leave(struct hpx_aggregator *a);
/* After stop. Threads that never retired are given to thread_gone. */
void hpx_aggregator_fini(struct hpx_aggregator *a);
/* One pass by the calling thread, which must be the only one (tests; the loop). Returns bytes drained. */
size_t hpx_aggregator_pass(struct hpx_aggregator *a);
/* Wakes it: high water in a ring. Async-signal-safe. */
void hpx_aggregator_wake(struct hpx_aggregator *a);
/* Calls fn for each live thread. Aggregator only (from the sink's calls). */
void hpx_aggregator_each(struct hpx_aggregator *a, void (*fn)(void *ctx, struct hpx_thread *t), void *ctx);

/* Gives threads away: `whose` says to which aggregator each goes (a: it stays). What the sinks keep with t must be fit to travel. From the
 * sink's pass_end; or by whoever has stopped a: then those that a has not yet taken over are asked about, too. */
void hpx_aggregator_part(struct hpx_aggregator *a, struct hpx_aggregator *(*whose)(void *ctx, struct hpx_thread *t), void *ctx);
/* The same for one that a does not have any more (from thread_gone). */
void hpx_aggregator_give(struct hpx_thread *t, struct hpx_aggregator *to);
/* Who drains t, which was attached to a. Any thread; async-signal-safe. */
static inline struct hpx_aggregator *hpx_aggregator_of(const struct hpx_thread *t, struct hpx_aggregator *a)
{
    struct hpx_aggregator *now = atomic_load_explicit(&t->drainer, memory_order_acquire); /* partner: hpx_aggregator_give() */
    return now ? now : a;
}

/* Sampling: reserve, or count HPX_C_LOST_RING_FULL by `weight` and return NULL. Wakes the aggregator that has t (a, or to whom it was
 * given) when the ring is more than half full, then again after each quarter of the ring, and whenever it is full. Async-signal-safe. The
 * caller holds t->busy. */
void *hpx_reserve_or_drop(struct hpx_aggregator *a, struct hpx_thread *t, size_t n, uint64_t weight);

/* Exact modes: reserve; when full, wakes the aggregator that has t (a, or to whom it was given) and waits in slices of 1 ms while the gate
 * is open, at most wait_ns; then counts HPX_C_LOST_WAIT and returns NULL: the report is then marked incomplete. Not in signal handlers, GC
 * callbacks, nor with a lock of the VM held. */
#define HPX_EXACT_WAIT_NS UINT64_C(2000000000) /* on a busy machine the aggregator may be without a CPU for some 100 ms */
void *hpx_reserve_or_wait(struct hpx_aggregator *a, struct hpx_gate *g, struct hpx_thread *t, size_t n);

#endif
