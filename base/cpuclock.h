/* SPDX-License-Identifier: BSD-2-Clause */
/* cpuclock.h: the CPU time of the calling thread, at little more than the cost of reading the processor's counter (machine.h): the TSC,
 * or the virtual counter of 64-bit Arm.
 *
 * The kernel clears rseq_cs, a word that glibc registers for every thread, whenever the thread was switched out, migrated or signalled.
 * The clock points that word at a descriptor whose range holds no executed code. While the pointer stands, the thread has run without
 * interruption since the thread clock was last read, and its CPU time is that value plus the counter's progress since. If it was cleared,
 * or HPX_CPUCLOCK_SPAN ticks have passed, the clock reads the thread clock again: a resync. docs/calls.md explains the orders below.
 *
 * Owner: the thread that called hpx_cpuclock_enter(); it alone may call now (also inside its signal handlers) and leave. setup comes
 * before the first enter and once; recheck, name, reason and is_fast may be called at any time by any thread.
 *
 *             [1] [2] [3]    [1] enter, now, leave of one struct  [2] the same of another struct  [3] recheck, name, reason, is_fast
 *   setup      X   X   X     X: the caller excludes the pair; -: safe concurrently
 *   [1]        X   -   -     [1] x [1]: same thread, a signal handler can nest now() in now(), not in enter or leave
 *   [3]        -   -   X     [3] x [3]: all but recheck with anything; recheck is called by one thread at a time
 *
 * Lifetime: the kernel reads the descriptor as long as a thread points at it, so an object that holds it is linked with -z nodelete; leave
 * takes the pointer back. A child after fork calls enter again: its thread clock began at 0.
 * Signal safety: now() yes (no lock, no allocation, errno kept); every other call no. */
#ifndef HPX_CPUCLOCK_H
#define HPX_CPUCLOCK_H

#include "compiler.h"
#include "machine.h"
#include <stdatomic.h>

/* Most ticks between resyncs. Bounds the error from time stolen by a hypervisor. */
#define HPX_CPUCLOCK_SPAN HPX_COUNTER_SPAN

enum hpx_cpuclock_kind {
    HPX_CPUCLOCK_CPU,   /* CPU time of the thread */
    HPX_CPUCLOCK_WALL,  /* CLOCK_MONOTONIC, by the same means */
    HPX_CPUCLOCK_CALLS, /* CPU time by the thread clock every time: no self-test */
};

/* One thread's clock; zeroed before enter. All fields but resyncs are the owning thread's, handlers included: relaxed, the order inside the
 * thread is made by signal fences. */
struct hpx_cpuclock {
    _Atomic uint64_t *word;   /* the thread's rseq_cs; NULL: none */
    _Atomic uint64_t scale;   /* nanoseconds per tick * 2^32; 0: no fast path, now() asks the kernel */
    _Atomic uint64_t base_ns; /* what the kernel said at the resync, and the counter just after */
    _Atomic uint64_t base_count;
    _Atomic uint64_t last;    /* the highest time returned so far */
    _Atomic uint64_t resyncs; /* any thread may read it; moves with base_ns and base_count */
    atomic_bool busy;         /* a resync is in progress: a handler that interrupts it must not change the struct */
};

/* System functions for setup, replaced in tests. NULL members: the system's. */
struct hpx_cpuclock_ops {
    bool (*is_steady)(void);           /* hpx_counter_is_steady() */
    void *(*symbol)(const char *name); /* glibc's __rseq_offset and __rseq_size */
    void (*after)(const char *event,
                  _Atomic uint64_t *cs); /* called between an event of the self-test and the read of rseq_cs; may be NULL */
};

/* Chooses the method by a self-test of some ms in two new threads (it sets their processors; the program's threads are not touched). ops
 * is NULL except in tests. Never fails: if the self-test does, the clock asks the kernel every time, and the reason says why. Without
 * setup it also asks the kernel every time. */
void hpx_cpuclock_setup(enum hpx_cpuclock_kind kind, const struct hpx_cpuclock_ops *ops);

/* A short self-test on the calling thread, which sleeps 0.1 ms or more: checks that rseq_cs is still cleared and the counter keeps its
 * rate. false: it failed; the clock then asks the kernel (other threads follow within HPX_CPUCLOCK_SPAN ticks), and the reason says why.
 * true also if the fast path is not in use. Not on a thread inside now(), leave or enter. */
bool hpx_cpuclock_recheck(void);

/* For the report: how times are measured, and why not by the counter ("" if by it). Static strings. */
const char *hpx_cpuclock_name(void);
const char *hpx_cpuclock_reason(void);
/* true if times are measured by counter and rseq. */
bool hpx_cpuclock_is_fast(void);

/* Starts the calling thread's clock. */
void hpx_cpuclock_enter(struct hpx_cpuclock *c);
/* Removes the pointer, if it is ours. Before the thread ends; afterwards neither the thread nor its handlers may call now(). */
void hpx_cpuclock_leave(struct hpx_cpuclock *c);

/* The slow path of now(): asks the kernel. Signal-safe. */
uint64_t hpx_cpuclock_resync(struct hpx_cpuclock *c);

/* The kernel's struct rseq_cs, part of its ABI. */
struct hpx_cpuclock_section {
    uint32_t version, flags;
    uint64_t start_ip, post_commit_offset, abort_ip;
} HPX_ALIGNED(32);
extern const struct hpx_cpuclock_section hpx_cpuclock_section __attribute__((visibility("hidden")));
#define HPX_CPUCLOCK_OURS ((uint64_t)(uintptr_t)&hpx_cpuclock_section)

/* Marks the places between the steps of now(), where a test raises a signal. */
#ifndef HPX_CPUCLOCK_STEP
#define HPX_CPUCLOCK_STEP(n) atomic_signal_fence(memory_order_seq_cst)
#endif

/* now() without its slow path; false: *ns is not set. */
static inline __attribute__((always_inline)) bool hpx_cpuclock_try(struct hpx_cpuclock *c, uint64_t *ns)
{
    uint64_t resyncs = atomic_load_explicit(&c->resyncs, memory_order_relaxed);
    HPX_CPUCLOCK_STEP(0);
    uint64_t scale = atomic_load_explicit(&c->scale, memory_order_relaxed);
    if (hpx_unlikely(!scale)) {
        return false;
    }
    uint64_t base_ns = atomic_load_explicit(&c->base_ns, memory_order_relaxed);
    HPX_CPUCLOCK_STEP(1);
    uint64_t base_count = atomic_load_explicit(&c->base_count, memory_order_relaxed);
    HPX_CPUCLOCK_STEP(2);
    uint64_t ticks = hpx_counter() - base_count; /* before the look at the pointer: what stands now stood then */
    HPX_CPUCLOCK_STEP(3);
    uint64_t pointer = atomic_load_explicit(c->word, memory_order_relaxed);
    HPX_CPUCLOCK_STEP(4);
    /* Last, because a handler's resync makes the pointer stand again. */
    uint64_t resyncs_now = atomic_load_explicit(&c->resyncs, memory_order_relaxed);
    if (hpx_unlikely(ticks >= HPX_CPUCLOCK_SPAN || pointer != HPX_CPUCLOCK_OURS || resyncs_now != resyncs)) {
        return false;
    }
    uint64_t t = base_ns + (ticks * scale >> 32), last = atomic_load_explicit(&c->last, memory_order_relaxed);
    t = t < last ? last : t;
    HPX_CPUCLOCK_STEP(5);
    atomic_store_explicit(&c->last, t, memory_order_relaxed);
    *ns = t;
    return true;
}

/* CPU time (wall: CLOCK_MONOTONIC) of the calling thread in nanoseconds. Never below what a call returned that ended before this one began;
 * a handler's call counts, unless it fell between the last two steps above and ran ahead of the kernel's clock by itself. */
static inline uint64_t hpx_cpuclock_now(struct hpx_cpuclock *c)
{
    uint64_t ns;
    return hpx_likely(hpx_cpuclock_try(c, &ns)) ? ns : hpx_cpuclock_resync(c);
}

#endif
