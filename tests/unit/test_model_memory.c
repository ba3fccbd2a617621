/* SPDX-License-Identifier: BSD-2-Clause */
/* test_model_memory.c: names, classes and threads of a model while allocations fail: what comes later is as it should be. */
#include "failing_memory.h"
#include "model_fixture.h"

#define CLASS_TEXT FX_TEXT("Lp/C;\0C.java\0a\0(I)V\0b\0()V\0a\0()V") /* ids 8, 16, 24 */

static bool class_event(void *ctx, const struct hpx_class_rec *rec, bool unloaded)
{
    (void)ctx, (void)rec, (void)unloaded;
    return true;
}

static const struct hpx_model_config configs[] = {
    {.lines = true},
    {.lines = true, .thread_in_traces = true, .signatures = true},
    {.signatures = true, .class_event = class_event},
    {.lines = true, .signatures = true, .class_event = class_event, .class_numbers = true},
};

/* ---- snapshots and told stacks ---- */

static void give_class(struct fx *f, uint32_t number)
{
    static const char text[] = "Lp/N;\0N.java\0n\0()V";
    struct hpx_msg_class *c = hpx_msg_class_new(1, sizeof text - 1);
    if (c) {
        c->ref = 99;
        c->named = true;
        c->number.v = number;
        c->ids[0] = 80;
        memcpy(c->text, text, sizeof text - 1);
        fx_message(f, c);
    }
}

static void produce(struct fx *f)
{
    struct fx_frame deep[FX_FRAMES];
    fx_thread_start(f, 1, &f->t, FX_TEXT("t\0g\0s"));
    fx_thread_start(f, 2, &f->u, FX_TEXT("u\0g\0s"));
    fx_class(f, 77, 8, 3, CLASS_TEXT);
    fx_class(f, 78, 48, 1, NULL, 0);
    give_class(f, 5);
    give_class(f, 0);
    for (uint32_t i = 0; i < 200; i++) {
        for (uint32_t k = 0; k < FX_FRAMES; k++) {
            deep[k] = (struct fx_frame){8 + 8 * ((i + k) % 3), (int32_t)(i * k % 50)};
        }
        deep[0] = (struct fx_frame){i % 7 == 0 ? 48 : i % 5 == 0 ? 80 : 8, (int32_t)i};
        fx_define(f, i % 2 ? &f->t : &f->u, i, i + 1, deep, i % 3 ? FX_FRAMES : 2);
    }
    for (uint32_t i = 0; i < f->nasked; i++) {
        fx_answer(f, i, (const struct hpx_line[]){{0, 10}, {5, 12}, {9, 11}}, 3, FX_TEXT("Lp/U;\0U.java\0u\0()V"));
    }
    (void)hpx_model_replay(f->m);
    fx_thread_end(f, 2);
}

static uint64_t shown(struct hpx_snapshot *s)
{
    uint64_t n = 0;
    assert_non_null(s);
    for (uint32_t i = 0; i < s->nrows; i++) {
        n += s->rows[i].count;
    }
    hpx_snapshot_destroy(s);
    return n;
}

/* Only the snapshot's allocations fail, one after the other and all behind it: it is there with everything, or not at all. */
TEST(a_snapshot_without_memory_is_none_and_the_next_one_has_all)
{
    static struct fx f;
    for (int of = 0; of < 2; of++) {
        bool made = false;
        for (uint64_t fault = 1; !made; fault++) {
            fx_begin(&f, &configs[0]);
            produce(&f);
            memory_fail(fault, UINT64_MAX);
            struct hpx_snapshot *s = of ? hpx_model_traces(f.m) : hpx_samples_snapshot(f.samples, HPX_TAKE_RESET);
            memory_allow();
            made = s != NULL;
            hpx_snapshot_destroy(s);
            if (!made || of) {
                assert_int_equal(shown(hpx_samples_snapshot(f.samples, HPX_TAKE_RESET)), f.sent);
            }
            assert_true(fault < 100);
            fx_end(&f);
        }
    }
}

TEST(a_told_stack_without_memory_is_none_and_can_be_told_again)
{
    static const struct hpx_named_frame told[] = {
        {.class_signature = "Lp/C;", .name = "a", .source = "C.java", .line = 12},
        {.class_signature = "Lp/C;", .name = "b", .signature = "()V", .source = "C.java", .class_number = {7}, .line = 13}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(configs); i++) {
        uint64_t calls = UINT64_MAX, none = 0;
        for (uint64_t nth = memory_first_fault(); nth <= calls; nth += memory_fault_step()) {
            struct fx f;
            fx_begin(&f, &configs[i]);
            memory_fail(nth, nth);
            const struct hpx_trace_rec *t = hpx_symbols_named_trace(f.symbols, told, 2);
            calls = memory_calls();
            memory_allow();
            none += t == NULL;
            const struct hpx_trace_rec *again = hpx_symbols_named_trace(f.symbols, told, 2);
            assert_non_null(again);
            assert_int_equal(again->frames[1].method->klass.v, configs[i].class_event ? hpx_serial_of_class(told[1].class_number).v : 0);
            fx_end(&f);
        }
        assert_true(none > 0 || memory_fault_step() > 1);
    }
}

/* Names too long for the memory that symbols hold already. */
TEST(a_place_without_memory_is_none_and_can_be_had_later, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    static char name[1 << 18];
    memset(name, 'n', sizeof name);
    const struct hpx_text text = {name, sizeof name}, none = {0};
    const struct hpx_class_serial serial = {0};
    uint32_t klass = hpx_symbols_class_name(f->symbols, (struct hpx_text){"Lp/C;", 5});
    memory_refuse();
    uint32_t refused = hpx_symbols_place(f->symbols, serial, klass, 0, text, none, 7), pseudo = hpx_symbols_pseudo(f->symbols, "lost");
    memory_allow();
    assert_int_equal(refused, HPX_INTERN_NONE);
    assert_int_not_equal(pseudo, refused); /* it needs so little that it was there */
    uint32_t place = hpx_symbols_place(f->symbols, serial, klass, 0, text, none, 7);
    assert_int_equal(hpx_symbols_rec(f->symbols, place)->frames[0].line, 7);
    place = hpx_symbols_place(f->symbols, serial, klass, 0, text, none, 0);
    assert_int_equal(hpx_symbols_rec(f->symbols, place)->frames[0].line, HPX_LINE_UNKNOWN);
}

/* ---- looks and references ---- */

TEST(a_look_without_memory_is_made_at_the_next_pass, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    fx_class(f, 77, 24, 0, NULL, 0);
    fx_class(f, 0, 24, 1, NULL, 0);
    fx_class(f, 78, 32, 1, NULL, 0);
    fx_define(f, &f->t, 0, 1, FX_STACK({800, 3}));
    memory_fail(1, 1);
    while (!f->look) {
        (void)hpx_model_pass_end(f->m);
    }
    assert_true(memory_calls() >= 2);
    memory_allow();
    assert_int_equal(f->look->n, 1); /* the one class that has a reference and methods */
    fx_define(f, &f->t, 1, 1, FX_STACK({808, 3}));
    for (int i = 0; i < 3; i++) {
        (void)hpx_model_pass_end(f->m); /* one look at a time */
    }
    for (int i = 0; i < 14; i++) { /* that found nothing: the next one is later and later */
        struct hpx_msg_look *m = hpx_msg_new(HPX_MSG_LOOK, sizeof *m);
        assert_non_null(m);
        m->found = m->n = 0;
        m->ns = i == 13 ? UINT64_C(60000000000) : 0;
        fx_message(f, m);
    }
    free(f->look);
    f->look = NULL;
    (void)hpx_model_pass_end(f->m);
    assert_null(f->look);
}

static void find(struct fx *f, uint64_t ref)
{
    struct hpx_msg_class *c = hpx_msg_class_new(1, 0);
    assert_non_null(c);
    c->ref = ref;
    c->ids[0] = 8;
    c->looked_for = true;
    fx_message(f, c);
}

/* A look has found a class that was announced meanwhile. */
TEST(a_class_found_twice_is_one_also_without_memory, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    fx_define(f, &f->t, 0, 1, FX_STACK({800, 3}));
    while (!f->look) {
        (void)hpx_model_pass_end(f->m);
    }
    fx_class(f, 77, 8, 3, CLASS_TEXT);
    find(f, 0);
    assert_int_equal(hpx_symbols_classes(f->symbols), 1);
    assert_int_equal(f->ndropped, 0); /* it has no reference */
    memory_fail(2, UINT64_MAX);       /* the first one is the test's */
    find(f, 78);
    memory_allow();
    find(f, 79);
    assert_int_equal(f->dropped, 79);
}

static void add_ref(void *ctx, uint64_t ref)
{
    *(uint64_t *)ctx += ref;
}

TEST(references_are_told_once_at_the_end, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    uint64_t refs = 0;
    fx_class(f, 77, 8, 3, CLASS_TEXT);
    fx_class(f, 0, 48, 1, NULL, 0);
    fx_class(f, 1000, 56, 1, NULL, 0);
    hpx_symbols_forget_refs(f->symbols, add_ref, &refs);
    hpx_symbols_forget_refs(f->symbols, add_ref, &refs);
    assert_int_equal(refs, 1077);
    fx_define(f, &f->t, 0, 3, FX_STACK({56, 3})); /* nobody is asked any more */
    assert_int_equal(f->nasked, 0);
    hpx_snapshot_destroy(fx_snapshot(f, 3, 1));
}

/* ---- threads of which nobody wants to hear ---- */

TEST(threads_come_and_go_without_a_listener)
{
    static struct fx f;
    const struct hpx_model_config quiet = {.thread_in_traces = true};
    memset((void *)&f, 0, sizeof f);
    f.m = hpx_model_create(&quiet);
    assert_non_null(f.m);
    f.samples = hpx_samples_create(f.m);
    f.symbols = hpx_model_symbols(f.m);
    fx_thread_start(&f, 1, &f.t, FX_TEXT("t\0g\0s"));
    assert_true(f.t.serial > HPX_SERIAL_THREAD);
    fx_define(&f, &f.t, 0, 2, FX_STACK({800, 3})); /* a method of no class, and nobody to look for it */
    (void)hpx_model_pass_end(f.m);
    struct hpx_snapshot *s = fx_snapshot(&f, 2, 1);
    assert_int_equal(s->rows[0].trace->thread, f.t.serial);
    hpx_snapshot_destroy(s);
    assert_true(hpx_model_replay(f.m));
    fx_thread_end(&f, 1);
    fx_thread_end(&f, 1);
    hpx_symbols_look_for_unloaded(f.symbols);
    assert_int_equal(hpx_symbols_unresolved(f.symbols), 0);
    fx_end(&f);
}

TESTS(NULL, NULL)
