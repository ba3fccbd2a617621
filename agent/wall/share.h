/* SPDX-License-Identifier: BSD-2-Clause */
/* share.h: how the time of a thread is shared among running, waiting for a CPU, and the places where it waits.
 *
 * A look finds the thread's CPU clock where it was, or moved. Unmoved: it has not run, and all time since the last look belongs to where it
 * waits. Moved: what is neither CPU time nor time without a CPU was spent waiting; it is carried until it is known where the thread waits
 * now. Nobody knows when it ran: the old place, if it is known, gets half of that time, the new one the other half. On average this is
 * right however long the looks are apart. A thread that has been idle for long is looked at seldom.
 *
 * Knows no JVM, and no clock. The owner of a share is the caller, which keeps calls apart. */
#ifndef HPX_SHARE_H
#define HPX_SHARE_H

#include "compiler.h"

struct hpx_share {
    uint64_t looked_ns, cpu_ns; /* the last look; the thread's CPU clock then */
    uint64_t idle_since;        /* first of the looks that found it idle one after the other */
    uint64_t carry_ns;          /* idle time of a place that is not known yet */
    uint64_t due_ns;            /* of the known place, or the last one; the caller takes it */
    uint64_t ready_ns;          /* ready to run, without a CPU; the caller takes it */
    bool placed;                /* it is known where it waits */
};

/* Begins: the thread is looked at for the first time. */
void hpx_share_begin(struct hpx_share *s, uint64_t now, uint64_t cpu);
/* Whether the clock has moved: only then the caller has to find out how long the thread had no CPU. */
static inline bool hpx_share_has_run(const struct hpx_share *s, uint64_t cpu)
{
    return cpu != s->cpu_ns;
}
/* A look. delay: ns since the last look in which it was ready to run, but not on a CPU. Returns whether it has to be
 * found out where the thread waits. */
bool hpx_share_look(struct hpx_share *s, uint64_t now, uint64_t cpu, uint64_t delay);
/* It is known where the thread waits, and it has not run since the look; the caller has taken what was due to another place. */
void hpx_share_place(struct hpx_share *s);
/* The last look, by the thread itself, which ends. What it has waited since the look before was where it was then, if that is known. */
void hpx_share_end(struct hpx_share *s, uint64_t now, uint64_t cpu, uint64_t delay);
/* When to look next: interval, or a sixteenth of the time it has been idle, at most 50 intervals. */
uint64_t hpx_share_next(const struct hpx_share *s, uint64_t interval);

#endif
