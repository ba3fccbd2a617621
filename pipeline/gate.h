/* SPDX-License-Identifier: BSD-2-Clause */
/* gate.h: closing a gate waits until no thread is inside. Two kinds with different costs:
 *
 * struct hpx_gate, for callbacks: any thread. Enter and leave cost a locked add each, on a counter shared by few threads.
 * struct hpx_gate_own, for probes: threads with a flag for it in their state. Enter and leave cost a plain store each; close costs a
 * barrier in all threads of the process.
 *
 * Enter and leave take no lock, make no system call, allocate and register nothing, so they work in signal handlers, GC callbacks and on
 * threads without a ThreadStart. The thread that entered must leave. */
#ifndef HPX_GATE_H
#define HPX_GATE_H

#include "compiler.h"
#include <stdatomic.h>

#define HPX_GATE_STRIPES_LOG2 6

struct hpx_gate {
    HPX_ALIGNED(HPX_CACHE_LINE) atomic_bool open; /* seq_cst, the first look of enter: acquire */
    struct hpx_gate_stripe {
        HPX_ALIGNED(HPX_CACHE_LINE) _Atomic uint32_t inside; /* seq_cst add: enter; release subtract: leave; seq_cst load: close */
    } stripes[1 << HPX_GATE_STRIPES_LOG2];
};

void hpx_gate_open(struct hpx_gate *g);
/* true: the caller is inside and must leave. false: closed, the caller must return at once. May nest. */
bool hpx_gate_enter(struct hpx_gate *g);
void hpx_gate_leave(struct hpx_gate *g);
static inline bool hpx_gate_is_open(struct hpx_gate *g)
{
    return atomic_load_explicit(&g->open, memory_order_acquire);
}
/* Closes without waiting, as the first step of hpx_gate_close_and_wait(). Async-signal-safe. For the child of a fork and the start of
 * the exit. */
void hpx_gate_close(struct hpx_gate *g);
/* Closes, waits for all threads inside and sees what they did there. Not from inside. The wait is unbounded: call it on a thread of
 * hprofx. Not in the child of a fork, where threads that were inside never leave. */
void hpx_gate_close_and_wait(struct hpx_gate *g);
/* Its second step, after a close, at most until `until_ns` (hpx_clock_mono()). false: a thread is still inside. */
bool hpx_gate_wait(struct hpx_gate *g, uint64_t until_ns);
/* Some thread waits in one of these, for any gate, and has found another one inside. Any thread; a hint. */
bool hpx_gate_waits(void);

struct hpx_gate_own {
    atomic_bool open;   /* release: open; acquire: enter. The closer's barrier orders it against the flags of all threads */
    atomic_bool fenced; /* relaxed: a barrier was executed since it was opened */
};

/* false: closed. The caller must leave in both cases. `inside` is the calling thread's flag; does not nest. */
static inline bool hpx_gate_own_enter(struct hpx_gate_own *g, _Atomic int *inside)
{
    atomic_store_explicit(inside, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the closer's barrier makes a fence of it: partner hpx_gate_own_close_fenced() */
    return hpx_likely(atomic_load_explicit(&g->open, memory_order_acquire)); /* partner: hpx_gate_own_open() */
}
static inline void hpx_gate_own_leave(_Atomic int *inside)
{
    atomic_store_explicit(inside, 0, memory_order_release); /* partner: hpx_gate_own_wait() */
}
static inline bool hpx_gate_own_is_open(struct hpx_gate_own *g)
{
    return atomic_load_explicit(&g->open, memory_order_relaxed);
}
void hpx_gate_own_open(struct hpx_gate_own *g);
/* Closes without a barrier: threads that do not see it yet may still enter. Async-signal-safe. */
void hpx_gate_own_close(struct hpx_gate_own *g);
/* On a thread of hprofx, which it blocks for a grace period of the kernel (some 10 ms, no CPU). Makes the close take microseconds. */
void hpx_gate_own_prepare(void);
/* Closes with a barrier in all threads: after the return no thread can enter, and the flag of every thread inside is visible. Without
 * prepare it takes a grace period, once after an open. One thread at a time. */
void hpx_gate_own_close_fenced(struct hpx_gate_own *g);
/* After close: waits until that flag is 0, at most until `until_ns` (hpx_clock_mono()); false: it is still 1. true: the caller sees what
 * the thread did inside. */
bool hpx_gate_own_wait(_Atomic int *inside, uint64_t until_ns);

#endif
