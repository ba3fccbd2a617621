/* SPDX-License-Identifier: BSD-2-Clause */
/* thread.h: the state of one profiled thread, and the registry that hands it to the aggregator.
 *
 * Made by the thread itself (or for it, before its first event), pushed once on a lock-free stack; the aggregator pops the stack into an
 * array of its own, so nobody else ever iterates. At its end the owner stores RETIRED: its last access. The aggregator drains the ring once
 * more and reclaims the state by hpx_sink.thread_gone(). A state that goes to another aggregator (hpx_aggregator_part()) goes the same
 * way: over that one's registry. An owner embeds struct hpx_thread as the first member of its own, in memory
 * aligned to HPX_CACHE_LINE. */
#ifndef HPX_THREAD_H
#define HPX_THREAD_H

#include "counters.h"
#include "ring.h"
#include <ck_stack.h>

enum hpx_thread_state { HPX_THREAD_ATTACHED, HPX_THREAD_RETIRED };

struct hpx_aggregator;

struct hpx_thread {
    struct hpx_ring ring;
    /* owner */
    HPX_ALIGNED(HPX_CACHE_LINE)
    atomic_int busy; /* relaxed with signal fences: set around every push, so that the owner's handler stays out */
    struct hpx_counters counters;
    /* hand-over */
    HPX_ALIGNED(HPX_CACHE_LINE) _Atomic int state; /* release: hpx_registry_retire(); acquire: the aggregator's pass */
    ck_stack_entry_t entry;
    /* Who drains it; NULL: the one that it was attached to. release: hpx_aggregator_part(); acquire: the owner's waits and wakes. Covers
     * the aggregator it points to. */
    _Atomic(struct hpx_aggregator *) drainer;
    /* the aggregator's alone, after the hand-over */
    uint64_t drain_to; /* tail seen by the pass that runs */
    uint64_t mark;     /* tables/call_balance: its ring's position when something began */
    bool retired;      /* state seen by the pass that runs, before drain_to */
    void *model;       /* tables/model: the table of slots of this thread, its record */
    void *calls;       /* tables/call_table: its call stacks */
};

struct hpx_registry {
    ck_stack_t fresh; /* upmc: pushed by any thread, batch-popped by the aggregator */
};

void hpx_registry_init(struct hpx_registry *reg);
/* Clears *t but its ring (hpx_ring_init() by the caller) and pushes it. Any thread, not in signal handlers. */
void hpx_registry_attach(struct hpx_registry *reg, struct hpx_thread *t);
/* The owner's last access to t. */
static inline void hpx_registry_retire(struct hpx_thread *t)
{
    atomic_store_explicit(&t->state, HPX_THREAD_RETIRED, memory_order_release);
}
/* As attach, without clearing: the aggregator puts back what it has no room for now. */
void hpx_registry_push(struct hpx_registry *reg, struct hpx_thread *t);
/* Aggregator: calls fn for each newly attached thread, oldest first. */
void hpx_registry_collect(struct hpx_registry *reg, void (*fn)(void *ctx, struct hpx_thread *t), void *ctx);

#endif
