/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_pool.h: work that the workers of a trace pass on: pieces of their stacks (trace.h), through memory that all of them have.
 *
 * Every worker is at work or idle. One that is at work gives half of what it has when another one is idle; an idle one takes, or learns
 * that the trace is over: nobody is at work, and nothing was given. No call waits, locks or allocates; any thread. */
#ifndef HPX_TRACE_POOL_H
#define HPX_TRACE_POOL_H

#include "compiler.h"
#include <stdatomic.h>

#define HPX_TRACE_PIECE  512u /* words of a piece, at most */
#define HPX_TRACE_PIECES 8u

struct hpx_trace_pool {
    _Atomic uint32_t workers; /* relaxed */
    /* Relaxed, but for the last one that stops working: release. hpx_trace_pool_take(): acquire. */
    _Atomic uint32_t at_work;
    atomic_bool ended; /* relaxed: a worker has failed */
    struct hpx_trace_piece {
        /* release: who has filled or emptied it; acquire: who is about to. It covers the words */
        _Atomic int state;
        uint32_t n;
        uint64_t words[HPX_TRACE_PIECE];
    } pieces[HPX_TRACE_PIECES];
};

/* In cleared memory. One worker is at work, the others are idle. */
static inline void hpx_trace_pool_init(struct hpx_trace_pool *p, uint32_t workers)
{
    atomic_store_explicit(&p->workers, workers, memory_order_relaxed);
    atomic_store_explicit(&p->at_work, 1, memory_order_relaxed);
}

/* Whether somebody would take what is given. */
static inline bool hpx_trace_pool_hungry(const struct hpx_trace_pool *p)
{
    return atomic_load_explicit(&p->at_work, memory_order_relaxed) < atomic_load_explicit(&p->workers, memory_order_relaxed);
}

/* Of a worker that is at work, and stays so; n: 1 to HPX_TRACE_PIECE. false: there is no room, the caller keeps the words. */
bool hpx_trace_pool_give(struct hpx_trace_pool *p, const uint64_t *words, uint32_t n);

enum hpx_trace_turn { HPX_TRACE_WORK, HPX_TRACE_WAIT, HPX_TRACE_OVER };
/* Of an idle worker. WORK: it is at work, with *n words; WAIT: ask again; OVER: it ends. */
enum hpx_trace_turn hpx_trace_pool_take(struct hpx_trace_pool *p, uint64_t words[static HPX_TRACE_PIECE], uint32_t *n);
/* A worker that was at work has nothing left. */
void hpx_trace_pool_idle(struct hpx_trace_pool *p);
/* The trace has failed: no worker takes any more, and who is at work shall stop when it learns that. */
void hpx_trace_pool_end(struct hpx_trace_pool *p);
static inline bool hpx_trace_pool_ended(const struct hpx_trace_pool *p)
{
    return atomic_load_explicit(&p->ended, memory_order_relaxed);
}

#endif
