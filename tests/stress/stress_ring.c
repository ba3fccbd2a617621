/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_ring.c: one producer, one consumer; nothing lost, nothing invented, nothing out of order, at every size and place. */
#include "ring.h"
#include "stress.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define BODY_MAX 2048u

struct run {
    struct hpx_ring ring;
    uint64_t attempts;
    bool wait; /* on a full ring: wait for space instead of dropping */
    uint64_t seed;
    uint64_t committed, dropped, bytes; /* the producer's, read after join */
    atomic_bool done;                   /* release: the producer's end; acquire: the consumer */
};

/* The body repeats the number of the record. */
static void fill(struct hpx_ev_head *ev, size_t n, uint64_t seq)
{
    ev->kind = HPX_EV_TEST;
    ev->id = (uint32_t)seq;
    ev->stamp = seq;
    memset(ev + 1, (int)(seq & 0xff), n - sizeof(*ev));
}

static bool body_is(const struct hpx_ev_head *ev, uint64_t seq)
{
    const unsigned char *p = (const unsigned char *)(ev + 1), want = (unsigned char)(seq & 0xff);
    for (size_t i = 0, n = (size_t)(ev->units - 1) * HPX_EV_UNIT; i < n; i++) {
        if (p[i] != want) {
            return false;
        }
    }
    return true;
}

static void *produce(void *arg)
{
    struct run *r = arg;
    size_t longest = (r->ring.mask + 1) / 4 < BODY_MAX ? (r->ring.mask + 1) / 4 : BODY_MAX;
    for (uint64_t seq = 0; seq < r->attempts; seq++) {
        uint64_t dice = stress_random(&r->seed);
        size_t n = 16 + 16 * ((dice >> 8) % (longest / 16));
        size_t asked = dice & 1 ? n : longest; /* half of the commits shrink */
        struct hpx_ev_head *ev = hpx_ring_reserve(&r->ring, asked);
        if (ev && (dice >> 1 & 15) == 0) {
            fill(ev, asked, UINT64_MAX); /* given up: must not be seen */
            ev = hpx_ring_reserve(&r->ring, asked);
        }
        while (!ev && r->wait) {
            sched_yield();
            ev = hpx_ring_reserve(&r->ring, asked);
        }
        if (!ev) {
            r->dropped++;
            sched_yield(); /* or the consumer may never run beside this loop */
            continue;
        }
        fill(ev, n, seq);
        hpx_ring_commit(&r->ring, ev, n);
        r->committed++;
        r->bytes += n;
    }
    atomic_store_explicit(&r->done, true, memory_order_release);
    return NULL;
}

struct seen {
    uint64_t records, bytes, pads, order_errors, body_errors, length_errors, next;
};

static void consume_span(struct seen *s, const struct hpx_ev_head *ev, size_t n)
{
    const struct hpx_ev_head *end = ev + n / HPX_EV_UNIT;
    while (ev < end) {
        if (!ev->units || ev->units > end - ev) {
            s->length_errors++;
            return;
        }
        if (ev->kind == HPX_EV_PAD) {
            s->pads++;
        } else {
            s->order_errors += ev->stamp < s->next || ev->kind != HPX_EV_TEST;
            s->next = ev->stamp + 1;
            s->body_errors += !body_is(ev, ev->stamp);
            s->records++;
            s->bytes += (uint64_t)ev->units * HPX_EV_UNIT;
        }
        ev = hpx_ring_next(ev, end);
    }
}

static void consume(struct run *r, struct seen *s)
{
    uint64_t at = hpx_ring_position(&r->ring);
    for (;;) {
        bool done = atomic_load_explicit(&r->done, memory_order_acquire); /* before the tail: the last one */
        uint64_t to = hpx_ring_peek(&r->ring);
        if (at == to) {
            if (done) {
                return;
            }
            sched_yield();
        }
        while (at != to) {
            size_t n;
            const struct hpx_ev_head *ev = hpx_ring_span(&r->ring, at, to, &n);
            consume_span(s, ev, n);
            at += n;
            hpx_ring_release(&r->ring, at);
        }
    }
}

static void run(uint32_t size, uint64_t at, bool wait)
{
    static struct run r;
    struct seen s = {0};
    pthread_t thread;
    memset(&r, 0, sizeof(r));
    assert_int_equal(hpx_ring_init(&r.ring, size), 0);
    atomic_store(&r.ring.tail, at);
    atomic_store(&r.ring.head, at);
    r.ring.head_cache = at;
    r.attempts = stress_times(20000);
    r.wait = wait;
    r.seed = size * UINT64_C(0x9e3779b97f4a7c15) ^ at ^ 1;
    assert_int_equal(pthread_create(&thread, NULL, produce, &r), 0);
    consume(&r, &s);
    pthread_join(thread, NULL);
    assert_int_equal(s.length_errors, 0);
    assert_int_equal(s.order_errors, 0);
    assert_int_equal(s.body_errors, 0);
    assert_int_equal(r.attempts, r.committed + r.dropped);
    assert_int_equal(s.records, r.committed);
    assert_int_equal(s.bytes, r.bytes);
    if (wait) {
        assert_int_equal(r.dropped, 0);
        assert_true(s.pads > 0);
    }
    hpx_ring_fini(&r.ring);
}

TEST(ring_keeps_count_and_order_when_it_drops)
{
    for (uint32_t size = HPX_RING_MIN; size <= HPX_RING_MIN * 16; size *= 2) {
        run(size, 0, false);
    }
}

TEST(ring_keeps_count_and_order_when_the_producer_waits)
{
    for (uint32_t size = HPX_RING_MIN; size <= HPX_RING_MIN * 16; size *= 2) {
        run(size, 0, true);
    }
}

TEST(ring_keeps_count_and_order_near_the_end_of_places_and_positions)
{
    run(HPX_RING_MIN, HPX_RING_MIN - 16, true);
    run(HPX_RING_MIN, UINT64_MAX - 15, true);
    run(HPX_RING_MIN, UINT64_MAX - (uint64_t)100 * HPX_RING_MIN + 1, true);
}

TESTS(NULL, NULL)
