/* SPDX-License-Identifier: BSD-2-Clause */
/* timeline_snapshot.h: the writers' view of the timeline. The records are those of snapshot.h. */
#ifndef HPX_TIMELINE_SNAPSHOT_H
#define HPX_TIMELINE_SNAPSHOT_H

#include "snapshot.h"
#include "time_store.h"

/* X(SYMBOL, word in files) */
#define HPX_TIME_KINDS_OF(X)                                                                                                               \
    X(CPU, "cpu")     /* count: samples by weight. id: raw trace */                                                                        \
    X(WALL, "wall")   /* ns: a thread was there so long, until now; CPU has what ran. id: cell of the wall table */                        \
    X(ALLOC, "alloc") /* count: sampled objects. id: of the site */                                                                        \
    X(BLOCK, "block") /* count, ns: blocked so often and so long, until now. id: place of the block table */                               \
    X(GC, "gc")       /* ns: a pause of the garbage collector, which ends now. id: 0 */

enum hpx_time_kind {
#define HPX_TIME_ENUM(sym, name) HPX_TIME_##sym,
    HPX_TIME_KINDS_OF(HPX_TIME_ENUM)
#undef HPX_TIME_ENUM
        HPX_TIME_KINDS
};

struct hpx_time_place {
    enum hpx_time_kind kind;
    uint32_t id;
    /* Of a snapshot. trace: NULL: not known. */
    const struct hpx_trace_rec *trace, *owner;
    struct hpx_text class_name; /* WALL, BLOCK: what it waits for; ALLOC: of the object */
    uint32_t part;              /* WALL: enum hpx_wall_state; BLOCK: enum hpx_block_part */
    double objects;             /* ALLOC: so many objects stand for a sampled one, */
    uint64_t bytes;             /* each of so many bytes */
};

struct hpx_timeline_snapshot {
    uint64_t zero_ms; /* since 1970: of the time 0 */
    uint64_t end_ms;  /* since then: of the snapshot */
    bool taken;       /* it has the events of a part of the run, if only none: HPX_TAKE_RESET */
    struct hpx_time_store events;
    uint32_t nplaces;
    struct hpx_time_place *places; /* by the numbers that the events have */
};

void hpx_timeline_snapshot_destroy(struct hpx_timeline_snapshot *s);

#endif
