/* SPDX-License-Identifier: BSD-2-Clause */
/* stacks.c: the encoder of stacks.h. */
#include "stacks.h"
#include "c_frames.h"
#include "hash.h"
#include "probe_frames.h"
#include "session.h"
#include <string.h>

uint32_t hpx_stacks_extra(void)
{
    return 1 + hpx_probe_frames_most() + hpx_c_frames_room();
}

uint32_t hpx_stacks_depth(const struct hpx_sample_thread *t)
{
    /* A ring has its size from the depth at its thread's start, and takes a quarter of it as one record. */
    size_t quarter = (t->s.base.ring.mask + 1) / 4 - HPX_EV_SAMPLE_BYTES(hpx_stacks_extra());
    uint32_t most = (uint32_t)(quarter / sizeof(struct hpx_ev_frame));
    uint32_t depth = atomic_load_explicit(&hpx_session.depth, memory_order_relaxed);
    return depth < most ? depth : most;
}

struct hpx_ev_frame *hpx_stacks_reserve(struct hpx_sample_thread *t, uint32_t frames, uint64_t weight)
{
    hpx_session_time(&t->s.base);
    struct hpx_ev_head *ev = hpx_reserve_or_drop(&hpx_session.aggregator, &t->s.base, HPX_EV_SAMPLE_BYTES(frames), weight);
    return ev != NULL ? (struct hpx_ev_frame *)(ev + 2) : NULL;
}

bool hpx_stacks_is_c(const struct hpx_ev_frame *frames, int i)
{
    return hpx_ev_is_c(frames[i].method) ||
           (i > 0 && frames[i].method == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED) && hpx_ev_is_c(frames[i - 1].method));
}

int hpx_stacks_without_probe(struct hpx_sample_thread *t, struct hpx_ev_frame *frames, int n, uint32_t above, uint32_t depth,
                             uint64_t weight)
{
    uint32_t probe = n > (int)above ? hpx_probe_frames(frames + above, n - (int)above) : 0;
    if (probe > 0) {
        probe += above; /* what the probe calls */
        above = 0;
        n -= (int)probe;
        memmove(frames, frames + probe, (size_t)n * sizeof *frames);
        hpx_count(&t->s.base.counters, HPX_C_IN_PROBES, weight);
    }
    int i = 0;
    for (uint32_t java = 0; i < n && java < depth; i++) {
        java += i >= (int)above && !hpx_stacks_is_c(frames, i);
    }
    return n < 0 ? n : i;
}

/* A record that is its head alone. NULL: the ring is full, or the weight 0. */
static struct hpx_ev_head *reserve_head(struct hpx_sample_thread *t, uint64_t weight)
{
    if (weight == 0) {
        return NULL;
    }
    hpx_session_time(&t->s.base);
    return hpx_reserve_or_drop(&hpx_session.aggregator, &t->s.base, sizeof(struct hpx_ev_head), weight);
}

static void push(struct hpx_sample_thread *t, struct hpx_ev_head *ev, enum hpx_ev_kind kind, uint32_t id, uint64_t weight)
{
    ev->kind = kind;
    ev->id = id;
    ev->stamp = weight;
    hpx_ring_commit(&t->s.base.ring, ev, sizeof *ev);
}

static void push_known(struct hpx_sample_thread *t, struct hpx_ev_head *ev, uint32_t slot, uint64_t weight)
{
    t->last_slot = slot + 1;
    push(t, ev, HPX_EV_SAMPLE, slot, weight);
}

uint32_t hpx_stacks_slot(uint64_t lo)
{
    return (uint32_t)lo % HPX_SLOTS;
}

static void push_stack(struct hpx_sample_thread *t, struct hpx_ev_head *ev, const struct hpx_ev_frame *frames, int n, uint64_t weight)
{
    struct hpx_hash128 h = hpx_hash128(frames, (size_t)n * sizeof *frames);
    uint32_t slot = hpx_stacks_slot(h.lo);
    struct hpx_ev_hash *known = &t->slots[slot];
    if (known->lo == h.lo && known->hi == h.hi) {
        push_known(t, ev, slot, weight);
        return;
    }
    *known = (struct hpx_ev_hash){h.lo, h.hi};
    *(struct hpx_ev_hash *)(ev + 1) = *known;
    t->last_slot = slot + 1;
    ev->kind = HPX_EV_SAMPLE_DEF;
    ev->id = slot;
    ev->stamp = weight;
    hpx_ring_commit(&t->s.base.ring, ev, HPX_EV_SAMPLE_BYTES(n));
    hpx_count(&t->s.base.counters, HPX_C_DEFINITIONS, 1);
}

void hpx_stacks_commit(struct hpx_sample_thread *t, struct hpx_ev_frame *frames, int n, uint64_t weight)
{
    struct hpx_ev_head *ev = (struct hpx_ev_head *)frames - 2;
    if (n <= 0) {
        push(t, ev, HPX_EV_SAMPLE_UNKNOWN, (uint32_t)-n, weight);
    } else {
        push_stack(t, ev, frames, n, weight);
    }
}

void hpx_stacks_stall(struct hpx_sample_thread *t, uint64_t stalled)
{
    struct hpx_ev_head *ev = reserve_head(t, stalled);
    if (ev != NULL) {
        push(t, ev, HPX_EV_SAMPLE_STALLED, 0, stalled);
    }
}

bool hpx_stacks_known(struct hpx_sample_thread *t, uint32_t slot, uint64_t weight)
{
    hpx_session_time(&t->s.base);
    struct hpx_ev_head *ev = hpx_reserve_or_drop(&hpx_session.aggregator, &t->s.base, sizeof *ev, weight);
    if (ev != NULL) {
        push_known(t, ev, slot, weight);
    }
    return ev != NULL;
}

void hpx_stacks_before_java(struct hpx_sample_thread *t, uint64_t weight)
{
    struct hpx_ev_head *ev = reserve_head(t, weight);
    if (ev != NULL) {
        push(t, ev, HPX_EV_SAMPLE_UNKNOWN, HPX_UNKNOWN_NO_JAVA, weight);
    }
}

void hpx_stacks_again(struct hpx_sample_thread *t, uint64_t weight)
{
    struct hpx_ev_head *ev = reserve_head(t, weight);
    if (ev != NULL && t->last_slot == 0) {
        push(t, ev, HPX_EV_SAMPLE_UNKNOWN, HPX_UNKNOWN_THREAD_ENDED, weight);
    } else if (ev != NULL) {
        push_known(t, ev, t->last_slot - 1, weight);
    }
}
