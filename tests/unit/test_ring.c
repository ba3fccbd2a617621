/* SPDX-License-Identifier: BSD-2-Clause */
/* test_ring.c: the edges of the byte ring, with one thread on both sides. */
#include "cmocka_all.h"
#include "err.h"
#include "failing_memory.h"
#include "ring.h"

#include <string.h>
#include <sys/mman.h>

static struct hpx_ring ring;

/* An empty ring whose next record begins at position `at`. */
static void ring_at(uint32_t size, uint64_t at)
{
    assert_int_equal(hpx_ring_init(&ring, size), 0);
    atomic_store(&ring.tail, at);
    atomic_store(&ring.head, at);
    ring.head_cache = at;
}

static bool push(size_t n, uint32_t id)
{
    struct hpx_ev_head *ev = hpx_ring_reserve(&ring, n);
    if (!ev) {
        return false;
    }
    ev->kind = HPX_EV_TEST;
    ev->id = id;
    hpx_ring_commit(&ring, ev, n);
    return true;
}

/* Reads the next record; a pad counts as one. */
static struct hpx_ev_head pop(void)
{
    uint64_t at = hpx_ring_position(&ring), to = hpx_ring_peek(&ring);
    size_t n;
    assert_true(at != to);
    struct hpx_ev_head ev = *hpx_ring_span(&ring, at, to, &n);
    assert_in_range(ev.units, 1, n / HPX_EV_UNIT);
    hpx_ring_release(&ring, at + (uint64_t)ev.units * HPX_EV_UNIT);
    return ev;
}

static bool empty(void)
{
    return hpx_ring_position(&ring) == hpx_ring_peek(&ring);
}

TEST(ring_init_refuses_other_sizes)
{
    assert_int_equal(hpx_ring_init(&ring, 0), -HPX_E_RANGE);
    assert_int_equal(hpx_ring_init(&ring, HPX_RING_MIN / 2), -HPX_E_RANGE);
    assert_int_equal(hpx_ring_init(&ring, HPX_RING_MIN + 16), -HPX_E_RANGE);
    assert_int_equal(hpx_ring_init(&ring, HPX_RING_MAX * 2), -HPX_E_RANGE);
}

TEST(ring_init_without_memory_says_so)
{
    memory_refuse();
    int rc = hpx_ring_init(&ring, HPX_RING_MIN);
    memory_allow();
    assert_int_equal(rc, -HPX_E_NOMEM);
}

TEST(ring_bytes_begin_on_a_page)
{
    ring_at(HPX_RING_MIN, 0);
    assert_int_equal((uintptr_t)ring.bytes % 4096, 0);
    hpx_ring_fini(&ring);
    assert_null(ring.bytes);
    hpx_ring_fini(&ring);
}

TEST(ring_holds_exactly_its_size)
{
    ring_at(HPX_RING_MIN, 0);
    for (uint32_t i = 0; i < HPX_RING_MIN / 16; i++) {
        assert_true(push(16, i));
    }
    assert_int_equal(hpx_ring_peek(&ring) - hpx_ring_position(&ring), HPX_RING_MIN);
    assert_false(push(16, 999));
    for (uint32_t i = 0; i < HPX_RING_MIN / 16; i++) {
        assert_int_equal(pop().id, i);
    }
    assert_true(empty());
    assert_true(push(16, 999));
    hpx_ring_fini(&ring);
}

TEST(ring_lengths_are_rounded_up_to_units)
{
    ring_at(HPX_RING_MIN, 0);
    assert_true(push(17, 1));
    assert_true(push(48, 2));
    assert_int_equal(pop().units, 2);
    assert_int_equal(pop().units, 3);
    assert_true(empty());
    hpx_ring_fini(&ring);
}

TEST(ring_reserve_wraps_with_pad_record)
{
    ring_at(HPX_RING_MIN, HPX_RING_MIN - 48);
    assert_true(push(64, 5));
    struct hpx_ev_head pad = pop(), ev = pop();
    assert_int_equal(pad.kind, HPX_EV_PAD);
    assert_int_equal(pad.units, 3);
    assert_int_equal(ev.id, 5);
    assert_int_equal(hpx_ring_position(&ring), HPX_RING_MIN + 64);
    hpx_ring_fini(&ring);
}

TEST(ring_pad_may_be_one_unit)
{
    ring_at(HPX_RING_MIN, HPX_RING_MIN - 16);
    assert_true(push(32, 5));
    assert_int_equal(pop().units, 1);
    assert_int_equal(pop().id, 5);
    assert_true(empty());
    hpx_ring_fini(&ring);
}

TEST(ring_record_that_ends_at_the_end_needs_no_pad)
{
    ring_at(HPX_RING_MIN, HPX_RING_MIN - 32);
    assert_true(push(32, 5));
    assert_true(push(32, 6));
    assert_int_equal(pop().id, 5);
    assert_int_equal(pop().id, 6);
    assert_true(empty());
    hpx_ring_fini(&ring);
}

TEST(ring_record_up_to_the_end_needs_no_pad_when_the_head_must_be_looked_up)
{
    ring_at(HPX_RING_MIN, HPX_RING_MIN - 1024);
    while (push(16, 1)) {
    }
    while (!empty()) {
        pop();
    }
    assert_true(push(1024, 2));
    assert_int_equal(pop().id, 2);
    assert_true(empty());
    hpx_ring_fini(&ring);
}

TEST(ring_pad_is_unseen_before_commit)
{
    ring_at(HPX_RING_MIN, HPX_RING_MIN - 16);
    struct hpx_ev_head *ev = hpx_ring_reserve(&ring, 64);
    assert_non_null(ev);
    assert_true(empty());
    ev->kind = HPX_EV_TEST;
    hpx_ring_commit(&ring, ev, 64);
    assert_false(empty());
    hpx_ring_fini(&ring);
}

TEST(ring_quarter_fits_an_empty_ring_at_every_place)
{
    for (uint64_t at = 0; at < HPX_RING_MIN; at += 16) {
        ring_at(HPX_RING_MIN, at);
        assert_true(push(HPX_RING_MIN / 4, 7));
        struct hpx_ev_head ev = pop();
        if (ev.kind == HPX_EV_PAD) {
            ev = pop();
        }
        assert_int_equal(ev.id, 7);
        assert_int_equal(ev.units, HPX_RING_MIN / 4 / 16);
        hpx_ring_fini(&ring);
    }
}

TEST(ring_reservation_given_up_leaves_no_trace)
{
    ring_at(HPX_RING_MIN, HPX_RING_MIN - 16);
    void *padded = hpx_ring_reserve(&ring, 64), *again = hpx_ring_reserve(&ring, 64);
    assert_ptr_equal(padded, again);
    assert_ptr_equal(padded, ring.bytes);
    /* A shorter record needs no pad: the pad of the given-up one must be gone. */
    assert_true(push(16, 3));
    struct hpx_ev_head ev = pop();
    assert_int_equal(ev.kind, HPX_EV_TEST);
    assert_int_equal(ev.id, 3);
    assert_true(empty());
    hpx_ring_fini(&ring);
}

TEST(ring_is_full_when_pad_and_record_do_not_both_fit)
{
    ring_at(HPX_RING_MIN, 0);
    for (uint32_t i = 0; i < HPX_RING_MIN / 16 - 1; i++) {
        assert_true(push(16, i));
    }
    /* 16 bytes free at the end; then 32 free at the start: a record of 32 needs 16 + 32. */
    assert_false(push(32, 1000));
    assert_int_equal(pop().id, 0);
    assert_false(push(32, 1000));
    assert_int_equal(pop().id, 1);
    assert_true(push(32, 1000));
    assert_false(push(16, 1001));
    for (uint32_t i = 2; i < HPX_RING_MIN / 16 - 1; i++) {
        assert_int_equal(pop().id, i);
    }
    assert_int_equal(pop().kind, HPX_EV_PAD);
    assert_int_equal(pop().id, 1000);
    assert_true(empty());
    hpx_ring_fini(&ring);
}

TEST(ring_commit_shrunk_frees_the_rest)
{
    ring_at(HPX_RING_MIN, 0);
    struct hpx_ev_head *ev = hpx_ring_reserve(&ring, 1024);
    assert_non_null(ev);
    ev->kind = HPX_EV_TEST;
    ev->id = 1;
    hpx_ring_commit(&ring, ev, 40);
    assert_true(push(16, 2));
    assert_int_equal(pop().units, 3);
    assert_int_equal(pop().id, 2);
    assert_true(empty());
    hpx_ring_fini(&ring);
}

TEST(ring_positions_may_pass_two_to_the_64)
{
    ring_at(HPX_RING_MIN, UINT64_MAX - 255);
    for (uint32_t i = 0; i < 3 * HPX_RING_MIN / 48; i++) {
        assert_true(push(48, i));
        struct hpx_ev_head ev = pop();
        if (ev.kind == HPX_EV_PAD) {
            ev = pop();
        }
        assert_int_equal(ev.id, i);
    }
    assert_true(hpx_ring_position(&ring) < 4 * (uint64_t)HPX_RING_MIN);
    hpx_ring_fini(&ring);
}

TEST(ring_longest_record_and_longest_pad_fit_their_units)
{
    ring_at(HPX_RING_MAX, HPX_RING_MAX - (HPX_EV_MAX_BYTES - 16));
    assert_true(push(HPX_EV_MAX_BYTES, 9));
    struct hpx_ev_head pad = pop(), ev = pop();
    assert_int_equal(pad.kind, HPX_EV_PAD);
    assert_int_equal(pad.units, 65534);
    assert_int_equal(ev.units, 65535);
    assert_int_equal(ev.id, 9);
    assert_true(empty());
    hpx_ring_fini(&ring);
}

TEST(ring_refuses_a_record_that_units_cannot_say)
{
    ring_at(HPX_RING_MAX, 0);
    assert_null(hpx_ring_reserve(&ring, HPX_EV_MAX_BYTES + 1));
    assert_null(hpx_ring_reserve(&ring, HPX_RING_MAX / 4));
    assert_true(push(16, 1));
    hpx_ring_fini(&ring);
}

TEST(ring_next_visits_every_record_of_a_run)
{
    ring_at(HPX_RING_MIN, 0);
    uint32_t sent = 0;
    while (push(16 + 16 * (sent % 5), sent)) {
        sent++;
    }
    size_t n;
    const struct hpx_ev_head *ev = hpx_ring_span(&ring, 0, hpx_ring_peek(&ring), &n), *end = ev + n / 16;
    uint32_t got = 0;
    for (; ev != end; ev = hpx_ring_next(ev, end)) {
        assert_int_equal(ev->id, got++);
    }
    assert_int_equal(got, sent);
    hpx_ring_fini(&ring);
}

TESTS(NULL, NULL)
