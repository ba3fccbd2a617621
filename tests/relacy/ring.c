/* SPDX-License-Identifier: BSD-2-Clause */
/* ring.c: the ring of one thread: records of one and two units, pads, its fast path, and a consumer. */
#include "ring.h"
#include "relacy.h"

#define SIZE    128u /* 8 units */
#define RECORDS 12u

static struct hpx_ring ring;

static void begin(void)
{
    relacy_check(hpx_ring_init(&ring, SIZE) == 0);
    ring.look = SIZE / 2;
}

static void fill(struct hpx_ev_head *ev, uint32_t number, uint16_t units)
{
    ev->kind = HPX_EV_TEST;
    ev->units = units;
    ev->id = number;
    for (uint16_t i = 1; i < units; i++) {
        ev[i] = (struct hpx_ev_head){.stamp = number};
    }
}

static void produce(void)
{
    uint64_t tail = 0;
    for (uint32_t number = 1; number <= RECORDS;) {
        uint16_t units = (uint16_t)(1 + number % 2);
        void *at = hpx_ring_room(&ring, tail, units * HPX_EV_UNIT);
        if (at != NULL) {
            fill(at, number++, units);
            hpx_ring_publish(&ring, tail += units * HPX_EV_UNIT);
        } else if ((at = hpx_ring_reserve(&ring, units * HPX_EV_UNIT)) != NULL) {
            fill(at, number++, units);
            hpx_ring_commit(&ring, at, units * HPX_EV_UNIT);
            tail = atomic_load_explicit(&ring.tail, memory_order_relaxed);
            ring.look = ring.head_cache + SIZE; /* as look_at_fill() of aggregator.c */
        } else {
            relacy_pause();
        }
    }
}

static void consume(void)
{
    for (uint32_t number = 1; number <= RECORDS;) {
        uint64_t from = hpx_ring_position(&ring), to = hpx_ring_peek(&ring);
        relacy_check(to - from <= SIZE);
        while (from != to) {
            size_t n;
            const struct hpx_ev_head *ev = hpx_ring_span(&ring, from, to, &n), *end = ev + n / HPX_EV_UNIT;
            for (; ev != end; ev = hpx_ring_next(ev, end)) {
                relacy_check(ev->units > 0 && ev->units <= end - ev);
                if (ev->kind != HPX_EV_PAD) {
                    relacy_check(ev->kind == HPX_EV_TEST && ev->id == number && ev->units == 1 + number % 2);
                    relacy_check(ev->units == 1 || ev[1].stamp == number);
                    number++;
                }
            }
            from += n;
        }
        hpx_ring_release(&ring, to);
        relacy_pause();
    }
}

static void end(void)
{
    hpx_ring_fini(&ring);
}

const struct relacy_test relacy_tests[] = {
    {.name = "ring", .runs = 8000, .before = begin, .thread = {produce, consume}, .after = end},
    {.name = NULL},
};
