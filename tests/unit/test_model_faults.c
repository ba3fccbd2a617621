/* SPDX-License-Identifier: BSD-2-Clause */
/* test_model_faults.c: each allocation of a whole scenario fails once, and everything from it on: nothing crashes, every sample is counted
 * or counted lost, nothing leaks (ASan). */
#include "failing_memory.h"
#include "model_fixture.h"
#include "symbols_internal.h"

static bool lacked;   /* a journal of any scenario lacks something */
static uint64_t lost; /* of the last scenario */

#define CLASSES 120u
#define STACKS  3200u /* more than 3/4 of 4096: the index becomes a mapping */

static void announce_classes(struct fx *f)
{
    for (uint32_t i = 0; i < CLASSES; i++) {
        char text[128];
        int n = snprintf(text, sizeof(text), "Lp/Class%u;%cC%u.java%crun%u%c()V%cstop%u%c()V", i, 0, i, 0, i, 0, 0, i, 0);
        fx_class(f, i % 9 ? i + 1 : 0, 10000 + 16 * i, 2, text, i % 3 ? (uint32_t)n + 1 : 0);
    }
}

static void answer_all(struct fx *f, uint32_t from)
{
    static const struct hpx_line lines[] = {{0, 1}, {4, 2}, {8, 3}};
    for (uint32_t i = from; i < f->nasked; i++) {
        if (i % 7 == 0) {
            fx_refuse(f, i);
        } else {
            fx_answer(f, i, lines, 3, FX_TEXT("Lq/Answer;\0A.java\0answer\0()V"));
        }
    }
}

static void sample(struct fx *f, struct hpx_thread *t, uint32_t stacks)
{
    for (uint32_t i = 0; i < stacks; i++) {
        uint64_t method = 10000 + 8 * (i % (2 * CLASSES));
        fx_define(f, t, i % HPX_SLOTS, 2, FX_STACK({method, (int32_t)i}, {i % 50 ? 10008 : 8 * i, 4}, {0, 1}));
        fx_event(f, t, HPX_EV_SAMPLE, i % HPX_SLOTS, 1);
    }
    fx_event(f, t, HPX_EV_SAMPLE_UNKNOWN, HPX_UNKNOWN_GC_ACTIVE, 5);
    fx_define(f, t, 0, 1, NULL, 0);
}

static uint64_t take(struct fx *f)
{
    struct hpx_snapshot *s = hpx_samples_snapshot(f->samples, HPX_TAKE_RESET);
    uint64_t total = s ? s->total : 0, sum = 0;
    for (uint32_t i = 0; s && i < s->nrows; i++) {
        sum += s->rows[i].count;
    }
    assert_int_equal(sum, total);
    hpx_snapshot_destroy(s);
    return total;
}

/* The next table of the journal, if there is memory for it. */
static uint64_t note(struct fx *f)
{
    struct hpx_snapshot *s = hpx_samples_snapshot(f->samples, HPX_TAKE_NEW);
    uint64_t total = s ? s->total : 0;
    hpx_snapshot_destroy(s);
    return total;
}

/* All that a model does, with a failure from call `first` to `last`. */
static void scenario(uint64_t first, uint64_t last, uint32_t stacks, bool by_thread)
{
    static struct fx f;
    const struct hpx_model_config cfg = {.lines = true, .signatures = by_thread, .thread_in_traces = by_thread};
    memory_fail(first, last);
    fx_begin(&f, &cfg);
    if (!f.m) {
        return;
    }
    uint64_t shown = 0, noted = 0;
    hpx_model_keep_journal(f.m);
    fx_thread_start(&f, 1, &f.t, FX_TEXT("one\0group\0system"));
    fx_thread_start(&f, 2, &f.u, FX_TEXT("two\0group\0system"));
    announce_classes(&f);
    sample(&f, &f.t, stacks);
    sample(&f, &f.u, 3);
    answer_all(&f, 0);
    noted += note(&f);
    sample(&f, &f.u, 7);
    shown += take(&f);
    noted += note(&f);
    uint32_t answered = f.nasked;
    announce_classes(&f);
    fx_class(&f, 999, 10000, 3, FX_TEXT("Lr/Rebound;\0\0a\0()V\0b\0()V\0c\0()V"));
    sample(&f, &f.u, 100);
    answer_all(&f, answered);
    answered = f.nasked;
    fx_thread_end(&f, 1);
    fx_thread_end(&f, 2);
    f.symbols->sweep.due = 1;
    fx_sweep(&f, 1, CLASSES / 2);
    announce_classes(&f);
    sample(&f, &f.u, 100);
    answer_all(&f, answered);
    hpx_symbols_give_up(f.symbols);
    shown += take(&f);
    memory_allow(); /* memory is back: what was kept is shown */
    shown += take(&f);
    noted += note(&f);
    assert_int_equal(shown, hpx_samples_count(f.samples));
    assert_int_equal(noted + hpx_model_journal_lost(f.m), shown);
    lacked |= hpx_model_journal_lost(f.m) > 0;
    lost = fx_counter(&f, HPX_C_LOST_NO_MEMORY);
    assert_int_equal(shown + lost, f.sent);
    assert_int_equal(hpx_symbols_unresolved(f.symbols), 0);
    fx_end(&f);
}

/* The calls of a run without failure. */
static uint64_t count_calls(uint32_t stacks, bool by_thread)
{
    scenario(MEMORY_NEVER, 0, stacks, by_thread);
    return memory_calls();
}

TEST(scenario_without_failure_loses_nothing)
{
    assert_true(count_calls(STACKS, false) > 100);
}

TEST(each_allocation_that_fails_alone_loses_only_what_it_was_for)
{
    for (int by_thread = 0; by_thread < 2; by_thread++) {
        uint64_t n = count_calls(300, by_thread != 0);
        for (uint64_t k = memory_first_fault(); k <= n; k += memory_fault_step()) {
            scenario(k, k, 300, by_thread != 0);
        }
    }
    assert_true(lacked || memory_fault_step() > 1);
}

TEST(allocations_that_all_fail_from_one_on_lose_only_what_comes_behind)
{
    uint64_t n = count_calls(300, true);
    for (uint64_t k = memory_first_fault(); k <= n; k += memory_fault_step()) {
        scenario(k, UINT64_MAX, 300, true);
    }
}

/* Large tables: growth by mappings that fail. */
TEST(growth_of_large_tables_that_fails_is_tried_again)
{
    uint64_t n = count_calls(STACKS, false);
    for (uint64_t k = (n > 120 ? n - 121 : 0) + memory_first_fault(); k <= n; k += 3 * memory_fault_step()) {
        scenario(k, k, STACKS, false);
        scenario(k, k + 5, STACKS, false);
        scenario(k, UINT64_MAX, STACKS, false);
    }
}

TEST(growth_that_fails_at_first_loses_nothing)
{
    memory_fail_maps(100);
    scenario(MEMORY_NEVER, 0, STACKS, false);
    assert_int_equal(memory_maps_left(), 0);
    assert_int_equal(lost, 0);
}

TEST(a_told_stack_without_memory_is_none_and_can_be_told_again, NULL, NULL)
{
    static const struct hpx_named_frame named[] = {{.class_signature = "Lp/C;", .name = "a", .source = "C.java", .line = 12}};
    uint64_t calls = UINT64_MAX, none = 0;
    for (uint64_t nth = memory_first_fault(); nth <= calls; nth += memory_fault_step()) {
        struct fx f;
        fx_begin(&f, NULL);
        memory_fail(nth, nth);
        const struct hpx_trace_rec *t = hpx_symbols_named_trace(f.symbols, named, 1);
        calls = memory_calls();
        memory_allow();
        none += t == NULL;
        const struct hpx_trace_rec *again = hpx_symbols_named_trace(f.symbols, named, 1);
        assert_non_null(again);
        fx_assert_frame(again, 0, "p.C.a(C.java:12)");
        fx_end(&f);
    }
    assert_true(none > 0 || memory_fault_step() > 1);
}

TESTS(NULL, NULL)
