/* SPDX-License-Identifier: BSD-2-Clause */
/* test_model_names.c: how sampled methods get their names and lines, and what is shown when they do not. */
#include "model_fixture.h"

static const struct hpx_model_config no_lines = {.lines = false}, no_lines_but_signatures = {.signatures = true, .lines = false};
static const struct hpx_line lines_of_a[] = {{0, 10}, {5, 12}, {9, 11}};

#define CLASS_TEXT  FX_TEXT("Lp/C;\0C.java\0a\0(I)V\0b\0()V\0a\0()V") /* ids 8, 16, 24 */
#define ANSWER_TEXT FX_TEXT("Lp/U;\0U.java\0u\0()V")

/* The trace of the only row. */
static const struct hpx_trace_rec *only_trace(struct hpx_snapshot *s)
{
    assert_int_equal(s->nrows, 1);
    return s->rows[0].trace;
}

#define FRAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A snapshot of this total has one row, whose trace has these frames. */
static void assert_only_trace(struct fx *f, uint64_t total, const char *const *frames)
{
    struct hpx_snapshot *s = fx_snapshot(f, total, 1);
    uint32_t n = 0;
    for (; frames[n]; n++) {
        fx_assert_frame(only_trace(s), n, frames[n]);
    }
    assert_int_equal(only_trace(s)->nframes, n);
    hpx_snapshot_destroy(s);
}

TEST(lines_are_asked_for_once_a_method_when_it_is_first_sampled, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    fx_class(f, 77, 8, 3, CLASS_TEXT);
    assert_int_equal(f->nasked, 0);
    fx_define(f, &f->t, 0, 1, FX_STACK({8, 3}, {8, 4}, {16, 1}));
    fx_define(f, &f->t, 1, 1, FX_STACK({16, 3}, {8, 3}));
    assert_int_equal(f->nasked, 2);
    assert_int_equal(hpx_symbols_unresolved(f->symbols), 2);
    assert_int_equal(f->asked[0]->id, 8);
    assert_int_equal(f->asked[1]->id, 16);
    assert_int_equal(f->asked[0]->ref, 77);
    assert_false(f->asked[0]->want_name);
    assert_true(f->asked[0]->want_lines);
    fx_answer(f, 1, NULL, 0, "", 0);
    fx_answer(f, 0, lines_of_a, 3, "", 0);
    assert_int_equal(hpx_symbols_unresolved(f->symbols), 0);
    fx_answer(f, 0, lines_of_a, 3, "", 0); /* answered twice */
    assert_int_equal(hpx_symbols_unresolved(f->symbols), 0);
}

TEST(line_is_that_of_the_last_entry_at_or_below_the_bci, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    static const struct hpx_line late[] = {{4, 40}, {6, 0}, {65535, 65535}};
    fx_class(f, 77, 8, 3, CLASS_TEXT);
    fx_define(f, &f->t, 0, 1,
              FX_STACK({8, 0}, {8, 4}, {8, 5}, {8, 8}, {8, 9}, {8, 5000}, {8, -1}, {8, -3}, {16, 3}, {16, 4}, {16, 6}, {16, 65535}));
    fx_answer(f, 0, lines_of_a, 3, "", 0);
    fx_answer(f, 1, late, 3, "", 0);
    struct hpx_snapshot *s = fx_snapshot(f, 1, 1);
    static const int32_t want[] = {10, 10, 12, 12, 11, 11, -1, -1, -1, 40, -1, 65535};
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(only_trace(s)->frames[i].line, want[i]);
    }
    assert_int_equal(fx_counter(f, HPX_C_METHODS_UNLINED), 0);
    hpx_snapshot_destroy(s);
}

/* As many as a class file may have, in the order that is worst for a sort by insertion: 2 x 10^9 moves, while a dump waits for names. */
TEST(lines_come_in_any_order)
{
    enum { N = UINT16_MAX };
    struct hpx_msg_resolved *m = hpx_msg_resolved_new(N, 0);
    assert_non_null(m);
    for (uint32_t i = 0; i < N; i++) {
        m->lines[i] = (struct hpx_line){(uint16_t)((N - i) / 2), (uint16_t)i};
    }
    assert_true(hpx_msg_resolved_sort(m));
    assert_true(hpx_msg_resolved_sort(m)); /* in order, as compilers write them */
    for (uint32_t i = 1; i < N; i++) {
        const struct hpx_line *a = &m->lines[i - 1], *b = &m->lines[i];
        assert_true(a->bci < b->bci || (a->bci == b->bci && a->line < b->line)); /* the later one of the two stays behind */
    }
    assert_int_equal(m->lines[0].line, N - 1);
    assert_int_equal(m->lines[N - 1].line, 1);
    free(m);
}

TEST(giving_up_counts_what_is_missing_and_a_late_answer_is_still_taken, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    fx_class(f, 5, 800, 1, "", 0);
    fx_class(f, 77, 8, 3, CLASS_TEXT);
    fx_define(f, &f->t, 0, 1, FX_STACK({800, 1}, {8, 5}));
    hpx_symbols_give_up(f->symbols);
    assert_int_equal(hpx_symbols_unresolved(f->symbols), 0);
    assert_int_equal(fx_counter(f, HPX_C_METHODS_UNNAMED), 1);
    assert_int_equal(fx_counter(f, HPX_C_METHODS_UNLINED), 1);
    assert_only_trace(f, 1, FRAMES("hprofx.unknown.unloaded_class(:-1)", "p.C.a(C.java:-1)"));
    fx_answer(f, 0, lines_of_a, 3, ANSWER_TEXT);
    fx_answer(f, 1, lines_of_a, 3, "", 0);
    assert_int_equal(hpx_symbols_unresolved(f->symbols), 0);
    fx_event(f, &f->t, HPX_EV_SAMPLE, 0, 1);
    assert_only_trace(f, 1, FRAMES("p.U.u(U.java:10)", "p.C.a(C.java:12)"));
    assert_int_equal(fx_counter(f, HPX_C_METHODS_UNNAMED), 1);
}

TEST(broken_messages_name_nothing_and_break_nothing, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    fx_class(f, 1, 8, 3, "Lp/C", 4);   /* no end, no names */
    fx_class(f, 2, 100, 0, "", 0);     /* no methods */
    fx_class(f, 3, 0, 1, "", 0);       /* the id 0 */
    fx_class(f, 4, 200, 1, "\0\0", 2); /* all empty */
    fx_define(f, &f->t, 0, 1, FX_STACK({8, 1}, {200, 1}, {0, 1}));
    assert_int_equal(f->nasked, 2);
    f->asked[1]->method += 1000; /* an answer to what was never asked */
    fx_answer(f, 1, NULL, 0, ANSWER_TEXT);
    f->asked[1]->method -= 1000;
    assert_int_equal(hpx_symbols_unresolved(f->symbols), 2);
    fx_answer(f, 0, NULL, 0, "x", 1);
    fx_answer(f, 1, NULL, 0, "\0", 1);
    assert_only_trace(f, 1,
                      FRAMES("hprofx.unknown.unloaded_class(:-1)", "hprofx.unknown.unloaded_class(:-1)", "hprofx.unknown.method(:-1)"));
}

/* Frames as the JVM tells them of a thread that was asked for its stack. */
static const struct hpx_named_frame named[] = {
    {.class_signature = "Lp/C;", .name = "a", .signature = "(I)V", .source = "C.java", .line = 12},
    {.class_signature = "[Lp/D;", .name = "b", .line = HPX_LINE_UNKNOWN},
};

TEST(a_stack_whose_names_are_told_is_a_trace_like_another, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    const struct hpx_trace_rec *t = hpx_symbols_named_trace(f->symbols, named, 2);
    assert_non_null(t);
    assert_int_equal(t->nframes, 2);
    fx_assert_frame(t, 0, "p.C.a(C.java:12)");
    fx_assert_frame(t, 1, "p.D[].b(:-1)");
    assert_int_equal(t->frames[0].method->signature.len, 0);
    assert_ptr_equal(hpx_symbols_named_trace(f->symbols, named, 2), t); /* the same serial */
    assert_ptr_not_equal(hpx_symbols_named_trace(f->symbols, named, 1), t);
}

TEST(a_told_stack_has_lines_and_signatures_if_traces_have_them, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines_but_signatures))
{
    struct fx *f = *state;
    const struct hpx_trace_rec *t = hpx_symbols_named_trace(f->symbols, named, 1);
    assert_non_null(t);
    fx_assert_frame(t, 0, "p.C.a(I)V(C.java:-1)");
}

/* Passes until the look is asked for: it waits for announcements that are on their way. */
static struct hpx_msg_look *await_look(struct fx *f)
{
    while (!f->look) {
        (void)hpx_model_pass_end(f->m);
    }
    return f->look;
}

/* The service thread has found that many. */
static void answer_look(struct fx *f, uint32_t found)
{
    struct hpx_msg_look *m = f->look;
    f->look = NULL;
    m->found = found;
    fx_message(f, m);
}

static void find_class(struct fx *f, uint64_t ref, uint64_t id, const char *text, uint32_t text_len)
{
    struct hpx_msg_class *c = hpx_msg_class_new(1, text_len);
    assert_non_null(c);
    c->ref = ref;
    c->ids[0] = id;
    c->named = c->looked_for = true;
    memcpy(c->text, text, text_len);
    fx_message(f, c);
}

TEST(a_method_of_no_class_is_looked_for_and_named_afterwards, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    fx_class(f, 77, 24, 3, CLASS_TEXT);
    fx_define(f, &f->t, 0, 1, FX_STACK({800, 3}));
    const struct hpx_msg_look *look = await_look(f);
    assert_int_equal(look->n, 1);
    assert_int_equal(look->known[0].id, 24);
    assert_int_equal(look->known[0].ref, 77);
    find_class(f, 78, 800, FX_TEXT("Lp/L;\0L.java\0late\0()V"));
    answer_look(f, 1);
    assert_only_trace(f, 1, FRAMES("p.L.late(L.java:-1)"));
    assert_int_equal(f->ndropped, 0);
}

TEST(a_class_that_is_announced_during_the_look_stays_one_class, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    fx_define(f, &f->t, 0, 1, FX_STACK({8, 3}));
    (void)await_look(f);
    fx_class(f, 77, 8, 3, CLASS_TEXT);
    find_class(f, 78, 8, FX_TEXT("Lp/C;\0C.java\0a\0(I)V"));
    answer_look(f, 1);
    assert_int_equal(f->dropped, 78);
    assert_int_equal(hpx_symbols_classes(f->symbols), 1);
    assert_only_trace(f, 1, FRAMES("p.C.a(C.java:-1)"));
}

TEST(an_id_that_an_earlier_class_had_may_be_found_for_another, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    fx_class(f, 77, 8, 3, CLASS_TEXT);
    fx_define(f, &f->t, 0, 1, FX_STACK({0, 3}));
    (void)await_look(f);
    find_class(f, 78, 8, FX_TEXT("Lp/L;\0L.java\0late\0()V"));
    answer_look(f, 1);
    assert_int_equal(f->ndropped, 0);
    assert_int_equal(hpx_symbols_classes(f->symbols), 2);
}

TESTS(NULL, NULL)
