/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.h: exact calls of one thread: folds its enters and exits into few records of its ring.
 *
 * An enter stays pending. If the next event is its exit, both become one LEAF; consecutive LEAFs of one method become one with a count,
 * also across the next enter of that method. Pending events belong to the thread's history: whoever drains the ring up to `at` and adds
 * them has the calls of one moment.
 *
 * Producer: the owning thread, in its probes; its signal handler with hpx_calls_tick_sig() alone. Never nested: a probe calls nothing
 * that is probed. Readers of pending events (hpx_calls_peek): any thread, and the owner's signal handler.
 * Lifetime: that of the hpx_thread, beside it in its owner's block.
 *
 *        [1] [2] [3]   [1] enter, exit, thrown, switch, note, flush  [2] peek  [3] init
 *   [1]   X   -   X    X: the caller excludes the pair; -: safe concurrently
 *   [2]   -   -   X
 *
 * Order. `fold` names the state; a change of it alone is one store. What needs more is done like this:
 *   push:   fold = BUSY; records, tail; at, method, entered; fold = the new state
 *   fold:   entered (no reader uses it in the states NONE and LEAF); fold
 * All are release stores, peek's loads acquire; peek reads at, fold, method, entered, fold, at, and succeeds if both pairs are equal and
 * not BUSY. Between two pushes fold takes no value twice (calls only grow; a push that found no
 * room puts the value back and has changed nothing); `at` grows with each push; so equal pairs are one state, and
 * what was read between them is of that state: a later method or entered would have shown a later fold or at.
 * On the producer's side these are plain stores on x86.
 *
 * A handler of the owner that wants to push must find hpx_calls_in_push() false: the calls' fast path does not set hpx_thread.busy. The
 * handler must not change the pending events. A record that says nothing of calls may lie behind `at`: the ring has the same calls with and
 * without it. A tick (hpx_calls_tick_sig()) names the pending method, before its ENTER or LEAF is in the ring: that is the next record of
 * calls, since between two pushes the pending method does not change. So the handler moves `at` behind the tick: a dump that takes a
 * pending call has read the ticks in it. The owner stands still meanwhile. A peek between the tick's tail and its `at` finds the state of
 * that moment with a tick less; a reader that has drained past `at` by that tick adds what is pending as if it had stopped there. `at`
 * still grows with each change of it, so the proof above holds.
 *
 * If the ring is full, the probe waits (hpx_reserve_or_wait()), at most the aggregator's wait_ns. After that the pending events, the
 * event and all further events are lost without another wait, until a quarter of the ring is free; every one counts in HPX_C_LOST_WAIT.
 * Then a GAP says how the stack has changed, so that its depth is right again. */
#ifndef HPX_CALLS_H
#define HPX_CALLS_H

#include "aggregator.h"

/* States: the low bits of `fold`. Above them, in NONE 0: 40 bits of ns and 21 of calls that returned, as HPX_EV_LEAF_STAMP. */
enum hpx_calls_state {
    HPX_CALLS_NONE, /* nothing is pending */
    HPX_CALLS_OPEN, /* calls that returned (maybe none) and an enter of the same method */
    HPX_CALLS_LEAF, /* calls that returned */
    HPX_CALLS_BUSY, /* the owner is in a push */
    HPX_CALLS_GAP   /* events are being lost */
};

#define HPX_CALLS_STATE_BITS 3
#define HPX_CALLS_STATE(f)   ((enum hpx_calls_state)((f) & ((1u << HPX_CALLS_STATE_BITS) - 1)))
#define HPX_CALLS_CALL       (UINT64_C(1) << (HPX_EV_LEAF_NS_BITS + HPX_CALLS_STATE_BITS)) /* one call, added to fold */
/* A call shorter than this fits into a fold that is not full; a fold is full if half of its calls or of its time is used up. */
#define HPX_CALLS_NS_MAX (UINT64_C(1) << (HPX_EV_LEAF_NS_BITS - 1))
#define HPX_CALLS_FULL   (UINT64_C(1) << 63 | HPX_CALLS_NS_MAX << HPX_CALLS_STATE_BITS)

struct hpx_calls {
    /* one line: readers take it whole */
    HPX_ALIGNED(HPX_CACHE_LINE) _Atomic uint64_t fold; /* release: the owner; acquire: hpx_calls_peek(). Covers the three below. */
    _Atomic uint64_t entered;                          /* stamp of the pending enter; release: the owner; acquire: hpx_calls_peek() */
    _Atomic uint64_t at;     /* the ring's tail behind the last push or tick; release: the owner; acquire: hpx_calls_peek() */
    _Atomic uint32_t method; /* release: the owner; acquire: hpx_calls_peek() */
    /* constant after init */
    struct hpx_thread *thread;
    struct hpx_aggregator *aggregator;
    struct hpx_gate *gate;
    /* the owner's alone */
    uint64_t key, turn; /* of the call stack that it is on */
    struct {            /* in the state GAP */
        uint64_t events;
        uint32_t tries;
        uint32_t counted; /* 1: the next event lost is in the counter already */
        bool switched;    /* to `key`, so two stacks have changed; changes of other stacks in between are not recorded */
        struct hpx_calls_lost {
            uint32_t returned, entered;
            uint64_t calls;
        } first, last; /* on the stack at the beginning of the gap; on that of `key`, if switched */
    } gap;
};

/* thread: its ring is initialised and empty; it is attached before the first event. */
void hpx_calls_init(struct hpx_calls *c, struct hpx_aggregator *a, struct hpx_gate *g, struct hpx_thread *thread);

/* Probes. method: a number from 1; now: the thread's CPU time in ns, or another clock that does not run backwards between an enter and its
 * exit. Cost: docs/performance.md. */
static inline void hpx_calls_enter(struct hpx_calls *c, uint32_t method, uint64_t now);
static inline void hpx_calls_exit(struct hpx_calls *c, uint32_t method, uint64_t now);
static inline void hpx_calls_thrown(struct hpx_calls *c, uint32_t method, uint64_t now);

/* The thread continues with another call stack: key names a virtual thread (for as long as it lives), 0 the thread's own. turn: struct
 * hpx_ev_switch. No effect if that is the current stack. */
void hpx_calls_switch(struct hpx_calls *c, uint64_t key, uint64_t turn, uint64_t now);
/* Pushes the pending events and a record without a body. false: the record is lost, in a gap. */
bool hpx_calls_note(struct hpx_calls *c, enum hpx_ev_kind kind, uint32_t id, uint64_t stamp);
/* Pushes the pending events, waiting if the ring is full. The owner, before it retires. */
void hpx_calls_flush(struct hpx_calls *c, uint64_t now);

/* A tick of the CPU clock that stands for ns, charged to the call that is open now, pending or not. The owner's handler, or whoever may
 * write the ring after the owner has left for good. false: nothing was written (the owner is in a push or a gap, or the ring is full).
 * Async-signal-safe; does not nest. */
bool hpx_calls_tick_sig(struct hpx_calls *c, uint64_t ns);

/* What is pending. */
struct hpx_calls_pending {
    uint64_t at;     /* the ring position after which it belongs */
    uint32_t method; /* of all fields below; 0: nothing is pending */
    uint32_t calls;  /* calls that returned, and the sum of their times */
    uint64_t ns;
    bool open; /* one more call is open, since `entered` */
    bool gap;  /* events after `at` are lost: the open calls are unknown */
    uint64_t entered;
};
/* false: the owner changed it during `tries` attempts, or is in a push (its own handler sees that at once). Async-signal-safe. */
bool hpx_calls_peek(const struct hpx_calls *c, unsigned tries, struct hpx_calls_pending *p);

/* For the owner's handler: true if the thread is in a push, so that the handler must not touch the ring. */
static inline bool hpx_calls_in_push(const struct hpx_calls *c)
{
    return HPX_CALLS_STATE(atomic_load_explicit(&c->fold, memory_order_relaxed)) == HPX_CALLS_BUSY ||
           atomic_load_explicit(&c->thread->busy, memory_order_relaxed);
}

#define HPX_CALLS_NO_EVENT ((enum hpx_ev_kind)0)

/* enter, exit and thrown without the rare cases: full rings, gaps, calls too long to fold, exits of a method that was not entered last.
 * They call nothing, never wait and make no system call. false: nothing has changed, call hpx_calls_slow(). So a probe is a leaf
 * function whose slow path is a tail call; saving registers for inner calls would cost 2 ns per call. kind: HPX_EV_EXIT or _THROWN. */
static inline bool hpx_calls_try_enter(struct hpx_calls *c, uint32_t method, uint64_t now);
static inline bool hpx_calls_try_leave(struct hpx_calls *c, enum hpx_ev_kind kind, uint32_t method, uint64_t now);
/* The rare cases. kind: HPX_EV_ENTER, _EXIT or _THROWN. */
void hpx_calls_slow(struct hpx_calls *c, enum hpx_ev_kind kind, uint32_t method, uint64_t now);

/* ---- inline bodies ---- */

/* Records for what is pending in fold f, and for an exit (kind). */
static inline size_t hpx_calls_records(uint64_t f, enum hpx_ev_kind kind)
{
    return (size_t)(f >= HPX_CALLS_CALL) + (HPX_CALLS_STATE(f) == HPX_CALLS_OPEN) + (kind != HPX_CALLS_NO_EVENT);
}

static inline struct hpx_ev_head *hpx_calls_put(struct hpx_ev_head *ev, enum hpx_ev_kind kind, uint32_t method, uint64_t stamp)
{
    *ev = (struct hpx_ev_head){.kind = (uint16_t)kind, .units = 1, .id = method, .stamp = stamp};
    return ev + 1;
}

/* Writes the records for fold f and an exit (kind) from `first` on; returns the end. */
static inline struct hpx_ev_head *hpx_calls_fill(const struct hpx_calls *c, struct hpx_ev_head *first, uint64_t f, enum hpx_ev_kind kind,
                                                 uint32_t method, uint64_t now)
{
    struct hpx_ev_head *ev = first;
    uint32_t pending = atomic_load_explicit(&c->method, memory_order_relaxed);
    if (f >= HPX_CALLS_CALL) {
        ev = hpx_calls_put(ev, HPX_EV_LEAF, pending, f >> HPX_CALLS_STATE_BITS);
    }
    if (HPX_CALLS_STATE(f) == HPX_CALLS_OPEN) {
        ev = hpx_calls_put(ev, HPX_EV_ENTER, pending, atomic_load_explicit(&c->entered, memory_order_relaxed));
    }
    if (kind != HPX_CALLS_NO_EVENT) {
        ev = hpx_calls_put(ev, kind, method, now);
    }
    return ev;
}

/* Owner: its handler does not push until the next store of fold. */
static inline void hpx_calls_begin_push(struct hpx_calls *c)
{
    atomic_store_explicit(&c->fold, HPX_CALLS_BUSY, memory_order_release); /* partner: peek */
    atomic_signal_fence(memory_order_seq_cst);
}

/* Pushes the records for fold f and an exit (kind), n in total. true: done, the state is BUSY. false: nothing has changed. */
static inline __attribute__((always_inline)) bool hpx_calls_push(struct hpx_calls *c, uint64_t f, size_t n, enum hpx_ev_kind kind,
                                                                 uint32_t method, uint64_t now)
{
    struct hpx_ring *r = &c->thread->ring;
    hpx_calls_begin_push(c); /* before the tail is read: a handler may move it until then */
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    struct hpx_ev_head *ev = hpx_ring_room(r, tail, n * HPX_EV_UNIT);
    if (hpx_unlikely(!ev)) {
        atomic_store_explicit(&c->fold, f, memory_order_release); /* partner: peek */
        return false;
    }
    (void)hpx_calls_fill(c, ev, f, kind, method, now);
    tail += n * HPX_EV_UNIT;
    hpx_ring_publish(r, tail);
    atomic_store_explicit(&c->at, tail, memory_order_release); /* partner: peek */
    return true;
}

static inline void hpx_calls_set_pending(struct hpx_calls *c, uint64_t f, uint32_t method, uint64_t now)
{
    if (f == HPX_CALLS_NONE) {
        atomic_store_explicit(&c->method, method, memory_order_release);
    }
    atomic_store_explicit(&c->entered, now, memory_order_release);
    atomic_store_explicit(&c->fold, f - HPX_CALLS_STATE(f) + HPX_CALLS_OPEN, memory_order_release);
}

static inline __attribute__((always_inline)) bool hpx_calls_try_enter(struct hpx_calls *c, uint32_t method, uint64_t now)
{
    uint64_t f = atomic_load_explicit(&c->fold, memory_order_relaxed);
    enum hpx_calls_state state = HPX_CALLS_STATE(f);
    /* Separate cases, so that the compiler drops what a push does not need. */
    if (f == HPX_CALLS_OPEN) {
        if (hpx_unlikely(!hpx_calls_push(c, HPX_CALLS_OPEN, 1, HPX_CALLS_NO_EVENT, 0, 0))) {
            return false;
        }
    } else if (state == HPX_CALLS_LEAF) {
        if (!(f & HPX_CALLS_FULL) && atomic_load_explicit(&c->method, memory_order_relaxed) == method) {
            hpx_calls_set_pending(c, f, method, now);
            return true;
        }
        if (hpx_unlikely(!hpx_calls_push(c, f, 1, HPX_CALLS_NO_EVENT, 0, 0))) {
            return false;
        }
    } else if (state == HPX_CALLS_OPEN) {
        if (hpx_unlikely(!hpx_calls_push(c, f, 2, HPX_CALLS_NO_EVENT, 0, 0))) {
            return false;
        }
    } else if (hpx_unlikely(f != HPX_CALLS_NONE)) {
        return false;
    }
    hpx_calls_set_pending(c, HPX_CALLS_NONE, method, now);
    return true;
}

static inline __attribute__((always_inline)) bool hpx_calls_try_leave(struct hpx_calls *c, enum hpx_ev_kind kind, uint32_t method,
                                                                      uint64_t now)
{
    uint64_t f = atomic_load_explicit(&c->fold, memory_order_relaxed);
    enum hpx_calls_state state = HPX_CALLS_STATE(f);
    bool pushed = false;
    if (state == HPX_CALLS_OPEN) {
        int64_t ns = (int64_t)(now - atomic_load_explicit(&c->entered, memory_order_relaxed));
        ns = ns < 0 ? 0 : ns;
        if (hpx_unlikely(atomic_load_explicit(&c->method, memory_order_relaxed) != method || (uint64_t)ns >= HPX_CALLS_NS_MAX)) {
            return false;
        }
        f += HPX_CALLS_CALL + ((uint64_t)ns << HPX_CALLS_STATE_BITS) + (HPX_CALLS_LEAF - HPX_CALLS_OPEN);
        atomic_store_explicit(&c->fold, f, memory_order_release);
        return true;
    }
    if (state == HPX_CALLS_LEAF) {
        pushed = hpx_calls_push(c, f, 2, kind, method, now);
    } else if (f == HPX_CALLS_NONE) {
        pushed = hpx_calls_push(c, HPX_CALLS_NONE, 1, kind, method, now);
    }
    if (hpx_likely(pushed)) {
        atomic_store_explicit(&c->fold, HPX_CALLS_NONE, memory_order_release);
    }
    return pushed;
}

static inline void hpx_calls_enter(struct hpx_calls *c, uint32_t method, uint64_t now)
{
    if (hpx_unlikely(!hpx_calls_try_enter(c, method, now))) {
        hpx_calls_slow(c, HPX_EV_ENTER, method, now);
    }
}

static inline void hpx_calls_exit(struct hpx_calls *c, uint32_t method, uint64_t now)
{
    if (hpx_unlikely(!hpx_calls_try_leave(c, HPX_EV_EXIT, method, now))) {
        hpx_calls_slow(c, HPX_EV_EXIT, method, now);
    }
}

static inline void hpx_calls_thrown(struct hpx_calls *c, uint32_t method, uint64_t now)
{
    if (hpx_unlikely(!hpx_calls_try_leave(c, HPX_EV_THROWN, method, now))) {
        hpx_calls_slow(c, HPX_EV_THROWN, method, now);
    }
}

#endif
