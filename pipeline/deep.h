/* SPDX-License-Identifier: BSD-2-Clause */
/* deep.h: calls near the low end of a stack, where probes may find no room, so that exits are never said.
 *
 * The calls whose exits are missing are the innermost ones, and all of them were begun near the end. So there a FLOOR goes into the ring
 * before a call is entered, and the calls above it are counted. Where an event cannot be the next one of what is open (the first `thrown`
 * after something else; an enter or exit further up than the enter before it), the VM is asked how many frames the stack has: a FALL says
 * how many calls above the floor can be open still, and the aggregator closes the others. More exits may be missing a little further up:
 * the VM is asked again there, twice. Where all exits come, only the FLOOR is said.
 *
 * Frames of methods that are not instrumented count, too: with such in between a FALL may close too few, never too many. What remains is
 * closed when the thread is back well above the floor. Addresses alone do not tell calls apart: an interpreted frame is larger than a
 * compiled one of the same call.
 *
 * To count frames the VM looks at each, at the floor and for each FALL: as many as CREDIT allows.
 *
 * Owner: the thread, in its probes. No locks, no allocation; `frames` may enter the VM, so not in a state in which that is forbidden. */
#ifndef HPX_DEEP_H
#define HPX_DEEP_H

#include "calls.h"

/* Of a stack's low end: what the VM keeps for guard pages and native code; above it the zone, at most a quarter of the rest. */
#define HPX_DEEP_RESERVED (96u << 10)
#define HPX_DEEP_ZONE     (32u << 10)
/* Two frames of one call, interpreted and compiled, differ by less. */
#define HPX_DEEP_BAND (2u << 10)
/* Looks behind exits that came as they should: without an end to them each `finally` on the way up would cost one. */
#define HPX_DEEP_LOOKS 8u
/* How far above the first look are the next ones. */
#define HPX_DEEP_LOOK_2 (2u << 10)
#define HPX_DEEP_LOOK_3 (12u << 10)
/* Frames that a thread's counts may look at in all (0.1 us each, on a virtual thread up to 1 us); each event in the zone pays for another.
 */
#define HPX_DEEP_CREDIT (8u << 20)

enum hpx_deep_state {
    HPX_DEEP_OUT,
    HPX_DEEP_NEAR, /* in the zone; the next enter of a lower frame sets the floor */
    HPX_DEEP_IN    /* a floor is set */
};

struct hpx_deep {
    uintptr_t limit;   /* an event of a frame below it is hpx_deep_event()'s; 0: the stack is not known */
    uintptr_t top;     /* the zone's end; constant */
    uintptr_t at;      /* the floor's call; NEAR: the last enter */
    uint32_t id;       /* of the last floor */
    uint32_t open;     /* calls begun since the floor whose exit was not said */
    int32_t frames;    /* of the stack, at the floor's call */
    uintptr_t last_at; /* the last event's frame */
    enum hpx_ev_kind last;
    uint32_t looks; /* that are left until an enter is down here again */
    uintptr_t first_look, next_look;
    uint32_t credit, price; /* frames that may be walked; that the last count walked, and the next one will */
    enum hpx_deep_state state;
};

/* The number of frames of the calling thread's stack, -1: not known. */
typedef int32_t hpx_deep_frames_fn(void *ctx);

/* The zeroed d of a stack; size 0: not known, limit stays 0. */
void hpx_deep_init(struct hpx_deep *d, uintptr_t low, size_t size);
/* An event at a frame below d->limit: said, with what it needs before it. kind: HPX_EV_ENTER, _EXIT, _THROWN. */
void hpx_deep_event(struct hpx_deep *d, struct hpx_calls *c, enum hpx_ev_kind kind, uint32_t method, uint64_t now, uintptr_t at,
                    hpx_deep_frames_fn *frames, void *ctx);
/* The thread is about to go on with another call stack; at: a frame that is lower than the program's. */
void hpx_deep_leave(struct hpx_deep *d, struct hpx_calls *c, uintptr_t at);

#endif
