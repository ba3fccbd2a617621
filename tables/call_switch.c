/* SPDX-License-Identifier: BSD-2-Clause */
/* call_switch.c: call stacks that move from thread to thread (virtual threads).
 *
 * The records of one thread come in order, those of two threads do not: the second mount of a stack may be read before the first. So a
 * mount waits, with everything behind it in the ring of its thread, until the stack is on no thread and its turn has come. A waiting mount
 * needs an earlier record; the next pass brings it. A stack without open calls is forgotten. So a mount of an unknown key that is not its
 * first may have earlier mounts, and waits one whole pass for them. */
#include "call_internal.h"
#include "id_map.h"
#include <stdlib.h>
#include <string.h>

#define WORDS 2

struct probe {
    const struct hpx_calltab *t;
    uint64_t key;
    uint32_t hash;
};

static struct hpx_call_stack *stack_at(const struct hpx_calltab *t, uint32_t number)
{
    return hpx_vec_at(&t->stacks, number);
}

static bool same(const void *key, const uint32_t *slot)
{
    const struct probe *p = key;
    return slot[1] == p->hash && slot[0] != HPX_SLOTS_REMOVED && stack_at(p->t, slot[0] - 1)->key == p->key;
}

static uint32_t *find(const struct hpx_calltab *t, uint64_t key)
{
    struct probe p = {t, key, hpx_id_hash(key)};
    return hpx_slots_find(&t->keys, WORDS, p.hash, same, &p);
}

/* A stack without open calls; NULL without memory. */
static struct hpx_call_stack *new_stack(struct hpx_calltab *t, const struct hpx_ev_switch *ev, uint32_t root)
{
    if (hpx_slots_reserve(&t->keys, WORDS, NULL, NULL) != 0 || (!t->free_stack && !hpx_vec_push(&t->stacks))) {
        return NULL;
    }
    uint32_t number = t->free_stack ? t->free_stack - 1 : t->stacks.len - 1;
    struct hpx_call_stack *s = stack_at(t, number);
    if (!t->free_stack) { /* a reused stack keeps its memory */
        t->free_stack = number + 1;
    }
    if (s->cap == 0 && !hpx_calltab_grow(t, s)) {
        return NULL;
    }
    t->free_stack = s->next_free;
    *s = (struct hpx_call_stack){.frames = s->frames, .cap = s->cap, .key = ev->key, .turn = ev->turn};
    s->frames[0] = (struct hpx_call_frame){.node = root};
    (void)hpx_slots_put(&t->keys, WORDS, hpx_id_hash(ev->key), number);
    return s;
}

static void drop_stack(struct hpx_calltab *t, struct hpx_call_stack *s)
{
    uint32_t *slot = find(t, s->key);
    uint32_t number = slot[0];
    hpx_slots_remove(&t->keys, slot);
    s->next_free = t->free_stack;
    t->free_stack = number;
}

void hpx_calltab_leave_stack(struct hpx_calltab *t, struct hpx_call_thread *th, uint64_t stamp)
{
    struct hpx_call_stack *s = th->now;
    s->clock = stamp - th->offset;
    s->on = NULL;
    th->now = &th->own;
    if (s != &th->own && s->depth + s->over == 0) {
        drop_stack(t, s); /* no call is open, so nothing is lost */
    } else {
        s->turn++;
    }
}

static void take_stack(struct hpx_call_thread *th, struct hpx_call_stack *s, uint64_t stamp)
{
    th->now = s;
    s->on = th;
    th->offset = stamp - s->clock;
}

bool hpx_calltab_switch(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_switch *ev, uint64_t stamp)
{
    if (th->now->on == th) {
        hpx_calltab_leave_stack(t, th, stamp);
    }
    struct hpx_call_stack *s = &th->own;
    if (ev->key != 0) {
        const uint32_t *slot = find(t, ev->key);
        if (!slot && ev->turn != 0 && !th->admitted) {
            return false;
        }
        s = slot ? stack_at(t, slot[0] - 1) : new_stack(t, ev, th->root);
        if (s && (s->on || s->turn != ev->turn)) {
            return false;
        }
        th->admitted = false;
    }
    take_stack(th, s ? s : &th->own, stamp); /* without memory its calls count for the carrier */
    if (ev->key != 0 && th->backlog.applying) {
        hpx_call_waits_remove(&t->waits, ev->key, ev->turn);
    }
    return true;
}

/* ---- waiting ---- */

static void list(struct hpx_calltab *t, struct hpx_call_thread *th)
{
    th->backlog.prev = NULL;
    th->backlog.next = t->waiting;
    if (t->waiting) {
        t->waiting->backlog.prev = th;
    }
    t->waiting = th;
}

static void unlist(struct hpx_calltab *t, const struct hpx_call_thread *th)
{
    struct hpx_call_thread *next = th->backlog.next, *prev = th->backlog.prev;
    if (next) {
        next->backlog.prev = prev;
    }
    *(prev ? &prev->backlog.next : &t->waiting) = next;
}

/* Room for one more record; false without memory. */
static bool make_room(struct hpx_calltab *t, struct hpx_call_backlog *b, size_t units)
{
    if (b->n + units <= b->cap) {
        return true;
    }
    if (b->at > b->n / 2) {
        memmove(b->ev, b->ev + b->at, (b->n - b->at) * sizeof(*b->ev));
        b->old -= b->at < b->old ? b->at : b->old;
        b->n -= b->at;
        b->at = 0;
        return make_room(t, b, units);
    }
    size_t cap = b->cap ? 2 * b->cap : 1024;
    struct hpx_ev_head *grown = realloc(b->ev, cap * sizeof(*grown));
    if (!grown) {
        return false;
    }
    t->stack_bytes += (cap - b->cap) * sizeof(*grown);
    b->ev = grown;
    b->cap = cap;
    return true;
}

/* Counts a record for which there is no room, and the calls or objects that it tells of. An EXIT tells of none, because its call still
 * counts, or its ENTER was counted as lost. */
static void lose(struct hpx_calltab *t, const struct hpx_ev_head *ev)
{
    t->lost_events++;
    switch (ev->kind) {
    case HPX_EV_LEAF:
        t->no_memory += HPX_EV_LEAF_CALLS(ev->stamp);
        break;
    case HPX_EV_ENTER:
        t->no_memory++;
        break;
    case HPX_EV_PLACE:
    case HPX_EV_PLACE_MULTI:
    case HPX_EV_PLACE_MADE:
        t->no_memory += hpx_ev_objects(ev);
        break;
    case HPX_EV_GAP: /* its events have a loss counter already */
        t->lost_events += ev->id - 1;
        t->lost_calls += ((const struct hpx_ev_gap *)(const void *)ev)->calls;
        break;
    default:
        break;
    }
}

/* A table that applies no SWITCH looks nothing up. false without memory. */
static bool index_mount(struct hpx_calltab *t, const struct hpx_ev_head *ev)
{
    const struct hpx_ev_switch *mount = (const struct hpx_ev_switch *)(const void *)ev;
    return ev->kind != HPX_EV_SWITCH || mount->key == 0 || t->cfg.apart || hpx_call_waits_add(&t->waits, mount->key, mount->turn);
}

const struct hpx_ev_head *hpx_calltab_postpone(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_head *ev,
                                               const struct hpx_ev_head *end)
{
    struct hpx_call_backlog *b = &th->backlog;
    if (b->applying) {
        return ev; /* these records are in the backlog already */
    }
    for (; ev < end && (hpx_calltab_is_kind(ev->kind) || ev->kind == HPX_EV_PAD); ev += ev->units) {
        if (ev->kind == HPX_EV_PAD) {
            continue;
        }
        if (make_room(t, b, ev->units) && index_mount(t, ev)) {
            memcpy(b->ev + b->n, ev, ev->units * sizeof(*ev));
            if (b->n == 0) {
                list(t, th);
            }
            b->n += ev->units;
        } else {
            lose(t, ev);
        }
    }
    return ev;
}

void hpx_calltab_gives(struct hpx_calltab *t, const struct hpx_call_thread *th)
{
    if (th->backlog.n > 0) {
        unlist(t, th);
    }
}

void hpx_calltab_takes(struct hpx_calltab *t, struct hpx_call_thread *th)
{
    struct hpx_call_backlog *b = &th->backlog;
    if (b->n > 0) {
        list(t, th);
    }
    for (size_t i = b->at; i < b->n; i += b->ev[i].units) {
        if (!index_mount(t, &b->ev[i])) {
            lose(t, &b->ev[i]);
            b->ev[i].kind = HPX_EV_PAD;
        }
    }
}

/* true if some or all waiting records were applied. */
static bool apply_backlog(struct hpx_calltab *t, struct hpx_call_thread *th)
{
    struct hpx_call_backlog *b = &th->backlog;
    size_t before = b->at;
    b->applying = true;
    b->at = (size_t)(hpx_calltab_apply(t, th, b->ev + b->at, b->ev + b->n) - b->ev);
    b->applying = false;
    if (b->at == before) {
        return false;
    }
    b->passes = 0;
    if (b->at == b->n) {
        t->stack_bytes -= b->cap * sizeof(*b->ev);
        free(b->ev);
        unlist(t, th);
        *b = (struct hpx_call_backlog){0};
    }
    return true;
}

static const struct hpx_ev_switch *waits_for(const struct hpx_call_thread *th)
{
    return (const struct hpx_ev_switch *)(const void *)&th->backlog.ev[th->backlog.at];
}

void hpx_calltab_force(struct hpx_calltab *t, struct hpx_call_thread *th)
{
    while (th->backlog.n > 0 && !apply_backlog(t, th)) {
        const struct hpx_ev_switch *ev = waits_for(th);
        const uint32_t *slot = find(t, ev->key);
        struct hpx_call_thread *holder = slot ? stack_at(t, slot[0] - 1)->on : NULL;
        if (holder) {
            hpx_calltab_leave_stack(t, holder, holder->last);
            take_stack(holder, &holder->own, holder->last);
            slot = find(t, ev->key); /* NULL if the stack had no open calls and is forgotten */
        }
        if (slot) {
            stack_at(t, slot[0] - 1)->turn = ev->turn;
        }
        th->admitted = true;
        t->forced++;
    }
}

/* true if the key is unknown and all earlier events have been read and applied. */
static bool is_next(struct hpx_calltab *t, const struct hpx_call_thread *th)
{
    const struct hpx_ev_switch *ev = waits_for(th);
    return th->backlog.old > th->backlog.at && !find(t, ev->key) && !hpx_call_waits_earlier(&t->waits, ev->key, ev->turn);
}

/* One round over all waiting threads. true if something was applied. */
static bool settle(struct hpx_calltab *t)
{
    bool moved = false;
    for (struct hpx_call_thread *th = t->waiting, *next; th; th = next) {
        next = th->backlog.next; /* th may wait no more */
        t->waits.steps++;
        th->admitted = !t->hold && is_next(t, th);
        moved |= apply_backlog(t, th);
        th->admitted = false;
    }
    return moved;
}

static void settle_all(struct hpx_calltab *t)
{
    while (settle(t)) {
    }
}

void hpx_calltab_pass_end(struct hpx_calltab *t)
{
    bool forced = false;
    settle_all(t);
    if (t->hold) {
        return;
    }
    for (struct hpx_call_thread *th = t->waiting, *next; th; th = next) {
        next = th->backlog.next;
        if (++th->backlog.passes > HPX_CALL_PATIENCE) {
            hpx_calltab_force(t, th);
            forced = true;
        }
    }
    if (forced) {
        settle_all(t);
    }
    for (struct hpx_call_thread *th = t->waiting; th; th = th->backlog.next) {
        th->backlog.old = th->backlog.n;
    }
}
