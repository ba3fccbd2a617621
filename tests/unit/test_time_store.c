/* SPDX-License-Identifier: BSD-2-Clause */
/* test_time_store.c: what comes in comes out, in how many bytes, and what is left of it when it falls to a second. */
#include "cmocka_all.h"
#include "failing_memory.h"
#include "time_store.h"
#include <stdlib.h>

static struct hpx_time_store s;

static int end(void **state)
{
    (void)state;
    hpx_time_store_fini(&s);
    s = (struct hpx_time_store){.most = 0};
    return 0;
}

static void events_come_out_as_they_came_in(void **state)
{
    static const struct hpx_time_event in[] = {{0, 0, 0, 1, 0},
                                               {30, 1, 7, 1, 0},
                                               {31, 1, 7, 2, 5},
                                               {12, 3, UINT32_MAX, 1, 0}, /* earlier than the one before: another thread's */
                                               {90000000, UINT32_MAX, 1, UINT64_MAX, UINT64_MAX},
                                               {90000000, UINT32_MAX, 1, 0, 1}};
    struct hpx_time_event out;
    (void)state;
    for (size_t i = 0; i < HPX_ARRAY_LEN(in); i++) {
        hpx_time_store_add(&s, &in[i]);
    }
    assert_int_equal(s.events, HPX_ARRAY_LEN(in));
    struct hpx_time_reader r = hpx_time_store_read(&s);
    for (size_t i = 0; i < HPX_ARRAY_LEN(in); i++) {
        assert_true(hpx_time_next(&r, &out));
        assert_memory_equal(&out, &in[i], sizeof out);
        assert_int_equal(hpx_time_unit(&r), 1);
    }
    assert_false(hpx_time_next(&r, &out));
    assert_int_equal(s.lost, 0);
    assert_int_equal(s.coarse_ms, 0);
}

static void an_empty_store_has_no_event(void **state)
{
    struct hpx_time_event out;
    struct hpx_time_reader r = hpx_time_store_read(&s);
    (void)state;
    assert_false(hpx_time_next(&r, &out));
}

/* 8 threads, 100 samples a second each; places as they are where a few are hot. */
#define PLACES 300u
static struct hpx_time_event sample(uint64_t i)
{
    uint32_t draw = (uint32_t)(i * UINT64_C(0x9E3779B97F4A7C15) >> 40) & 0xffff;
    return (struct hpx_time_event){i / 8 * 10, (uint32_t)(i % 8), (uint32_t)((uint64_t)draw * draw * PLACES >> 32), 1, 0};
}

static void an_hour_of_eight_cores_takes_less_than_50_mib(void **state)
{
    const uint64_t n = UINT64_C(3600) * 800;
    (void)state;
    for (uint64_t i = 0; i < n; i++) {
        struct hpx_time_event e = sample(i);
        hpx_time_store_add(&s, &e);
    }
    print_message("%.2f bytes an event, %.1f MiB\n", (double)s.bytes / (double)n, (double)s.bytes / 1048576);
    assert_true(s.bytes < (size_t)50 << 20);
    assert_int_equal(s.coarse_ms, 0);
    assert_int_equal(s.events, n);
}

/* What each thread has at each place in a second: of everything that came, and of everything that is left. */
#define SECONDS 3000u
#define THREADS 8u
static uint64_t (*counts)[THREADS][PLACES], (*times)[THREADS][PLACES];

static void tally(int sign, const struct hpx_time_event *e, uint64_t unit)
{
    for (uint64_t sec = e->ms / 1000; unit <= 1000 && sec < SECONDS; sec = SECONDS) {
        counts[sec][e->thread][e->place] += (uint64_t)sign * e->count;
        times[sec][e->thread][e->place] += (uint64_t)sign * e->ns;
    }
}

static void beyond_the_bound_older_parts_fall_to_a_second_and_sums_stay(void **state)
{
    const uint64_t n = (uint64_t)SECONDS * 800u;
    struct hpx_time_event e;
    uint64_t count = 0, ns = 0, coarse = 0, before = 0;
    (void)state;
    s.most = (size_t)9 << 20;
    counts = calloc(SECONDS, sizeof *counts);
    times = calloc(SECONDS, sizeof *times);
    for (uint64_t i = 0; i < n; i++) {
        e = sample(i);
        e.count = 1 + i % 3;
        e.ns = i % 5 == 0 ? i : 0;
        count += e.count;
        ns += e.ns;
        tally(1, &e, 1);
        hpx_time_store_add(&s, &e);
        assert_true(s.bytes <= s.most);
    }
    assert_int_equal(s.lost, 0);
    assert_int_not_equal(s.coarse_ms, 0);
    struct hpx_time_reader r = hpx_time_store_read(&s);
    uint64_t events = 0;
    while (hpx_time_next(&r, &e)) {
        uint64_t unit = hpx_time_unit(&r);
        assert_true(unit == 1 || unit == 1000);
        assert_true(unit == 1 || e.ms % unit == 0);
        assert_true(e.ms / 1000 >= before); /* older ones first */
        before = e.ms / 1000;
        coarse += unit == 1000;
        events++;
        count -= e.count;
        ns -= e.ns;
        tally(-1, &e, unit);
    }
    assert_int_equal(events, s.events);
    assert_int_equal(count, 0);
    assert_int_equal(ns, 0);
    assert_true(coarse > 0);
    for (uint32_t i = 0; i < SECONDS * THREADS * PLACES; i++) { /* also in every second, thread and place */
        assert_int_equal((&counts[0][0][0])[i], 0);
        assert_int_equal((&times[0][0][0])[i], 0);
    }
    free(counts);
    free(times);
}

static void what_does_not_fit_at_all_goes_the_oldest_first_and_is_counted(void **state)
{
    uint64_t count = 0, left = 0;
    struct hpx_time_event e;
    (void)state;
    s.most = (size_t)20 * HPX_TIME_STORE_BLOCK;
    for (uint64_t i = 0; i < 2000000; i++) { /* no two are alike */
        e = (struct hpx_time_event){i, 1, (uint32_t)i, 3, 0};
        count += e.count;
        hpx_time_store_add(&s, &e);
        assert_true(s.bytes <= s.most);
    }
    struct hpx_time_reader r = hpx_time_store_read(&s);
    uint64_t events = 0;
    for (; hpx_time_next(&r, &e); events++) {
        left += e.count;
    }
    assert_int_equal(events, s.events);
    assert_true(s.lost > 0);
    assert_int_equal(left + s.lost, count);
    assert_int_equal(e.place, 1999999);
}

static void a_snapshot_takes_all_and_leaves_an_empty_store(void **state)
{
    struct hpx_time_store to;
    struct hpx_time_event e = {5, 1, 2, 1, 0};
    (void)state;
    hpx_time_store_add(&s, &e);
    hpx_time_store_take(&s, &to);
    assert_int_equal(to.events, 1);
    assert_int_equal(s.events + s.bytes, 0);
    e.place = 3;
    hpx_time_store_add(&s, &e);
    struct hpx_time_reader r = hpx_time_store_read(&to);
    assert_true(hpx_time_next(&r, &e));
    assert_int_equal(e.place, 2);
    assert_false(hpx_time_next(&r, &e));
    hpx_time_store_fini(&to);
}

static void without_memory_events_are_counted_as_lost(void **state)
{
    struct hpx_time_event e = {5, 1, 2, 4, 0};
    (void)state;
    memory_refuse();
    hpx_time_store_add(&s, &e);
    memory_allow();
    assert_int_equal(s.lost, 4);
    assert_int_equal(s.events, 0);
    hpx_time_store_add(&s, &e);
    assert_int_equal(s.events, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_empty_store_has_no_event, end),
        cmocka_unit_test_teardown(events_come_out_as_they_came_in, end),
        cmocka_unit_test_teardown(an_hour_of_eight_cores_takes_less_than_50_mib, end),
        cmocka_unit_test_teardown(beyond_the_bound_older_parts_fall_to_a_second_and_sums_stay, end),
        cmocka_unit_test_teardown(what_does_not_fit_at_all_goes_the_oldest_first_and_is_counted, end),
        cmocka_unit_test_teardown(a_snapshot_takes_all_and_leaves_an_empty_store, end),
        cmocka_unit_test_teardown(without_memory_events_are_counted_as_lost, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
