/* SPDX-License-Identifier: BSD-2-Clause */
/* test_site_table.c: allocations and frees become rows. Classes: test_site_classes.c; estimates: test_site_sampled.c. */
#include "site_fixture.h"

#define GIB (UINT64_C(1) << 30)

static const struct hpx_model_config no_lines = {.lines = false};
static const struct hpx_model_config by_thread = {.lines = false, .thread_in_traces = true};

static void begin_exact(void)
{
    begin(&no_lines, 0, true);
    give_class();
    object_class(1, 8, "Lp/C;");
    object_class(2, 0, "[I");
}

/* Ids of one raw trace: the first of them moves it, and the others follow. */
TEST(a_name_that_comes_late_moves_the_rows_of_all_ids, NULL, end)
{
    begin(&no_lines, 512, true);
    fx_class(&f, 1, 8, 1, "", 0);
    object_class(1, 0, "Lq/O;");
    define(&f.t, id_of(0), 1, 16, 16, FX_STACK({8, 1}));
    define(&f.t, id_of(1), 1, 24, 24, FX_STACK({8, 1}));
    hpx_site_snapshot_destroy(take(1));
    fx_answer(&f, 0, NULL, 0, FX_TEXT("Lp/C;\0C.java\0a\0()V"));
    for (int i = 0; i < 2; i++) {
        hpx_site_snapshot_destroy(take(1));
    }
}

TEST(what_lives_is_never_below_0, NULL, end)
{
    begin_exact();
    define(&f.t, id_of(0), 1, 16, 0, FX_STACK({8, 1}));
    define(&f.t, id_of(1), 1, 16, 0, FX_STACK({8, 2})); /* prints alike: one site, whose ids are floored each by itself */
    for (int i = 0; i < 3; i++) {
        free_object(id_of(0), 16); /* two of them are of allocations that are in a ring still */
    }
    struct hpx_site_snapshot *s = take(1);
    assert_row(&s->rows[0], 2, 32, 1, 16);
    hpx_site_snapshot_destroy(s);
    allocate(&f.t, id_of(0), 16);
    allocate(&f.t, id_of(0), 16);
    s = take(1);
    assert_row(&s->rows[0], 4, 64, 1, 16);
    hpx_site_snapshot_destroy(s);
}

TEST(where_frees_are_not_known_nothing_is_said_to_live, NULL, end)
{
    begin(&no_lines, 0, false);
    give_class();
    object_class(1, 8, "Lp/C;");
    define(&f.t, id_of(0), 1, 16, 0, FX_STACK({8, 1}));
    struct hpx_site_snapshot *s = take(1);
    assert_false(s->live);
    assert_row(&s->rows[0], 1, 16, 0, 0);
    hpx_site_snapshot_destroy(s);
}

static void assert_changed(bool first, bool second)
{
    struct hpx_site_snapshot *s = take(2);
    assert_int_equal(row(s, "p.C", NULL)->changed, first);
    assert_int_equal(row(s, "int[]", NULL)->changed, second);
    hpx_site_snapshot_destroy(s);
}

TEST(a_row_has_changed_when_something_was_allocated_or_freed, NULL, end)
{
    begin_exact();
    define(&f.t, id_of(0), 1, 16, 0, FX_STACK({8, 1}));
    define(&f.t, id_of(1), 2, 16, 0, FX_STACK({8, 1}));
    assert_changed(true, true);
    assert_changed(false, false);
    allocate(&f.u, id_of(0), 16);
    assert_changed(true, false);
    free_object(id_of(1), 16);
    assert_changed(false, true);
    assert_changed(false, false);
}

TEST(a_clear_begins_anew, NULL, end)
{
    begin_exact();
    define(&f.t, id_of(0), 1, 16, 0, FX_STACK({8, 1}));
    allocate(&f.t, id_of(0), 16);
    allocate(&f.u, id_of(5), 16); /* no definition yet */
    hpx_site_snapshot_destroy(take(1));
    hpx_sites_clear(sites);
    hpx_site_snapshot_destroy(take(0));
    free_object(id_of(0), 16); /* of before */
    define(&f.t, id_of(1), 1, 16, 0, FX_STACK({8, 1}));
    allocate(&f.t, id_of(1), 16);
    struct hpx_site_snapshot *s = take(1);
    assert_row(&s->rows[0], 2, 32, 2, 32);
    assert_true(s->rows[0].changed); /* though there are as many as before */
    hpx_site_snapshot_destroy(s);
    assert_int_equal(hpx_sites_count(sites), 1);
    assert_int_equal(hpx_sites_recorded_objects(sites), 5); /* since the start */
}

TEST(with_thread_y_the_sites_of_threads_are_apart, NULL, end)
{
    begin(&by_thread, 0, true);
    give_class();
    object_class(1, 8, "Lp/C;");
    fx_thread_start(&f, 1, &f.t, FX_TEXT("t\0g\0s"));
    fx_thread_start(&f, 2, &f.u, FX_TEXT("u\0g\0s"));
    define(&f.t, id_of(0), 1, 16, 0, FX_STACK({8, 1}));
    define(&f.u, id_of(1), 1, 16, 0, FX_STACK({8, 1}));
    allocate(&f.u, id_of(1), 16);
    struct hpx_site_snapshot *s = take(2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(s->rows[i].objects, s->rows[i].trace->thread - HPX_SERIAL_THREAD);
    }
    hpx_site_snapshot_destroy(s);
}

TEST(sums_have_64_bits, NULL, end)
{
    begin_exact();
    define(&f.t, id_of(0), 2, 3 * GIB, 0, FX_STACK({8, 1}));
    for (int i = 0; i < 9; i++) {
        allocate(&f.t, id_of(0), 3 * GIB);
    }
    free_object(id_of(0), 3 * GIB);
    struct hpx_site_snapshot *s = take(1);
    assert_row(&s->rows[0], 10, 30 * GIB, 9, 27 * GIB);
    assert_int_equal(hpx_sites_recorded_bytes(sites), 30 * GIB);
    hpx_site_snapshot_destroy(s);
}

TEST(a_run_may_have_records_of_others_between, NULL, end)
{
    struct hpx_ev_head run[] = {{HPX_EV_ALLOC, 1, 0, 8},
                                {HPX_EV_TEST, 2, 7, 77},
                                {HPX_EV_ALLOC, 1, 9, 99}, /* the body of the one before */
                                {HPX_EV_PAD, 1, 0, 0},
                                {HPX_EV_ALLOC, 1, 0, 8}};
    begin_exact();
    define(&f.t, id_of(0), 1, 8, 0, FX_STACK({8, 1}));
    run[0].id = run[4].id = id_of(0);
    hpx_model_events(f.m, &f.t, run, sizeof(run));
    struct hpx_site_snapshot *s = take(1);
    assert_row(&s->rows[0], 3, 24, 3, 24);
    assert_int_equal(hpx_sites_recorded_objects(sites), 3);
    hpx_site_snapshot_destroy(s);
}

TEST(an_id_that_cannot_be_is_counted_lost, NULL, end)
{
    begin_exact();
    allocate(&f.t, HPX_SITE_IDS_MOST, 16);
    allocate(&f.t, UINT32_MAX, 16);
    hpx_site_snapshot_destroy(take(0));
    assert_int_equal(fx_counter(&f, HPX_C_LOST_NO_MEMORY), 2);
    assert_int_equal(hpx_sites_recorded_objects(sites), 0);
}

TEST(its_memory_is_the_models, NULL, end)
{
    begin_exact();
    size_t before = hpx_model_bytes(f.m);
    for (uint32_t i = 0; i < 5000; i++) {
        define(&f.t, id_of(i), 1, 16, 0, FX_STACK({8, 1}));
    }
    assert_true(hpx_model_bytes(f.m) - before >= hpx_site_ids_bytes(&ids) + 5000 * 4 * sizeof(uint64_t));
}

TESTS(NULL, NULL)
