/* SPDX-License-Identifier: BSD-2-Clause */
/* thread.h: the state of one profiled thread, and the registry that hands it to the aggregator.
 *
 * The thread creates its state (or another thread does so before the first event) and pushes it once on a lock-free stack. The
 * aggregator pops the stack into its own array, so only the aggregator, or whoever holds or has stopped it (aggregator.h), iterates. At
 * its end the owner stores RETIRED, its last access; the aggregator then drains the ring once more and frees the state by
 * hpx_sink.thread_gone(). A state moves to another aggregator (hpx_aggregator_part()) through that one's registry. Modes embed struct
 * hpx_thread as the first member of their state, in memory aligned to HPX_CACHE_LINE. */
#ifndef HPX_THREAD_H
#define HPX_THREAD_H

#include "counters.h"
#include "ring.h"
#include <ck_stack.h>

enum hpx_thread_state { HPX_THREAD_ATTACHED, HPX_THREAD_RETIRED };

struct hpx_aggregator;

struct hpx_thread {
    struct hpx_ring ring;
    const void *mode; /* for the sink: the mode of its events. Constant since before the hand-over */
    /* owner */
    HPX_ALIGNED(HPX_CACHE_LINE)
    atomic_int busy; /* relaxed with signal fences: set around every push, so that the owner's handler stays out */
    struct hpx_counters counters;
    uint64_t told_ns; /* of the last HPX_EV_TIME in its ring */
    /* hand-over */
    HPX_ALIGNED(HPX_CACHE_LINE) _Atomic int state; /* release: hpx_registry_retire(); acquire: the aggregator's pass */
    ck_stack_entry_t entry;
    /* The aggregator that drains it; NULL: the one that it was attached to. release: hpx_aggregator_give(); acquire:
     * hpx_aggregator_of(). Covers the aggregator it points to. */
    _Atomic(struct hpx_aggregator *) drainer;
    /* the aggregator's alone, after the hand-over */
    uint64_t drain_to; /* tail that the current pass has read */
    uint64_t mark;     /* tables/call_balance: its ring's position when something began */
    bool retired;      /* state that the current pass has read, before drain_to */
    uint64_t time_ns;  /* tables/timeline_table: of the last HPX_EV_TIME that was drained */
    uint32_t serial;   /* tables/model: HPX_SERIAL_THREAD and its number; 0: its start was not seen */
    void *slots;       /* tables/sample_table: its slots for stacks */
    void *call_stacks; /* tables/call_table: its call stacks */
};

struct hpx_registry {
    ck_stack_t fresh; /* upmc: pushed by any thread, batch-popped by the aggregator */
};

void hpx_registry_init(struct hpx_registry *reg);
/* The owner's last access to t. */
static inline void hpx_registry_retire(struct hpx_thread *t)
{
    atomic_store_explicit(&t->state, HPX_THREAD_RETIRED, memory_order_release);
}
/* Hands t over. Either an aggregator gives it away, or it is new: it has its ring (hpx_ring_init()) and its mode, and the rest was clear
 * when the aggregator could first see it (HPX_MSG_THREAD_START). Any thread, not in signal handlers. */
void hpx_registry_push(struct hpx_registry *reg, struct hpx_thread *t);
/* Aggregator: calls fn for every thread that was pushed since the last call, oldest first. */
void hpx_registry_collect(struct hpx_registry *reg, void (*fn)(void *ctx, struct hpx_thread *t), void *ctx);

#endif
