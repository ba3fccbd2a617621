/* SPDX-License-Identifier: BSD-2-Clause */
/* counters.h: every loss and every figure of the report has a name here, once.
 *
 * HPX_COUNTERS(X) feeds the enum, the report and the tests: X(SYMBOL, kind, "key in the report", "unit or sentence").
 * kind INFO: a fact. LOSS: something that the person asked for is missing by this number; printed whenever not zero. */
#ifndef HPX_COUNTERS_H
#define HPX_COUNTERS_H

#include "compiler.h"
#include <stdatomic.h>

#define HPX_COUNTERS(X)                                                                                                                    \
    X(SIGNALS, INFO, "signals", "timer signals handled")                                                                                   \
    X(OVERRUNS, INFO, "overruns", "timer expirations that came with another signal, counted by weight")                                    \
    X(DEFINITIONS, INFO, "definitions", "stacks sent whole; the other samples were 16 bytes")                                              \
    X(RETRIED, INFO, "retried", "samples walked after a remedy")                                                                           \
    X(TAKEN, INFO, "taken", "stacks taken by the sampling thread")                                                                         \
    X(DRIFTED, INFO, "drifted", "samples whose thread had run on when its stack was taken: the method alone is known")                     \
    X(SIGNALS_FOREIGN, INFO, "foreign signals", "signals of our number that our timers did not send, passed on")                           \
    X(SIGNALS_LATE, INFO, "late signals", "signals after the end of a thread, already settled")                                            \
    X(HANDLER_NS, INFO, "handler time", "CPU time inside the signal handler, of the signals that were measured")                           \
    X(HANDLER_MEASURED, INFO, "handlers measured", "signals whose handler was measured: one in eight of each thread")                      \
    X(CLASSES_UNLOADED, INFO, "classes unloaded", "classes that were unloaded and forgotten, but for what was sampled of them")            \
    X(LOST_RING_FULL, LOSS, "lost, ring full", "samples lost: the aggregator did not keep up")                                             \
    X(LOST_NESTED, LOSS, "lost, nested", "samples lost: the signal came inside a push of the same thread")                                 \
    X(LOST_WAIT, LOSS, "lost, no space in time", "events of an exact mode lost: no space within the bound")                                \
    X(LOST_NO_MEMORY, LOSS, "lost, no memory", "samples lost: a table could not grow")                                                     \
    X(FAULTS, LOSS, "faults", "faults caught while a stack was walked; after the third no stack is walked from a signal")                  \
    X(THREADS_UNSAMPLED, LOSS, "threads not sampled",                                                                                      \
      "threads that could be neither timed nor polled: without memory or kernel id, or started after the signal was taken")                \
    X(THREADS_BLOCKED, LOSS, "threads that block the signal", "threads that had the signal of sampling blocked when they started")         \
    X(SIGNAL_TAKEN, LOSS, "CPU ms without sampling", "CPU time of the process after the program took the signal of sampling")              \
    X(THREADS_UNTOLD, LOSS, "threads not told of", "threads whose start or end could not be stored")                                       \
    X(CLASSES_UNTOLD, LOSS, "classes not told of", "classes whose loading or unloading could not be stored")                               \
    X(CLASSES_UNNAMED, LOSS, "classes not recorded", "classes whose methods could not be listed")                                          \
    X(METHODS_UNNAMED, LOSS, "methods not named", "sampled methods whose class was gone before it was named")                              \
    X(METHODS_UNLINED, LOSS, "methods without lines", "sampled methods whose class was gone before its lines were read")                   \
    X(INLINES_MISSED, LOSS, "compilations not recorded", "compiled methods whose inlined methods could not be recorded")                   \
    X(DUMPS_UNTOLD, LOSS, "dumps not made", "dumps on request that were left out: no memory, or too many waited")                          \
    X(JOURNAL_LACKS, LOSS, "counts not in the journal",                                                                                    \
      "samples or calls that a dump on request took and for which the journal had no memory")                                              \
    X(NET_DROPPED, LOSS, "records not sent, slow peer", "records that found no room: the peer of net= did not keep up")                    \
    X(NET_ABSENT, LOSS, "records not sent, no peer", "records that came while there was no connection")                                    \
    X(NET_CUT, LOSS, "bytes not sent", "bytes that were queued when a connection was lost")                                                \
    X(OUTPUT_BYTES, LOSS, "output bytes lost", "bytes that could not be written")

enum hpx_counter {
#define HPX_COUNTER_ENUM(sym, kind, key, text) HPX_C_##sym,
    HPX_COUNTERS(HPX_COUNTER_ENUM)
#undef HPX_COUNTER_ENUM
        HPX_C_COUNT
};

enum hpx_counter_kind { HPX_COUNTER_INFO, HPX_COUNTER_LOSS };

struct hpx_counter_info {
    const char *key, *text;
    enum hpx_counter_kind kind;
};

extern const struct hpx_counter_info hpx_counter_infos[HPX_C_COUNT];

/* One block a thread and one for what belongs to no thread. Relaxed everywhere: readers want totals, not order;
 * a total is exact once its producers are quiet (after the grace period at the end). */
struct hpx_counters {
    _Atomic uint64_t v[HPX_C_COUNT];
};

/* Any thread, signal handlers, GC callbacks: one relaxed atomic add. */
static inline void hpx_count(struct hpx_counters *c, enum hpx_counter which, uint64_t n)
{
    atomic_fetch_add_explicit(&c->v[which], n, memory_order_relaxed);
}

static inline uint64_t hpx_counter_get(const struct hpx_counters *c, enum hpx_counter which)
{
    return atomic_load_explicit(&c->v[which], memory_order_relaxed);
}

/* to += from. Used by the aggregator when it reclaims a thread and when it makes a report. */
void hpx_counters_add(struct hpx_counters *to, const struct hpx_counters *from);

#endif
