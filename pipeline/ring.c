/* SPDX-License-Identifier: BSD-2-Clause */
/* ring.c: memory of the ring, and the reserve that needs more than one look. */
#include "ring.h"

#include "err.h"
#include <sys/mman.h>

int hpx_ring_init(struct hpx_ring *r, uint32_t size)
{
    assert(size >= HPX_RING_MIN && size <= HPX_RING_MAX && (size & (size - 1)) == 0);
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return -HPX_E_NOMEM;
    }
    atomic_init(&r->tail, 0);
    atomic_init(&r->head, 0);
    r->head_cache = 0;
    r->look = size / 2;
    r->bytes = p;
    r->mask = size - 1;
    return 0;
}

void hpx_ring_fini(struct hpx_ring *r)
{
    if (r->bytes) {
        munmap(r->bytes, r->mask + 1);
        r->bytes = NULL;
    }
}

void *hpx_ring_reserve_slow(struct hpx_ring *r, size_t n)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed), size = r->mask + 1;
    if (n > HPX_EV_MAX_BYTES) {
        return NULL;
    }
    r->head_cache = atomic_load_explicit(&r->head, memory_order_acquire); /* partner: hpx_ring_release(), the bytes were read */
    uint64_t free_bytes = size - (tail - r->head_cache), at = tail & r->mask;
    uint64_t pad = at + n > size ? size - at : 0;
    if (pad + n > free_bytes) {
        return NULL;
    }
    if (pad) {
        /* A unit is free before the end: records are whole units, and so is the ring. Below n, so `units` can hold it. */
        struct hpx_ev_head *h = (struct hpx_ev_head *)(void *)(r->bytes + at);
        *h = (struct hpx_ev_head){.kind = HPX_EV_PAD, .units = (uint16_t)(pad / HPX_EV_UNIT)};
        HPX_TESTPOINT(ring_padded);
    }
    return r->bytes + ((tail + pad) & r->mask);
}
