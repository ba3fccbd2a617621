/* SPDX-License-Identifier: BSD-2-Clause */
/* stack_limit.c: floors near the end of a stack. */
#include "stack_limit.h"

void hpx_stack_limit_init(struct hpx_stack_limit *d, uintptr_t low, size_t size)
{
    if (size <= HPX_STACK_LIMIT_RESERVED) {
        return;
    }
    size_t zone = (size - HPX_STACK_LIMIT_RESERVED) / 4;
    zone = zone < HPX_STACK_LIMIT_ZONE ? zone : HPX_STACK_LIMIT_ZONE;
    d->limit = d->top = low + HPX_STACK_LIMIT_RESERVED + zone;
    d->credit = HPX_STACK_LIMIT_CREDIT;
    d->price = 1;
}

static void go(struct hpx_stack_limit *d, enum hpx_stack_limit_state state)
{
    d->state = state;
    d->limit = state == HPX_STACK_LIMIT_OUT ? d->top : UINTPTR_MAX;
}

static int32_t count(struct hpx_stack_limit *d, hpx_stack_limit_frames_fn *frames, void *ctx)
{
    if (d->credit < d->price) {
        return -1;
    }
    int32_t n = frames(ctx);
    d->price = n > 0 ? (uint32_t)n : 1;
    d->credit -= d->price < d->credit ? d->price : d->credit;
    return n;
}

static void leave_zone(struct hpx_stack_limit *d, struct hpx_calls *c)
{
    (void)hpx_calls_note(c, HPX_EV_FALL, d->id, 0);
    go(d, HPX_STACK_LIMIT_OUT);
}

/* With the floor's call in the frame of its caller (inlined) addresses would not tell the two apart: the floor waits for a lower frame. */
static void near(struct hpx_stack_limit *d, struct hpx_calls *c, uintptr_t at, hpx_stack_limit_frames_fn *frames, void *ctx)
{
    if (at >= d->at) {
        d->at = at;
        return;
    }
    int32_t n = count(d, frames, ctx);
    if (n >= 0 && hpx_calls_note(c, HPX_EV_FLOOR, ++d->id, 0)) {
        d->frames = n;
        d->open = 0;
        d->at = at;
        d->first_look = d->next_look = UINTPTR_MAX;
        d->looks = HPX_STACK_LIMIT_LOOKS;
        go(d, HPX_STACK_LIMIT_IN);
    }
}

/* An event after a floor, before it is recorded: checks whether frames of open calls are gone. */
static void look(struct hpx_stack_limit *d, struct hpx_calls *c, enum hpx_ev_kind kind, uintptr_t at, hpx_stack_limit_frames_fn *frames,
                 void *ctx)
{
    if (at > d->at + HPX_STACK_LIMIT_BAND) {
        leave_zone(d, c);
        return;
    }
    bool odd = d->last == HPX_EV_ENTER && (kind == HPX_EV_THROWN || at > d->last_at);
    if (kind == HPX_EV_THROWN && d->last == HPX_EV_EXIT && d->looks > 0) {
        d->looks--;
        odd = true;
    }
    if (odd) {
        d->first_look = at;
        d->next_look = at + HPX_STACK_LIMIT_LOOK_2;
    } else if (at >= d->next_look) {
        d->next_look = at < d->first_look + HPX_STACK_LIMIT_LOOK_3 ? d->first_look + HPX_STACK_LIMIT_LOOK_3 : UINTPTR_MAX;
        odd = true;
    }
    int32_t n = odd ? count(d, frames, ctx) : -1;
    if (n < 0) {
        return;
    }
    int32_t can_be = n - d->frames + (kind != HPX_EV_ENTER); /* an exit's own call is open, an enter's not yet */
    if (can_be <= 0) {
        leave_zone(d, c);
    } else if (d->open > (uint32_t)can_be && hpx_calls_note(c, HPX_EV_FALL, d->id, (uint64_t)can_be)) {
        d->open = (uint32_t)can_be;
    }
}

void hpx_stack_limit_event(struct hpx_stack_limit *d, struct hpx_calls *c, enum hpx_ev_kind kind, uint32_t method, uint64_t now,
                           uintptr_t at, hpx_stack_limit_frames_fn *frames, void *ctx)
{
    bool enter = kind == HPX_EV_ENTER;
    d->credit += d->credit < HPX_STACK_LIMIT_CREDIT;
    if (d->state == HPX_STACK_LIMIT_IN) {
        look(d, c, kind, at, frames, ctx);
    } else if (at >= d->top) {
        go(d, HPX_STACK_LIMIT_OUT);
    } else if (d->state == HPX_STACK_LIMIT_NEAR && enter) {
        near(d, c, at, frames, ctx);
    } else if (d->state == HPX_STACK_LIMIT_OUT && enter) {
        d->at = at;
        go(d, HPX_STACK_LIMIT_NEAR);
    }
    d->last = kind;
    d->last_at = at;
    if (enter) {
        hpx_calls_enter(c, method, now);
        d->looks = at < d->first_look || at - d->first_look < HPX_STACK_LIMIT_BAND ? HPX_STACK_LIMIT_LOOKS : d->looks;
        d->open++;
        return;
    }
    kind == HPX_EV_EXIT ? hpx_calls_exit(c, method, now) : hpx_calls_thrown(c, method, now);
    if (d->state == HPX_STACK_LIMIT_IN && --d->open == 0) {
        go(d, HPX_STACK_LIMIT_OUT);
    }
}

void hpx_stack_limit_leave(struct hpx_stack_limit *d, struct hpx_calls *c, uintptr_t at)
{
    if (d->state == HPX_STACK_LIMIT_IN && at > d->at + HPX_STACK_LIMIT_BAND) {
        leave_zone(d, c);
    } else if (d->state != HPX_STACK_LIMIT_OUT) {
        go(d, HPX_STACK_LIMIT_OUT);
    }
}
