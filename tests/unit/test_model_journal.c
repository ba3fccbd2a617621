/* SPDX-License-Identifier: BSD-2-Clause */
/* test_model_journal.c: snapshots without a reset, those of a journal, and what lives, replayed. */
#include "call_table.h"
#include "model_fixture.h"

static const struct hpx_model_config no_lines = {.lines = false};
static const struct fx_calls calls = {.calls = {.depth = 2}};
static const struct fx_calls probed = {.calls = {.depth = 2, .inner_ns = 5}};

static void assert_samples(struct hpx_snapshot *s, uint64_t total, uint32_t rows)
{
    uint64_t sum = 0;
    assert_non_null(s);
    assert_int_equal(s->nrows, rows);
    for (uint32_t i = 0; i < rows; i++) {
        sum += s->rows[i].count;
    }
    assert_int_equal(sum, total);
    assert_int_equal(s->total, total);
    hpx_snapshot_destroy(s);
}

static void assert_calls(struct hpx_call_snapshot *s, uint64_t n, uint64_t ns)
{
    assert_non_null(s);
    assert_int_equal(s->calls, n);
    assert_int_equal(s->self_ns, ns);
    hpx_call_snapshot_destroy(s);
}

TEST(calls_of_a_journal_add_up_whatever_is_reset, fx_setup_calls, fx_teardown, (void *)(uintptr_t)(&calls))
{
    struct fx *f = *state;
    hpx_model_keep_journal(f->m);
    fx_event(f, &f->t, HPX_EV_LEAF, 3, HPX_EV_LEAF_STAMP(2, 5));
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_KEEP), 2, 5);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 2, 5);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET), 2, 5);
    fx_event(f, &f->t, HPX_EV_LEAF, 3, HPX_EV_LEAF_STAMP(3, 6));
    fx_event(f, &f->t, HPX_EV_LEAF, 4, HPX_EV_LEAF_STAMP(1, 1));
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 4, 7);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_ALL), 6, 12);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 0, 0);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET), 4, 7);
}

/* Whose times were below 0 for a while, because more was subtracted for its probe than it took. */
TEST(times_of_a_journal_add_up_to_those_of_the_calls, fx_setup_calls, fx_teardown, (void *)(uintptr_t)(&probed))
{
    struct fx *f = *state;
    hpx_model_keep_journal(f->m);
    fx_event(f, &f->t, HPX_EV_LEAF, 3, HPX_EV_LEAF_STAMP(1, 20));
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 1, 15);
    fx_event(f, &f->t, HPX_EV_LEAF, 3, HPX_EV_LEAF_STAMP(1, 0));
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 1, 0);
    fx_event(f, &f->t, HPX_EV_LEAF, 3, HPX_EV_LEAF_STAMP(1, 20));
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 1, 10);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_ALL), 3, 25);
    fx_event(f, &f->t, HPX_EV_LEAF, 3, HPX_EV_LEAF_STAMP(1, 9));
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 1, 4);
}

/* Of many traces the journal lists those that were called since. */
TEST(a_journal_of_calls_goes_by_what_changed, fx_setup_calls, fx_teardown, (void *)(uintptr_t)(&calls))
{
    struct fx *f = *state;
    hpx_model_keep_journal(f->m);
    for (uint32_t i = 1; i <= 1000; i++) {
        fx_event(f, &f->t, HPX_EV_LEAF, i, HPX_EV_LEAF_STAMP(1, 1));
    }
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_ALL), 1000, 1000);
    const struct hpx_calltab *tab = hpx_call_rows_table(f->calls);
    assert_int_equal(tab->changed, HPX_CALL_LAST);
    for (uint32_t i = 0; i < 3; i++) {
        fx_event(f, &f->t, HPX_EV_LEAF, 700, HPX_EV_LEAF_STAMP(1, 2));
        fx_event(f, &f->t, HPX_EV_LEAF, 5, HPX_EV_LEAF_STAMP(2, 3));
        fx_event(f, &f->t, HPX_EV_LEAF, 1001, HPX_EV_LEAF_STAMP(1, 1));
    }
    uint32_t changed = 0;
    for (uint32_t at = tab->changed; at != HPX_CALL_LAST; at = hpx_calltab_entry(tab, at - 1)->next) {
        changed++;
    }
    assert_int_equal(changed, 3);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET), 1012, 1018);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 12, 18);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 0, 0);
    fx_event(f, &f->t, HPX_EV_LEAF, 5, HPX_EV_LEAF_STAMP(1, 1));
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 1, 1);
}

/* Each table has the first ones that wait; none waits for ever, whatever changes meanwhile. */
TEST(a_journal_of_many_calls_comes_in_slices, fx_setup_calls, fx_teardown, (void *)(uintptr_t)(&calls))
{
    struct fx *f = *state;
    const uint32_t all = 2 * HPX_JOURNAL_SLICE + 10;
    hpx_model_keep_journal(f->m);
    for (uint32_t i = 1; i <= all; i++) {
        fx_event(f, &f->t, HPX_EV_LEAF, i, HPX_EV_LEAF_STAMP(1, 1));
    }
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), HPX_JOURNAL_SLICE, HPX_JOURNAL_SLICE);
    assert_int_equal(hpx_call_rows_waiting(f->calls), HPX_JOURNAL_SLICE + 10);
    for (uint32_t i = 1; i <= HPX_JOURNAL_SLICE; i++) {
        fx_event(f, &f->t, HPX_EV_LEAF, i, HPX_EV_LEAF_STAMP(1, 3)); /* behind those that wait */
    }
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), HPX_JOURNAL_SLICE, HPX_JOURNAL_SLICE);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), HPX_JOURNAL_SLICE, 10 + 3 * (HPX_JOURNAL_SLICE - 10));
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 10, 30);
    assert_int_equal(hpx_call_rows_waiting(f->calls), 0);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_ALL), all + HPX_JOURNAL_SLICE, all + 3 * HPX_JOURNAL_SLICE);
    assert_calls(hpx_call_rows_snapshot(f->calls, HPX_TAKE_NEW), 0, 0);
}

TEST(without_one_there_is_none, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    assert_null(hpx_samples_snapshot(f->samples, HPX_TAKE_ALL));
    assert_samples(hpx_samples_snapshot(f->samples, HPX_TAKE_RESET), 0, 0);
}

TEST(live_threads_are_replayed_in_their_order, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    for (uint64_t key = 1; key <= 5; key++) {
        fx_thread_start(f, key, NULL, FX_TEXT("t\0g\0s"));
    }
    fx_thread_end(f, 2);
    fx_thread_end(f, 4);
    fx_thread_start(f, 6, NULL, FX_TEXT("u\0g\0s")); /* in the place of one that ended */
    const uint32_t live[] = {200001, 200003, 200005, 200006};
    f->nstarted = 0;
    assert_true(hpx_model_replay(f->m));
    assert_int_equal(f->nstarted, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(f->started[i], live[i]);
    }
    f->deaf = true;
    assert_false(hpx_model_replay(f->m));
    f->deaf = false;
    fx_thread_end(f, 1);
    assert_int_equal(f->ended[f->nended - 1], 200001);
}

TESTS(NULL, NULL)
