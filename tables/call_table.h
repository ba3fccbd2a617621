/* SPDX-License-Identifier: BSD-2-Clause */
/* call_table.h: exact calls: what the events of pipeline/calls.h add up to.
 *
 * A call stack a thread (and one a virtual thread, under its key) holds the open calls. A call is counted when it returns, for its trace:
 * its method and those that called it, `depth` at most. A trace is a node; the node of a call follows from its caller's node and its method
 * by one look into a map of edges, so a call costs the same at each depth, and recursion makes no nodes beyond the distinct traces.
 *
 * Times are ns; self = time between enter and exit, without that of the calls inside and without the probes' own (`inner`: the part of a
 * probe pair that the call's own two stamps enclose; `outer`: the rest, which falls to its caller). Sums are signed: single calls may be
 * shorter than what is taken off them; what is shown is never below 0.
 *
 * With `sampled` the probes have read no clock: a stack's time goes on by TICKs alone, each of which falls to the call that is open. Its
 * enter may still be kept back behind the TICK: then the time waits for it (`early`).
 *
 * Owner: one thread (the aggregator, or a drainer that alone has these threads; all carriers of virtual threads need one owner). No global
 * state. Several are added up with hpx_calltab_merge(), called when no owner of either is inside a call.
 * Numbers of nodes are those of `traces`, whose frames hold the method's number in `sampled`, bci -1. */
#ifndef HPX_CALL_TABLE_H
#define HPX_CALL_TABLE_H

#include "calls.h"
#include "trace_table.h"

/* Passes that a mount waits for the records before it: the next two bring and apply them, so behind these they are lost. */
#define HPX_CALL_PATIENCE 8u

#define HPX_CALL_LOST 0u /* method of an open call whose enter was lost */

struct hpx_calltab_config {
    uint32_t depth;        /* frames of a trace; 0: all calls are of the empty trace */
    uint32_t inner, outer; /* ns of the probes, an enter and exit; 0 with `sampled` */
    bool sampled;          /* times are those of TICKs; stamps and times of calls are 0 */
    bool apart;            /* one of several: a SWITCH is not applied, but waits with all behind it (hpx_calltab_travels()) */
};

/* Since the last reset. */
struct hpx_call_cost {
    uint64_t calls;
    int64_t self, total; /* total: with the calls inside, each recursion again */
};

/* Of one node; the changed ones are a queue. */
struct hpx_call_entry {
    struct hpx_call_cost cost;
    uint32_t next; /* number + 1 of the one that changed behind it; HPX_CALL_LAST: none did; 0: it has not changed */
    uint32_t twin; /* number + 1 in the table that this one is merged into; 0: not yet known */
};
#define HPX_CALL_LAST UINT32_MAX

struct hpx_call_frame {
    uint32_t method, node; /* node HPX_INTERN_NONE: there was no memory */
    uint64_t entered;      /* by the stack's own clock */
    int64_t callees;       /* total of the calls inside that have returned */
    int64_t probes;        /* what the probes of all calls inside, at any depth, took */
};

struct hpx_calltab;
struct hpx_call_thread;

struct hpx_call_stack {
    struct hpx_call_frame *frames; /* [0]: no call, the node of the empty stack; [1..depth]: the open calls */
    uint32_t depth, cap;
    uint32_t over;              /* open calls above them for which there was no memory */
    uint32_t floor, floor_id;   /* depth at the last FLOOR, its number; 0: none */
    struct hpx_call_thread *on; /* whose calls are its; NULL: no thread's now */
    uint64_t clock;             /* its time when it was on none */
    uint64_t key, turn;         /* of a virtual thread's */
    uint32_t next_free;
};

struct hpx_call_thread {
    struct hpx_call_stack own, *now;
    uint64_t offset;                /* stamp - offset: the clock of `now` */
    uint64_t last;                  /* newest stamp; sampled: sum of the ticks */
    uint64_t ahead_calls, ahead_ns; /* of the next LEAF, counted before it came (hpx_calltab_pending()) */
    uint64_t early;                 /* sampled: ns of the call kept back, told before its enter */
    bool open;                      /* an enter is kept back */
    bool admitted;                  /* its mount of a stack that nobody knows, not the first one, may go on */
    bool carrier;                   /* it has had a SWITCH */
    uint32_t root;                  /* node of its empty stack */
    uint32_t thread;                /* as attached */
    struct hpx_calltab *in;         /* NULL: between two */
    struct hpx_call_thread *next, *prev;
    struct hpx_call_backlog { /* records that wait for another thread's, HPX_CALL_PATIENCE passes at most: the first is a SWITCH */
        struct hpx_ev_head *ev;
        size_t at, n, cap; /* units: waiting are [at, n), both 0 when nothing does */
        size_t old;        /* those below were read before the last pass ended */
        uint32_t passes;   /* that have ended without any of them being applied */
        bool applying;
    } backlog;
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
    struct hpx_call_thread *threads;
    struct hpx_slots keys; /* {number + 1, hash of the key} */
    struct hpx_vec stacks; /* struct hpx_call_stack of virtual threads */
    uint32_t free_stack;   /* number + 1 */
    size_t stack_bytes;
    bool hold; /* records may still be on their way from another owner: pass_end() forces nothing, and admits nobody */
    /* since the start */
    uint64_t calls;           /* counted */
    uint64_t stray;           /* exits of what was not entered */
    uint64_t resynced;        /* calls whose exit was not seen, closed by a later one */
    uint64_t lost_calls;      /* begun and ended in gaps */
    uint64_t lost_events;     /* in gaps */
    uint64_t no_memory;       /* calls that could not be counted */
    uint64_t forced;          /* mounts that did not wait any longer: a SWITCH was lost in a gap */
    uint64_t ticks, ticks_ns; /* sampled: TICKs, and the time they stand for */
    uint64_t outside_ns;      /* that of them while no call was open */
};

int hpx_calltab_init(struct hpx_calltab *t, const struct hpx_calltab_config *cfg); /* 0, -HPX_E_NOMEM */
void hpx_calltab_fini(struct hpx_calltab *t);

/* A thread's state; thread: its serial with thread=y, else 0. NULL without memory. */
struct hpx_call_thread *hpx_calltab_attach(struct hpx_calltab *t, uint32_t thread);
/* The thread has ended and its last record was applied: what is still open on its own stack has returned. Frees th. */
void hpx_calltab_retire(struct hpx_calltab *t, struct hpx_call_thread *th);

/* A thread goes from one owner's table to another's, with its open calls and what waits. In between it is in neither: handed over
 * in order. A carrier of virtual threads does not leave the table that has their stacks: only one whose first
 * SWITCH still waits (cfg.apart), to the table that has none apart. */
void hpx_calltab_detach(struct hpx_calltab *t, struct hpx_call_thread *th);
void hpx_calltab_adopt(struct hpx_calltab *t, struct hpx_call_thread *th);
static inline bool hpx_calltab_travels(const struct hpx_calltab *t, const struct hpx_call_thread *th)
{
    return t->cfg.apart || !th->carrier;
}

static inline bool hpx_calltab_is_kind(uint16_t kind)
{
    return kind >= HPX_EV_ENTER && kind <= HPX_EV_TICK;
}
/* Applies records of calls (and skips pads) from ev on, at most up to end; returns the first of another kind, or end. */
const struct hpx_ev_head *hpx_calltab_apply(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_head *ev,
                                            const struct hpx_ev_head *end);
/* After the records of all threads that a pass brought: those that waited for another thread's. */
void hpx_calltab_pass_end(struct hpx_calltab *t);
/* At a dump: what th keeps back at exactly the place up to which its records were applied. Counted now, and not again. */
void hpx_calltab_pending(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_calls_pending *p);
/* At a dump: its clock now, if it is known better than by its last event. Not with `sampled`. */
static inline void hpx_calltab_time(struct hpx_call_thread *th, uint64_t now)
{
    th->last = now > th->last ? now : th->last;
}

/* Calls that have not returned, and their self time until now, by all threads. */
void hpx_calltab_open(const struct hpx_calltab *t, uint64_t *calls, int64_t *ns);

/* ns taken off for probes since the start. */
static inline uint64_t hpx_calltab_probes(const struct hpx_calltab *t)
{
    return t->calls * ((uint64_t)t->cfg.inner + t->cfg.outer);
}
static inline uint32_t hpx_calltab_nodes(const struct hpx_calltab *t)
{
    return t->traces.len;
}
static inline struct hpx_call_entry *hpx_calltab_entry(const struct hpx_calltab *t, uint32_t node)
{
    return hpx_vec_at(&t->costs, node);
}
static inline struct hpx_call_cost *hpx_calltab_cost(const struct hpx_calltab *t, uint32_t node)
{
    return &hpx_calltab_entry(t, node)->cost;
}
/* Nodes with calls since they were last settled, also those whose costs were reset since, wait in a queue, each once: the first is
 * t->changed - 1, the next entry->next - 1, until HPX_CALL_LAST. Settles the first n of them. */
void hpx_calltab_settle(struct hpx_calltab *t, uint32_t n);
/* All costs are 0 (after a dump). Open calls keep what they have. */
void hpx_calltab_reset(struct hpx_calltab *t);
/* Adds the costs of the first `limit` nodes in the queue of `from` to those of `to`, and, when the queue is empty, the figures since the
 * start; what was added is 0 in `from` then. The two have one depth, and `from` is never merged into another table. false: no memory; what
 * was not moved is still in `from`. */
bool hpx_calltab_merge(struct hpx_calltab *to, struct hpx_calltab *from, uint32_t limit);
size_t hpx_calltab_bytes(const struct hpx_calltab *t);

#endif
