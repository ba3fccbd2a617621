/* SPDX-License-Identifier: BSD-2-Clause */
/* async_stack.c: runs the walks of async_stack.h under the guard. */
#include "async_stack.h"
#include "frame_anchor.h"
#include "guard.h"

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

static int guarded(struct question *q, bool *faulted)
{
    int n = 0;
    *faulted = !hpx_guard_read_sig(walk, q, &n);
    return *faulted ? 0 : n;
}

bool hpx_async_stack_hash_sig(const struct hpx_raw_thread *t, struct hpx_raw_stack *to, bool *faulted)
{
    return guarded(&(struct question){.t = t, .hash = to}, faulted) != 0;
}

int hpx_async_stack_names_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *frames, enum hpx_raw_end *end, uint32_t *broken,
                              struct hpx_raw_stack *hash)
{
    bool faulted;
    *end = HPX_END_NO_JAVA;
    int n = guarded(&(struct question){.t = t, .hash = hash, .frames = frames, .end = end, .broken = broken}, &faulted);
    *end = faulted ? HPX_END_FAULT : *end;
    return n;
}

enum hpx_unknown hpx_async_stack_unknown_sig(const struct hpx_raw_thread *t, enum hpx_raw_end end)
{
    if (end == HPX_END_NO_JAVA || end == HPX_END_FAULT) {
        return end == HPX_END_FAULT ? HPX_UNKNOWN_FAULT : HPX_UNKNOWN_NO_JAVA;
    }
    bool java = hpx_frame_anchor_state_sig(t->env) == HPX_VM_STATE_IN_JAVA;
    return !java ? HPX_UNKNOWN_NOT_WALKABLE_NOT_JAVA : end == HPX_END_NATIVE ? HPX_UNKNOWN_JAVA : HPX_UNKNOWN_NOT_WALKABLE_JAVA;
}
