/* SPDX-License-Identifier: BSD-2-Clause */
/* stack_limit.h: calls near the low end of a stack, where probes may have no stack space, so that their exits are missing.
 *
 * Missing exits are those of the innermost calls, and all of these began near the end. So near the end a FLOOR goes into the ring before
 * a call is entered, and the calls above it are counted. If an event cannot follow the open calls (the first `thrown` after another
 * event; an enter or exit further up than the enter before it), the probe asks the VM for the number of frames: a FALL says how many
 * calls above the floor can still be open, and the aggregator closes the others. More exits may be missing a little further up, so the
 * probe asks the VM twice more there. If no exit is missing, there is only the FLOOR.
 *
 * Frames of methods without probes count, too; because of them a FALL may close too few calls, never too many. The rest is closed when
 * the thread is well above the floor again. Addresses alone cannot distinguish calls: an interpreted frame is larger than a compiled one
 * of the same call.
 *
 * Counting frames makes the VM visit every frame, at the floor and for every FALL; CREDIT limits the total.
 *
 * Owner: the thread, in its probes. No locks, no allocation; `frames` may enter the VM, so never call it where that is forbidden. */
#ifndef HPX_STACK_LIMIT_H
#define HPX_STACK_LIMIT_H

#include "calls.h"

/* The low end of a stack that the VM reserves for guard pages and native code; above it lies the zone, at most a quarter of the rest. */
#define HPX_STACK_LIMIT_RESERVED (96u << 10)
#define HPX_STACK_LIMIT_ZONE     (32u << 10)
/* Two frames of one call, interpreted and compiled, differ by less. */
#define HPX_STACK_LIMIT_BAND (2u << 10)
/* Counts of frames after regular exits; without a limit every `finally` on the way up would cost one. */
#define HPX_STACK_LIMIT_LOOKS 8u
/* Distances of the next counts above the first one. */
#define HPX_STACK_LIMIT_LOOK_2 (2u << 10)
#define HPX_STACK_LIMIT_LOOK_3 (12u << 10)
/* Total of frames that a thread's counts may visit (0.1 us each, on a virtual thread up to 1 us); every event in the zone adds one. */
#define HPX_STACK_LIMIT_CREDIT (8u << 20)

enum hpx_stack_limit_state {
    HPX_STACK_LIMIT_OUT,
    HPX_STACK_LIMIT_NEAR, /* in the zone; the next enter of a lower frame sets the floor */
    HPX_STACK_LIMIT_IN    /* a floor is set */
};

struct hpx_stack_limit {
    uintptr_t limit;   /* events of frames below it go to hpx_stack_limit_event(); 0: the stack is unknown */
    uintptr_t top;     /* the zone's end; constant */
    uintptr_t at;      /* the floor's call; NEAR: the last enter */
    uint32_t id;       /* of the last floor */
    uint32_t open;     /* calls begun since the floor without an exit */
    int32_t frames;    /* of the stack, at the floor's call */
    uintptr_t last_at; /* the last event's frame */
    enum hpx_ev_kind last;
    uint32_t looks; /* counts left until an enter is down here again */
    uintptr_t first_look, next_look;
    uint32_t credit, price; /* frames that may be visited; frames that the last count visited, as the next one will */
    enum hpx_stack_limit_state state;
};

/* The number of frames of the calling thread's stack, -1: unknown. */
typedef int32_t hpx_stack_limit_frames_fn(void *ctx);

/* Initialises a zeroed d for a stack; size 0: unknown, limit stays 0. */
void hpx_stack_limit_init(struct hpx_stack_limit *d, uintptr_t low, size_t size);
/* Records an event at a frame below d->limit, with the FLOOR or FALL that must precede it. kind: HPX_EV_ENTER, _EXIT, _THROWN. */
void hpx_stack_limit_event(struct hpx_stack_limit *d, struct hpx_calls *c, enum hpx_ev_kind kind, uint32_t method, uint64_t now,
                           uintptr_t at, hpx_stack_limit_frames_fn *frames, void *ctx);
/* The thread is about to switch to another call stack; at: a frame lower than the program's. */
void hpx_stack_limit_leave(struct hpx_stack_limit *d, struct hpx_calls *c, uintptr_t at);

#endif
