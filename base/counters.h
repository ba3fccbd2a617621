/* SPDX-License-Identifier: BSD-2-Clause */
/* counters.h: the one list of all losses and counters of the report.
 *
 * HPX_COUNTERS(X) feeds the enum, the report and the tests: X(SYMBOL, kind, "key in the report", "unit or sentence"). kind INFO: a fact.
 * LOSS: this number of requested data is missing; printed if not zero. */
#ifndef HPX_COUNTERS_H
#define HPX_COUNTERS_H

#include "compiler.h"
#include <stdatomic.h>

#define HPX_COUNTERS(X)                                                                                                                    \
    X(SIGNALS, INFO, "signals", "timer signals handled")                                                                                   \
    X(OVERRUNS, INFO, "overruns", "timer expirations that another signal reported, counted by weight")                                     \
    X(DEFINITIONS, INFO, "definitions", "stacks new to their thread; the other samples took 16 bytes")                                     \
    X(TAKEN, INFO, "taken", "stacks taken by the sampling thread")                                                                         \
    X(KNOWN, INFO, "known stacks", "samples whose stack the hash of a raw walk told")                                                      \
    X(NAMED, INFO, "named stacks", "samples whose stack a raw walk has named, whole")                                                      \
    X(TRUNCATED, INFO, "truncated", "samples whose stack has the frame hprofx.truncated for those that could not be read")                 \
    X(EVENTS_KNOWN, INFO, "event stacks known", "stacks of allocations and blocks that their hash told")                                   \
    X(EVENTS_NAMED, INFO, "event stacks named", "stacks of allocations and blocks that were read without asking the VM")                   \
    X(EVENTS_ASKED, INFO, "event stacks asked for", "stacks of allocations and blocks that the VM was asked for")                          \
    X(DRIFTED, INFO, "drifted", "samples whose thread ran on before its stack was taken: only the method is known")                        \
    X(IN_PROBES, INFO, "inside probes", "samples taken while the thread was inside a probe: they count for the method that called it")     \
    X(SIGNALS_NESTED, INFO, "signals on top of another handler",                                                                           \
      "signals in the same tick as another profiler's, whose handler had not begun: the stack is the program's")                           \
    X(SIGNALS_FOREIGN, INFO, "foreign signals", "signals of this number from elsewhere, passed on")                                        \
    X(SIGNALS_LATE, INFO, "late signals", "signals after the end of a thread, already accounted for")                                      \
    X(HANDLER_NS, INFO, "handler time", "CPU time of the measured runs of the signal handler")                                             \
    X(HANDLER_MEASURED, INFO, "handlers measured", "measured runs of the signal handler: one in eight of every thread")                    \
    X(VALUES, INFO, "value objects", "recorded allocations of value objects: live figures and heap dumps do not have them")                \
    X(CLASSES_UNLOADED, INFO, "classes unloaded", "classes unloaded; their samples stay")                                                  \
    X(LOST_RING_FULL, LOSS, "lost, ring full", "samples lost: the aggregator did not keep up")                                             \
    X(LOST_NESTED, LOSS, "lost, nested", "samples lost: the signal interrupted a record of the same thread")                               \
    X(LOST_WAIT, LOSS, "lost, wait timed out", "events of an exact mode lost: the ring stayed full for too long")                          \
    X(LOST_NO_MEMORY, LOSS, "lost, no memory", "samples lost: a table could not grow")                                                     \
    X(CALLS_UNCOUNTED, LOSS, "calls not counted", "calls of threads for whose state there was no memory")                                  \
    X(ALLOCATIONS_UNCOUNTED, LOSS, "allocations not counted",                                                                              \
      "allocations of threads that had just begun, by code of an earlier session, or without memory")                                      \
    X(SITES_FULL, LOSS, "allocations without a site", "allocations in no row: no site number or no memory left")                           \
    X(UNTAGGED, LOSS, "objects not tagged", "objects not followed: the VM had no memory for a tag; live figures are too high")             \
    X(WAITS_UNWRITTEN, LOSS, "wait lines lost", "WAIT lines not written: no memory, or the output is too slow")                            \
    X(WALL_UNWRITTEN, LOSS, "wall clock lost", "threads whose last time is in no row of WALL CLOCK: a full ring, or the end came first")   \
    X(WALL_LOST, LOSS, "wall clock ms lost", "time of threads in no row of WALL CLOCK: a table could not grow, or the ring was full")      \
    X(FAULTS, LOSS, "faults", "faults caught during stack walks; after the third of a kind, sampler=walk takes over")                      \
    X(THREADS_UNSAMPLED, LOSS, "threads not sampled",                                                                                      \
      "threads without a timer or a polled clock: no memory, no kernel id, or started after the program took the signal")                  \
    X(THREADS_BLOCKED, LOSS, "threads blocking the signal", "threads that started with the sampling signal blocked")                       \
    X(SIGNAL_TAKEN, LOSS, "CPU ms without sampling", "CPU time of the process after the program took the sampling signal")                 \
    X(THREADS_UNANNOUNCED, LOSS, "thread events lost", "threads' starts and ends: no memory, or the output is too slow")                   \
    X(CLASSES_UNANNOUNCED, LOSS, "class events lost", "loads and unloads: no memory, or the output is too slow")                           \
    X(CLASSES_UNNAMED, LOSS, "classes not recorded", "classes whose name or methods could not be stored")                                  \
    X(METHODS_UNNAMED, LOSS, "methods without names", "sampled methods whose names could not be read: class unloaded, or no memory")       \
    X(METHODS_UNLINED, LOSS, "methods without lines", "sampled methods whose lines could not be read: class unloaded, or no memory")       \
    X(INLINES_MISSED, LOSS, "compilations not recorded", "compiled methods whose inlined methods could not be recorded")                   \
    X(DUMPS_NOT_MADE, LOSS, "dumps skipped", "requested dumps that were skipped: no memory, too many pending, or the program ended first") \
    X(ROWS_UNWRITTEN, LOSS, "counts not written", "samples, calls, objects, blocks or ms of rows that a dump lacks: no memory")            \
    X(JOURNAL_LACKS, LOSS, "counts not in the journal", "samples or calls of requested dumps for which the journal had no memory")         \
    X(NET_DROPPED, LOSS, "records not sent, slow peer", "records dropped: the peer of net= read too slowly")                               \
    X(NET_ABSENT, LOSS, "records not sent, no peer", "records dropped while disconnected")                                                 \
    X(NET_CUT, LOSS, "bytes not sent", "bytes still queued when a connection was lost")                                                    \
    X(PROFILES_REMOVED, LOSS, "profiles removed, disk full", "complete profiles removed because the disk was full")                        \
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

/* One block per thread and one for counts of no particular thread. Relaxed everywhere: readers want totals, not order; a total is exact
 * once its producers have stopped (after the gate is closed at exit). */
struct hpx_counters {
    _Atomic uint64_t v[HPX_C_COUNT];
};

/* Any thread, signal handlers, GC callbacks: one relaxed atomic add. */
static inline void hpx_count(struct hpx_counters *c, enum hpx_counter which, uint64_t n)
{
    atomic_fetch_add_explicit(&c->v[which], n, memory_order_relaxed);
}

/* The same of a counter that only the calling thread writes, and none of its handlers: no locked instruction. */
static inline void hpx_count_own(struct hpx_counters *c, enum hpx_counter which, uint64_t n)
{
    atomic_store_explicit(&c->v[which], atomic_load_explicit(&c->v[which], memory_order_relaxed) + n, memory_order_relaxed);
}

static inline uint64_t hpx_counter_get(const struct hpx_counters *c, enum hpx_counter which)
{
    return atomic_load_explicit(&c->v[which], memory_order_relaxed);
}

/* to += from. For the aggregator, when it frees a thread and when it collects a report. */
void hpx_counters_add(struct hpx_counters *to, const struct hpx_counters *from);

#endif
