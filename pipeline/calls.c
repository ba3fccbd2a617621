/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.c: exact calls: waiting, gaps, switches, and the reader of pending events. */
#include "calls.h"
#include <ck_pr.h>
#include <string.h>

#define WAKE_EACH 256u /* events lost between two wakes of the aggregator */

void hpx_calls_init(struct hpx_calls *c, struct hpx_aggregator *a, struct hpx_gate *g, struct hpx_thread *thread)
{
    memset((void *)c, 0, sizeof(*c));
    atomic_init(&c->at, hpx_ring_position(&thread->ring));
    c->aggregator = a;
    c->gate = g;
    c->thread = thread;
}

static void publish(struct hpx_calls *c, uint64_t f)
{
    atomic_store_explicit(&c->fold, f, memory_order_release); /* partner: hpx_calls_peek() */
}

/* ---- gaps ---- */

static void lose(struct hpx_calls *c, uint64_t events)
{
    c->gap.events += events;
    hpx_count(&c->thread->counters, HPX_C_LOST_WAIT, events - c->gap.counted);
    c->gap.counted = 0;
}

static struct hpx_calls_lost *losing(struct hpx_calls *c)
{
    return c->gap.switched ? &c->gap.last : &c->gap.first;
}

static void lose_event(struct hpx_calls *c, enum hpx_ev_kind kind)
{
    struct hpx_calls_lost *l = losing(c);
    lose(c, 1);
    if (kind == HPX_EV_ENTER) {
        l->entered++;
        l->calls++;
    } else if (l->entered > 0) {
        l->entered--;
    } else {
        l->returned++;
    }
}

/* Counts the pending events of f as lost. */
static void begin_gap(struct hpx_calls *c, uint64_t f)
{
    uint64_t calls = f / HPX_CALLS_CALL, open = HPX_CALLS_STATE(f) == HPX_CALLS_OPEN;
    memset(&c->gap, 0, sizeof(c->gap));
    c->gap.counted = 1; /* by hpx_reserve_or_wait() */
    if (calls + open > 0) {
        lose(c, 2 * calls + open);
    }
    c->gap.first = (struct hpx_calls_lost){.entered = (uint32_t)open, .calls = calls + open};
    publish(c, HPX_CALLS_GAP);
}

static struct hpx_ev_gap *put_gap(struct hpx_ev_gap *ev, uint64_t events, const struct hpx_calls_lost *l, uint64_t now)
{
    *ev = (struct hpx_ev_gap){.returned = l->returned, .entered = l->entered, .calls = l->calls};
    ev->head = (struct hpx_ev_head){HPX_EV_GAP, 2, events < UINT32_MAX ? (uint32_t)events : UINT32_MAX, now};
    return ev + 1;
}

static struct hpx_ev_head *put_switch(void *at, const struct hpx_calls *c, uint64_t now)
{
    struct hpx_ev_switch *ev = at;
    *ev = (struct hpx_ev_switch){.head = {HPX_EV_SWITCH, 2, 0, now}, .key = c->key, .turn = c->turn};
    return &(ev + 1)->head;
}

/* The caller is BUSY and stores the new fold. */
static void commit(struct hpx_calls *c, const struct hpx_ev_head *first, const void *end)
{
    struct hpx_ring *r = &c->thread->ring;
    hpx_ring_commit_run(r, first, (size_t)((const char *)end - (const char *)first));
    atomic_store_explicit(&c->at, atomic_load_explicit(&r->tail, memory_order_relaxed), memory_order_release); /* partner: peek */
}

/* true: the GAP is in the ring, and the state is NONE. */
static bool end_gap(struct hpx_calls *c, uint64_t now)
{
    struct hpx_ring *r = &c->thread->ring;
    size_t quarter = (r->mask + 1) / 4; /* else every few free bytes would end a gap and start the next one */
    hpx_calls_begin_push(c);
    struct hpx_ev_head *first = hpx_ring_reserve(r, quarter < HPX_EV_MAX_BYTES ? quarter : HPX_EV_MAX_BYTES);
    if (!first) {
        publish(c, HPX_CALLS_GAP);
        if (c->gap.tries++ % WAKE_EACH == 0) {
            hpx_aggregator_wake(hpx_aggregator_of(c->thread, c->aggregator));
        }
        return false;
    }
    struct hpx_ev_gap *end = put_gap((struct hpx_ev_gap *)(void *)first, c->gap.events, &c->gap.first, now);
    if (c->gap.switched) {
        end = put_gap((struct hpx_ev_gap *)(void *)put_switch(end, c, now), 0, &c->gap.last, now);
    }
    commit(c, first, end);
    publish(c, HPX_CALLS_NONE);
    return true;
}

/* ---- the slow path ---- */

/* Waits while readers can see the pending events and `busy` keeps the handler off the ring. Returns with the space reserved and the
 * state BUSY. */
static struct hpx_ev_head *wait_busy(struct hpx_calls *c, size_t n)
{
    struct hpx_thread *t = c->thread;
    int busy = atomic_load_explicit(&t->busy, memory_order_relaxed);
    atomic_store_explicit(&t->busy, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    struct hpx_ev_head *ev = hpx_reserve_or_wait(c->aggregator, c->gate, t, n);
    if (ev) {
        hpx_calls_begin_push(c);
    }
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&t->busy, busy, memory_order_relaxed);
    return ev;
}

/* Pushes the pending events and, with a kind, an exit. true: the state is BUSY, or there was nothing to push. */
static bool push_waiting(struct hpx_calls *c, uint64_t f, enum hpx_ev_kind kind, uint32_t method, uint64_t now)
{
    size_t n = hpx_calls_records(f, kind);
    if (n == 0) {
        return true;
    }
    struct hpx_ev_head *ev = wait_busy(c, n * HPX_EV_UNIT);
    if (!ev) {
        begin_gap(c, f);
        return false;
    }
    commit(c, ev, hpx_calls_fill(c, ev, f, kind, method, now));
    return true;
}

void hpx_calls_slow(struct hpx_calls *c, enum hpx_ev_kind kind, uint32_t method, uint64_t now)
{
    uint64_t f = atomic_load_explicit(&c->fold, memory_order_relaxed);
    if (HPX_CALLS_STATE(f) == HPX_CALLS_GAP) {
        if (!end_gap(c, now)) {
            lose_event(c, kind);
            return;
        }
        f = HPX_CALLS_NONE;
    }
    if (!push_waiting(c, f, kind == HPX_EV_ENTER ? HPX_CALLS_NO_EVENT : kind, method, now)) {
        lose_event(c, kind);
    } else if (kind == HPX_EV_ENTER) {
        hpx_calls_set_pending(c, HPX_CALLS_NONE, method, now);
    } else {
        publish(c, HPX_CALLS_NONE);
    }
}

void hpx_calls_flush(struct hpx_calls *c, uint64_t now)
{
    uint64_t f = atomic_load_explicit(&c->fold, memory_order_relaxed);
    if (HPX_CALLS_STATE(f) == HPX_CALLS_GAP) {
        (void)end_gap(c, now);
    } else if (push_waiting(c, f, HPX_CALLS_NO_EVENT, 0, 0)) {
        publish(c, HPX_CALLS_NONE);
    }
}

void hpx_calls_switch(struct hpx_calls *c, uint64_t key, uint64_t turn, uint64_t now)
{
    if (key == c->key) {
        return;
    }
    hpx_calls_flush(c, now);
    c->key = key;
    c->turn = turn;
    if (HPX_CALLS_STATE(atomic_load_explicit(&c->fold, memory_order_relaxed)) != HPX_CALLS_GAP) {
        struct hpx_ev_head *ev = wait_busy(c, sizeof(struct hpx_ev_switch));
        if (ev) {
            commit(c, ev, put_switch(ev, c, now));
            publish(c, HPX_CALLS_NONE);
            return;
        }
        begin_gap(c, HPX_CALLS_NONE);
    }
    lose(c, 1);
    c->gap.switched = true;
    c->gap.last = (struct hpx_calls_lost){0};
}

bool hpx_calls_tick_sig(struct hpx_calls *c, uint64_t ns)
{
    uint64_t f = atomic_load_explicit(&c->fold, memory_order_relaxed);
    if (hpx_calls_in_push(c) || HPX_CALLS_STATE(f) == HPX_CALLS_GAP) {
        return false;
    }
    struct hpx_aggregator *a = hpx_aggregator_of(c->thread, c->aggregator);
    struct hpx_ev_head *ev = hpx_reserve_or_drop(a, c->thread, sizeof *ev, 0); /* no sample is lost: the caller keeps the time */
    if (!ev) {
        return false;
    }
    uint32_t method = HPX_CALLS_STATE(f) == HPX_CALLS_OPEN ? atomic_load_explicit(&c->method, memory_order_relaxed) : 0;
    (void)hpx_calls_put(ev, HPX_EV_TICK, method, ns);
    commit(c, ev, ev + 1);
    return true;
}

bool hpx_calls_note(struct hpx_calls *c, enum hpx_ev_kind kind, uint32_t id, uint64_t stamp)
{
    uint64_t f = atomic_load_explicit(&c->fold, memory_order_relaxed);
    if (HPX_CALLS_STATE(f) != HPX_CALLS_GAP && push_waiting(c, f, HPX_CALLS_NO_EVENT, 0, 0)) {
        publish(c, HPX_CALLS_NONE);
        struct hpx_ev_head *ev = wait_busy(c, HPX_EV_UNIT);
        if (ev) {
            commit(c, ev, hpx_calls_put(ev, kind, id, stamp));
            publish(c, HPX_CALLS_NONE);
            return true;
        }
        begin_gap(c, HPX_CALLS_NONE);
    }
    lose(c, 1);
    return false;
}

/* ---- the reader ---- */

static bool take(const struct hpx_calls *c, struct hpx_calls_pending *p)
{
    uint64_t at = atomic_load_explicit(&c->at, memory_order_acquire); /* partners of these six: the owner's stores, calls.h */
    uint64_t f = atomic_load_explicit(&c->fold, memory_order_acquire);
    uint32_t method = atomic_load_explicit(&c->method, memory_order_acquire);
    uint64_t entered = atomic_load_explicit(&c->entered, memory_order_acquire);
    enum hpx_calls_state state = HPX_CALLS_STATE(f);
    if (state == HPX_CALLS_BUSY || atomic_load_explicit(&c->fold, memory_order_acquire) != f ||
        atomic_load_explicit(&c->at, memory_order_acquire) != at) {
        return false;
    }
    *p = (struct hpx_calls_pending){.at = at, .gap = state == HPX_CALLS_GAP, .open = state == HPX_CALLS_OPEN};
    if (state == HPX_CALLS_OPEN || state == HPX_CALLS_LEAF) {
        p->method = method;
        p->calls = (uint32_t)HPX_EV_LEAF_CALLS(f >> HPX_CALLS_STATE_BITS);
        p->ns = HPX_EV_LEAF_NS(f >> HPX_CALLS_STATE_BITS);
        p->entered = state == HPX_CALLS_OPEN ? entered : 0;
    }
    return true;
}

bool hpx_calls_peek(const struct hpx_calls *c, unsigned tries, struct hpx_calls_pending *p)
{
    while (tries-- > 0) {
        if (take(c, p)) {
            return true;
        }
        ck_pr_stall();
    }
    return false;
}
