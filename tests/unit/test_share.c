/* SPDX-License-Identifier: BSD-2-Clause */
/* test_share.c: where the time between two looks goes; nothing of it is lost, and none goes to one side on average. */
#include "cmocka_all.h"
#include "run_delay.h"
#include "share.h"
#include <stdlib.h>

#define MS UINT64_C(1000000)

static struct hpx_share s;

static uint64_t all(uint64_t cpu)
{
    return s.due_ns + s.carry_ns + s.ready_ns + cpu;
}

TEST(an_idle_thread_is_where_it_was)
{
    hpx_share_begin(&s, 100 * MS, 7);
    assert_true(hpx_share_look(&s, 120 * MS, 7, 0)); /* nobody knows where it waits */
    assert_int_equal(s.carry_ns, 20 * MS);
    hpx_share_place(&s);
    assert_int_equal(s.due_ns, 20 * MS);
    assert_false(hpx_share_look(&s, 150 * MS, 7, 0));
    assert_int_equal(s.due_ns, 50 * MS);
    assert_int_equal(s.carry_ns, 0);
}

TEST(a_thread_that_has_run_was_idle_for_the_rest)
{
    hpx_share_begin(&s, 0, 0);
    (void)hpx_share_look(&s, 1 * MS, 0, 0);
    hpx_share_place(&s);
    assert_true(hpx_share_look(&s, 21 * MS, 6 * MS, 4 * MS));
    assert_int_equal(s.due_ns, 6 * MS); /* half of what is neither CPU time nor delay */
    assert_int_equal(s.carry_ns, 5 * MS);
    assert_int_equal(s.ready_ns, 4 * MS);
    assert_int_equal(all(6 * MS), 21 * MS);
    assert_true(hpx_share_look(&s, 41 * MS, 26 * MS, 0)); /* runs all the time: what it waited is carried on */
    assert_int_equal(s.carry_ns, 5 * MS);
    assert_true(hpx_share_look(&s, 61 * MS, 26 * MS, 0)); /* waits, it is not known where */
    assert_int_equal(s.carry_ns, 25 * MS);
    hpx_share_place(&s);
    assert_int_equal(s.due_ns, 31 * MS);
}

/* It wants a CPU, and has none at several looks, which cannot tell that from waiting. */
TEST(what_was_carried_may_have_been_time_without_a_cpu)
{
    hpx_share_begin(&s, 0, 0);
    (void)hpx_share_look(&s, 20 * MS, 10 * MS, 0);
    (void)hpx_share_look(&s, 40 * MS, 10 * MS, 0);
    (void)hpx_share_look(&s, 60 * MS, 10 * MS, 0);
    assert_int_equal(s.carry_ns, 50 * MS);
    (void)hpx_share_look(&s, 80 * MS, 25 * MS, 45 * MS);
    assert_int_equal(s.ready_ns, 45 * MS);
    assert_int_equal(s.carry_ns, 10 * MS);
}

TEST(clocks_that_contradict_each_other_give_no_time)
{
    hpx_share_begin(&s, 10 * MS, 5 * MS);
    (void)hpx_share_look(&s, 12 * MS, 9 * MS, 50 * MS); /* more CPU time than time */
    assert_int_equal(all(0), 0);
    (void)hpx_share_look(&s, 14 * MS, 9 * MS + 1, 50 * MS); /* more delay than is left */
    assert_int_equal(s.ready_ns, 2 * MS - 1);
    assert_int_equal(s.carry_ns, 0);
    (void)hpx_share_look(&s, 13 * MS, 9 * MS + 1, 0); /* back */
    assert_int_equal(s.looked_ns, 14 * MS);
    assert_int_equal(s.carry_ns, 0);
}

TEST(who_is_idle_for_long_is_looked_at_seldom)
{
    hpx_share_begin(&s, 0, 0);
    (void)hpx_share_look(&s, 20 * MS, 0, 0);
    assert_int_equal(hpx_share_next(&s, 20 * MS), 20 * MS); /* at once: not placed */
    hpx_share_place(&s);
    (void)hpx_share_look(&s, 320 * MS, 0, 0);
    assert_int_equal(hpx_share_next(&s, 20 * MS), 320 * MS); /* a sixteenth is an interval */
    (void)hpx_share_look(&s, 800 * MS, 0, 0);
    assert_int_equal(hpx_share_next(&s, 20 * MS), 850 * MS);
    (void)hpx_share_look(&s, 100000 * MS, 0, 0);
    assert_int_equal(hpx_share_next(&s, 20 * MS), 101000 * MS);
    (void)hpx_share_look(&s, 101000 * MS, 1, 0);
    assert_int_equal(hpx_share_next(&s, 20 * MS), 101000 * MS);
}

TEST(a_thread_that_ends_was_where_it_was_found)
{
    hpx_share_begin(&s, 0, 0);
    (void)hpx_share_look(&s, 20 * MS, 0, 0);
    hpx_share_place(&s);
    hpx_share_end(&s, 35 * MS, 1 * MS, 0);
    assert_int_equal(s.due_ns, 34 * MS);
    assert_int_equal(s.carry_ns, 0);
    hpx_share_begin(&s, 0, 0);
    hpx_share_end(&s, 35 * MS, 1 * MS, 0);
    assert_int_equal(s.carry_ns, 34 * MS); /* never seen waiting */
}

/* Threads that sleep and park in turn, looked at as the agent does it: shares within two points. */
static uint64_t part_of(uint64_t sleep_ns, uint64_t park_ns, unsigned short random[3])
{
    uint64_t now = 0, sum[2] = {0, 0}, began = 0, runs = 0;
    int place = 0, known = 0;
    hpx_share_begin(&s, 0, 0);
    for (uint64_t end = 4000 * (sleep_ns + park_ns), next = 0; now < end;) {
        now += 10 * MS + (uint64_t)nrand48(random) % (20 * MS);
        for (uint64_t length; now > began + (length = place == 0 ? sleep_ns : park_ns); began += length) {
            place = 1 - place;
            runs++; /* a nanosecond of CPU time at each change */
        }
        if (now + 10 * MS < next) {
            continue;
        }
        bool asks = hpx_share_look(&s, now, runs, 0);
        sum[known] += s.due_ns;
        s.due_ns = 0;
        if (asks) {
            known = place;
            hpx_share_place(&s);
        }
        next = hpx_share_next(&s, 20 * MS);
    }
    sum[known] += s.due_ns;
    return sum[1] * 10000 / (sum[0] + sum[1]);
}

TEST(known_shares_come_out_within_two_points)
{
    static const struct {
        uint64_t sleep_ms, park_ms;
    } programs[] = {{1, 3}, {30, 70}, {200, 20}, {1000, 10}, {1000, 60}, {1000, 125}, {5000, 500}, {5000, 300}, {20000, 1000}};
    unsigned short random[3] = {1, 2, 3};
    for (size_t i = 0; i < HPX_ARRAY_LEN(programs); i++) {
        uint64_t sleep = programs[i].sleep_ms, park = programs[i].park_ms, want = park * 10000 / (sleep + park);
        uint64_t got = part_of(sleep * MS, park * MS, random);
        if (got > want + 200 || got + 200 < want) {
            fail_msg("sleep %d ms, park %d ms: %d instead of %d", (int)sleep, (int)park, (int)got, (int)want);
        }
    }
}

TEST(the_run_delay_is_the_second_figure)
{
    assert_int_equal(hpx_run_delay_of("123 456789 12\n"), 456789);
    assert_int_equal(hpx_run_delay_of("0 0 0\n"), 0);
    assert_int_equal(hpx_run_delay_of(""), 0);
    assert_int_equal(hpx_run_delay_of("123"), 0);
    assert_int_equal(hpx_run_delay(-1), 0);
    assert_true(hpx_run_wants_cpu_of("12 (a) S) R 1 2"));
    assert_false(hpx_run_wants_cpu_of("12 (a) R) S 1 2"));
    assert_false(hpx_run_wants_cpu_of(""));
    assert_false(hpx_run_wants_cpu(-1));
}

TESTS(NULL, NULL)
