/* SPDX-License-Identifier: BSD-2-Clause */
/* test_timeline_table.c: each table's events have the time of their ring, their thread and place; what a snapshot takes and leaves. */
#include "block_table.h"
#include "failing_memory.h"
#include "model_fixture.h"
#include "site_table.h"
#include "timeline_table.h"
#include "wall_table.h"

#define MS   UINT64_C(1000000)
#define ZERO (5000 * MS)

static struct fx f;
static struct hpx_timeline *l;
static struct hpx_site_ids ids;

static int begin(void **state)
{
    (void)state;
    fx_begin(&f, NULL);
    l = hpx_timeline_create(f.m, ZERO, 1700000000000);
    assert_non_null(l);
    fx_class(&f, 1, 8, 3, FX_TEXT("Lp/C;\0C.java\0a\0()V\0b\0()V\0c\0()V"));
    fx_thread_start(&f, 5, &f.t, FX_TEXT("T\0main\0"));
    fx_thread_start(&f, 6, &f.u, FX_TEXT("U\0main\0"));
    return 0;
}

static int end(void **state)
{
    (void)state;
    fx_end(&f);
    hpx_site_ids_fini(&ids);
    return 0;
}

static void at(struct hpx_thread *t, uint64_t ms)
{
    fx_event(&f, t, HPX_EV_TIME, 0, ZERO + ms * MS + MS / 2);
}

static struct hpx_timeline_snapshot *take(void)
{
    struct hpx_timeline_snapshot *s = hpx_timeline_snapshot(l, HPX_TAKE_RESET, ZERO + 100000 * MS);
    assert_non_null(s);
    assert_int_equal(s->zero_ms, 1700000000000);
    assert_int_equal(s->end_ms, 100000);
    return s;
}

static const struct hpx_time_place *expect(struct hpx_time_reader *r, const struct hpx_timeline_snapshot *s, uint64_t ms, uint32_t thread,
                                           uint64_t count, uint64_t ns)
{
    struct hpx_time_event e;
    assert_true(hpx_time_next(r, &e));
    assert_int_equal(e.ms, ms);
    assert_int_equal(e.thread, thread);
    assert_int_equal(e.count, count);
    assert_int_equal(e.ns, ns);
    assert_true(e.place < s->nplaces);
    return &s->places[e.place];
}

static void expect_end(struct hpx_time_reader *r)
{
    struct hpx_time_event e;
    assert_false(hpx_time_next(r, &e));
}

static void samples_have_the_time_of_their_ring(void **state)
{
    (void)state;
    at(&f.t, 20);
    fx_define(&f, &f.t, 3, 1, FX_STACK({8, 1}));
    at(&f.u, 7);
    fx_define(&f, &f.u, 9, 2, FX_STACK({16, 1}));
    fx_event(&f, &f.t, HPX_EV_SAMPLE, 3, 1); /* no new time: still 20 */
    at(&f.t, 90);
    fx_event(&f, &f.t, HPX_EV_SAMPLE, 3, 4);
    fx_event(&f, &f.t, HPX_EV_SAMPLE_UNKNOWN, HPX_UNKNOWN_GC_ACTIVE, 1);
    fx_event(&f, &f.t, HPX_EV_SAMPLE_STALLED, 0, 6);
    struct hpx_timeline_snapshot *s = take();
    struct hpx_time_reader r = hpx_time_store_read(&s->events);
    const struct hpx_time_place *a = expect(&r, s, 20, 1, 1, 0), *b = expect(&r, s, 7, 2, 2, 0);
    assert_int_equal(a->kind, HPX_TIME_CPU);
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(expect(&r, s, 20, 1, 1, 0), a);
    assert_ptr_equal(expect(&r, s, 90, 1, 4, 0), a);
    fx_assert_frame(expect(&r, s, 90, 1, 1, 0)->trace, 0, "hprofx.unknown.GC_active(:-1)");
    (void)expect(&r, s, 90, 1, 6, 0);
    expect_end(&r);
    struct hpx_snapshot *rows = hpx_samples_snapshot(f.samples, HPX_TAKE_KEEP);
    assert_ptr_equal(fx_row(rows, a->trace->serial)->trace, a->trace); /* the same trace as in the table */
    assert_int_equal(fx_row(rows, a->trace->serial)->count, 6);
    hpx_snapshot_destroy(rows);
    hpx_timeline_snapshot_destroy(s);
}

static void a_time_before_the_start_is_zero(void **state)
{
    (void)state;
    fx_event(&f, &f.t, HPX_EV_TIME, 0, ZERO - 1);
    fx_define(&f, &f.t, 3, 1, FX_STACK({8, 1}));
    struct hpx_timeline_snapshot *s = take();
    struct hpx_time_reader r = hpx_time_store_read(&s->events);
    (void)expect(&r, s, 0, 1, 1, 0);
    hpx_timeline_snapshot_destroy(s);
}

static void a_snapshot_that_resets_takes_all_and_the_others_nothing(void **state)
{
    static const enum hpx_take others[] = {HPX_TAKE_KEEP, HPX_TAKE_NEW, HPX_TAKE_ALL};
    (void)state;
    at(&f.t, 20);
    fx_define(&f, &f.t, 3, 1, FX_STACK({8, 1}));
    for (size_t i = 0; i < HPX_ARRAY_LEN(others); i++) {
        struct hpx_timeline_snapshot *s = hpx_timeline_snapshot(l, others[i], ZERO);
        assert_int_equal(s->events.events, 0);
        assert_false(s->taken);
        hpx_timeline_snapshot_destroy(s);
    }
    hpx_timeline_snapshot_destroy(take());
    at(&f.t, 30);
    fx_define(&f, &f.t, 4, 1, FX_STACK({16, 1}));
    fx_event(&f, &f.t, HPX_EV_SAMPLE, 3, 1);
    struct hpx_timeline_snapshot *s = take();
    assert_true(s->taken);
    assert_int_equal(s->nplaces, 2);
    struct hpx_time_reader r = hpx_time_store_read(&s->events);
    (void)expect(&r, s, 30, 1, 1, 0);
    (void)expect(&r, s, 30, 1, 1, 0);
    expect_end(&r);
    hpx_timeline_snapshot_destroy(s);
    assert_int_equal(hpx_timeline_figures(l).events, 3);
}

static void waits_have_their_thread_state_and_time(void **state)
{
    struct {
        struct hpx_ev_head head;
        struct hpx_ev_hash hash;
        struct hpx_ev_wall wall;
    } d = {{HPX_EV_WALL_DEF, 3, 4, 0}, {1, 2}, {HPX_SERIAL_THREAD + 2, HPX_WALL_SLEEPING, HPX_UNKNOWN_THREAD_ENDED, 0}};
    struct {
        struct hpx_ev_head head;
        struct hpx_ev_thread thread;
    } ready = {{HPX_EV_WALL_READY, 2, 0, 3 * MS}, {.serial = HPX_SERIAL_THREAD + 1}};
    (void)state;
    assert_non_null(hpx_walls_create(f.m, 10 * MS));
    at(&f.t, 40);
    hpx_model_events(f.m, &f.t, &d.head, sizeof d);
    at(&f.t, 60);
    fx_event(&f, &f.t, HPX_EV_WALL, 4, 15 * MS);
    hpx_model_events(f.m, &f.t, &ready.head, sizeof ready);
    struct hpx_timeline_snapshot *s = take();
    struct hpx_time_reader r = hpx_time_store_read(&s->events);
    const struct hpx_time_place *p = expect(&r, s, 60, 2, 1, 15 * MS);
    assert_int_equal(p->kind, HPX_TIME_WALL);
    assert_int_equal(p->part, HPX_WALL_SLEEPING);
    fx_assert_frame(p->trace, 0, "hprofx.unknown.thread_ended(:-1)");
    assert_int_equal(expect(&r, s, 60, 1, 1, 3 * MS)->part, HPX_WALL_RUNNABLE);
    expect_end(&r);
    hpx_timeline_snapshot_destroy(s);
}

static void allocate(uint64_t interval)
{
    struct {
        struct hpx_ev_head head;
        struct hpx_ev_hash hash;
        struct hpx_ev_site site;
    } d = {{HPX_EV_SITE_DEF, 3, 1, 512}, {1, 2}, {.bytes = 512}};
    assert_non_null(hpx_sites_create(f.m, &(struct hpx_site_options){.ids = &ids, .interval = interval}));
    at(&f.t, 50);
    hpx_model_events(f.m, &f.t, &d.head, sizeof d);
    at(&f.t, 51);
    fx_event(&f, &f.t, HPX_EV_ALLOC, 1, 512);
}

static void sampled_allocations_tell_for_how_much_they_stand(void **state)
{
    (void)state;
    allocate(512);
    struct hpx_timeline_snapshot *s = take();
    struct hpx_time_reader r = hpx_time_store_read(&s->events);
    const struct hpx_time_place *p = expect(&r, s, 50, 1, 1, 0);
    assert_int_equal(p->kind, HPX_TIME_ALLOC);
    assert_int_equal(p->bytes, 512);
    assert_true(p->objects > 1.581 && p->objects < 1.583);
    assert_true(fx_text_is(p->class_name, "hprofx.unknown"));
    (void)expect(&r, s, 51, 1, 1, 0);
    expect_end(&r);
    hpx_timeline_snapshot_destroy(s);
}

static void allocations_that_are_all_recorded_have_no_times(void **state)
{
    (void)state;
    allocate(0);
    struct hpx_timeline_snapshot *s = take();
    assert_int_equal(s->events.events, 0);
    hpx_timeline_snapshot_destroy(s);
}

static void contentions_have_their_part_class_and_time(void **state)
{
    struct {
        struct hpx_ev_head head;
        struct hpx_ev_hash hash[2];
        struct hpx_ev_block block;
    } d = {{HPX_EV_BLOCK_DEF, 4, 7, 0}, {{1, 2}, {0, 0}}, {.part = HPX_BLOCK_PARK}};
    (void)state;
    assert_non_null(hpx_blocks_create(f.m, &(struct hpx_block_options){.interval_ns = 0}));
    at(&f.t, 70);
    hpx_model_events(f.m, &f.t, &d.head, sizeof d);
    fx_event(&f, &f.t, HPX_EV_BLOCKED, 7, 4 * MS);
    struct hpx_timeline_snapshot *s = take();
    struct hpx_time_reader r = hpx_time_store_read(&s->events);
    const struct hpx_time_place *p = expect(&r, s, 70, 1, 1, 4 * MS);
    assert_int_equal(p->kind, HPX_TIME_BLOCK);
    assert_int_equal(p->part, HPX_BLOCK_PARK);
    assert_non_null(p->trace);
    expect_end(&r);
    hpx_timeline_snapshot_destroy(s);
}

static void collections_are_events_of_no_thread(void **state)
{
    (void)state;
    hpx_timeline_at(l, ZERO + 80 * MS, HPX_TIME_GC, 9 * MS);
    struct hpx_timeline_snapshot *s = take();
    struct hpx_time_reader r = hpx_time_store_read(&s->events);
    assert_int_equal(expect(&r, s, 80, 0, 1, 9 * MS)->kind, HPX_TIME_GC);
    hpx_timeline_snapshot_destroy(s);
}

static void without_memory_nothing_is_reset_and_losses_are_counted(void **state)
{
    (void)state;
    at(&f.t, 20);
    fx_define(&f, &f.t, 3, 1, FX_STACK({8, 1}));
    memory_refuse();
    assert_null(hpx_timeline_snapshot(l, HPX_TAKE_RESET, ZERO));
    memory_allow();
    struct hpx_timeline_snapshot *s = take();
    assert_int_equal(s->events.events, 1);
    hpx_timeline_snapshot_destroy(s);
    memory_refuse();
    fx_event(&f, &f.t, HPX_EV_SAMPLE, 3, 2);
    memory_allow();
    assert_int_equal(hpx_timeline_figures(l).lost, 2);
}

/* A ring gets a time where the last one is old enough, and none otherwise. */
static void a_ring_is_told_the_time_once_in_a_while(void **state)
{
    static struct hpx_aggregator a;
    static HPX_ALIGNED(HPX_CACHE_LINE) struct hpx_thread t;
    (void)state;
    memset(&t, 0, sizeof t);
    assert_int_equal(hpx_ring_init(&t.ring, HPX_RING_MIN), 0);
    hpx_time_put(&a, &t);
    uint64_t tail = hpx_ring_peek(&t.ring), told = t.told_ns;
    assert_int_equal(tail, sizeof(struct hpx_ev_head));
    t.told_ns += 3600000 * MS; /* as if it had just been told, however slow this test is */
    uint64_t later = t.told_ns;
    hpx_time_put(&a, &t);
    assert_int_equal(t.told_ns, later);
    assert_int_equal(hpx_ring_peek(&t.ring), tail);
    size_t n;
    const struct hpx_ev_head *ev = hpx_ring_span(&t.ring, 0, tail, &n);
    assert_int_equal(ev->kind, HPX_EV_TIME);
    assert_int_equal(ev->stamp, told);
    hpx_ring_fini(&t.ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_have_the_time_of_their_ring, begin, end),
        cmocka_unit_test_setup_teardown(a_time_before_the_start_is_zero, begin, end),
        cmocka_unit_test_setup_teardown(a_snapshot_that_resets_takes_all_and_the_others_nothing, begin, end),
        cmocka_unit_test_setup_teardown(waits_have_their_thread_state_and_time, begin, end),
        cmocka_unit_test_setup_teardown(sampled_allocations_tell_for_how_much_they_stand, begin, end),
        cmocka_unit_test_setup_teardown(allocations_that_are_all_recorded_have_no_times, begin, end),
        cmocka_unit_test_setup_teardown(contentions_have_their_part_class_and_time, begin, end),
        cmocka_unit_test_setup_teardown(collections_are_events_of_no_thread, begin, end),
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_reset_and_losses_are_counted, begin, end),
        cmocka_unit_test(a_ring_is_told_the_time_once_in_a_while),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
