/* SPDX-License-Identifier: BSD-2-Clause */
/* test_call_faults.c: each allocation of a whole scenario of exact calls fails once, and everything from it on: every call that was begun
 * is in a row, open, or counted lost, also where one record stands for many. */
#include "failing_memory.h"
#include "model_fixture.h"

#define METHODS 300u

static bool lost; /* in any scenario */
static uint64_t begun;

static void gap(struct fx *f, struct hpx_thread *t, uint32_t returned, uint32_t entered, uint64_t calls)
{
    const struct hpx_ev_gap g = {.head = {HPX_EV_GAP, 2, 1, 0}, .returned = returned, .entered = entered, .calls = calls};
    hpx_model_events(f->m, t, &g.head, sizeof(g));
    begun += calls;
}

static void call(struct fx *f, struct hpx_thread *t, uint32_t from)
{
    for (uint32_t i = from; i < from + METHODS; i++) {
        fx_event(f, t, HPX_EV_ENTER, i, 10);
        fx_event(f, t, HPX_EV_LEAF, i + 1, HPX_EV_LEAF_STAMP(7, 70));
        fx_event(f, t, HPX_EV_ENTER, i + 2, 20);
        fx_event(f, t, HPX_EV_EXIT, i + 2, 30);
        begun += 9;
        if (i % 3 == 0) {
            fx_event(f, t, HPX_EV_EXIT, i, 40);
        }
        if (i % 50 == 0) {
            gap(f, t, 1, 2, 11);
        }
    }
}

/* What a snapshot shows, and resets; 0: there is no memory for it. */
static uint64_t take(struct fx *f)
{
    struct hpx_call_snapshot *s = hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET);
    uint64_t n = s ? s->calls : 0;
    hpx_call_snapshot_destroy(s);
    return n;
}

/* A failure from call `first` to `last`. The last snapshot has memory again. */
static void scenario(uint64_t first, uint64_t last)
{
    static struct fx f;
    static const struct fx_calls with = {.calls = {.depth = 3}};
    begun = 0;
    memory_fail(first, last);
    fx_begin_calls(&f, &with);
    if (!f.m) {
        memory_allow();
        return;
    }
    fx_thread_start(&f, 1, &f.t, FX_TEXT("one\0group\0system"));
    fx_thread_start(&f, 2, &f.u, FX_TEXT("two\0group\0system"));
    call(&f, &f.t, 1);
    uint64_t shown = take(&f);
    gap(&f, &f.u, 0, 0, 5);
    call(&f, &f.u, METHODS / 2);
    shown += take(&f);
    hpx_model_thread_gone(f.m, &f.t);
    hpx_model_pass_end(f.m);
    memory_allow();
    shown += take(&f);
    struct hpx_call_snapshot *s = hpx_call_rows_snapshot(f.calls, HPX_TAKE_RESET);
    assert_non_null(s);
    uint64_t gone = fx_counter(&f, HPX_C_LOST_NO_MEMORY);
    assert_int_equal(shown + s->open_calls + s->lost_calls + gone, begun);
    assert_int_equal(s->all_calls, shown);
    lost |= gone > 0;
    hpx_call_snapshot_destroy(s);
    fx_end(&f);
}

static uint64_t count_calls(void)
{
    scenario(MEMORY_NEVER, 0);
    return memory_calls();
}

TEST(without_a_failure_no_call_is_lost)
{
    lost = false;
    assert_true(count_calls() > 30);
    assert_false(lost);
}

TEST(each_allocation_that_fails_alone_loses_no_call_in_silence)
{
    uint64_t n = count_calls();
    for (uint64_t k = memory_first_fault(); k <= n; k += memory_fault_step()) {
        scenario(k, k);
    }
    assert_true(lost || memory_fault_step() > 1);
}

TEST(allocations_that_all_fail_from_one_on_lose_no_call_in_silence)
{
    uint64_t n = count_calls();
    for (uint64_t k = memory_first_fault(); k <= n; k += memory_fault_step()) {
        scenario(k, UINT64_MAX);
    }
}

TEST(several_that_fail_lose_no_call_in_silence)
{
    uint64_t n = count_calls();
    for (uint64_t k = memory_first_fault(); k <= n; k += memory_fault_step()) {
        scenario(k, k + 9);
    }
}

TESTS(NULL, NULL)
