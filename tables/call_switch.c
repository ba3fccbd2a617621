/* SPDX-License-Identifier: BSD-2-Clause */
/* call_switch.c: call stacks that go from thread to thread (virtual threads).
 *
 * Each thread's records come in order, those of two threads do not: a stack's second mount may be read before its first. So a mount waits,
 * with all that follows it in its thread's ring, until the stack is on no thread and its turn has come. Who waits, waits for a record that
 * was committed before its own: the next pass brings it. A stack without open calls is forgotten; so a mount that is not the first one of
 * an unknown key may have others before it, and waits for one whole pass to see them. */
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
    if (!t->free_stack) { /* else there is memory of the one before */
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
        drop_stack(t, s); /* it has ended, or not begun: nothing is lost with it */
    } else {
        s->turn += s->turn != HPX_EV_NO_TURN;
    }
}

static void take_stack(struct hpx_call_thread *th, struct hpx_call_stack *s, uint64_t stamp)
{
    th->now = s;
    s->on = th;
    th->offset = stamp - s->clock;
}

bool hpx_calltab_switch(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_switch *ev)
{
    uint64_t stamp = ev->head.stamp;
    if (th->now->on == th) {
        hpx_calltab_leave_stack(t, th, stamp);
    }
    struct hpx_call_stack *s = &th->own;
    if (ev->key != 0) {
        const uint32_t *slot = find(t, ev->key);
        if (!slot && ev->turn != 0 && ev->turn != HPX_EV_NO_TURN && !th->admitted) {
            return false;
        }
        s = slot ? stack_at(t, slot[0] - 1) : new_stack(t, ev, th->root);
        if (s && (s->on || (s->turn != ev->turn && s->turn != HPX_EV_NO_TURN && ev->turn != HPX_EV_NO_TURN))) {
            return false;
        }
        th->admitted = false;
    }
    take_stack(th, s ? s : &th->own, stamp); /* without memory its calls are those of its carrier */
    return true;
}

/* ---- waiting ---- */

static bool keep(struct hpx_calltab *t, struct hpx_call_backlog *b, const struct hpx_ev_head *ev)
{
    if (b->n + ev->units > b->cap) {
        size_t cap = b->cap ? 2 * b->cap : 1024;
        struct hpx_ev_head *grown = realloc(b->ev, cap * sizeof(*grown));
        if (!grown) {
            return false;
        }
        t->stack_bytes += (cap - b->cap) * sizeof(*grown);
        b->ev = grown;
        b->cap = cap;
    }
    memcpy(b->ev + b->n, ev, ev->units * sizeof(*ev));
    b->n += ev->units;
    return true;
}

const struct hpx_ev_head *hpx_calltab_postpone(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_head *ev,
                                               const struct hpx_ev_head *end)
{
    for (; ev < end && (hpx_calltab_is_kind(ev->kind) || ev->kind == HPX_EV_PAD); ev += ev->units) {
        if (ev->kind != HPX_EV_PAD && !keep(t, &th->backlog, ev)) {
            t->lost_events++;
        }
    }
    return ev;
}

/* true: all that waited, or a part of it, is applied. */
static bool apply_backlog(struct hpx_calltab *t, struct hpx_call_thread *th)
{
    struct hpx_call_backlog b = th->backlog;
    th->backlog = (struct hpx_call_backlog){0};
    (void)hpx_calltab_apply(t, th, b.ev, b.ev + b.n);
    bool moved = th->backlog.n < b.n;
    th->backlog.passes = moved ? 0 : b.passes;
    t->stack_bytes -= b.cap * sizeof(*b.ev);
    free(b.ev);
    return moved;
}

static const struct hpx_ev_switch *waits_for(const struct hpx_call_thread *th)
{
    return th->backlog.n > 0 ? (const struct hpx_ev_switch *)(const void *)th->backlog.ev : NULL;
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
            slot = find(t, ev->key); /* forgotten, if it had no open calls */
        }
        if (slot) {
            stack_at(t, slot[0] - 1)->turn = ev->turn;
        }
        th->admitted = true;
        t->forced++;
    }
}

static void settle(struct hpx_calltab *t)
{
    bool moved = true;
    while (moved) {
        moved = false;
        for (struct hpx_call_thread *th = t->threads; th; th = th->next) {
            if (th->backlog.n > 0) {
                moved |= apply_backlog(t, th);
            }
        }
    }
}

/* Nobody knows the key, and all that wait for it have later turns. */
static bool is_next(const struct hpx_calltab *t, const struct hpx_ev_switch *ev)
{
    bool next = !find(t, ev->key);
    for (const struct hpx_call_thread *th = t->threads; next && th; th = th->next) {
        const struct hpx_ev_switch *other = waits_for(th);
        next = !other || other->key != ev->key || other->turn >= ev->turn;
    }
    return next;
}

void hpx_calltab_pass_end(struct hpx_calltab *t)
{
    bool any = false;
    settle(t);
    for (struct hpx_call_thread *th = t->threads; th; th = th->next) {
        if (th->backlog.n == 0) {
            continue;
        }
        any = true;
        if (++th->backlog.passes > HPX_CALL_PATIENCE) {
            hpx_calltab_force(t, th);
        } else if (th->backlog.passes > 1 && is_next(t, waits_for(th))) {
            th->admitted = true;
            (void)apply_backlog(t, th);
        }
    }
    if (any) {
        settle(t);
    }
}
