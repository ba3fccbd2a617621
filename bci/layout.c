/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.c: computes the new position of every instruction and widens branches, until nothing changes.
 *
 * goto and jsr have wide forms. A conditional branch that became too long is inverted and skips a goto_w. From version 50 on that needs a
 * stack map frame after it, which exists only if the next instruction has one. Otherwise the branch leads to a trampoline: a goto_w at a
 * place that control does not reach from above, with the frame of the target. */
#include "rewriter.h"
#include <stdlib.h>

enum { TRAMP_LEN = 5, REACH = 32767, ALIGN = 3 };

static void fill(uint16_t *map, uint32_t from, uint32_t to, uint32_t delta)
{
    for (uint32_t i = from; i < to; i++) {
        map[i] = (uint16_t)(i + delta);
    }
}

/* Bytes by which the event's instruction grows, including code put before or after it. */
static uint32_t growth(const struct hpx_class *c, const struct hpx_code *m, const struct hpx_event *e)
{
    switch (e->kind) {
    case HPX_K_RETURN:
        return c->call_len[HPX_EXIT] + (m->root ? (uint32_t)HPX_ROOT_LEN : 0);
    case HPX_K_ALLOC:
        return hpx_probe_len(c, m, e);
    case HPX_K_STORE:
        return HPX_CALL_LEN;
    case HPX_K_COND:
        return e->width == HPX_W_INVERT ? 5 : 0;
    case HPX_K_GOTO:
    case HPX_K_JSR:
        return e->width == HPX_W_WIDE ? 2 : 0;
    case HPX_K_TABLE:
    case HPX_K_LOOKUP:
        return (uint32_t)(e->pc & ALIGN) - (c->map[e->pc] & ALIGN); /* may be negative (less padding): the sum is right modulo 2^32 */
    default:
        return 0;
    }
}

static int map_code(struct hpx_class *c, struct hpx_code *m)
{
    uint32_t delta = c->call_len[HPX_ENTER], from = 0;
    for (const struct hpx_event *e = c->events, *end = e + m->event_n; e < end; e++) {
        uint32_t to = e->pc;
        if (e->kind == HPX_K_PLACE) {
            fill(c->map, from, to, delta);
            delta += (uint32_t)TRAMP_LEN * e->target;
        } else {
            fill(c->map, from, ++to, delta);
            delta += growth(c, m, e);
        }
        from = to;
        if (m->len + delta > HPX_CODE_MAX) {
            return HPX_LEAVE(CODE_FULL);
        }
    }
    fill(c->map, from, m->len + 1, delta);
    uint32_t end = m->len + delta;
    m->handler = m->entry_n > 0 ? end : 0;
    m->new_len = end + (m->entry_n > 0 ? c->call_len[HPX_THROWN] + 1u : 0);
    c->steps += m->len + m->event_n;
    return end > HPX_CODE_MAX || m->new_len > HPX_CODE_MAX ? HPX_LEAVE(CODE_FULL) : 0;
}

uint32_t hpx_tramp_new(const struct hpx_class *c, const struct hpx_tramp *t)
{
    const struct hpx_event *place = &c->events[t->place];
    return (uint32_t)c->map[place->pc] - (uint32_t)TRAMP_LEN * (place->target - (uint32_t)t->slot);
}

static bool within(uint32_t a, uint32_t b, uint32_t reach)
{
    return a >= b ? a - b <= reach : b - a <= reach;
}

/* A handler that covers the place but not the target may expect locals that the target's frame lacks. */
static bool may_stand(struct hpx_class *c, const struct hpx_code *m, uint32_t place, uint32_t target)
{
    c->steps += m->handler_n;
    for (uint32_t i = 0; i < m->handler_n; i++) {
        const uint8_t *h = c->in + m->handlers + 8 * (size_t)i;
        uint32_t start = hpx_u2(h), end = hpx_u2(h + 2);
        if (start < place && place < end && !(start <= target && target < end)) {
            return false;
        }
    }
    return true;
}

/* true: e uses an existing trampoline within reach. */
static bool reuse(struct hpx_class *c, struct hpx_event *e)
{
    c->steps += c->tramp_n;
    for (uint32_t i = 0; i < c->tramp_n; i++) {
        const struct hpx_tramp *t = &c->tramps[i];
        if (t->target == e->target && within(c->map[c->events[t->place].pc], c->map[e->pc], REACH - 8000)) {
            e->tramp = (uint16_t)i;
            return true;
        }
    }
    return false;
}

/* true: e's trampoline is placed at event i. false: event i is no suitable place. */
static bool put_at(struct hpx_class *c, const struct hpx_code *m, struct hpx_event *e, uint32_t i)
{
    struct hpx_event *place = &c->events[i];
    c->steps++;
    if (place->kind != HPX_K_PLACE || place->target == UINT16_MAX || !may_stand(c, m, place->pc, e->target)) {
        return false;
    }
    e->tramp = (uint16_t)c->tramp_n;
    c->tramps[c->tramp_n++] = (struct hpx_tramp){.place = i, .target = e->target, .slot = place->target++};
    c->flags[e->target] |= HPX_F_TRAMP;
    return true;
}

static int add_trampoline(struct hpx_class *c, const struct hpx_code *m, struct hpx_event *e)
{
    /* If `this` may be uninitialized, frames differ in more than their types. */
    if (m->constructor || !(c->flags[e->target] & HPX_F_FRAME)) {
        return HPX_LEAVE(BRANCH);
    }
    if (reuse(c, e)) {
        return 0;
    }
    uint32_t at = (uint32_t)(e - c->events), up = at, down = at;
    while (c->tramp_n < HPX_TRAMPS && c->steps <= c->steps_max) {
        bool below = up + 1 < m->event_n && within(c->map[c->events[up + 1].pc], c->map[e->pc], REACH - 2000);
        bool above = down > 0 && within(c->map[c->events[down - 1].pc], c->map[e->pc], REACH - 2000);
        if (!below && !above) {
            return HPX_LEAVE(BRANCH);
        }
        if ((below && put_at(c, m, e, ++up)) || (above && put_at(c, m, e, --down))) {
            return 0;
        }
    }
    return HPX_LEAVE(LIMIT);
}

/* Makes e wide. *places: set if a rescan for places is needed first. */
static int widen(struct hpx_class *c, const struct hpx_code *m, struct hpx_event *e, bool *places)
{
    if (e->kind != HPX_K_COND) {
        e->width = HPX_W_WIDE;
        return 0;
    }
    if (c->major < 50) {
        e->width = HPX_W_INVERT;
        return 0;
    }
    if (!m->places) {
        *places = true;
        return 0;
    }
    if (e->pc + 3u < m->len && (c->flags[e->pc + 3] & HPX_F_FRAME)) {
        e->width = HPX_W_INVERT;
        return 0;
    }
    e->width = HPX_W_TRAMP;
    return add_trampoline(c, m, e);
}

static int widen_all(struct hpx_class *c, struct hpx_code *m, uint32_t reach, bool *changed, bool *places)
{
    c->steps += m->event_n;
    for (struct hpx_event *e = c->events, *end = e + m->event_n; e < end && !*places; e++) {
        if (e->kind < HPX_K_COND || e->kind > HPX_K_JSR) {
            continue;
        }
        uint32_t at = c->map[e->pc];
        if (e->width == HPX_W_TRAMP && !within(hpx_tramp_new(c, &c->tramps[e->tramp]), at, REACH)) {
            return HPX_LEAVE(BRANCH);
        }
        if (e->width == HPX_W_SHORT && !within(c->map[e->target], at, reach)) {
            *changed = true;
            int left = widen(c, m, e, places);
            if (left != 0) {
                return left;
            }
        }
    }
    return 0;
}

static int rescan(struct hpx_class *c, struct hpx_code *m)
{
    if (c->tramps == NULL) {
        c->tramps = malloc(sizeof(*c->tramps) * 2 * HPX_TRAMPS);
        if (c->tramps == NULL) {
            return HPX_NO_MEMORY;
        }
    }
    int left = hpx_code_scan(c, m, true);
    return left != 0 ? left : hpx_frames_mark(c, m);
}

int hpx_code_layout(struct hpx_class *c, struct hpx_code *m)
{
    /* Every round widens at least one branch, which may push others out of reach. Later rounds widen more, so that a long chain of such
     * branches ends soon. */
    static const uint16_t reaches[] = {REACH, REACH, REACH, REACH, 28000, 28000, 24000, 24000, 16000, 16000, 8000, 8000, 0};
    c->tramp_n = 0;
    for (uint32_t round = 0;; round++) {
        int left = map_code(c, m);
        if (left != 0 || c->map[m->len] <= REACH) {
            return left;
        }
        bool changed = false, places = false;
        left = widen_all(c, m, round < HPX_ARRAY_LEN(reaches) ? reaches[round] : 0, &changed, &places);
        if (left != 0 || !changed) {
            return left;
        }
        if (places) {
            left = rescan(c, m);
            round = 0;
        }
        if (left != 0 || c->steps > c->steps_max) {
            return left != 0 ? left : HPX_LEAVE(LIMIT);
        }
    }
}
