/* SPDX-License-Identifier: BSD-2-Clause */
/* event_stacks.h: stacks of events that happen on the thread itself, outside Java: allocations, blocks. A cache in front of GetStackTrace.
 *
 * A thread remembers which id the aggregator has for a stack and what belongs to it, by the hash of a raw walk (hotspot/quiet_stack.h). A
 * stack that is new is named by hprofx, or the VM is asked.
 *
 * All functions: the owner of the state, in a callback or a JNI function, not in a signal handler. */
#ifndef HPX_EVENT_STACKS_H
#define HPX_EVENT_STACKS_H

#include "event.h"
#include "mode_thread.h"

#define HPX_EVENT_STACKS 512u /* a power of two: a stack has several hashes, as its methods are compiled one after the other */
#define HPX_EVENT_WAYS   4u   /* entries that one hash may be in */

/* The owner's. Zeroed: empty. */
struct hpx_event_stacks {
    uint32_t recognised, named; /* stacks so far */
    uint32_t learned;           /* chooses the entry that a new stack replaces */
    struct hpx_event_known {
        uint64_t lo, hi; /* of the stack and what belongs to it */
        uint32_t id;     /* 0: none */
    } known[HPX_EVENT_STACKS];
};

/* What find has seen, for learn. */
struct hpx_event_look {
    uint64_t lo, hi;
    bool whole;   /* they are a stack */
    uint32_t was; /* the id that is remembered, but is to be compared; 0: none */
};

/* The id that learn was given for this stack and `what`; 0: not known, or to be compared. depth: frames that matter, also those of a
 * probe. */
uint32_t hpx_event_stacks_find(struct hpx_event_stacks *e, const struct hpx_mode_thread *s, uint32_t depth, const uint64_t what[2],
                               struct hpx_event_look *look);
/* After find returned 0: the id is `id`, from the frames of hpx_event_stacks_take(). 0: it has none. */
void hpx_event_stacks_learn(struct hpx_event_stacks *e, const struct hpx_event_look *look, uint32_t id);

/* Takes the calling thread's stack: at most `most` frames, leaf first, `pad` 0. self: the thread, as GetStackTrace takes it. whole: find
 * could walk it, and nothing is to be compared. 0: no stack, or no Java frame; learn then learns nothing. */
uint32_t hpx_event_stacks_take(struct hpx_event_stacks *e, struct hpx_mode_thread *s, jvmtiEnv *jvmti, jthread self,
                               struct hpx_event_look *look, struct hpx_ev_frame *frames, uint32_t most);
/* The calling thread below Java code: compares its walked stack with that of GetStackTrace. */
void hpx_event_stacks_compare(const struct hpx_mode_thread *s, jvmtiEnv *jvmti);
/* Takes the stack of any thread, without a cache: asks the VM. */
uint32_t hpx_event_stacks_ask(jvmtiEnv *jvmti, jthread thread, struct hpx_ev_frame *frames, uint32_t most);

#endif
