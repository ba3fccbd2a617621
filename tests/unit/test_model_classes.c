/* SPDX-License-Identifier: BSD-2-Clause */
/* test_model_classes.c: what the model tells of classes, frames and native methods where it was asked to (binary). */
#include "model_fixture.h"

#define ID(klass) (UINT64_C(0x7f0000000000) + 64u * (klass))

static struct announced {
    uint32_t serial;
    char name[32];
    bool in_traces, unloaded;
} announced[4096];
static uint32_t nannounced;

static bool class_event(void *ctx, const struct hpx_class_rec *rec, bool unloaded)
{
    (void)ctx;
    assert_true(nannounced < HPX_ARRAY_LEN(announced));
    struct announced *t = &announced[nannounced++];
    *t = (struct announced){.serial = rec->serial.v, .in_traces = rec->in_traces, .unloaded = unloaded};
    (void)snprintf(t->name, sizeof(t->name), "%.*s", (int)rec->name.len, rec->name.len ? rec->name.bytes : "");
    return true;
}

static const struct hpx_model_config announced_names = {.signatures = true, .class_event = class_event};
static const struct hpx_model_config announced_with_lines = {.lines = true, .signatures = true, .class_event = class_event};

static int begin(void **state)
{
    nannounced = 0;
    return fx_setup(state);
}

static void assert_announced(uint32_t i, uint32_t serial, const char *name, bool in_traces, bool unloaded)
{
    assert_true(i < nannounced);
    assert_int_equal(announced[i].serial, serial);
    assert_string_equal(announced[i].name, name);
    assert_int_equal(announced[i].in_traces, in_traces);
    assert_int_equal(announced[i].unloaded, unloaded);
}

TEST(classes_are_announced_as_they_come, begin, fx_teardown, (void *)(uintptr_t)(&announced_names))
{
    struct fx *f = *state;
    fx_class(f, 1, ID(1), 1, FX_TEXT("Lp/C$D;\0C.java\0m\0()V\0"));
    fx_class(f, 2, ID(2), 0, FX_TEXT("Lp/Marker;\0\0")); /* without methods */
    fx_class(f, 3, ID(3), 1, FX_TEXT("Lp/H+0x7f00/1;\0\0m\0()V\0"));
    assert_announced(0, 100001, "p.C$D", false, false);
    assert_announced(1, 100002, "p.Marker", false, false);
    assert_announced(2, 100003, announced[2].name, false, false);
    assert_int_equal(nannounced, 3);
}

TEST(a_class_whose_name_did_not_come_is_announced_by_its_frames, begin, fx_teardown, (void *)(uintptr_t)(&announced_names))
{
    struct fx *f = *state;
    fx_class(f, 1, ID(1), 1, "", 0);
    assert_int_equal(nannounced, 0);
    fx_define(f, &f->t, 0, 1, FX_STACK({ID(1), 3}));
    fx_answer(f, 0, NULL, 0, FX_TEXT("Lp/Late;\0\0m\0()V\0"));
    struct hpx_snapshot *s = fx_snapshot(f, 1, 1);
    const struct hpx_method_rec *m = s->rows[0].trace->frames[0].method;
    assert_int_equal(m->klass.v, 100001);
    assert_true(fx_text_is(m->class_name, "p.Late"));
    hpx_snapshot_destroy(s);
}

/* One that was loaded before the start: announced with its name, its methods' names come when they are sampled. */
TEST(a_class_may_come_without_the_names_of_its_methods, begin, fx_teardown, (void *)(uintptr_t)(&announced_names))
{
    struct fx *f = *state;
    fx_class(f, 1, ID(1), 2, FX_TEXT("Lp/Old;\0Old.java\0"));
    assert_announced(0, 100001, "p.Old", false, false);
    fx_define(f, &f->t, 0, 1, FX_STACK({ID(1) + 8, 3}));
    assert_int_equal(f->nasked, 1);
    assert_true(f->asked[0]->want_name);
    fx_answer(f, 0, NULL, 0, FX_TEXT("Lp/Old;\0Old.java\0m\0()V\0"));
    struct hpx_snapshot *s = fx_snapshot(f, 1, 1);
    const struct hpx_method_rec *m = s->rows[0].trace->frames[0].method;
    assert_int_equal(m->klass.v, 100001);
    assert_true(fx_text_is(m->class_name, "p.Old") && fx_text_is(m->name, "m") && fx_text_is(m->source, "Old.java"));
    hpx_snapshot_destroy(s);
}

TEST(a_stall_has_a_class_of_its_own, begin, fx_teardown, (void *)(uintptr_t)(&announced_names))
{
    struct fx *f = *state;
    fx_class(f, 1, ID(1), 1, FX_TEXT("Lp/C;\0C.java\0m\0()V\0"));
    fx_event(f, &f->t, HPX_EV_SAMPLE_STALLED, 0, 1);
    fx_event(f, &f->t, HPX_EV_SAMPLE_STALLED, 0, 1);
    fx_event(f, &f->t, HPX_EV_SAMPLE_UNKNOWN, HPX_UNKNOWN_OTHER, 4);
    fx_class(f, 2, ID(2), 1, FX_TEXT("Lp/D;\0D.java\0m\0()V\0"));
    assert_announced(1, 100003, "p.D", false, false);
    struct hpx_snapshot *s = fx_snapshot(f, 6, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(s->rows[i].trace->frames[0].method->klass.v, s->rows[i].count == 2 ? 100002 : HPX_SERIAL_CLASS);
    }
    hpx_snapshot_destroy(s);
}

TEST(equal_frames_have_one_number, begin, fx_teardown, (void *)(uintptr_t)(&announced_with_lines))
{
    struct fx *f = *state;
    static const struct hpx_line lines[] = {{0, 10}, {4, 11}};
    fx_class(f, 1, ID(1), 2, FX_TEXT("Lp/C;\0C.java\0m\0()V\0n\0()V\0"));
    fx_define(f, &f->t, 0, 1, FX_STACK({ID(1), 1}, {ID(1) + 8, 1}));
    fx_define(f, &f->t, 1, 2, FX_STACK({ID(1) + 8, 2}));
    fx_define(f, &f->t, 2, 4, FX_STACK({ID(1) + 8, 5}));
    fx_answer(f, 0, lines, 2, "", 0);
    fx_answer(f, 1, lines, 2, "", 0);
    struct hpx_snapshot *s = fx_snapshot(f, 7, 3);
    uint32_t number[5] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        const struct hpx_trace_rec *tr = s->rows[i].trace;
        number[s->rows[i].count] = tr->frames[tr->nframes - 1].number; /* n:10 as the caller, n:10 alone, n:11 */
    }
    assert_true(number[1] > 0 && number[1] <= 3);
    assert_int_equal(number[1], number[2]);
    assert_int_not_equal(number[1], number[4]);
    hpx_snapshot_destroy(s);
}

static struct hpx_snapshot *one_native(struct fx *f, struct hpx_thread *t)
{
    fx_class(f, 1, ID(1), 1, FX_TEXT("Lp/C;\0C.java\0m\0()V\0"));
    fx_define(f, t, 0, 1, FX_STACK({ID(1), -3}));
    assert_int_equal(f->nasked, 1);
    assert_true(f->asked[0]->want_lines);
    struct hpx_msg_resolved *r = hpx_msg_resolved_new(0, 0);
    assert_non_null(r);
    r->method = f->asked[0]->method;
    r->native = true;
    fx_message(f, r);
    return fx_snapshot(f, 1, 1);
}

TEST(native_methods_are_told_apart_where_classes_are)
{
    for (int binary = 0; binary < 2; binary++) {
        for (int lines = binary ? 0 : 1; lines < 2; lines++) { /* text without lines asks nothing */
            struct fx f;
            fx_begin(&f, &(struct hpx_model_config){.lines = lines, .class_event = binary ? class_event : NULL});
            struct hpx_snapshot *s = one_native(&f, &f.t);
            assert_int_equal(s->rows[0].trace->frames[0].line, binary ? HPX_LINE_NATIVE : HPX_LINE_UNKNOWN);
            assert_int_equal(s->rows[0].trace->frames[0].number, binary);
            assert_int_equal(s->rows[0].trace->frames[0].method->klass.v, binary ? 100001 : 0);
            hpx_snapshot_destroy(s);
            fx_end(&f);
        }
    }
}

TEST(few_unloaded_classes_are_found_when_looked_for, begin, fx_teardown, (void *)(uintptr_t)(&announced_names))
{
    struct fx *f = *state;
    for (uint32_t k = 1; k <= 4; k++) {
        fx_class(f, k, ID(k), 1, FX_TEXT("Lp/C;\0\0m\0()V\0"));
    }
    fx_define(f, &f->t, 0, 1, FX_STACK({ID(2), 3}));
    fx_answer(f, 0, NULL, 0, "", 0);
    assert_false(hpx_model_pass_end(f->m));
    assert_null(f->sweep);
    assert_int_equal(hpx_symbols_unresolved(f->symbols), 0);
    hpx_symbols_look_for_unloaded(f->symbols);
    assert_int_equal(hpx_symbols_unresolved(f->symbols), 1);
    fx_sweep(f, 2, 4);
    assert_int_equal(hpx_symbols_unresolved(f->symbols), 0);
    assert_int_equal(nannounced, 6);
    assert_announced(4, 100002, "", true, true);
    assert_announced(5, 100003, "", false, true);
    assert_int_equal(hpx_symbols_classes(f->symbols), 2);
    struct hpx_snapshot *s = fx_snapshot(f, 1, 1); /* what was sampled of it keeps its class */
    assert_int_equal(s->rows[0].trace->frames[0].method->klass.v, 100002);
    hpx_snapshot_destroy(s);
    fx_class(f, 9, ID(3), 1, FX_TEXT("Lp/New;\0\0m\0()V\0")); /* takes the place of one that is gone */
    assert_announced(6, 100005, "p.New", false, false);
}

TESTS(NULL, NULL)
