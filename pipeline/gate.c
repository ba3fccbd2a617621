/* SPDX-License-Identifier: BSD-2-Clause */
/* gate.c: striped counters and a flag; flags of threads and a barrier. */
#include "gate.h"
#include "clock.h"
#include "trial.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS     50000
#define POLL_MAX_NS 1000000
#define BARRIER_NS  10000000

static void sleep_ns(long ns)
{
    nanosleep(&(struct timespec){0, ns}, NULL);
}

/* The same one for a thread as long as it lives: glibc's address of the thread, whose distances Fibonacci's multiplier spreads evenly. */
static struct hpx_gate_stripe *stripe(struct hpx_gate *g)
{
    uint64_t self = (uint64_t)(uintptr_t)pthread_self();
    return &g->stripes[(self * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - HPX_GATE_STRIPES_LOG2)];
}

void hpx_gate_open(struct hpx_gate *g)
{
    atomic_store_explicit(&g->open, true, memory_order_seq_cst); /* partner: enter */
}

/* Enter adds, then looks; close stores false, then looks at the counter; all four are seq_cst, in one order. A look of enter that finds the
 * gate open comes before close's store, so its addition comes before close's look, which finds the counter above 0 until the leave. The 0
 * that close then finds was made by leaves and refusals, all read-modify-writes: it continues the release of each leave before it, so what
 * was done inside happens before the end of close. */
bool hpx_gate_enter(struct hpx_gate *g)
{
    /* After the end this alone is paid, and those that come do not keep the counters from 0. */
    if (!hpx_gate_is_open(g)) {
        return false;
    }
    struct hpx_gate_stripe *s = stripe(g);
    atomic_fetch_add_explicit(&s->inside, 1, memory_order_seq_cst);
    HPX_TESTPOINT(gate_between_looks);
    if (hpx_unlikely(!atomic_load_explicit(&g->open, memory_order_seq_cst))) {
        atomic_fetch_sub_explicit(&s->inside, 1, memory_order_relaxed); /* nothing was done */
        return false;
    }
    return true;
}

void hpx_gate_leave(struct hpx_gate *g)
{
    atomic_fetch_sub_explicit(&stripe(g)->inside, 1, memory_order_release); /* partner: close */
}

void hpx_gate_close(struct hpx_gate *g)
{
    atomic_store_explicit(&g->open, false, memory_order_seq_cst); /* partner: enter, the sampler's handler */
}

static _Atomic uint32_t waiters; /* relaxed: a hint */

bool hpx_gate_wait(struct hpx_gate *g, uint64_t until_ns)
{
    long ns = POLL_NS;
    bool in_time = true;
    for (size_t i = 0; in_time && i < HPX_ARRAY_LEN(g->stripes);) {
        if (atomic_load_explicit(&g->stripes[i].inside, memory_order_seq_cst) == 0) { /* partner: enter, leave */
            i++;
        } else if ((in_time = hpx_clock_mono() < until_ns)) {
            atomic_fetch_add_explicit(&waiters, ns == POLL_NS, memory_order_relaxed);
            sleep_ns(ns);
            ns = ns < POLL_MAX_NS ? 2 * ns : ns;
        }
    }
    atomic_fetch_sub_explicit(&waiters, ns > POLL_NS, memory_order_relaxed);
    return in_time;
}

void hpx_gate_close_and_wait(struct hpx_gate *g)
{
    hpx_gate_close(g);
    HPX_TESTPOINT(gate_closed);
    (void)hpx_gate_wait(g, UINT64_MAX);
}

bool hpx_gate_waits(void)
{
    return atomic_load_explicit(&waiters, memory_order_relaxed) > 0;
}

void hpx_gate_own_open(struct hpx_gate_own *g)
{
    atomic_store_explicit(&g->fenced, false, memory_order_relaxed);
    atomic_store_explicit(&g->open, true, memory_order_release); /* partner: hpx_gate_own_enter() */
}

void hpx_gate_own_close(struct hpx_gate_own *g)
{
    atomic_store_explicit(&g->open, false, memory_order_relaxed);
}

void hpx_gate_own_prepare(void)
{
    if (hpx_trial_passes(HPX_TRIAL_MEMBARRIER)) {
        (void)syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0); /* refused: the other ways remain */
    }
}

/* All threads of the process pass a full barrier between call and return. The expedited command takes microseconds, but only in a process
 * that is registered for it. */
static void barrier_in_all_threads(void)
{
    if (!hpx_trial_passes(HPX_TRIAL_MEMBARRIER) || (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0 &&
                                                    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)) {
        sleep_ns(BARRIER_NS); /* where both are refused: no store waits so long in a processor */
    }
}

/* A thread that passes the barrier before its store of the flag looks after it, and finds the gate closed; one that passes it after has its
 * flag seen by hpx_gate_own_wait(). */
void hpx_gate_own_close_fenced(struct hpx_gate_own *g)
{
    hpx_gate_own_close(g);
    if (!atomic_exchange_explicit(&g->fenced, true, memory_order_relaxed)) {
        barrier_in_all_threads();
    }
}

bool hpx_gate_own_wait(_Atomic int *inside, uint64_t until_ns)
{
    while (atomic_load_explicit(inside, memory_order_acquire)) { /* partner: hpx_gate_own_leave() */
        if (hpx_clock_mono() > until_ns) {
            return false;
        }
        sleep_ns(POLL_NS);
    }
    return true;
}
