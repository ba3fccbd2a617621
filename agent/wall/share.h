/* SPDX-License-Identifier: BSD-2-Clause */
/* share.h: how the time of a thread is divided among running, waiting for a CPU, and the places where it waits.
 *
 * Time is divided into periods, each as long as was decided before it began. In every period the thread is looked at once, at a random
 * moment, and the whole period belongs to the place where that look finds it. A wait that fills a part of a period gets the period with
 * just that probability, so on average every place gets its time, whatever the thread does and however long the periods are. A thread's
 * moments are its own: threads that do the same at the same time are looked at independently.
 *
 * If the CPU clock has not moved since the look that found the thread, it has not left the place, and nothing is left to chance. Periods
 * become longer while a thread is idle.
 *
 * CPU time, time without a CPU, and periods whose look found the thread running are known only roughly to each period. Their sum is
 * balanced (owed_ns), slowly, so that the sum of all places stays the time that the thread has waited.
 *
 * Knows no JVM, and no clock. The owner of a share is the caller, which keeps calls apart. */
#ifndef HPX_SHARE_H
#define HPX_SHARE_H

#include "compiler.h"

struct hpx_share {
    uint64_t looked_ns, cpu_ns; /* when the clocks were read last; the thread's CPU clock then */
    uint64_t ran_ns;     /* the reading before the one that found that it had run, which was the last such: until then it did not wait */
    uint64_t idle_since; /* the first reading of those that found it idle one after the other */
    uint64_t given_ns;   /* time until then is in due_ns or owed_ns, or with the caller */
    uint64_t end_ns;     /* of the period that was looked at last */
    uint64_t next_ns, next_end_ns; /* the next period, which begins there: when to look, and its end */
    uint64_t spread_ns;            /* waiting time over which owed_ns is balanced */
    int64_t owed_ns;               /* waiting time that no place has got yet; < 0: that places have got too much */
    uint64_t later_ns;             /* to be taken from owed_ns at the next look: of the period that was looked at last */
    double balance;                /* part by which the place of that period gets more than its time: what was owed before it began */
    uint64_t due_ns;               /* of the place that was found last; the caller takes it */
    uint64_t ready_ns;             /* ready to run, without a CPU; the caller takes it */
    bool placed;                   /* the period that was looked at last has a place */
    bool stays;                    /* the thread has not run since it was found there */
};

/* How long periods are: interval, or a sixteenth of the time the thread has been idle, at most `most`. random: 64 random bits. */
struct hpx_share_pace {
    uint64_t interval, most, random;
};

/* Begins: the first period begins now. */
void hpx_share_begin(struct hpx_share *s, uint64_t now, uint64_t cpu, const struct hpx_share_pace *p);
/* Whether the clock has moved: only then the caller has to find out how long the thread had no CPU. */
static inline bool hpx_share_has_run(const struct hpx_share *s, uint64_t cpu)
{
    return cpu != s->cpu_ns;
}
/* The look of the next period: from next_ns on, however late; or the last look at all, whenever. delay: ns since the clocks were read last
 * in which the thread was ready to run, but not on a CPU. Returns whether it has to be found out where the thread waits. */
bool hpx_share_look(struct hpx_share *s, uint64_t now, uint64_t cpu, uint64_t delay, const struct hpx_share_pace *p);
/* A reading of the clocks out of turn: if the thread is still where it was, the time until now is due. */
void hpx_share_read(struct hpx_share *s, uint64_t now, uint64_t cpu, uint64_t delay);
/* After a look: it is known where the thread waits, and it has not run since; the caller has taken what was due to another place. */
void hpx_share_place(struct hpx_share *s);
/* The last reading, by the thread itself, which ends. What it has waited since the last look was where it was then, if that is known. */
void hpx_share_end(struct hpx_share *s, uint64_t now, uint64_t cpu, uint64_t delay);
/* Nothing follows, and the thread wants a CPU: the kernel tells a delay when it is over, so what is owed since the thread has run is its.
 */
void hpx_share_queued(struct hpx_share *s);
/* Nothing follows: what is owed is due to the place that was found last. *debt: what places of threads that have ended got too much; others
 * get less at their end. Returns ns that no place gets, because they are too many, or because none was ever found (`known` is false); the
 * caller takes them. */
uint64_t hpx_share_settle(struct hpx_share *s, bool known, uint64_t *debt);

#endif
