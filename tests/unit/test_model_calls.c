/* SPDX-License-Identifier: BSD-2-Clause */
/* test_model_calls.c: exact calls as the model shows them: names, rows, dumps. */
#include "call_table.h"
#include "model_fixture.h"
#include "number_table.h"

static void announce(struct fx *f, uint32_t first, uint32_t n, const char *text, uint32_t text_len)
{
    struct hpx_msg_methods *msg = hpx_msg_methods_new(n, text_len);
    if (msg) {
        msg->first = first;
        memcpy(msg->text, text, text_len);
        fx_message(f, msg);
    }
}

static void announce_calls(struct fx *f)
{
    announce(f, 1, 4, FX_TEXT("Lp/Calls;\0Calls.java\0main\0([Ljava/lang/String;)V\0fib\0(I)I\0mid\0()V\0mid\0(I)V"));
}

static const struct fx_calls times = {.calls = {.depth = 3}};
static const struct fx_calls costly = {.calls = {.depth = 2, .inner_ns = 10, .outer_ns = 20}};
static const struct fx_calls counted = {.calls = {.depth = 1, .counted = true}};
static const struct fx_calls by_thread = {.model = {.thread_in_traces = true}};

static const struct hpx_call_row *row_of(const struct hpx_call_snapshot *s, const char *leaf, uint32_t nframes)
{
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct hpx_trace_rec *t = s->rows[i].trace;
        char name[128] = "";
        if (t->nframes > 0) {
            const struct hpx_method_rec *m = t->frames[0].method;
            (void)snprintf(name, sizeof(name), "%.*s.%.*s%.*s", (int)m->class_name.len, m->class_name.bytes, (int)m->name.len,
                           m->name.bytes, (int)m->signature.len, m->signature.bytes);
        }
        if (t->nframes == nframes && strcmp(name, leaf) == 0) {
            return &s->rows[i];
        }
    }
    fail_msg("no row of %s with %u frames", leaf, nframes);
    return NULL;
}

static void assert_row(const struct hpx_call_snapshot *s, const char *leaf, uint32_t nframes, uint64_t calls, uint64_t self, uint64_t total)
{
    const struct hpx_call_row *r = row_of(s, leaf, nframes);
    assert_int_equal(r->calls, calls);
    assert_int_equal(r->self_ns, self);
    assert_int_equal(r->total_ns, total);
}

static void announce_replaced(struct fx *f, uint32_t first, uint32_t n, const char *text, uint32_t text_len)
{
    struct hpx_msg_methods *msg = hpx_msg_methods_new(n, text_len);
    if (msg) {
        msg->first = first;
        memcpy(msg->text, text, text_len);
        for (uint32_t i = 0; i < n; i++) {
            msg->of[i].replaced = 1;
        }
        fx_message(f, msg);
    }
}

static void assert_replaced(const struct hpx_call_snapshot *s, uint32_t place, const char *name)
{
    const struct hpx_method_rec *m = s->replaced[place];
    assert_int_equal(m->name.len, strlen(name));
    assert_memory_equal(m->name.bytes, name, m->name.len);
}

TEST(of_many_methods_that_the_vm_can_replace_the_first_are_named, fx_setup_calls, fx_teardown, (void *)(uintptr_t)(&times))
{
    struct fx *f = *state;
    for (uint32_t i = 0; i < HPX_REPLACED_NAMED + 3; i++) {
        char text[64];
        int n = snprintf(text, sizeof(text), "La;%c%cm%u%c()V", 0, 0, i, 0);
        announce_replaced(f, 10 + i, 1, text, (uint32_t)n + 1);
        fx_event(f, &f->t, HPX_EV_LEAF, 10 + i, HPX_EV_LEAF_STAMP(1 + i, 0));
    }
    struct hpx_call_snapshot *s = hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET);
    assert_int_equal(s->nreplaced, HPX_REPLACED_NAMED + 3);
    assert_replaced(s, 0, "m26");
    assert_replaced(s, HPX_REPLACED_NAMED - 1, "m3");
    hpx_call_snapshot_destroy(s);
}

TEST(methods_that_nobody_announced_are_counted_once, fx_setup_calls, fx_teardown, (void *)(uintptr_t)(&times))
{
    struct fx *f = *state;
    announce(f, 200, 1, FX_TEXT("La;\0\0x\0()V")); /* before those of lower numbers */
    announce(f, HPX_NUMBER_MAX, 1, FX_TEXT("Lb;\0\0x\0()V"));
    assert_int_equal(fx_counter(f, HPX_C_CLASSES_UNNAMED), 1);
    announce(f, 100, 1, FX_TEXT("La;\0\0y\0()V"));
    fx_event(f, &f->t, HPX_EV_LEAF, 200, HPX_EV_LEAF_STAMP(1, 0));
    fx_event(f, &f->t, HPX_EV_LEAF, 100, HPX_EV_LEAF_STAMP(2, 0));
    fx_event(f, &f->t, HPX_EV_LEAF, 99, HPX_EV_LEAF_STAMP(4, 0));
    hpx_call_snapshot_destroy(hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET));
    fx_event(f, &f->t, HPX_EV_LEAF, 99, HPX_EV_LEAF_STAMP(5, 0));
    fx_event(f, &f->t, HPX_EV_ENTER, 200, 0);
    fx_event(f, &f->t, HPX_EV_LEAF, 99, HPX_EV_LEAF_STAMP(1, 0)); /* in another trace */
    fx_event(f, &f->t, HPX_EV_EXIT, 200, 0);
    fx_event(f, &f->t, HPX_EV_LEAF, 98, HPX_EV_LEAF_STAMP(6, 0));
    fx_event(f, &f->t, HPX_EV_LEAF, 200, HPX_EV_LEAF_STAMP(7, 0));
    fx_event(f, &f->t, HPX_EV_LEAF, 100, HPX_EV_LEAF_STAMP(8, 0));
    struct hpx_call_snapshot *s = hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET);
    assert_row(s, "hprofx.unknown.method", 1, 11, 0, 0);
    assert_row(s, "a.x", 1, 8, 0, 0);
    assert_row(s, "a.y", 1, 8, 0, 0);
    fx_assert_frame(row_of(s, "a.x", 1)->trace, 0, "a.x(:-1)");
    assert_int_equal(fx_counter(f, HPX_C_METHODS_UNNAMED), 2);
    hpx_call_snapshot_destroy(s);
}

TEST(messages_cut_short_do_not_stop_a_dump)
{
    for (int signatures = 0; signatures < 2; signatures++) {
        struct fx f;
        fx_begin_calls(&f, &(struct fx_calls){.calls = {.depth = 1, .signatures = signatures != 0}});
        announce(&f, 1, 3, "", 0);
        announce(&f, 4, 2, FX_TEXT("La;\0A.java\0x"));
        announce(&f, 6, 0, FX_TEXT("Lb;"));
        for (uint32_t i = 1; i < 6; i++) {
            fx_event(&f, &f.t, HPX_EV_LEAF, i, HPX_EV_LEAF_STAMP(i, 0));
        }
        struct hpx_call_snapshot *s = hpx_call_rows_snapshot(f.calls, HPX_TAKE_RESET);
        assert_non_null(s);
        assert_row(s, "hprofx.unknown.method", 1, 1 + 2 + 3, 0, 0);
        assert_row(s, "a.x", 1, 4, 0, 0);
        assert_row(s, "a.", 1, 5, 0, 0);
        hpx_call_snapshot_destroy(s);
        fx_end(&f);
    }
}

TEST(snapshot_resets_counts_and_tells_of_open_calls, fx_setup_calls, fx_teardown, (void *)(uintptr_t)(&times))
{
    struct fx *f = *state;
    announce_calls(f);
    fx_event(f, &f->t, HPX_EV_ENTER, 1, 100);
    const struct hpx_calls_pending p = {.method = 2, .calls = 3, .ns = 30, .open = true, .entered = 140};
    hpx_call_rows_pending(f->calls, &f->t, &p);
    hpx_call_rows_time(f->calls, &f->t, 150);
    struct hpx_call_snapshot *s = hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET);
    assert_int_equal(s->nrows, 1);
    assert_row(s, "p.Calls.fib", 2, 3, 30, 30);
    assert_int_equal(s->open_calls, 2);
    assert_int_equal(s->open_ns, 20);
    hpx_call_snapshot_destroy(s);
    fx_event(f, &f->t, HPX_EV_LEAF, 2, HPX_EV_LEAF_STAMP(4, 45));
    fx_event(f, &f->t, HPX_EV_EXIT, 1, 200);
    s = hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET);
    assert_row(s, "p.Calls.fib", 2, 1, 15, 15);
    assert_row(s, "p.Calls.main", 1, 1, 55, 100);
    assert_int_equal(s->open_calls, 0);
    assert_int_equal(s->all_calls, 5);
    hpx_call_snapshot_destroy(s);
    s = hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET);
    assert_int_equal(s->nrows, 0);
    hpx_call_snapshot_destroy(s);
}

TEST(counters_become_rows_of_what_is_new_in_them, fx_setup_calls, fx_teardown, (void *)(uintptr_t)(&counted))
{
    struct fx *f = *state;
    uint64_t *counts = calloc(HPX_CALL_COUNTERS, sizeof *counts);
    assert_non_null(counts);
    announce_calls(f);
    counts[1] = 1;
    counts[2] = 1000;
    hpx_call_rows_counted(f->calls, counts, 3, false);
    counts[2] += 5;
    hpx_call_rows_counted(f->calls, counts, 3, false);
    struct hpx_call_snapshot *s = hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET);
    assert_non_null(s);
    assert_int_equal(s->nrows, 2);
    assert_int_equal(s->calls, 1006);
    assert_row(s, "p.Calls.fib", 1, 1005, 0, 0);
    assert_row(s, "p.Calls.main", 1, 1, 0, 0);
    hpx_call_snapshot_destroy(s);
    counts[2] += 7;
    counts[HPX_CALL_COUNTERS - 1] = 3; /* of all methods with higher numbers */
    counts[9] = 2;                     /* a class that is being loaded */
    hpx_call_rows_counted(f->calls, counts, HPX_CALL_COUNTERS, false);
    s = hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET);
    assert_non_null(s);
    assert_int_equal(s->nrows, 2);
    assert_row(s, "p.Calls.fib", 1, 7, 0, 0);
    assert_row(s, "hprofx.unknown.other_methods", 1, 3, 0, 0);
    assert_int_equal(s->all_calls, 1016);
    hpx_call_snapshot_destroy(s);
    hpx_call_rows_counted(f->calls, counts, HPX_CALL_COUNTERS, true);
    s = hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET);
    assert_non_null(s);
    assert_int_equal(s->nrows, 1);
    assert_int_equal(s->calls, 2);
    hpx_call_snapshot_destroy(s);
    free(counts);
}

TEST(times_shown_are_never_below_0, fx_setup_calls, fx_teardown, (void *)(uintptr_t)(&costly))
{
    struct fx *f = *state;
    announce_calls(f);
    fx_event(f, &f->t, HPX_EV_ENTER, 1, 0);
    fx_event(f, &f->t, HPX_EV_LEAF, 2, HPX_EV_LEAF_STAMP(5, 20));
    fx_event(f, &f->t, HPX_EV_EXIT, 1, 100);
    struct hpx_call_snapshot *s = hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET);
    assert_row(s, "p.Calls.fib", 2, 5, 0, 0);
    assert_row(s, "p.Calls.main", 1, 1, 0, 0);
    assert_int_equal(s->self_ns, 0);
    assert_int_equal(s->probes_ns, 180);
    hpx_call_snapshot_destroy(s);
}

TEST(threads_are_in_the_traces_when_asked_for, fx_setup_calls, fx_teardown, (void *)(uintptr_t)(&by_thread))
{
    struct fx *f = *state;
    fx_thread_start(f, 1, &f->t, FX_TEXT("one\0group\0system"));
    fx_event(f, &f->t, HPX_EV_LEAF, 2, HPX_EV_LEAF_STAMP(5, 20));
    fx_event(f, &f->u, HPX_EV_LEAF, 2, HPX_EV_LEAF_STAMP(6, 20));
    struct hpx_call_snapshot *s = hpx_call_rows_snapshot(f->calls, HPX_TAKE_RESET);
    assert_int_equal(s->nrows, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(s->rows[i].trace->nframes, 0);
        assert_int_equal(s->rows[i].trace->thread, s->rows[i].calls == 5 ? HPX_SERIAL_THREAD + 1 : HPX_SERIAL_THREAD);
    }
    hpx_call_snapshot_destroy(s);
}

TESTS(NULL, NULL)
