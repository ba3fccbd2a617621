/* SPDX-License-Identifier: BSD-2-Clause */
/* aggregator.h: the one thread that drains the rings and owns every table.
 *
 * A plain pthread with all signals but faults blocked. It never enters the JVM and takes no lock that an application thread can hold. A
 * pass: (1) collect new threads, read all tails; (2) splice the control lane and apply it; (3) apply ring bytes up to those tails; (4)
 * pass_end. So a definition that was posted before an event is applied before that event.
 *
 * There may be several, each with its own registry, sink and threads. A thread moves from one to another between two passes.
 *
 * Another thread may hold an aggregator between two passes. The holder then owns everything of the aggregator, its sink included; each
 * side sees what the other did before. */
#ifndef HPX_AGGREGATOR_H
#define HPX_AGGREGATOR_H

#include "err.h"
#include "gate.h"
#include "lane.h"
#include "thread.h"

/* Receives what the aggregator drains; all calls are on the aggregator's thread. */
struct hpx_sink {
    void *ctx;
    /* Handles and frees one message of the control lane. */
    void (*message)(void *ctx, struct hpx_msg *m);
    /* A run of whole records of t, `n` bytes, in order; PAD records included (skip them). The bytes are invalid after the return. */
    void (*events)(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n);
    /* t has retired and is drained: take over its counters and free it (hpx_ring_fini() included). May be NULL in tests. */
    void (*thread_gone)(void *ctx, struct hpx_thread *t);
    /* End of a pass; true: start another pass at once. */
    bool (*pass_end)(void *ctx);
    /* Step 1, for a thread that has not retired: the position up to which the pass drains t, instead of hpx_ring_peek(); it must have
     * been the tail at some time. For sinks that must know what the owner had pending at that position (hpx_calls_peek()). May be NULL. */
    uint64_t (*tail)(void *ctx, struct hpx_thread *t);
    /* Step 1: the aggregator has taken t over, from its creator or from another aggregator. May be NULL. */
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
    _Atomic uint32_t hold;    /* enum in aggregator.c. release, acquire: both the loop and the holder */
    struct hpx_wake turn;     /* posted when `hold` has become held, or is no longer */
    pthread_t thread;
    bool running;
    pid_t tid; /* kernel id, for its CPU clock; valid once running */
    /* the aggregator's alone */
    struct hpx_thread **threads; /* live ones */
    uint32_t nthreads, cap_threads;
    uint32_t untaken; /* threads that stay in the registry because the last pass had no memory for them */
    uint64_t passes, bytes, sleep_ns;
};

/* Prepares the lane and the registry: events and messages may be posted after this. */
void hpx_aggregator_init(struct hpx_aggregator *a, const struct hpx_sink *sink);
#define HPX_AGGREGATOR_NAME "hprofx-aggr"
/* Starts the thread (256 KiB stack), also again after a stop. 0, -HPX_E_SYS. */
int hpx_aggregator_start(struct hpx_aggregator *a, struct hpx_err *err);
/* Asks the thread to end after a pass that finds nothing (after at most last_passes passes if producers continue; 0: after the current
 * one), and joins it. Any thread but itself. */
#define HPX_LAST_PASSES 1000
void hpx_aggregator_stop(struct hpx_aggregator *a);
/* The first half of stop: asks without waiting. */
void hpx_aggregator_leave(struct hpx_aggregator *a);
/* Requests a hold at the end of the current pass, without waiting; then call await_held and go_on. The aggregator must run and not have
 * been asked to end. One holder at a time; only the holder may call leave and stop, which also end a held aggregator. A held aggregator
 * drains nothing, so hold it for milliseconds only. */
void hpx_aggregator_hold(struct hpx_aggregator *a);
/* Waits for the rest of a pass. */
void hpx_aggregator_await_held(struct hpx_aggregator *a);
void hpx_aggregator_go_on(struct hpx_aggregator *a);
/* After stop. Calls thread_gone for threads that never retired. */
void hpx_aggregator_fini(struct hpx_aggregator *a);
/* One pass by the calling thread, which must be the only one (tests; the loop; a holder). Returns bytes drained. */
size_t hpx_aggregator_pass(struct hpx_aggregator *a);
/* Wakes the aggregator, as when a ring fills up. Async-signal-safe. */
void hpx_aggregator_wake(struct hpx_aggregator *a);
/* Calls fn for every live thread. Aggregator only (from the sink's calls). */
void hpx_aggregator_each(struct hpx_aggregator *a, void (*fn)(void *ctx, struct hpx_thread *t), void *ctx);

/* Gives threads away: `whose` returns the new aggregator of a thread (a: it stays). The sinks' data in t must be valid in both. From the
 * sink's pass_end, or by whoever has stopped a; then it also covers threads that a has not yet taken over. */
void hpx_aggregator_part(struct hpx_aggregator *a, struct hpx_aggregator *(*whose)(void *ctx, struct hpx_thread *t), void *ctx);
/* The same for one thread that its aggregator no longer has (from thread_gone). */
void hpx_aggregator_give(struct hpx_thread *t, struct hpx_aggregator *to);
/* The aggregator that drains t, which was attached to a. Any thread; async-signal-safe. */
static inline struct hpx_aggregator *hpx_aggregator_of(const struct hpx_thread *t, struct hpx_aggregator *a)
{
    struct hpx_aggregator *now = atomic_load_explicit(&t->drainer, memory_order_acquire); /* partner: hpx_aggregator_give() */
    return now ? now : a;
}

/* Sampling: reserve, or count HPX_C_LOST_RING_FULL by `weight` and return NULL. Wakes the aggregator that drains t when the ring is more
 * than half full, again after every further quarter, and whenever it is full. Async-signal-safe. The caller holds t->busy. */
void *hpx_reserve_or_drop(struct hpx_aggregator *a, struct hpx_thread *t, size_t n, uint64_t weight);

/* Before a record whose time matters (timeline=y), and before its reserve: writes HPX_EV_TIME, if the last one of this ring is
 * HPX_TIME_STEP_NS old. In a full ring there is none, and the next record tries again. Async-signal-safe. The caller holds t->busy. */
#define HPX_TIME_STEP_NS UINT64_C(1000000)
void hpx_time_put(struct hpx_aggregator *a, struct hpx_thread *t);

/* Exact modes: reserve. If the ring is full, wakes the aggregator that drains t and waits in slices of 1 ms while the gate is open, at
 * most wait_ns; then counts HPX_C_LOST_WAIT and returns NULL, and the report says "incomplete". Not in signal handlers or GC callbacks,
 * nor while holding a lock of the VM. */
#define HPX_EXACT_WAIT_NS UINT64_C(2000000000) /* on a busy machine the aggregator may be without a CPU for some 100 ms */
void *hpx_reserve_or_wait(struct hpx_aggregator *a, struct hpx_gate *g, struct hpx_thread *t, size_t n);

#endif
