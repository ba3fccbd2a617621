/* SPDX-License-Identifier: BSD-2-Clause */
/* call_table.h: exact calls: sums up the events of pipeline/calls.h.
 *
 * One call stack per thread (and per virtual thread, under its key) holds the open calls. A call is counted when it returns, for its
 * trace: its method and its callers, at most `depth`. A trace is a node; one lookup in a map of edges gives the node of a call from its
 * caller's node and its method, so a call costs the same at every depth, and recursion adds only distinct traces.
 *
 * Times are ns; self = time between enter and exit without inner calls and without the probes (`inner`: the part of a probe pair between
 * the call's two stamps; `outer`: the rest, which falls to the caller). Sums are signed, because a single call may be shorter than the
 * probe time subtracted from it; output is never below 0.
 *
 * With `times_from_ticks` the probes read no clock: only TICKs advance a stack's time, and a TICK is charged to the open call. If the
 * enter of that call is still pending after the TICK, the time waits for it (`early`).
 *
 * Owner: one thread (the aggregator, or the drainer of these threads; all carriers of virtual threads need the same owner). No global
 * state. hpx_calltab_merge() adds one table to another while no owner of either is inside a call. Node numbers are those of `traces`,
 * whose frames have the method's number in `method` and bci -1. */
#ifndef HPX_CALL_TABLE_H
#define HPX_CALL_TABLE_H

#include "call_waits.h"
#include "calls.h"
#include "trace_table.h"

/* Passes that a mount waits for earlier records. The next two passes bring and apply them; after that they are lost. */
#define HPX_CALL_PATIENCE 8u

#define HPX_CALL_LOST 0u /* method of an open call whose enter was lost */

struct hpx_calltab_config {
    uint32_t depth;        /* frames of a trace; 0: all calls are of the empty trace */
    uint32_t inner, outer; /* ns of the probes, an enter and exit; 0 with `times_from_ticks` */
    bool times_from_ticks; /* times are those of TICKs; stamps and times of calls are 0 */
    bool apart;            /* one of several tables: a SWITCH and everything after it waits (hpx_calltab_travels()) */
};

/* Since the last reset. */
struct hpx_call_cost {
    uint64_t calls;
    int64_t self, total; /* total: with inner calls, recursive ones repeatedly */
};

/* Of one node; the changed nodes form a queue. */
struct hpx_call_entry {
    struct hpx_call_cost cost;
    uint32_t next; /* number + 1 of the next changed node; HPX_CALL_LAST: the last one; 0: not changed */
    uint32_t twin; /* number + 1 in the table that this one is merged into; 0: unknown yet */
};
#define HPX_CALL_LAST UINT32_MAX

struct hpx_call_frame {
    uint32_t method, node; /* node HPX_INTERN_NONE: no memory */
    uint64_t entered;      /* by the stack's own clock */
    int64_t callees;       /* total of inner calls that have returned */
    int64_t probes;        /* probe time of all inner calls, at any depth */
};

struct hpx_calltab;
struct hpx_call_thread;

struct hpx_call_stack {
    struct hpx_call_frame *frames; /* [0]: no call, the node of the empty stack; [1..depth]: the open calls */
    uint32_t depth, cap;
    uint32_t over;              /* open calls above them without memory */
    uint32_t floor, floor_id;   /* depth at the last FLOOR, its number; 0: none */
    struct hpx_call_thread *on; /* the thread that is on it; NULL: none now */
    uint64_t clock;             /* its time when it left its last thread */
    uint64_t key, turn;         /* of a virtual thread's */
    uint32_t next_free;
};

struct hpx_call_thread {
    struct hpx_call_stack own, *now;
    uint64_t offset;                /* stamp - offset: the clock of `now` */
    uint64_t last;                  /* newest stamp; times_from_ticks: sum of the ticks */
    uint64_t ahead_calls, ahead_ns; /* of the next LEAF, already counted by hpx_calltab_pending() */
    uint64_t early;                 /* times_from_ticks: ns of the pending call, recorded before its enter */
    bool open;                      /* an enter is pending */
    bool admitted;                  /* its mount of an unknown stack, other than the first mount, may proceed */
    bool carrier;                   /* it has had a SWITCH */
    uint32_t root;                  /* node of its empty stack */
    uint32_t thread;                /* as attached */
    struct hpx_calltab *in;         /* NULL: between two */
    struct hpx_call_thread *next, *prev;
    struct hpx_call_backlog { /* records that wait for those of another thread, at most HPX_CALL_PATIENCE passes; the first is a SWITCH */
        struct hpx_ev_head *ev;
        size_t at, n, cap; /* units: waiting are [at, n), both 0 when nothing does */
        size_t old;        /* those below were read before the last pass ended */
        uint32_t passes;   /* passes that have ended without applying any of them */
        bool applying;
        struct hpx_call_thread *next, *prev; /* of those that wait */
    } backlog;
};

#define HPX_CALL_MADE (UINT32_C(1) << 31)
/* What the calls of a node allocated at a place since the start or the last clear (PLACE to PLACE_MADE). level: dimension of the arrays; of
 * PLACE_MADE, HPX_CALL_MADE and the number of the class. */
struct hpx_call_alloc {
    uint32_t node, place, level;
    uint64_t objects, bytes;
};

struct hpx_calltab {
    struct hpx_calltab_config cfg;
    struct hpx_traces traces;
    struct hpx_vec costs;   /* struct hpx_call_entry, a node's */
    uint32_t changed;       /* number + 1 of the first node that changed, HPX_CALL_LAST: none did */
    uint32_t last_changed;  /* of the last one */
    uint32_t nchanged;      /* how many wait there */
    struct hpx_slots edges; /* {node + 1, hash, caller's node, method} */
    struct hpx_raw_frame *scratch;
    struct hpx_call_thread *threads, *waiting; /* waiting: those with a backlog */
    struct hpx_slots keys;                     /* {number + 1, hash of the key} */
    struct hpx_vec stacks;                     /* struct hpx_call_stack of virtual threads */
    struct hpx_call_waits waits;               /* the mounts in all backlogs; with cfg.apart: empty */
    struct hpx_vec allocs;                     /* struct hpx_call_alloc, one per node, place and level */
    struct hpx_intern alloc_index;             /* node, place, level -> index in allocs */
    uint32_t free_stack;                       /* number + 1 */
    size_t stack_bytes;
    bool hold; /* another owner may still send records: pass_end() forces and admits nothing */
    /* since the start */
    uint64_t calls;           /* counted */
    uint64_t stray;           /* exits without an enter */
    uint64_t resynced;        /* calls without an exit, closed by a later one */
    uint64_t lost_calls;      /* begun and ended in gaps */
    uint64_t lost_events;     /* in gaps, and records that waited without memory */
    uint64_t no_memory;       /* calls and objects that could not be counted */
    uint64_t forced;          /* mounts whose wait expired, because a SWITCH was lost in a gap */
    uint64_t ticks, ticks_ns; /* times_from_ticks: TICKs, and the time they stand for */
    uint64_t outside_ns;      /* the part of it while no call was open */
};

int hpx_calltab_init(struct hpx_calltab *t, const struct hpx_calltab_config *cfg); /* 0, -HPX_E_NOMEM */
void hpx_calltab_fini(struct hpx_calltab *t);

/* A thread's state; thread: its serial with thread=y, else 0. NULL without memory. */
struct hpx_call_thread *hpx_calltab_attach(struct hpx_calltab *t, uint32_t thread);
/* The thread has ended and its last record is applied: closes the calls that are open on its own stack. Frees th. */
void hpx_calltab_retire(struct hpx_calltab *t, struct hpx_call_thread *th);

/* Moves a thread from one owner's table to another's, with its open calls and waiting records. In between it is in neither. A carrier of
 * virtual threads stays in the table that has their stacks; only one whose first SWITCH still waits (cfg.apart) moves, to the table
 * without `apart`. */
void hpx_calltab_detach(struct hpx_calltab *t, struct hpx_call_thread *th);
void hpx_calltab_adopt(struct hpx_calltab *t, struct hpx_call_thread *th);
static inline bool hpx_calltab_travels(const struct hpx_calltab *t, const struct hpx_call_thread *th)
{
    return t->cfg.apart || !th->carrier;
}

static inline bool hpx_calltab_is_kind(uint16_t kind)
{
    return kind >= HPX_EV_ENTER && kind <= HPX_EV_PLACE_MADE;
}
/* Applies records of calls (and skips pads) from ev on, at most up to end; returns the first of another kind, or end. */
const struct hpx_ev_head *hpx_calltab_apply(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_head *ev,
                                            const struct hpx_ev_head *end);
/* After the records of all threads that a pass brought: those that waited for another thread's. */
void hpx_calltab_pass_end(struct hpx_calltab *t);
/* At a dump: what th has pending at exactly the place up to which its records were applied. Counted now, and not again. */
void hpx_calltab_pending(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_calls_pending *p);
/* So many calls of a method have been counted elsewhere, without callers and time. false: no memory, nothing is counted. */
bool hpx_calltab_count(struct hpx_calltab *t, uint32_t method, uint64_t calls);
/* At a dump: its clock now, if it is known better than by its last event. Not with `times_from_ticks`. */
static inline void hpx_calltab_time(struct hpx_call_thread *th, uint64_t now)
{
    th->last = now > th->last ? now : th->last;
}

/* Calls of all threads that have not returned, and their self time until now. */
void hpx_calltab_open(const struct hpx_calltab *t, uint64_t *calls, int64_t *ns);

/* Probe time subtracted since the start, ns. */
static inline uint64_t hpx_calltab_probes(const struct hpx_calltab *t)
{
    return t->calls * ((uint64_t)t->cfg.inner + t->cfg.outer);
}
static inline uint32_t hpx_calltab_nodes(const struct hpx_calltab *t)
{
    return t->traces.raws.len;
}
static inline struct hpx_call_entry *hpx_calltab_entry(const struct hpx_calltab *t, uint32_t node)
{
    return hpx_vec_at(&t->costs, node);
}
static inline struct hpx_call_cost *hpx_calltab_cost(const struct hpx_calltab *t, uint32_t node)
{
    return &hpx_calltab_entry(t, node)->cost;
}
/* Nodes with calls since they were last settled wait in a queue, once each, even if their costs were reset since: the first is
 * t->changed - 1, the next entry->next - 1, until HPX_CALL_LAST. Settles the first n of them. */
void hpx_calltab_settle(struct hpx_calltab *t, uint32_t n);
/* Sets all counts of allocations to 0. The owner of t. */
void hpx_calltab_clear_allocs(struct hpx_calltab *t);
/* Sets all costs to 0 (after a dump). Open calls keep their costs so far. */
void hpx_calltab_reset(struct hpx_calltab *t);
/* Moves the costs of the first `limit` nodes in the queue of `from` to `to`, and, once the queue is empty, the figures since the start and
 * the allocations. Both tables have the same depth, and `from` is never merged into a third one. false: no memory; costs that were not
 * moved are still in `from`. */
bool hpx_calltab_merge(struct hpx_calltab *to, struct hpx_calltab *from, uint32_t limit);
size_t hpx_calltab_bytes(const struct hpx_calltab *t);

#endif
