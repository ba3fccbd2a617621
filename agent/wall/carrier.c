/* SPDX-License-Identifier: BSD-2-Clause */
/* carrier.c: see carrier.h. */
#include "carrier.h"
#include "session.h"
#include <stdlib.h>
#include <string.h>

#define RING_BYTES (512u << 10) /* threads that go on at once fill it before the aggregator comes */
#define NS_PER_MS  UINT64_C(1000000)

static_assert(4 * HPX_EV_WALL_BYTES(2 * HPX_MAX_DEPTH) <= RING_BYTES, "the longest stack is a record, whatever depth a peer asks for");

static HPX_OF_SESSION const void *carriers_mode;

/* Of the calling thread. NULL: none, or none could be made; in the session with this number. wall.c frees it (hpx_mode.gone). */
static __thread struct hpx_thread *self;
static __thread uint32_t self_session;

static struct hpx_thread *make(void)
{
    void *at = NULL;
    struct hpx_thread *t = posix_memalign(&at, HPX_CACHE_LINE, sizeof *t) == 0 ? at : NULL;
    if (t == NULL) {
        return NULL;
    }
    memset(t, 0, sizeof *t);
    t->mode = carriers_mode;
    if (hpx_ring_init(&t->ring, RING_BYTES) != 0) {
        free(t);
        return NULL;
    }
    hpx_registry_push(&hpx_session.aggregator.registry, t);
    return t;
}

void hpx_carrier_begin(const void *mode)
{
    carriers_mode = mode;
}

static struct hpx_thread *find(void)
{
    if (!hpx_session_is(self_session)) {
        self = make();
        self_session = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
    }
    return self;
}

struct hpx_ev_head *hpx_carrier_reserve(uint32_t most, uint64_t ns)
{
    struct hpx_thread *t = find();
    struct hpx_ev_head *ev = NULL;
    if (t != NULL) {
        hpx_session_time(t);
        ev = hpx_reserve_or_drop(&hpx_session.aggregator, t, HPX_EV_WALL_BYTES(most), 0); /* 0: what is lost is time */
    }
    if (ev == NULL) {
        hpx_count(&hpx_session.counters, HPX_C_WALL_LOST, (ns + NS_PER_MS / 2) / NS_PER_MS);
    }
    return ev;
}

void hpx_carrier_commit(struct hpx_ev_head *ev, uint32_t frames)
{
    hpx_ring_commit(&self->ring, ev, HPX_EV_WALL_BYTES(frames));
}

void hpx_carrier_end(void)
{
    if (self != NULL && hpx_session_is(self_session)) {
        hpx_registry_retire(self);
    }
    self = NULL;
}
