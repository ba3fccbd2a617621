/* SPDX-License-Identifier: BSD-2-Clause */
/* ring.h: byte ring of one profiled thread: single producer, single consumer, records of whole 16-byte units, never split.
 *
 * Producer: the owning OS thread, also in its own signal handler (the caller's `busy` flag keeps the two apart).
 * Consumer: the aggregator.
 * Signal safety: reserve and commit yes (no allocation, no lock, no system call); the others no.
 *
 *        [1] [2] [3] [4]   [1] reserve/commit  [2] peek/release  [3] init  [4] fini
 *   [1]   X   -   X   X    X: the caller excludes the pair; -: safe concurrently
 *   [2]   -   X   X   X
 *
 * Positions are byte counts modulo 2^64; position & (size - 1) is the place. If a record would cross the end, one HPX_EV_PAD record
 * fills the rest, published by the same commit. A pad is shorter than the record that needs it, so its length fits into the head. */
#ifndef HPX_RING_H
#define HPX_RING_H

#include "event.h"
#include <stdatomic.h>

#define HPX_RING_MIN   4096u       /* bytes */
#define HPX_RING_MAX   (64u << 20) /* bytes */
#define HPX_RING_AHEAD 320u        /* bytes fetched ahead by the consumer: five lines */

struct hpx_ring {
    /* producer's line */
    HPX_ALIGNED(HPX_CACHE_LINE) _Atomic uint64_t tail; /* release: hpx_ring_commit(); acquire: hpx_ring_peek(). Covers record bytes. */
    uint64_t head_cache;                               /* producer's last view of head */
    uint64_t look; /* producer: position at which it checks its fill level again (hpx_reserve_or_drop()); <= head_cache + the size */
    char *bytes;   /* constant after init */
    uint64_t mask; /* size - 1, constant after init */
    /* consumer's line */
    HPX_ALIGNED(HPX_CACHE_LINE)
    _Atomic uint64_t head; /* release: hpx_ring_release(); acquire: reserve's slow path. Covers reuse of the bytes. */
};

static_assert(offsetof(struct hpx_ring, head) % HPX_CACHE_LINE == 0, "producer and consumer do not share a line");

/* size: a power of two in [HPX_RING_MIN, HPX_RING_MAX]. 0, -HPX_E_NOMEM. The bytes are page-aligned; init does not touch
 * them. */
int hpx_ring_init(struct hpx_ring *r, uint32_t size);
void hpx_ring_fini(struct hpx_ring *r);

/* Space for a record of n bytes, rounded up to whole units; NULL: the ring is full. n is from 16 to the smaller of HPX_EV_MAX_BYTES and
 * a quarter of the ring (asserted; above HPX_EV_MAX_BYTES always NULL), so the record fits into an empty ring, even with a pad. The
 * caller owns the space until commit; the next reserve discards a reserve without commit. The bytes are not cleared. */
static inline void *hpx_ring_reserve(struct hpx_ring *r, size_t n);
/* Slow path of reserve: reads head (acquire), makes the pad. Not for callers. */
void *hpx_ring_reserve_slow(struct hpx_ring *r, size_t n);

/* Publishes the reserved record with length n, at most the reserved length (the rest is free again); writes head.units. The caller has
 * filled kind, id, stamp and body. */
static inline void hpx_ring_commit(struct hpx_ring *r, struct hpx_ev_head *ev, size_t n);

/* The same for n bytes of several whole records, whose units the caller has set. */
static inline void hpx_ring_commit_run(struct hpx_ring *r, const struct hpx_ev_head *first, size_t n);

/* Fast path for many small records: the place of n bytes at `tail` (the ring's, which the caller keeps in a register), if they fit
 * without a pad and without reading the consumer's position; else NULL, and hpx_ring_reserve() may still find room. Commit with
 * hpx_ring_publish() and the new tail. */
static inline void *hpx_ring_room(const struct hpx_ring *r, uint64_t tail, size_t n)
{
    uint64_t size = r->mask + 1, at = tail & r->mask;
    bool fits = (n <= HPX_EV_UNIT || at + n <= size) && (int64_t)(tail + n - r->look) <= 0;
    return hpx_likely(fits) ? r->bytes + at : NULL;
}
static inline void hpx_ring_publish(struct hpx_ring *r, uint64_t tail)
{
    atomic_store_explicit(&r->tail, tail, memory_order_release); /* partner: hpx_ring_peek() */
}

/* Consumer: the tail now (acquire); records in [head, tail) may be read until hpx_ring_release(). */
static inline uint64_t hpx_ring_peek(const struct hpx_ring *r)
{
    return atomic_load_explicit(&r->tail, memory_order_acquire);
}
/* Consumer: its position. */
static inline uint64_t hpx_ring_position(const struct hpx_ring *r)
{
    return atomic_load_explicit(&r->head, memory_order_relaxed);
}
/* Consumer: everything below `to` may be overwritten (release). */
static inline void hpx_ring_release(struct hpx_ring *r, uint64_t to)
{
    atomic_store_explicit(&r->head, to, memory_order_release);
}
/* Consumer: the contiguous bytes from `from`, at most up to `to`; *n = their length. Call again with from + *n for the bytes after the
 * wrap. */
static inline const struct hpx_ev_head *hpx_ring_span(const struct hpx_ring *r, uint64_t from, uint64_t to, size_t *n)
{
    uint64_t at = from & r->mask, room = r->mask + 1 - at, len = to - from;
    *n = (size_t)(len < room ? len : room);
    return (const struct hpx_ev_head *)(const void *)(r->bytes + at);
}

/* Consumer: the record after ev in a run that ends at `end`; the last record's is `end`. Prefetches only inside the run, because the
 * producer writes the next line after it. */
static inline const struct hpx_ev_head *hpx_ring_next(const struct hpx_ev_head *ev, const struct hpx_ev_head *end)
{
    const struct hpx_ev_head *next = ev + ev->units;
    if ((size_t)((const char *)end - (const char *)next) > HPX_RING_AHEAD) {
        __builtin_prefetch((const char *)next + HPX_RING_AHEAD);
    }
    return next;
}

/* ---- inline bodies ---- */
static inline void *hpx_ring_reserve(struct hpx_ring *r, size_t n)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    assert(n >= HPX_EV_UNIT && n <= (r->mask + 1) / 4);
    n = (n + (HPX_EV_UNIT - 1)) & ~(size_t)(HPX_EV_UNIT - 1);
    if (hpx_likely(n <= HPX_EV_MAX_BYTES && tail + n - r->head_cache <= r->mask + 1 && (tail & r->mask) + n <= r->mask + 1)) {
        return r->bytes + (tail & r->mask);
    }
    return hpx_ring_reserve_slow(r, n);
}

static inline void hpx_ring_commit_run(struct hpx_ring *r, const struct hpx_ev_head *first, size_t n)
{
    /* Only a record at place 0 can have a pad before it. Not stored in memory: a stored position would be reloaded after the record's
     * own stores, one more store-to-load wait per event (bench_ring: 1.7 ns with, 1.4 without). */
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    if (hpx_unlikely((const char *)first == r->bytes)) {
        tail = (tail + r->mask) & ~r->mask;
    }
    atomic_store_explicit(&r->tail, tail + n, memory_order_release);
}

static inline void hpx_ring_commit(struct hpx_ring *r, struct hpx_ev_head *ev, size_t n)
{
    n = (n + (HPX_EV_UNIT - 1)) & ~(size_t)(HPX_EV_UNIT - 1);
    ev->units = (uint16_t)(n / HPX_EV_UNIT);
    hpx_ring_commit_run(r, ev, n);
}

#endif
