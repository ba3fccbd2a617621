/* SPDX-License-Identifier: BSD-2-Clause */
/* test_model_table.c: a table made for the test, beside those of samples and calls: it gets its events, whole runs of them in order, the
 * ends of passes and threads, and its bytes count. */
#include "model_fixture.h"
#include "model_table.h"

static struct seen {
    uint32_t ids[8], n, passes, gone, destroyed;
    const struct hpx_thread *thread;
} seen;

static const struct hpx_ev_head *apply(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *end)
{
    struct seen *s = self;
    s->thread = t;
    for (; ev < end && (ev->kind == HPX_EV_TEST || ev->kind == HPX_EV_PAD); ev += ev->units) {
        if (ev->kind == HPX_EV_TEST) {
            s->ids[s->n++] = ev->id;
        }
    }
    return ev;
}

static void pass_end(void *self)
{
    ((struct seen *)self)->passes++;
}

static void thread_gone(void *self, struct hpx_thread *t)
{
    ((struct seen *)self)->gone += t == seen.thread;
}

static size_t bytes(const void *self)
{
    (void)self;
    return 12345;
}

static void destroy(void *self)
{
    ((struct seen *)self)->destroyed++;
}

static const struct hpx_model_table table = {.first = HPX_EV_TEST,
                                             .last = HPX_EV_TEST,
                                             .apply = apply,
                                             .pass_end = pass_end,
                                             .thread_gone = thread_gone,
                                             .bytes = bytes,
                                             .destroy = destroy};

TEST(a_table_gets_its_range_of_kinds)
{
    struct fx f;
    fx_begin_calls(&f, &(struct fx_calls){.calls = {.depth = 4}});
    struct hpx_model *m = f.m;
    const struct hpx_ev_head run[] = {
        {HPX_EV_TEST, 1, 1, 0}, {HPX_EV_SAMPLE_UNKNOWN, 1, 0, 3}, {HPX_EV_TEST, 1, 2, 0},  {HPX_EV_PAD, 1, 0, 0},
        {HPX_EV_TEST, 1, 3, 0}, {HPX_EV_ENTER, 1, 7, 10},         {HPX_EV_EXIT, 1, 7, 20}, {HPX_EV_TEST, 1, 4, 0},
    };
    assert_non_null(m);
    memset(&seen, 0, sizeof seen);
    size_t before = hpx_model_bytes(m);
    hpx_model_add_table(m, &table, &seen);
    assert_int_equal(hpx_model_bytes(m), before + 12345);
    hpx_model_events(m, &f.t, run, sizeof run);
    assert_int_equal(seen.n, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(seen.ids[i], i + 1);
    }
    assert_int_equal(hpx_samples_count(f.samples), 3);
    (void)hpx_model_pass_end(m);
    assert_int_equal(seen.passes, 1);
    hpx_model_thread_gone(m, &f.t);
    assert_int_equal(seen.gone, 1);
    struct hpx_call_snapshot *calls = hpx_call_rows_snapshot(f.calls, HPX_TAKE_RESET);
    assert_int_equal(calls->calls, 1);
    hpx_call_snapshot_destroy(calls);
    fx_end(&f);
    assert_int_equal(seen.destroyed, 1);
}

TESTS(NULL, NULL)
