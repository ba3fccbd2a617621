/* SPDX-License-Identifier: BSD-2-Clause */
/* async_stack.c: runs the walks of async_stack.h under the guard. */
#include "async_stack.h"
#include "frame_anchor.h"
#include "guard.h"
#include "stack_chunk.h"
#include <stdatomic.h>

static HPX_OF_SESSION _Atomic uint64_t moved; /* relaxed */

struct question {
    const struct hpx_raw_thread *t;
    struct hpx_raw_stack *hash;
    struct hpx_ev_frame *frames; /* NULL: a hash alone */
    enum hpx_raw_end *end;
    uint32_t *broken;
};

static int walk(void *arg)
{
    const struct question *q = arg;
    if (q->t->states != 0 && (q->t->states >> hpx_frame_anchor_state_sig(q->t->env) & 1) == 0) {
        return 0;
    }
    return q->frames == NULL ? hpx_raw_walk_take_sig(q->t, q->hash) : hpx_raw_walk_frames_sig(q->t, q->frames, q->end, q->broken, q->hash);
}

/* HPX_END_WHOLE: no read has faulted, and *n is the walk's answer. */
static enum hpx_raw_end guarded(struct question *q, int *n)
{
    const bool before = hpx_stack_chunk_reading_sig(false); /* of a walk that this handler interrupts */
    const bool passed = hpx_guard_read_sig(walk, q, n);
    const bool reading = hpx_stack_chunk_reading_sig(before);
    *n = passed ? *n : 0;
    if (passed || !reading) {
        return passed ? HPX_END_WHOLE : HPX_END_FAULT;
    }
    atomic_fetch_add_explicit(&moved, 1, memory_order_relaxed);
    return HPX_END_HEAP;
}

bool hpx_async_stack_hash_sig(const struct hpx_raw_thread *t, struct hpx_raw_stack *to, bool *faulted)
{
    int n = 0;
    *faulted = guarded(&(struct question){.t = t, .hash = to}, &n) == HPX_END_FAULT;
    return n != 0;
}

int hpx_async_stack_names_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *frames, enum hpx_raw_end *end, uint32_t *broken,
                              struct hpx_raw_stack *hash)
{
    int n = 0;
    *end = HPX_END_NO_JAVA;
    const enum hpx_raw_end why = guarded(&(struct question){.t = t, .hash = hash, .frames = frames, .end = end, .broken = broken}, &n);
    *end = why != HPX_END_WHOLE ? why : *end;
    return n;
}

uint64_t hpx_async_stack_moved(void)
{
    return atomic_load_explicit(&moved, memory_order_relaxed);
}

enum hpx_unknown hpx_async_stack_unknown_sig(const struct hpx_raw_thread *t, enum hpx_raw_end end)
{
    if (end == HPX_END_NO_JAVA || end == HPX_END_FAULT) {
        return end == HPX_END_FAULT ? HPX_UNKNOWN_FAULT : HPX_UNKNOWN_NO_JAVA;
    }
    bool java = hpx_frame_anchor_state_sig(t->env) == HPX_VM_STATE_IN_JAVA;
    return !java ? HPX_UNKNOWN_NOT_WALKABLE_NOT_JAVA : end == HPX_END_NATIVE ? HPX_UNKNOWN_JAVA : HPX_UNKNOWN_NOT_WALKABLE_JAVA;
}
